//! Feed-forward parts: dense MLP and mixture of experts.
//!
//! A fused expert kernel (sort, two grouped products, activation, weighted sum) is one operation. SGLang runs
//! the shared expert inside it only for 256 routed experts and without expert parallelism, which saves three
//! launches and no collective (`models/deepseek_v2.py`, `num_fused_shared_experts`).

use super::super::coverage::{distinct_experts, fullest_rank};
use super::super::op::{OpKind, Part};
use super::context::{Context, Ops};
use crate::model::{Ffn, Moe, WeightFormat};

/// Routed experts with which SGLang fuses the shared one.
const FUSES_SHARED_AT: u32 = 256;

/// Where an operation of the feed-forward part belongs.
pub(super) const fn part_of(ffn: &Ffn) -> Part {
    match ffn {
        Ffn::Dense { .. } => Part::Mlp,
        Ffn::Moe(_) => Part::Experts,
    }
}

/// Everything from behind the post-attention norm to the last projection.
pub(super) fn feed_forward(ops: &mut Ops<'_>, ffn: &Ffn, ctx: &Context) {
    match ffn {
        Ffn::Dense { width, weights } => {
            gated_mlp(ops, ["gate_up", "act", "silu", "mul", "down"], *width, *weights, ctx);
        }
        Ffn::Moe(moe) => mixture(ops, moe, ctx),
    }
}

fn gated_mlp(ops: &mut Ops<'_>, labels: [&'static str; 5], width: u32, weights: WeightFormat, ctx: &Context) {
    let [gate_up, act, silu, mul, down] = labels;
    let tokens = ctx.all_tokens();
    let local = width.div_ceil(ctx.ranks);
    ops.gemm(gate_up, tokens, local.saturating_mul(2), ctx.hidden, weights);
    if ctx.fused {
        ops.elementwise(act, tokens, local.saturating_mul(3));
    } else {
        ops.elementwise(silu, tokens, local.saturating_mul(2));
        ops.elementwise(mul, tokens, local.saturating_mul(3));
    }
    ops.gemm(down, tokens, ctx.hidden, local, weights);
}

fn mixture(ops: &mut Ops<'_>, moe: &Moe, ctx: &Context) {
    let tokens = ctx.all_tokens();
    let routes = if ctx.replicates_mla_down { moe.experts } else { moe.experts.div_ceil(ctx.ranks) };
    ops.gemm("router", tokens, routes, ctx.hidden, moe.router_weights);
    if !ctx.fused {
        ops.elementwise("router_softmax", tokens, 2 * moe.experts);
    }
    ops.elementwise("topk", tokens, moe.experts + 4 * moe.per_token);
    let shared_fused = fuses_shared(moe, ctx);
    ops.push("experts", routed_experts(moe, shared_fused, ctx));
    if moe.shared_width > 0 && !shared_fused {
        let labels = ["shared_gate_up", "shared_act", "shared_silu", "shared_mul", "shared_down"];
        gated_mlp(ops, labels, moe.shared_width, moe.shared_weights, ctx);
        ops.elementwise("shared_add", tokens, 3 * ctx.hidden);
    }
}

fn fuses_shared(moe: &Moe, ctx: &Context) -> bool {
    ctx.sglang
        && moe.experts == FUSES_SHARED_AT
        && ctx.expert_ranks == 1
        && moe.shared_width == moe.width
        && moe.shared_weights == moe.expert_weights
}

fn routed_experts(moe: &Moe, shared_fused: bool, ctx: &Context) -> OpKind {
    let rho = ctx.overlap.within_request;
    let all = distinct_experts(moe.experts, moe.per_token, ctx.all_requests, ctx.rows, rho);
    let distinct = fullest_rank(moe.experts, ctx.expert_ranks, all);
    // Pairs are spread over the experts touched, so the fullest rank computes its share of them.
    let routed = f64::from(ctx.all_requests) * f64::from(ctx.rows) * f64::from(moe.per_token);
    let pairs = if all > 0.0 { routed * distinct / all } else { 0.0 };
    let extra = if shared_fused { 1.0 } else { 0.0 };
    OpKind::Experts {
        tokens: ctx.all_tokens(),
        hidden: ctx.hidden,
        width: moe.width,
        shards: (ctx.ranks / ctx.expert_ranks).max(1),
        experts: moe.experts.div_ceil(ctx.expert_ranks),
        per_token: moe.per_token,
        distinct: distinct + extra,
        pairs: pairs + extra * f64::from(ctx.all_tokens()),
        weights: moe.expert_weights,
    }
}
