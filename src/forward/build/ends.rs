//! What stands before the first layer and after the last: embedding, fusion of draft inputs, head, sampling.

use super::super::op::{Op, Part};
use super::super::pass::PassKind;
use super::attention::norm;
use super::shard::{Ops, Shard};
use crate::model::WeightFormat;
use crate::runtime::CollectiveOp;

/// The embedding, split over the vocabulary where the runtime does so.
pub(super) fn embedding(ops: &mut Vec<Op>, shard: &Shard<'_>) {
    let mut ops = Ops { ops, part: Part::Embedding };
    ops.elementwise("embedding", shard.tokens(), 2 * shard.hidden);
    if shard.runtime.embedding_allreduce && !shard.replicated_attention() {
        let bytes = shard.hidden_bytes(shard.tokens());
        ops.collective("allreduce", CollectiveOp::AllReduce, shard.ranks, bytes);
    }
}

/// EAGLE-3's `fc`: the hidden states of several target layers to one, replicated on every rank.
pub(super) fn eagle_fusion(ops: &mut Vec<Op>, features: u32, weights: WeightFormat, shard: &Shard<'_>) {
    let mut ops = Ops { ops, part: Part::Fusion };
    ops.gemm("fc", shard.tokens(), shard.hidden, features.saturating_mul(shard.hidden), weights);
}

/// The input of an MTP module: two norms and the projection 2H→H, replicated on every rank.
pub(super) fn mtp_fusion(ops: &mut Vec<Op>, weights: WeightFormat, shard: &Shard<'_>) {
    let mut ops = Ops { ops, part: Part::Fusion };
    ops.elementwise("embedding_norm", shard.tokens(), 2 * shard.hidden);
    ops.elementwise("hidden_norm", shard.tokens(), 2 * shard.hidden);
    ops.elementwise("concat", shard.tokens(), 4 * shard.hidden);
    ops.gemm("eh_proj", shard.tokens(), shard.hidden, 2 * shard.hidden, weights);
}

/// Final norm, head, gather of the logits, token selection.
pub(super) fn head(ops: &mut Vec<Op>, vocabulary: u32, weights: WeightFormat, shard: &Shard<'_>) {
    let mut ops = Ops { ops, part: Part::Head };
    norm(&mut ops, "final_norm", shard.tokens(), shard);
    if shard.replicated_attention() {
        let rows = shard.logit_rows() / (shard.ranks / shard.attention_ranks);
        let part = shard.hidden_bytes(rows) / f64::from(shard.attention_ranks);
        ops.collective("allgather_tokens", CollectiveOp::AllGather, shard.ranks, part);
    }
    let rows = shard.logit_rows();
    let local = vocabulary.div_ceil(shard.ranks);
    ops.gemm("head", rows, local, shard.hidden, weights);
    let logits = f64::from(rows) * f64::from(local) * 2.0;
    ops.collective("allgather_logits", CollectiveOp::AllGather, shard.ranks, logits);
    ops.part = Part::Sampling;
    sampling(&mut ops, f64::from(rows) * f64::from(vocabulary), shard.kind);
}

/// Token selection, greedy or as cheap: the logits to fp32 and the largest of them; drafts take probabilities
/// and the best few; verify compares with the drafted tokens.
fn sampling(ops: &mut Ops<'_>, logits: f64, kind: PassKind) {
    match kind {
        PassKind::DraftStep | PassKind::DraftExtend => {
            ops.small("softmax", 6.0 * logits);
            ops.small("draft_topk", 4.0 * logits);
        }
        PassKind::Decode | PassKind::Verify | PassKind::Prefill => {
            ops.small("logits_to_fp32", 6.0 * logits);
            ops.small("argmax", 4.0 * logits);
        }
    }
    if kind == PassKind::Verify {
        ops.small("accept", 0.0);
    }
}
