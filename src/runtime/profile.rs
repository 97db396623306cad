//! What each runtime costs on its host, by default.
//!
//! One eager operation costs `kernels · issue_kernel`, a collective `issue_collective`; a graph costs
//! `graph_launch + nodes · graph_node` once. Each figure carries the range that its source leaves.
//!
//! | figure | SGLang, vLLM | PyTorch | CUDA |
//! |---|---|---|---|
//! | one kernel | 12.5 µs (10-15), assumed | 21 µs (14-28), measured elsewhere | 5 µs (4-6) |
//! | one collective | 50 µs (30-70), assumed | 35 µs (25-45), measured elsewhere | 9.3 µs (8.6-10) |
//!
//! * PyTorch: 61 thin dense layers on two H200s, eager with the all-reduces removed, took 11 to 23 ms:
//!   0.18-0.37 ms a layer of 13 operations, 14-28 µs each. `torch.distributed` calls took 25-45 µs there.
//! * Servers: an SGLang layer of MLA and experts launches about 24 kernels and two collectives. Its Python
//!   does less per kernel than plain PyTorch, since one custom operation often launches several; 0.40 ms a
//!   layer (0.3-0.5) is assumed, not measured, and is where 12.5 µs and 50 µs come from.
//! * CUDA: kernel launches cost 4-6 µs in public benchmarks; a bare NCCL call 8.6-10 µs, measured on the H200s.
//! * Graphs: 2.5 µs a launch and about 1 ns a node (NVIDIA's blog on constant-time launch), not measured here.
//!
//! Host speed moves all of them: repeats of the same eager pass differ by up to 1.9x.

use super::{Runtime, RuntimeKind};
use crate::sourced::{Source, Sourced};
use crate::units::Seconds;

/// A default in µs with its range.
fn us(value: f64, low: f64, high: f64) -> Sourced<Seconds> {
    let to_seconds = Seconds::from_us;
    Sourced::new(to_seconds(value), Source::Assumed).with_spread(to_seconds(low), to_seconds(high))
}

/// A default in ms with its range.
fn ms(value: f64, low: f64, high: f64) -> Sourced<Seconds> {
    us(value * 1e3, low * 1e3, high * 1e3)
}

impl Runtime {
    /// The default profile of a runtime. All its times are `assumed`: hosts differ, and none of them was
    /// measured on the user's machine.
    #[must_use]
    pub fn profile(kind: RuntimeKind) -> Self {
        match kind {
            RuntimeKind::Sglang => Self::sglang(),
            RuntimeKind::Vllm => Self::vllm(),
            RuntimeKind::Pytorch => Self::pytorch(),
            RuntimeKind::Cuda => Self::cuda(),
        }
    }

    /// SGLang 0.5.9 to 0.5.14.
    ///
    /// * Per step: sampling, detokeniser hand-over and scheduler; hidden in part by its overlap scheduler.
    /// * Per cycle: in series, the v1 worker copies accept lengths to the host, compacts the KV cache and
    ///   prepares the draft extend; a 2-step cycle of 2.5-3.5 ms less about 1 ms of draft kernels. With the v2
    ///   worker 1.5-2 ms remain of the whole.
    /// * `deepseek_v2.py`: replicated `fused_qkv_a` and gate; `forward_normal_dual_stream` inside graph capture.
    fn sglang() -> Self {
        Self {
            kind: RuntimeKind::Sglang,
            issue_kernel: us(12.5, 10.0, 15.0),
            issue_collective: us(50.0, 30.0, 70.0),
            graph_launch: us(2.5, 2.0, 8.0),
            graph_node: us(0.001, 0.000_5, 0.005),
            host_per_step: ms(0.2, 0.1, 0.4),
            host_per_cycle: ms(2.0, 1.4, 2.6),
            host_per_cycle_overlapped: ms(0.6, 0.3, 1.0),
            host_jitter: Sourced::new(0.3, Source::Assumed),
            embedding_allreduce: true,
            replicates_mla_down: true,
            fuses_small_ops: true,
            overlaps_shared_experts: true,
        }
    }

    /// vLLM 0.24.
    ///
    /// * Per cycle: a Gemma-4 26B cycle on a GB10 spent 2.0 ms outside verify and draft at one request (vLLM
    ///   issue 45258), on a slower host; one stray synchronisation costs 0.5-2 ms (SGLang issue 26171).
    /// * `SharedExperts` on a stream of its own up to 256 tokens; pull request 44748 counts two all-reduces a layer.
    fn vllm() -> Self {
        Self {
            kind: RuntimeKind::Vllm,
            host_per_step: ms(0.3, 0.1, 0.6),
            host_per_cycle: ms(1.0, 0.4, 2.0),
            host_per_cycle_overlapped: ms(0.5, 0.2, 1.0),
            embedding_allreduce: false,
            ..Self::sglang()
        }
    }

    /// PyTorch 2.11 without a server, as measured on two H200s.
    fn pytorch() -> Self {
        Self {
            kind: RuntimeKind::Pytorch,
            issue_kernel: us(21.0, 14.0, 28.0),
            issue_collective: us(35.0, 25.0, 45.0),
            host_per_step: ms(0.03, 0.01, 0.1),
            host_per_cycle: ms(0.1, 0.03, 0.3),
            host_per_cycle_overlapped: ms(0.1, 0.03, 0.3),
            embedding_allreduce: false,
            fuses_small_ops: false,
            overlaps_shared_experts: false,
            ..Self::sglang()
        }
    }

    /// Kernels launched from CUDA C++ or Rust: the least that a host can do.
    fn cuda() -> Self {
        Self {
            kind: RuntimeKind::Cuda,
            issue_kernel: us(5.0, 4.0, 6.0),
            issue_collective: us(9.3, 8.6, 10.0),
            host_per_step: ms(0.02, 0.01, 0.05),
            host_per_cycle: ms(0.05, 0.02, 0.1),
            host_per_cycle_overlapped: ms(0.02, 0.01, 0.05),
            fuses_small_ops: true,
            ..Self::pytorch()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [RuntimeKind; 4] =
        [RuntimeKind::Sglang, RuntimeKind::Vllm, RuntimeKind::Pytorch, RuntimeKind::Cuda];

    #[test]
    fn every_default_lies_inside_its_range_and_says_that_it_is_assumed() {
        for kind in KINDS {
            let runtime = Runtime::profile(kind);
            assert_eq!(runtime.kind, kind);
            for figure in [
                runtime.issue_kernel,
                runtime.issue_collective,
                runtime.graph_launch,
                runtime.graph_node,
                runtime.host_per_step,
                runtime.host_per_cycle,
                runtime.host_per_cycle_overlapped,
            ] {
                let range = figure.spread.expect("a default has a range");
                assert!(range.low <= figure.value && figure.value <= range.high);
                assert_eq!(figure.source, Source::Assumed);
            }
        }
    }

    /// 61 layers of 13 operations without all-reduces took 11-23 ms in the PyTorch twin.
    #[test]
    fn a_dense_layer_of_pytorch_takes_as_long_to_issue_as_measured() {
        let spread = Runtime::profile(RuntimeKind::Pytorch).issue_kernel.spread.expect("range");
        assert!((61.0 * 13.0 * spread.low.ms() - 11.0).abs() < 0.5);
        assert!((61.0 * 13.0 * spread.high.ms() - 23.0).abs() < 1.0);
    }

    #[test]
    fn an_overlap_scheduler_never_adds_host_time() {
        for runtime in KINDS.map(Runtime::profile) {
            assert!(runtime.host_per_cycle_overlapped.value <= runtime.host_per_cycle.value);
        }
    }
}
