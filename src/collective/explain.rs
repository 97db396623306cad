//! Why this backend and none of the others, in sentences. Not for the hot path.

use super::backend::{Refusal, cannot, declines, offered};
use super::dispatch::{self, dispatch_order, is_hypothetical, names_nccl};
use super::notes::size_text;
use super::policy::{Backend, Policy, Transport};
use super::time::model_time;
use super::{Choice, Request, choose_with};
use crate::hardware::Hardware;
use crate::runtime::RuntimeKind;
use crate::sourced::Sourced;
use crate::units::Seconds;

/// A choice with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What is taken.
    pub choice: Choice,
    /// The choice as a sentence.
    pub taken: String,
    /// Every other backend with the reason why it is not taken, in the server's order.
    pub rejected: Vec<(Backend, String)>,
    /// The fastest backend that this box could run and this server would take once it is switched on, if it is faster
    /// than what the server takes now. Backends of other servers are not proposed.
    pub better: Option<Better>,
}

/// A faster backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Better {
    /// What it would do.
    pub choice: Choice,
    /// How long it would take.
    pub time: Sourced<Seconds>,
    /// How long the choice takes by the same model.
    pub instead_of: Sourced<Seconds>,
    /// What keeps the server from taking it, and what to switch.
    pub because: String,
}

/// Why the box cannot run the backend that the policy fixes; none if it can, or if none is fixed.
pub fn refusal_of_policy(
    hardware: &Hardware,
    policy: &Policy,
    request: Request,
) -> Option<(Backend, Refusal, String)> {
    let backend = policy.backend?;
    let refusal = cannot(hardware, policy, request, backend)?;
    Some((backend, refusal, sentence(hardware, None, backend, refusal, request)))
}

/// [`super::choose`] with reasons.
pub fn explain_choice(
    hardware: &Hardware,
    runtime: RuntimeKind,
    policy: &Policy,
    request: Request,
) -> Explanation {
    let settings = policy.environment.settings();
    let choice = choose_with(hardware, runtime, policy, &settings, request);
    let forced = policy.backend == Some(choice.backend) || (policy.backend.is_none() && names_nccl(policy));
    let mut rejected = Vec::new();
    let mut better: Option<Better> = None;
    let now = model_time(hardware, choice, request);
    for &backend in dispatch_order(runtime) {
        if backend == choice.backend {
            continue;
        }
        let impossible = cannot(hardware, policy, request, backend);
        let refusal = impossible
            .or_else(|| declines(hardware, runtime, policy, &settings, request, backend))
            .unwrap_or(if forced {
                Refusal::PolicySaysOtherwise
            } else {
                Refusal::Precedence(choice.backend)
            });
        let because = sentence(hardware, Some(runtime), backend, refusal, request);
        let taken_when_on = || {
            let mut on = Policy { backend: None, algorithm: None, protocol: None, ..policy.clone() };
            on.opt_in.push(backend);
            choose_with(hardware, runtime, &on, &settings, request).backend == backend
        };
        if impossible.is_none() && offered(runtime, backend) && taken_when_on() {
            let choice = dispatch::choice(hardware, policy, &settings, request, backend);
            let time = model_time(hardware, choice, request);
            if time.value < better.as_ref().map_or(now.value, |b| b.time.value) {
                better = Some(Better { choice, time, instead_of: now, because: because.clone() });
            }
        }
        rejected.push((backend, because));
    }
    Explanation { choice, taken: taken(hardware, choice, request), rejected, better }
}

fn taken(hardware: &Hardware, choice: Choice, request: Request) -> String {
    let size = size_text(request.bytes);
    let way = match choice.transport {
        Transport::Nvlink => "over NVLink",
        Transport::P2p => "over PCIe peer access",
        Transport::Shm => "through host memory",
    };
    let algorithm = choice.algorithm.word();
    let n = request.ranks;
    let mut text = match choice.protocol {
        Some(protocol) => {
            let ctas = if choice.channels == 1 {
                "1 channel".to_owned()
            } else {
                format!("{} channels", choice.channels)
            };
            format!("NCCL takes {algorithm} with {} {way} for {size} on {n} GPUs, in {ctas}", protocol.word())
        }
        None => format!("{} takes {size} on {n} GPUs, {algorithm}, {way}", choice.backend.title()),
    };
    if is_hypothetical(choice.algorithm) {
        text.push_str("; no server offers this algorithm, it is priced as a hypothesis");
    }
    if choice.transport == Transport::Shm && hardware.p2p {
        text.push_str("; peer access works here, but a GPU pair lies beyond NCCL's P2P level (NCCL_P2P_LEVEL=SYS lifts it) or P2P is switched off");
    }
    text
}

