//! A forward pass: operations in order, equal layers stored once.

use super::op::{Op, OpKind, Part};
use crate::runtime::CollectiveOp;
use crate::units::{Bytes, Flops};

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PassKind {
    /// One token per request, no speculation.
    Decode,
    /// `draft_tokens` rows per request through the target.
    Verify,
    /// One drafter step.
    DraftStep,
    /// The drafter over the rows that verify produced.
    DraftExtend,
    /// A chunk of a prompt.
    Prefill,
}

/// The shape of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Requests B.
    pub requests: u32,
    /// Rows per request.
    pub rows: u32,
    /// Context per request \[tokens\].
    pub context: u32,
}

impl Parallelism {
    /// Tensor parallelism alone.
    pub const fn tensor(ranks: u32) -> Self {
        Self { tensor: ranks, expert: 1, data_attention: 1, decode_context: 1 }
    }
}

impl Batch {
    /// Tokens of the pass T = requests · rows.
    pub const fn tokens(self) -> u32 {
        self.requests * self.rows
    }
}

/// How the model is split over the GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parallelism {
    /// Tensor-parallel size.
    pub tensor: u32,
    /// Expert-parallel size (1: experts are split by width).
    pub expert: u32,
    /// Attention replicas (data-parallel attention).
    pub data_attention: u32,
    /// Decode-context parallelism: ranks that share one KV cache.
    pub decode_context: u32,
}

/// A sequence of operations that occurs once or many times: the embedding, a layer, the head.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Name for breakdowns: `embedding`, `dense layer`, `moe layer`, `head`.
    pub name: &'static str,
    /// The operations, in the order in which they are issued.
    pub ops: Vec<Op>,
}

/// `count` times block number `block` in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Index into the blocks of the pass.
    pub block: usize,
    /// Repetitions.
    pub count: u32,
}

/// A forward pass on one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardPass {
    /// What it is for.
    pub kind: PassKind,
    /// Its shape.
    pub batch: Batch,
    /// The distinct blocks.
    pub blocks: Vec<Block>,
    /// The order in which they run.
    pub sequence: Vec<Run>,
}

impl ForwardPass {
    /// A pass without operations, to be filled by [`rebuild`](super::rebuild).
    pub const fn empty(kind: PassKind, batch: Batch) -> Self {
        Self { kind, batch, blocks: Vec::new(), sequence: Vec::new() }
    }

    /// Each run's operations with the number of their repetitions, in order.
    pub fn ops(&self) -> impl Iterator<Item = (&Op, u32)> {
        self.sequence.iter().flat_map(|run| self.blocks[run.block].ops.iter().map(|op| (op, run.count)))
    }

    /// How many collectives of one kind the pass issues.
    pub fn collectives(&self, wanted: CollectiveOp) -> u32 {
        self.ops()
            .filter(|(op, _)| matches!(op.kind, OpKind::Collective { op, .. } if op == wanted))
            .map(|(_, count)| count)
            .sum()
    }

    /// Kernels apart from collectives that the pass issues.
    pub fn kernels(&self) -> u32 {
        self.ops().filter(|(op, _)| !op.is_collective()).map(|(_, count)| count).sum()
    }

    /// Weights that one rank reads for a part of the pass.
    pub fn weight_bytes_of(&self, part: Part) -> Bytes {
        self.ops().filter(|(op, _)| op.part == part).map(|(op, n)| op.weight_bytes() * f64::from(n)).sum()
    }

    /// Weights that one rank reads.
    pub fn weight_bytes(&self) -> Bytes {
        self.ops().map(|(op, n)| op.weight_bytes() * f64::from(n)).sum()
    }

    /// KV cache and recurrent state that one rank reads (and writes, for a state).
    pub fn kv_bytes(&self) -> Bytes {
        self.ops().map(|(op, n)| op.kv_bytes() * f64::from(n)).sum()
    }

    /// Operations that one rank computes.
    pub fn flops(&self) -> Flops {
        self.ops().map(|(op, n)| op.flops() * f64::from(n)).sum()
    }
}
