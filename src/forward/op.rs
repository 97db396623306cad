//! One operation of a forward pass on one rank: what it reads, moves and computes. It knows no time.

use crate::model::{KvFormat, WeightFormat};
use crate::runtime::CollectiveOp;
use crate::units::{Bytes, Flops};

/// The part of a pass that an operation belongs to, for breakdowns and for tables that time whole modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Token embedding.
    Embedding,
    /// Input norm, projections, attention kernel, output projection.
    Attention,
    /// Router, routed and shared experts.
    Experts,
    /// Dense feed-forward.
    Mlp,
    /// Head and its gather.
    Head,
    /// Token selection.
    Sampling,
    /// EAGLE-3 `fc`, MTP 2H→H.
    Fusion,
    /// Collectives between the ranks.
    Collective,
}

/// The operations that a cost model can tell apart. Shapes are per rank, after sharding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OpKind {
    /// Dense projection: `rows` x `k` by `k` x `n`. The batched products that absorb the up-projections of
    /// latent attention appear with the heads folded into `n`: same weights, same operations.
    Gemm {
        /// Rows of the activation (tokens).
        rows: u32,
        /// Output width on this rank.
        n: u32,
        /// Input width on this rank.
        k: u32,
        /// Storage of the weights.
        weights: WeightFormat,
    },
    /// Decode attention over a KV cache, grouped-query.
    Attention {
        /// Requests in the batch.
        requests: u32,
        /// Query rows per request.
        rows: u32,
        /// KV tokens read per request (window applied).
        context: u32,
        /// Query heads on this rank.
        heads: u32,
        /// KV heads on this rank.
        kv_heads: u32,
        /// Width of a head.
        head_dim: u32,
        /// Storage of the cache.
        kv: KvFormat,
    },
    /// Absorbed decode attention over a latent cache (replicated on every rank).
    MlaAttention {
        /// Requests in the batch.
        requests: u32,
        /// Query rows per request.
        rows: u32,
        /// KV tokens read per request (decode-context split and sparse index applied).
        context: u32,
        /// Query heads on this rank.
        heads: u32,
        /// Rank of the compression.
        kv_lora: u32,
        /// Width of the rotary part.
        rope: u32,
        /// Storage of the cache.
        kv: KvFormat,
    },
    /// Recurrent state update of linear attention.
    LinearAttention {
        /// Requests in the batch.
        requests: u32,
        /// Query rows per request.
        rows: u32,
        /// State on this rank, per request: read once, written once per row.
        state: Bytes,
        /// Operations per row.
        flops_per_row: Flops,
    },
    /// Routed experts of one layer.
    Experts {
        /// Tokens routed.
        tokens: u32,
        /// Hidden size.
        hidden: u32,
        /// Intermediate size of an expert before sharding.
        width: u32,
        /// Ranks that share each expert (tensor-parallel size within an expert).
        shards: u32,
        /// Experts that this rank holds.
        experts: u32,
        /// Routed experts per token.
        per_token: u32,
        /// Expected distinct experts touched on this rank (the fullest one under expert parallelism); a shared
        /// expert fused into the kernel counts as one more.
        distinct: f64,
        /// Pairs of token and expert that this rank computes, a fused shared expert included.
        pairs: f64,
        /// Storage of the experts.
        weights: WeightFormat,
    },
    /// Memory-bound small kernel: norm, rotary, activation, add, top-k, cache write, sampling.
    Elementwise {
        /// Bytes read and written.
        bytes: Bytes,
    },
    /// Collective over the group.
    Collective {
        /// Which.
        op: CollectiveOp,
        /// Ranks that take part.
        ranks: u32,
        /// Message \[B\] per rank: the full vector for all-reduce and reduce-scatter, this rank's part for
        /// all-gather.
        bytes: Bytes,
    },
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Op {
    /// What it computes.
    pub kind: OpKind,
    /// Name for breakdowns and traces: `q_b`, `router`, `allreduce`.
    pub label: &'static str,
    /// Where it belongs.
    pub part: Part,
}

impl Op {
    /// Whether it is a collective.
    pub const fn is_collective(&self) -> bool {
        matches!(self.kind, OpKind::Collective { .. })
    }
}
