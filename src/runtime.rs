//! What a server or framework does per operation: data only.
//!
//! A runtime decides how long its host needs to issue an operation in eager mode, what a CUDA graph costs to
//! launch, which collectives it adds to a forward pass, and how much host work surrounds a cycle.
//! Sources: sglang 0.5.9/0.5.14 and vLLM source files named beside the fields; two H200s measured with
//! PyTorch 2.11 (eager issue); the ranges are judgement where no measurement is named.

mod profile;

use serde::{Deserialize, Serialize};

use crate::sourced::Sourced;
use crate::units::Seconds;

/// The server or framework that issues the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeKind {
    /// SGLang.
    Sglang,
    /// vLLM.
    Vllm,
    /// PyTorch without a server, no compilation, no fusion.
    Pytorch,
    /// Kernels launched straight from CUDA, as a lower bound.
    Cuda,
}

/// How a forward pass is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Execution {
    /// Replayed from a CUDA graph: the GPUs set the time.
    Graph,
    /// Issued operation by operation: host and GPUs race.
    Eager,
}

/// A collective of the tensor-parallel group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveOp {
    /// Sum over the ranks, result on all.
    AllReduce,
    /// Every rank's part on all.
    AllGather,
    /// Sum over the ranks, one part on each.
    ReduceScatter,
    /// Expert-parallel exchange.
    AllToAll,
}

/// What one runtime costs and does.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Independent facts of a server.
pub struct Runtime {
    /// Which one.
    pub kind: RuntimeKind,
    /// Host time to issue one kernel in eager mode, framework included.
    pub issue_kernel: Sourced<Seconds>,
    /// Host time to issue one collective in eager mode.
    pub issue_collective: Sourced<Seconds>,
    /// Host time to launch one CUDA graph, whatever its size.
    pub graph_launch: Sourced<Seconds>,
    /// Additional launch time per node of the graph.
    pub graph_node: Sourced<Seconds>,
    /// Scheduler, sampling results to the host, batch preparation: per decode step without speculation.
    pub host_per_step: Sourced<Seconds>,
    /// The same per draft/verify cycle, over and above `host_per_step`, without an overlap scheduler.
    pub host_per_cycle: Sourced<Seconds>,
    /// The same where the scheduler overlaps host work with the GPU.
    pub host_per_cycle_overlapped: Sourced<Seconds>,
    /// Standard deviation over mean of one host operation.
    pub host_jitter: Sourced<f64>,
    /// Whether the embedding is split over the vocabulary and followed by an all-reduce.
    pub embedding_allreduce: bool,
    /// Whether the fused MLA down-projections and the router are replicated on every rank.
    pub replicates_mla_down: bool,
    /// Whether small operations are fused as servers do (add + norm, SiLU x up, router top-k).
    pub fuses_small_ops: bool,
    /// Whether shared experts run beside the routed ones on a second stream inside a graph, so that they add
    /// their bytes and not their kernels' floors.
    pub overlaps_shared_experts: bool,
}
