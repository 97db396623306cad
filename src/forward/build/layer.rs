//! A decoder layer: norm, token mixer, all-reduce, norm, feed-forward part, all-reduce.
//!
//! With data-parallel attention the two all-reduces become a gather before and a reduce-scatter after the
//! feed-forward part, both over all ranks; replicas of several ranks add a reduce-scatter and a gather inside
//! the replica (sglang `layers/dp_attention.py`, padded to the fullest replica).

use super::super::op::{Op, Part};
use super::attention::{mixer, norm};
use super::context::{Context, Ops};
use super::ffn::{feed_forward, part_of};
use crate::model::{Attention, Ffn, Layer};
use crate::runtime::CollectiveOp;

/// What stands before the token mixer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// The residual stream.
    Hidden,
    /// EAGLE-3: normalised embedding and normalised fused feature side by side.
    EmbeddingAndFeature,
}

/// Appends the operations of a layer.
pub(super) fn layer(ops: &mut Vec<Op>, layer: &Layer, input: Input, ctx: &Context) {
    let tokens = ctx.tokens();
    let mut ops = Ops { ops, part: Part::Attention };
    match input {
        Input::Hidden => norm(&mut ops, "input_norm", tokens, ctx),
        Input::EmbeddingAndFeature => {
            ops.elementwise("input_norm", tokens, 2 * ctx.hidden);
            ops.elementwise("hidden_norm", tokens, 2 * ctx.hidden);
            ops.elementwise("concat", tokens, 4 * ctx.hidden);
        }
    }
    mixer(&mut ops, &layer.attention, ctx);
    after_attention(&mut ops, ctx);
    ops.part = part_of(&layer.ffn);
    norm(&mut ops, "post_norm", ctx.all_tokens(), ctx);
    feed_forward(&mut ops, &layer.ffn, ctx);
    after_feed_forward(&mut ops, ctx);
}

fn after_attention(ops: &mut Ops<'_>, ctx: &Context) {
    if ctx.replicated_attention() {
        let local = ctx.hidden_bytes(ctx.tokens());
        ops.collective("reduce_scatter_attention", CollectiveOp::ReduceScatter, ctx.attention_ranks, local);
        let part = local / f64::from(ctx.attention_ranks);
        ops.collective("allgather_tokens", CollectiveOp::AllGather, ctx.ranks, part);
    } else {
        allreduce(ops, ctx);
    }
    residual_add(ops, ctx.tokens(), ctx);
}

fn after_feed_forward(ops: &mut Ops<'_>, ctx: &Context) {
    if ctx.replicated_attention() {
        let all = ctx.hidden_bytes(ctx.all_tokens());
        ops.collective("reduce_scatter_tokens", CollectiveOp::ReduceScatter, ctx.ranks, all);
        let part = ctx.hidden_bytes(ctx.tokens()) / f64::from(ctx.attention_ranks);
        ops.collective("allgather_attention", CollectiveOp::AllGather, ctx.attention_ranks, part);
    } else {
        allreduce(ops, ctx);
    }
    residual_add(ops, ctx.tokens(), ctx);
}

fn allreduce(ops: &mut Ops<'_>, ctx: &Context) {
    ops.collective("allreduce", CollectiveOp::AllReduce, ctx.ranks, ctx.hidden_bytes(ctx.tokens()));
}

/// Without fusion the residual is added by a kernel of its own.
fn residual_add(ops: &mut Ops<'_>, tokens: u32, ctx: &Context) {
    if !ctx.fused {
        ops.elementwise("residual_add", tokens, 3 * ctx.hidden);
    }
}

/// The name of a layer's block.
pub(super) const fn name_of(layer: &Layer) -> &'static str {
    match (&layer.ffn, &layer.attention) {
        (Ffn::Dense { .. }, Attention::Linear(_)) => "dense layer, linear attention",
        (Ffn::Moe(_), Attention::Linear(_)) => "moe layer, linear attention",
        (Ffn::Dense { .. }, Attention::Gqa(gqa)) if gqa.window.is_some() => "dense layer, windowed",
        (Ffn::Moe(_), Attention::Gqa(gqa)) if gqa.window.is_some() => "moe layer, windowed",
        (Ffn::Dense { .. }, _) => "dense layer",
        (Ffn::Moe(_), _) => "moe layer",
    }
}
