//! The order in which servers try their backends, and what comes out.
//!
//! SGLang (@0005973 `parallel_state.py`): FlashInfer fused → custom all-reduce → QuickReduce → MSCCL++ → torch symm
//! mem → NCCL symmetric (where neither custom nor MSCCL++ wants the message) → PyNccl in graphs, torch.distributed in
//! eager mode: NCCL both. vLLM (PR 41308): NCCL symmetric → QuickReduce → FlashInfer → MSCCL++ → custom all-reduce →
//! torch symm mem → PyNccl. PCIe one-shots that the user opts into stand where the custom kernel stands. PyTorch and
//! plain CUDA know NCCL alone.

use super::backend::{cannot, declines};
use super::environment::NcclSettings;
use super::nccl::{self, Communicator};
use super::policy::{Algorithm, Backend, Policy, Protocol, Transport};
use super::time::STAGED_RING_FROM;
use super::{Choice, Request};
use crate::hardware::Hardware;
use crate::runtime::{CollectiveOp, RuntimeKind};
use crate::units::Bytes;

const SGLANG: [Backend; 10] = [
    Backend::FlashinferFused,
    Backend::OneShot,
    Backend::FlashinferPcie,
    Backend::TwoShot,
    Backend::CustomAllReduce,
    Backend::QuickReduce,
    Backend::Mscclpp,
    Backend::TorchSymmMem,
    Backend::NcclSymmetric,
    Backend::Nccl,
];
const VLLM: [Backend; 10] = [
    Backend::NcclSymmetric,
    Backend::QuickReduce,
    Backend::FlashinferFused,
    Backend::Mscclpp,
    Backend::OneShot,
    Backend::FlashinferPcie,
    Backend::TwoShot,
    Backend::CustomAllReduce,
    Backend::TorchSymmMem,
    Backend::Nccl,
];

/// The order of a runtime.
pub const fn dispatch_order(runtime: RuntimeKind) -> &'static [Backend] {
    match runtime {
        RuntimeKind::Vllm => &VLLM,
        _ => &SGLANG,
    }
}

/// Whether the policy names something that only NCCL has.
pub(super) fn names_nccl(policy: &Policy) -> bool {
    policy.protocol.is_some()
        || matches!(policy.algorithm, Some(Algorithm::Ring | Algorithm::Tree | Algorithm::Nvls))
        || policy.algorithm.is_some_and(is_hypothetical)
}

/// Algorithms that no server offers; they are priced as what-ifs.
pub(super) const fn is_hypothetical(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::RecursiveDoubling | Algorithm::HalvingDoubling | Algorithm::Binomial)
}

pub(super) fn backend(
    hardware: &Hardware,
    runtime: RuntimeKind,
    policy: &Policy,
    settings: &NcclSettings,
    request: Request,
) -> Backend {
    if let Some(backend) = policy.backend {
        if cannot(hardware, policy, request, backend).is_none() {
            return backend;
        }
    } else if names_nccl(policy) {
        return Backend::Nccl;
    }
    let takes = |&backend: &Backend| {
        cannot(hardware, policy, request, backend).is_none()
            && declines(hardware, runtime, policy, settings, request, backend).is_none()
    };
    dispatch_order(runtime).iter().copied().find(takes).unwrap_or(Backend::Nccl)
}

pub(super) fn choice(
    hardware: &Hardware,
    policy: &Policy,
    settings: &NcclSettings,
    request: Request,
    backend: Backend,
) -> Choice {
    match backend {
        Backend::Nccl => nccl_choice(hardware, policy, settings, request),
        _ => one_shot_choice(hardware, policy, request, backend),
    }
}

/// What NCCL does with a request.
pub(super) fn nccl_choice(
    hardware: &Hardware,
    policy: &Policy,
    settings: &NcclSettings,
    request: Request,
) -> Choice {
    let forced = policy.algorithm.is_some() || policy.protocol.is_some();
    let settings = if forced { settings.restricted(policy.algorithm, policy.protocol) } else { *settings };
    let comm = Communicator::new(hardware, &settings, request.ranks.max(1));
    let transport = transport(hardware, policy, request.ranks).unwrap_or(comm.transport);
    let base = Choice {
        backend: Backend::Nccl,
        algorithm: Algorithm::Ring,
        protocol: Some(Protocol::Simple),
        transport,
        channels: comm.channels,
    };
    if request.ranks < 2 {
        return base;
    }
    if request.op == CollectiveOp::AllToAll {
        return Choice { algorithm: Algorithm::OneShot, ..base };
    }
    if let Some(algorithm) = policy.algorithm.filter(|a| is_hypothetical(*a)) {
        return Choice { algorithm, protocol: policy.protocol.or(Some(Protocol::Ll)), channels: 1, ..base };
    }
    let pick = nccl::pick(&comm, &settings, request.op, request.bytes);
    let channels = nccl::launch(&comm, &settings, request.op, pick, request.bytes).channels;
    Choice { algorithm: pick.algorithm, protocol: Some(pick.protocol), channels, ..base }
}

/// The transport that the policy forces, if the box has it.
fn transport(hardware: &Hardware, policy: &Policy, ranks: u32) -> Option<Transport> {
    policy.transport.filter(|transport| match transport {
        Transport::Nvlink => hardware.full_nvlink(ranks),
        Transport::P2p => hardware.p2p,
        Transport::Shm => true,
    })
}

/// One stage or two of the backends that write straight into peers.
pub(super) fn one_shot_choice(
    hardware: &Hardware,
    policy: &Policy,
    request: Request,
    backend: Backend,
) -> Choice {
    let nvlink = hardware.full_nvlink(request.ranks);
    let forced = policy.algorithm.filter(|a| matches!(a, Algorithm::OneShot | Algorithm::TwoShot));
    let (n, bytes) = (request.ranks, request.bytes);
    let one_stage = match backend {
        // n = 2 always; NVLink n <= 4 below 512 KiB, n <= 8 below 256 KiB.
        Backend::CustomAllReduce => n == 2 || bytes < Bytes::from_kib(if n <= 4 { 512.0 } else { 256.0 }),
        // tokens · hidden · 2n · itemsize up to 512, 64, 42 MB at n = 2, 4, 8.
        Backend::FlashinferFused => {
            let most = if n <= 2 {
                512e6
            } else if n <= 4 {
                64e6
            } else {
                42e6
            };
            bytes * (2.0 * f64::from(n)) <= Bytes::new(most)
        }
        Backend::Mscclpp => bytes <= Bytes::from_kib(32.0),
        Backend::TwoShot => false,
        _ => true,
    };
    let natural = match backend {
        Backend::FlashinferPcie if bytes >= STAGED_RING_FROM => Algorithm::Ring,
        _ if one_stage => Algorithm::OneShot,
        _ => Algorithm::TwoShot,
    };
    let transport =
        if nvlink && policy.transport != Some(Transport::P2p) { Transport::Nvlink } else { Transport::P2p };
    // 36 blocks are the custom kernels' (512 threads each); the others are taken to be like them.
    Choice { backend, algorithm: forced.unwrap_or(natural), protocol: None, transport, channels: 36 }
}
