//! A decoder layer: norm, token mixer, all-reduce, norm, feed-forward part, all-reduce.
//!
//! With data-parallel attention the two all-reduces become a gather before and a reduce-scatter after the
//! feed-forward part, both over all ranks; replicas of several ranks add a reduce-scatter and a gather inside
//! the replica (sglang `layers/dp_attention.py`, padded to the fullest replica).

use super::super::op::{Op, Part};
use super::attention::{mixer, norm};
use super::ffn::{feed_forward, part_of};
use super::shard::{Ops, Shard};
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
pub(super) fn layer(ops: &mut Vec<Op>, layer: &Layer, input: Input, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let mut ops = Ops { ops, part: Part::Attention };
    match input {
        Input::Hidden => norm(&mut ops, "input_norm", tokens, shard),
        Input::EmbeddingAndFeature => {
            ops.elementwise("input_norm", tokens, 2 * shard.hidden);
            ops.elementwise("hidden_norm", tokens, 2 * shard.hidden);
            ops.elementwise("concat", tokens, 4 * shard.hidden);
        }
    }
    mixer(&mut ops, &layer.attention, shard);
    after_attention(&mut ops, shard);
    ops.part = part_of(&layer.ffn);
    norm(&mut ops, "post_norm", shard.all_tokens(), shard);
    feed_forward(&mut ops, &layer.ffn, shard);
    after_feed_forward(&mut ops, shard);
}

fn after_attention(ops: &mut Ops<'_>, shard: &Shard<'_>) {
    if shard.replicated_attention() {
        let local = shard.hidden_bytes(shard.tokens());
        ops.collective("reduce_scatter_attention", CollectiveOp::ReduceScatter, shard.attention_ranks, local);
        let part = local / f64::from(shard.attention_ranks);
        ops.collective("allgather_tokens", CollectiveOp::AllGather, shard.ranks, part);
    } else {
        allreduce(ops, shard);
    }
    residual_add(ops, shard.tokens(), shard);
}

fn after_feed_forward(ops: &mut Ops<'_>, shard: &Shard<'_>) {
    if shard.replicated_attention() {
        let all = shard.hidden_bytes(shard.all_tokens());
        ops.collective("reduce_scatter_tokens", CollectiveOp::ReduceScatter, shard.ranks, all);
        let part = shard.hidden_bytes(shard.tokens()) / f64::from(shard.attention_ranks);
        ops.collective("allgather_attention", CollectiveOp::AllGather, shard.attention_ranks, part);
    } else {
        allreduce(ops, shard);
    }
    residual_add(ops, shard.tokens(), shard);
}

fn allreduce(ops: &mut Ops<'_>, shard: &Shard<'_>) {
    ops.collective("allreduce", CollectiveOp::AllReduce, shard.ranks, shard.hidden_bytes(shard.tokens()));
}

/// Without fusion the residual is added by a kernel of its own.
fn residual_add(ops: &mut Ops<'_>, tokens: u32, shard: &Shard<'_>) {
    if !shard.fused() {
        ops.elementwise("residual_add", tokens, 3 * shard.hidden);
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
