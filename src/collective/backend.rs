//! When each backend can run, and when a server would take it.
//!
//! Two questions are kept apart: [`cannot`] is a matter of the kernel and the box (GPU generation, number of ranks,
//! size, NVLink, peer access), [`declines`] of the server (switched off by default, graph only, a size from which
//! NCCL is left the message). Both answer with a [`Refusal`], a small value; sentences are made in `explain`.
//! Sources: sglang @0005973 `parallel_state.py` and `custom_all_reduce.py`; vLLM PR 41308 and
//! `custom_all_reduce.py`; FlashInfer @fb28d72; b12x @36bce2c; local-inference-lab/rtx6kpro @e2c2b95.

use super::environment::NcclSettings;
use super::policy::{Backend, Policy, Transport};
use super::{Request, nccl_choice, one_shot_choice, time};
use crate::hardware::Hardware;
use crate::runtime::{CollectiveOp, Execution, RuntimeKind};
use crate::units::Bytes;

/// Largest message of the servers' custom all-reduce and of b12x.
const EIGHT_MIB: Bytes = Bytes::from_kib(8192.0);
/// Largest message that vLLM forks hand to the PCIe one-shot: 56 KiB, four bf16 rows of 7168.
pub(super) const VLLM_FORK_CUTOFF: Bytes = Bytes::from_kib(56.0);

