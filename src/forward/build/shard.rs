//! What every part of a pass needs to know, and the writer of operations.

use super::super::account::ACTIVATION;
use super::super::coverage::ExpertOverlap;
use super::super::op::{Op, OpKind, Part};
use super::super::pass::{Batch, Parallelism, PassKind};
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::{CollectiveOp, Runtime};
use crate::units::Bytes;

/// Shape and split of a pass on one rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shard<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) kind: PassKind,
    pub(super) hidden: u32,
    pub(super) kv: KvFormat,
    /// Shard per request.
    pub(super) context: u32,
    /// Rows per request.
    pub(super) rows: u32,
    /// Requests whose attention this rank computes (the fullest attention replica).
    pub(super) requests: u32,
    /// Requests of the whole pass.
    pub(super) all_requests: u32,
    /// Ranks of the tensor-parallel group.
    pub(super) ranks: u32,
    /// Ranks that share one attention replica.
    pub(super) attention_ranks: u32,
    /// Expert-parallel size.
    pub(super) expert_ranks: u32,
    pub(super) decode_context: u32,
    pub(super) overlap: ExpertOverlap,
    /// Width of the attention input in units of the hidden size (2 for EAGLE-3).
    pub(super) input_multiple: u32,
}

impl<'a> Shard<'a> {
    pub(super) fn new(
        hidden: u32,
        kv: KvFormat,
        parallel: Parallelism,
        runtime: &'a Runtime,
        kind: PassKind,
        batch: Batch,
        overlap: ExpertOverlap,
    ) -> Self {
        let ranks = parallel.tensor.max(1);
        let replicas = parallel.data_attention.clamp(1, ranks);
        Self {
            runtime,
            kind,
            hidden,
            kv,
            context: batch.context,
            rows: batch.rows,
            requests: batch.requests.div_ceil(replicas),
            all_requests: batch.requests,
            ranks,
            attention_ranks: (ranks / replicas).max(1),
            expert_ranks: parallel.expert.clamp(1, ranks),
            decode_context: parallel.decode_context.max(1),
            overlap,
            input_multiple: 1,
        }
    }

    /// Whether small operations are fused as servers do.
    pub(super) const fn fused(&self) -> bool {
        self.runtime.fuses_small_ops
    }

    /// Whether attention runs on replicas, each with its own requests.
    pub(super) const fn replicated_attention(&self) -> bool {
        self.attention_ranks < self.ranks
    }

    /// Rows of this rank's attention.
    pub(super) const fn tokens(&self) -> u32 {
        self.requests.saturating_mul(self.rows)
    }

    /// Rows of the feed-forward part. Attention replicas are padded to the fullest one.
    pub(super) const fn all_tokens(&self) -> u32 {
        if self.replicated_attention() {
            self.tokens().saturating_mul(self.ranks / self.attention_ranks)
        } else {
            self.tokens()
        }
    }

    /// Rows of which logits are wanted: the last one per request of a prompt or of a draft extend.
    pub(super) const fn logit_rows(&self) -> u32 {
        let per_request = match self.kind {
            PassKind::Prefill | PassKind::DraftExtend => 1,
            _ => self.rows,
        };
        per_request * (self.all_tokens() / if self.rows == 0 { 1 } else { self.rows })
    }

    /// KV tokens that one row attends to: those in the cache; in a prompt also half of the chunk, on average.
    pub(super) fn attended(&self) -> u32 {
        let chunk = if self.kind == PassKind::Prefill { self.rows.div_ceil(2) } else { 0 };
        self.context.saturating_add(chunk).max(1)
    }

    /// Ranks that share one KV cache: never more than would hold copies of it.
    pub(super) fn context_ranks(&self, kv_heads: u32) -> u32 {
        let copies = self.attention_ranks / kv_heads.clamp(1, self.attention_ranks);
        self.decode_context.clamp(1, copies.max(1))
    }

    /// One hidden vector for each of `tokens` rows.
    pub(super) fn hidden_bytes(&self, tokens: u32) -> f64 {
        f64::from(tokens) * f64::from(self.hidden) * ACTIVATION
    }
}

/// Appends the operations of one part.
#[derive(Debug)]
pub(super) struct Ops<'a> {
    pub(super) ops: &'a mut Vec<Op>,
    pub(super) part: Part,
}

impl Ops<'_> {
    pub(super) fn push(&mut self, label: &'static str, kind: OpKind) {
        self.ops.push(Op { kind, label, part: self.part });
    }

    pub(super) fn gemm(&mut self, label: &'static str, rows: u32, n: u32, k: u32, weights: WeightFormat) {
        self.push(label, OpKind::Gemm { rows, n, k, weights });
    }

    /// A small memory-bound kernel that moves `bytes` bytes.
    pub(super) fn small(&mut self, label: &'static str, bytes: f64) {
        self.push(label, OpKind::Elementwise { bytes: Bytes::new(bytes) });
    }

    /// A small kernel that reads and writes `numbers` activations for each of `rows` rows.
    pub(super) fn elementwise(&mut self, label: &'static str, rows: u32, numbers: u32) {
        self.small(label, f64::from(rows) * f64::from(numbers) * ACTIVATION);
    }

    /// A collective, unless one rank is alone.
    pub(super) fn collective(&mut self, label: &'static str, op: CollectiveOp, ranks: u32, bytes: f64) {
        if ranks > 1 {
            let kind = OpKind::Collective { op, ranks, bytes: Bytes::new(bytes) };
            self.ops.push(Op { kind, label, part: Part::Collective });
        }
    }
}
