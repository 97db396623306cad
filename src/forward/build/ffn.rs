//! Feed-forward parts: dense MLP and mixture of experts.
//!
//! A fused expert kernel (sort, two grouped products, activation, weighted sum) is one operation. SGLang runs
//! the shared expert inside it only for 256 routed experts and without expert parallelism, which saves three
//! launches and no collective (`models/deepseek_v2.py`, `num_fused_shared_experts`).

use super::super::account::ACTIVATION;
use super::super::coverage::{distinct_experts, fullest_rank};
use super::super::op::{OpKind, Part};
use super::shard::{Ops, Shard};
use crate::model::{Ffn, Moe, WeightFormat};
use crate::runtime::{CollectiveOp, RuntimeKind};

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
pub(super) fn feed_forward(ops: &mut Ops<'_>, ffn: &Ffn, shard: &Shard<'_>) {
    match ffn {
        Ffn::Dense { width, weights } => {
            gated_mlp(ops, ["gate_up", "act", "silu", "mul", "down"], *width, *weights, shard);
        }
        Ffn::Moe(moe) => mixture(ops, moe, shard),
    }
}

fn gated_mlp(
    ops: &mut Ops<'_>,
    labels: [&'static str; 5],
    width: u32,
    weights: WeightFormat,
    shard: &Shard<'_>,
) {
    let [gate_up, act, silu, mul, down] = labels;
    let tokens = shard.all_tokens();
    let local = width.div_ceil(shard.ranks);
    ops.gemm(gate_up, tokens, local.saturating_mul(2), shard.hidden, weights);
    if shard.fused() {
        ops.elementwise(act, tokens, local.saturating_mul(3));
    } else {
        ops.elementwise(silu, tokens, local.saturating_mul(2));
        ops.elementwise(mul, tokens, local.saturating_mul(3));
    }
    ops.gemm(down, tokens, shard.hidden, local, weights);
}

fn mixture(ops: &mut Ops<'_>, moe: &Moe, shard: &Shard<'_>) {
    let tokens = shard.all_tokens();
    if shard.runtime.replicates_mla_down {
        ops.gemm("router", tokens, moe.experts, shard.hidden, moe.router_weights);
    } else {
        let routes = moe.experts.div_ceil(shard.ranks);
        ops.gemm("router", tokens, routes, shard.hidden, moe.router_weights);
        let bytes = f64::from(tokens) * f64::from(routes) * ACTIVATION;
        ops.collective("allgather_router", CollectiveOp::AllGather, shard.ranks, bytes);
    }
    if !shard.fused() {
        ops.elementwise("router_softmax", tokens, 2 * moe.experts);
    }
    ops.elementwise("topk", tokens, moe.experts + 4 * moe.per_token);
    let shared_fused = fuses_shared(moe, shard);
    ops.push("experts", routed_experts(moe, shared_fused, shard));
    if moe.shared_width > 0 && !shared_fused {
        let labels = ["shared_gate_up", "shared_act", "shared_silu", "shared_mul", "shared_down"];
        gated_mlp(ops, labels, moe.shared_width, moe.shared_weights, shard);
        ops.elementwise("shared_add", tokens, 3 * shard.hidden);
    }
}

fn fuses_shared(moe: &Moe, shard: &Shard<'_>) -> bool {
    shard.runtime.kind == RuntimeKind::Sglang
        && moe.experts == FUSES_SHARED_AT
        && shard.expert_ranks == 1
        && moe.shared_width == moe.width
        && moe.shared_weights == moe.expert_weights
}

fn routed_experts(moe: &Moe, shared_fused: bool, shard: &Shard<'_>) -> OpKind {
    let rho = shard.overlap.within_request;
    let all = distinct_experts(moe.experts, moe.per_token, shard.all_requests, shard.rows, rho);
    let distinct = fullest_rank(moe.experts, shard.expert_ranks, all);
    // Pairs are spread over the experts touched, so the fullest rank computes its share of them.
    let routed = f64::from(shard.all_requests) * f64::from(shard.rows) * f64::from(moe.per_token);
    let pairs = if all > 0.0 { routed * distinct / all } else { 0.0 };
    let extra = if shared_fused { 1.0 } else { 0.0 };
    OpKind::Experts {
        tokens: shard.all_tokens(),
        hidden: shard.hidden,
        width: moe.width,
        shards: (shard.ranks / shard.expert_ranks).max(1),
        experts: moe.experts.div_ceil(shard.expert_ranks),
        per_token: moe.per_token,
        distinct: distinct + extra,
        pairs: pairs + extra * f64::from(shard.all_tokens()),
        weights: moe.expert_weights,
    }
}