/// Why a backend is not taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// It does all-reduce only.
    NotAllReduce,
    /// It has no kernel for this number of ranks.
    Ranks(&'static [u32]),
    /// The message is too large.
    TooLarge(Bytes),
    /// The message is too small.
    TooSmall(Bytes),
    /// The message is no multiple of 16 bytes.
    Alignment,
    /// More than two GPUs need NVLink between every pair.
    NoFullNvlink,
    /// The GPUs cannot reach each other's memory.
    NoPeerAccess,
    /// It has kernels for other GPU generations only.
    Generation(&'static str),
    /// It needs NVLink multicast.
    NoMulticast,
    /// It is for AMD GPUs.
    Rocm,
    /// This runtime has no such backend.
    NotServed,
    /// The server leaves it off unless told.
    OptIn,
    /// The server uses it only inside CUDA graphs.
    GraphOnly,
    /// The server leaves messages of this size to NCCL.
    LeftToNccl(Bytes),
    /// NCCL is faster for this size, and the backend tunes itself to the first size that NCCL wins.
    NcclWins,
    /// Another backend takes precedence.
    Precedence(Backend),
    /// The user's policy names something else.
    PolicySaysOtherwise,
}

/// Whether the kernel cannot run this request on this box at all.
pub(super) fn cannot(
    hardware: &Hardware,
    policy: &Policy,
    request: Request,
    backend: Backend,
) -> Option<Refusal> {
    use Refusal::{Generation, NoMulticast, NoPeerAccess, NotAllReduce, Rocm, TooLarge, TooSmall};
    if backend == Backend::Nccl {
        return None;
    }
    if request.op != CollectiveOp::AllReduce && backend != Backend::NcclSymmetric {
        return Some(NotAllReduce);
    }
    let (n, bytes) = (request.ranks, request.bytes);
    let nvlink = hardware.full_nvlink(n) && policy.transport.is_none_or(|t| t == Transport::Nvlink);
    let peers = nvlink || (hardware.peers_reach_each_other(n) && policy.transport != Some(Transport::Shm));
    let major = hardware.gpu.compute_capability.0;
    match backend {
        Backend::Nccl => None,
        Backend::QuickReduce => Some(Rocm),
        Backend::NcclSymmetric => (!nvlink).then_some(Refusal::NoFullNvlink),
        Backend::CustomAllReduce => among(n, &[2, 4, 6, 8])
            .or((n > 2 && !nvlink).then_some(Refusal::NoFullNvlink))
            .or((!peers).then_some(NoPeerAccess))
            .or((bytes > EIGHT_MIB).then_some(TooLarge(EIGHT_MIB)))
            .or(unaligned(bytes)),
        Backend::FlashinferFused => (!matches!(major, 9 | 10))
            .then_some(Generation("9.0 and 10.0"))
            .or((!hardware.has_multicast() || !nvlink).then_some(NoMulticast))
            .or(among(n, &[2, 4, 8])),
        Backend::TorchSymmMem => (!matches!(major, 9 | 10))
            .then_some(Generation("9.x and 10.x"))
            .or((!hardware.has_multicast() || !nvlink).then_some(NoMulticast))
            .or(among(n, &[2, 4, 6, 8]))
            .or((bytes > symm_mem_cap(n)).then_some(TooLarge(symm_mem_cap(n)))),
        Backend::Mscclpp => among(n, &[8, 16, 32])
            .or((!peers).then_some(NoPeerAccess))
            .or((bytes > EIGHT_MIB).then_some(TooLarge(EIGHT_MIB)))
            .or((bytes < Bytes::new(512.0)).then_some(TooSmall(Bytes::new(512.0)))),
        Backend::FlashinferPcie => {
            among(n, &[2, 4, 8]).or((!peers).then_some(NoPeerAccess)).or(unaligned(bytes))
        }
        Backend::OneShot | Backend::TwoShot => among(n, &[2, 4, 6, 8, 10])
            .or((!peers).then_some(NoPeerAccess))
            .or((bytes > EIGHT_MIB).then_some(TooLarge(EIGHT_MIB)))
            .or(unaligned(bytes)),
    }
}

fn among(ranks: u32, sizes: &'static [u32]) -> Option<Refusal> {
    (!sizes.contains(&ranks)).then_some(Refusal::Ranks(sizes))
}

fn unaligned(bytes: Bytes) -> Option<Refusal> {
    (bytes.get() % 16.0 > 0.0).then_some(Refusal::Alignment)
}

/// torch symmetric memory: 64 MiB for up to four ranks, 128 above (the servers' tables).
fn symm_mem_cap(ranks: u32) -> Bytes {
    Bytes::from_kib(if ranks <= 4 { 65_536.0 } else { 131_072.0 })
}

/// vLLM's cap of its custom all-reduce where torch symmetric memory stands beside it.
fn vllm_custom_cap(major: u8, ranks: u32) -> Bytes {
    Bytes::from_kib(match (major, ranks) {
        (9, 2) => 65_536.0,
        (9, 4) => 32_768.0,
        (9, 6) => 512.0,
        (9, _) => 256.0,
        (_, 2 | 4) => 2048.0,
        _ => 1024.0,
    })
}

/// Whether the server has it switched on without being told.
const fn on_by_default(runtime: RuntimeKind, backend: Backend) -> bool {
    match backend {
        Backend::Nccl | Backend::CustomAllReduce | Backend::QuickReduce => true,
        // VLLM_ALLREDUCE_USE_SYMM_MEM is 1 by default; SGLang has --enable-torch-symm-mem.
        Backend::TorchSymmMem => matches!(runtime, RuntimeKind::Vllm),
        _ => false,
    }
}

/// Whether a user of the runtime can have it: on by default, by a switch, or by a published kernel that plugs in. MSCCL++ is
/// SGLang's alone; FlashInfer's PCIe kernel and the two-shot are in no server; plain frameworks have NCCL.
pub const fn offered(runtime: RuntimeKind, backend: Backend) -> bool {
    match runtime {
        RuntimeKind::Sglang => !matches!(backend, Backend::FlashinferPcie | Backend::TwoShot),
        RuntimeKind::Vllm => {
            !matches!(backend, Backend::Mscclpp | Backend::FlashinferPcie | Backend::TwoShot)
        }
        RuntimeKind::Pytorch | RuntimeKind::Cuda => matches!(backend, Backend::Nccl),
    }
}

/// Whether the server would not take it although it could run.
pub(super) fn declines(
    hardware: &Hardware,
    runtime: RuntimeKind,
    policy: &Policy,
    settings: &NcclSettings,
    request: Request,
    backend: Backend,
) -> Option<Refusal> {
    if backend == Backend::Nccl {
        return None;
    }
    if !offered(runtime, backend) && !policy.opt_in.contains(&backend) {
        return Some(Refusal::NotServed);
    }
    if !on_by_default(runtime, backend) && !policy.opt_in.contains(&backend) {
        return Some(Refusal::OptIn);
    }
    let sglang = runtime == RuntimeKind::Sglang;
    let free = |other| {
        cannot(hardware, policy, request, other).is_none()
            && declines(hardware, runtime, policy, settings, request, other).is_none()
    };
    match backend {
        // SGLang takes symmetric memory only where neither MSCCL++ nor the custom kernel wants the message.
        Backend::NcclSymmetric if sglang => [Backend::CustomAllReduce, Backend::Mscclpp]
            .into_iter()
            .find(|&other| free(other))
            .map(Refusal::Precedence),
        Backend::Mscclpp | Backend::TorchSymmMem if sglang && request.execution == Execution::Eager => {
            Some(Refusal::GraphOnly)
        }
        Backend::CustomAllReduce
            if sglang && policy.opt_in.contains(&Backend::Mscclpp) && free(Backend::Mscclpp) =>
        {
            Some(Refusal::Precedence(Backend::Mscclpp))
        }
        Backend::CustomAllReduce if !sglang => {
            let cap = vllm_custom_cap(hardware.gpu.compute_capability.0, request.ranks);
            let beside = || cannot(hardware, policy, request, Backend::TorchSymmMem).is_none();
            (request.bytes > cap && beside()).then_some(Refusal::Precedence(Backend::TorchSymmMem))
        }
        Backend::OneShot if runtime == RuntimeKind::Vllm => {
            (request.bytes > VLLM_FORK_CUTOFF).then_some(Refusal::LeftToNccl(VLLM_FORK_CUTOFF))
        }
        Backend::OneShot => {
            let mine =
                time::model_time(hardware, one_shot_choice(hardware, policy, request, backend), request);
            let theirs =
                time::model_time(hardware, nccl_choice(hardware, policy, settings, request), request);
            (theirs.value < mine.value).then_some(Refusal::NcclWins)
        }
        _ => None,
    }
}
