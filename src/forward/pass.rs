//! A forward pass: operations in order, equal layers stored once.

use super::op::Op;

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