/// One reason as a sentence that starts with the backend.
fn sentence(
    hardware: &Hardware,
    runtime: Option<RuntimeKind>,
    backend: Backend,
    refusal: Refusal,
    request: Request,
) -> String {
    let (name, n, size) = (backend.title(), request.ranks, size_text(request.bytes));
    match refusal {
        Refusal::NotAllReduce => format!("{name} does all-reduce only"),
        Refusal::Ranks(sizes) => {
            let sizes: Vec<_> = sizes.iter().map(u32::to_string).collect();
            format!("{name} has kernels for {} GPUs, not for {n}", sizes.join(", "))
        }
        Refusal::TooLarge(cap) => format!("{name} takes at most {}, the message has {size}", size_text(cap)),
        Refusal::TooSmall(least) => {
            format!("{name} takes at least {}, the message has {size}", size_text(least))
        }
        Refusal::Alignment => {
            format!("{name} needs a multiple of 16 bytes, the message has {}", request.bytes.get())
        }
        Refusal::NoFullNvlink => format!("{name} refuses {n} GPUs without NVLink between every pair"),
        Refusal::NoPeerAccess => {
            format!("{name} needs GPUs that reach each other's memory; P2P is off on this box or excluded")
        }
        Refusal::Generation(needed) => {
            let (major, minor) = hardware.gpu.compute_capability;
            format!("{name} has kernels for compute capability {needed}, not for {major}.{minor}")
        }
        Refusal::NoMulticast => format!("{name} needs NVLink multicast, which this box does not have"),
        Refusal::Rocm => format!("{name} is for AMD GPUs"),
        Refusal::NotServed => format!("{name} is not part of {}", runtime.map_or("this runtime", title)),
        Refusal::OptIn => format!("{name} is off by default{}", runtime.map_or("", |r| switch(r, backend))),
        Refusal::GraphOnly => format!("{name} is used inside CUDA graphs only, and this pass is eager"),
        Refusal::LeftToNccl(cap) => format!("{name} leaves messages above {} to NCCL", size_text(cap)),
        Refusal::NcclWins => {
            format!("{name} is tuned up to the first size that NCCL wins, and {size} is beyond it")
        }
        Refusal::Precedence(other) => format!("{} comes before {name} and takes the message", other.title()),
        Refusal::PolicySaysOtherwise => format!("{name} is not what the scenario names"),
    }
}

/// A runtime in a sentence.
const fn title(runtime: RuntimeKind) -> &'static str {
    match runtime {
        RuntimeKind::Sglang => "SGLang",
        RuntimeKind::Vllm => "vLLM",
        RuntimeKind::Pytorch => "PyTorch",
        RuntimeKind::Cuda => "a bare CUDA program",
    }
}

/// How to switch a backend on in one runtime, in brackets; empty where no switch is known.
const fn switch(runtime: RuntimeKind, backend: Backend) -> &'static str {
    match (runtime, backend) {
        (RuntimeKind::Sglang, Backend::NcclSymmetric) => " (--enable-symm-mem)",
        (RuntimeKind::Sglang, Backend::FlashinferFused) => " (--enable-flashinfer-allreduce-fusion)",
        (RuntimeKind::Sglang, Backend::Mscclpp) => " (--enable-mscclpp)",
        (RuntimeKind::Sglang, Backend::TorchSymmMem) => " (--enable-torch-symm-mem)",
        (RuntimeKind::Sglang, Backend::OneShot) => " (not in SGLang itself: b12x brings one)",
        (RuntimeKind::Vllm, Backend::NcclSymmetric) => " (VLLM_USE_NCCL_SYMM_MEM=1)",
        (RuntimeKind::Vllm, Backend::FlashinferFused) => " (VLLM_ALLREDUCE_USE_FLASHINFER=1)",
        (RuntimeKind::Vllm, Backend::OneShot) => " (in forks: VLLM_ENABLE_PCIE_ALLREDUCE=1)",
        _ => "",
    }
}
