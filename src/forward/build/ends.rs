//! What stands before the first layer and after the last: embedding, fusion of draft inputs, head, sampling.

use super::super::op::{Op, Part};
use super::super::pass::PassKind;
use super::attention::norm;
use super::context::{Context, Ops};
use crate::model::WeightFormat;
use crate::runtime::CollectiveOp;

/// The embedding, split over the vocabulary where the runtime does so.
pub(super) fn embedding(ops: &mut Vec<Op>, ctx: &Context) {
    let mut ops = Ops { ops, part: Part::Embedding };
    ops.elementwise("embedding", ctx.tokens(), 2 * ctx.hidden);
    if ctx.embedding_allreduce && !ctx.replicated_attention() {
        let bytes = ctx.hidden_bytes(ctx.tokens());
        ops.collective("allreduce", CollectiveOp::AllReduce, ctx.ranks, bytes);
    }
}

/// EAGLE-3's `fc`: the hidden states of several target layers to one, replicated on every rank.
pub(super) fn eagle_fusion(ops: &mut Vec<Op>, features: u32, weights: WeightFormat, ctx: &Context) {
    let mut ops = Ops { ops, part: Part::Fusion };
    ops.gemm("fc", ctx.tokens(), ctx.hidden, features.saturating_mul(ctx.hidden), weights);
}

/// The input of an MTP module: two norms and the projection 2H→H, replicated on every rank.
pub(super) fn mtp_fusion(ops: &mut Vec<Op>, weights: WeightFormat, ctx: &Context) {
    let mut ops = Ops { ops, part: Part::Fusion };
    ops.elementwise("embedding_norm", ctx.tokens(), 2 * ctx.hidden);
    ops.elementwise("hidden_norm", ctx.tokens(), 2 * ctx.hidden);
    ops.elementwise("concat", ctx.tokens(), 4 * ctx.hidden);
    ops.gemm("eh_proj", ctx.tokens(), ctx.hidden, 2 * ctx.hidden, weights);
}

/// Final norm, head, gather of the logits, token selection.
pub(super) fn head(ops: &mut Vec<Op>, vocabulary: u32, weights: WeightFormat, ctx: &Context) {
    let mut ops = Ops { ops, part: Part::Head };
    norm(&mut ops, "final_norm", ctx.tokens(), ctx);
    if ctx.replicated_attention() {
        let rows = ctx.logit_rows() / (ctx.ranks / ctx.attention_ranks);
        let part = ctx.hidden_bytes(rows) / f64::from(ctx.attention_ranks);
        ops.collective("allgather_tokens", CollectiveOp::AllGather, ctx.ranks, part);
    }
    let rows = ctx.logit_rows();
    let local = vocabulary.div_ceil(ctx.ranks);
    ops.gemm("head", rows, local, ctx.hidden, weights);
    let logits = f64::from(rows) * f64::from(local) * 2.0;
    ops.collective("allgather_logits", CollectiveOp::AllGather, ctx.ranks, logits);
    ops.part = Part::Sampling;
    sampling(&mut ops, f64::from(rows) * f64::from(vocabulary), ctx.kind);
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
