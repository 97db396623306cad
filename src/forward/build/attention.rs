//! Token mixers: grouped-query, latent (absorbed in decode), linear.
//!
//! Labels are the modules' names in the servers. A split attention kernel (split and reduce) is one operation.
//! Sources: sglang `models/{llama,qwen3_moe,glm4_moe,gpt_oss,deepseek_v2,qwen3_next}.py`,
//! `layers/attention/nsa/nsa_indexer.py`; vLLM `v1/attention/backends/mla/common.py` for the split context.

use super::super::account::ACTIVATION;
use super::super::op::OpKind;
use super::shard::{Ops, Shard};
use crate::model::{Attention, Gqa, KvFormat, LinearAttention, Mla, SparseIndex, WeightFormat};
use crate::runtime::CollectiveOp;
use crate::units::{Bytes, Flops};

/// Operations of the delta rule per number of the state and row: decay 1, k·S 2, update 2, q·S 2.
const DELTA_RULE_FLOPS: f64 = 7.0;

/// The input norm of a layer. Servers fuse the residual's addition into it.
pub(super) fn norm(ops: &mut Ops<'_>, label: &'static str, tokens: u32, shard: &Shard<'_>) {
    ops.elementwise(label, tokens, if shard.fused() { 4 } else { 2 } * shard.hidden);
}

/// Everything from behind the input norm to the output projection.
pub(super) fn mixer(ops: &mut Ops<'_>, attention: &Attention, shard: &Shard<'_>) {
    match attention {
        Attention::Gqa(gqa) => grouped_query(ops, gqa, shard),
        Attention::Mla(mla) if shard.kind == super::PassKind::Prefill => latent_prefill(ops, mla, shard),
        Attention::Mla(mla) => latent(ops, mla, shard),
        Attention::Linear(linear) => delta_rule(ops, linear, shard),
    }
}

fn grouped_query(ops: &mut Ops<'_>, gqa: &Gqa, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let heads = gqa.heads.div_ceil(shard.attention_ranks);
    let kv_heads = gqa.kv_heads.div_ceil(shard.attention_ranks);
    let width = |heads: u32| heads.saturating_mul(gqa.head_dim);
    let queries = if gqa.gated { 2 * heads } else { heads };
    ops.gemm("qkv", tokens, width(queries + 2 * kv_heads), gqa.input_multiple * shard.hidden, gqa.weights);
    if gqa.qk_norm {
        ops.elementwise("qk_norm", tokens, 2 * width(heads + kv_heads));
    }
    ops.elementwise("rope", tokens, 2 * width(heads + kv_heads));
    ops.elementwise("kv_write", tokens, 4 * width(kv_heads));
    let shared = shard.context_ranks(gqa.kv_heads);
    gather_queries(ops, width(heads), shared, shard);
    let attended = shard.attended().min(gqa.window.unwrap_or(u32::MAX));
    ops.push(
        "attention",
        OpKind::Attention {
            requests: shard.requests,
            rows: shard.rows,
            context: attended.div_ceil(shared),
            heads: heads * shared,
            kv_heads,
            head_dim: gqa.head_dim,
            kv: shard.kv,
        },
    );
    combine_outputs(ops, heads * shared, gqa.head_dim, shared, shard);
    if gqa.gated {
        ops.elementwise("output_gate", tokens, 3 * width(heads));
    }
    ops.gemm("o", tokens, shard.hidden, width(heads), gqa.weights);
}

/// Splitting a KV cache over ranks needs every rank's queries on all of them. They are gathered along the heads, so
/// the parts, which arrive one after the other, are copied into place.
fn gather_queries(ops: &mut Ops<'_>, width: u32, shared: u32, shard: &Shard<'_>) {
    let bytes = f64::from(shard.tokens()) * f64::from(width) * ACTIVATION;
    ops.collective("allgather_q", CollectiveOp::AllGather, shared, bytes);
    if shared > 1 {
        ops.small("transpose_q", 2.0 * bytes * f64::from(shared));
    }
}

/// Partial outputs over a split KV cache are weighted by their log-sum-exp and summed: vLLM's `cp_lse_ag_out_rs`. The
/// sum is scattered along the heads, which takes a copy of the whole before and of the part after
/// (`movedim(0, dim).contiguous()` in its communicators). Taken for every runtime.
fn combine_outputs(ops: &mut Ops<'_>, heads: u32, width: u32, shared: u32, shard: &Shard<'_>) {
    if shared > 1 {
        let pairs = f64::from(shard.tokens()) * f64::from(heads);
        ops.collective("allgather_lse", CollectiveOp::AllGather, shared, pairs * 4.0);
        let outputs = pairs * f64::from(width) * ACTIVATION;
        ops.small("lse_scale", 2.0 * outputs);
        ops.small("transpose_o", 2.0 * outputs);
        ops.collective("reduce_scatter_o", CollectiveOp::ReduceScatter, shared, outputs);
        ops.small("transpose_part", 2.0 * outputs / f64::from(shared));
    }
}

/// Down-projections, their norms and the query's up-projection.
fn latent_inputs(ops: &mut Ops<'_>, mla: &Mla, heads: u32, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let input = shard.hidden * shard.input_multiple;
    let compressed = mla.kv_lora + mla.rope;
    let query_width = heads.saturating_mul(mla.nope + mla.rope);
    if let Some(q_lora) = mla.q_lora {
        if shard.fused() {
            latent_down(ops, "qkv_a", q_lora + compressed, mla, shard);
        } else {
            latent_down(ops, "q_a", q_lora, mla, shard);
            latent_down(ops, "kv_a", compressed, mla, shard);
        }
        ops.elementwise("q_a_norm", tokens, 2 * q_lora);
        ops.elementwise("kv_a_norm", tokens, 2 * mla.kv_lora);
        ops.gemm("q_b", tokens, query_width, q_lora, mla.weights);
    } else {
        ops.gemm("q", tokens, query_width, input, mla.weights);
        latent_down(ops, "kv_a", compressed, mla, shard);
        ops.elementwise("kv_a_norm", tokens, 2 * mla.kv_lora);
    }
    if let Some(index) = mla.index {
        sparse_index(ops, index, mla, shard);
    }
}

/// A down-projection, on every rank in full, or split and gathered.
fn latent_down(ops: &mut Ops<'_>, label: &'static str, width: u32, mla: &Mla, shard: &Shard<'_>) {
    let input = shard.hidden * shard.input_multiple;
    if shard.runtime.replicates_mla_down {
        ops.gemm(label, shard.tokens(), width, input, mla.weights);
    } else {
        let local = width.div_ceil(shard.attention_ranks);
        ops.gemm(label, shard.tokens(), local, input, mla.weights);
        let bytes = f64::from(shard.tokens()) * f64::from(local) * ACTIVATION;
        ops.collective("allgather_latent", CollectiveOp::AllGather, shard.attention_ranks, bytes);
    }
}

/// The token selector of GLM-5 and DeepSeek-V3.2, replicated on every rank: an fp8 key of each cached token is
/// scored against the index heads, and the best tokens are kept.
fn sparse_index(ops: &mut Ops<'_>, index: SparseIndex, mla: &Mla, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let source = mla.q_lora.unwrap_or(shard.hidden);
    ops.gemm("index_q", tokens, index.heads.saturating_mul(index.head_dim), source, mla.weights);
    ops.gemm("index_k", tokens, index.head_dim + index.heads, shard.hidden, mla.weights);
    ops.elementwise("index_rope", tokens, 2 * (index.heads + 1).saturating_mul(index.head_dim));
    ops.elementwise("index_write", tokens, 2 * index.head_dim);
    let cached = f64::from(shard.attended());
    let keys = Attention::Mla(mla.clone()).index_per_token().get();
    let scores = f64::from(tokens) * cached * 4.0;
    ops.small("index_scores", f64::from(shard.requests) * cached * keys + scores);
    ops.small("index_topk", scores);
}

fn latent(ops: &mut Ops<'_>, mla: &Mla, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let heads = mla.heads.div_ceil(shard.attention_ranks);
    let compressed = mla.kv_lora + mla.rope;
    latent_inputs(ops, mla, heads, shard);
    ops.gemm("absorb_k", tokens, heads.saturating_mul(mla.kv_lora), mla.nope, mla.weights);
    ops.elementwise("rope", tokens, 2 * (heads + 1).saturating_mul(mla.rope));
    ops.elementwise("kv_write", tokens, 2 * compressed);
    let shared = shard.context_ranks(1);
    gather_queries(ops, heads.saturating_mul(compressed), shared, shard);
    let kept = mla.index.map_or(u32::MAX, |index| index.top_tokens);
    ops.push(
        "mla_attention",
        OpKind::MlaAttention {
            requests: shard.requests,
            rows: shard.rows,
            context: shard.attended().min(kept).div_ceil(shared),
            heads: heads * shared,
            kv_lora: mla.kv_lora,
            rope: mla.rope,
            kv: shard.kv,
        },
    );
    combine_outputs(ops, heads * shared, mla.kv_lora, shared, shard);
    ops.gemm("absorb_v", tokens, heads.saturating_mul(mla.value), mla.kv_lora, mla.weights);
    ops.gemm("o", tokens, shard.hidden, heads.saturating_mul(mla.value), mla.weights);
}

/// In a prompt keys and values are expanded instead, and attention is multi-head.
fn latent_prefill(ops: &mut Ops<'_>, mla: &Mla, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let heads = mla.heads.div_ceil(shard.attention_ranks);
    latent_inputs(ops, mla, heads, shard);
    let cached = shard.requests.saturating_mul(shard.context.saturating_add(shard.rows));
    ops.gemm("kv_b", cached, heads.saturating_mul(mla.nope + mla.value), mla.kv_lora, mla.weights);
    ops.elementwise("rope", tokens, 2 * (heads + 1).saturating_mul(mla.rope));
    ops.elementwise("kv_write", tokens, 2 * (mla.kv_lora + mla.rope));
    let kept = mla.index.map_or(u32::MAX, |index| index.top_tokens);
    ops.push(
        "attention",
        OpKind::Attention {
            requests: shard.requests,
            rows: shard.rows,
            context: shard.attended().min(kept),
            heads,
            kv_heads: heads,
            // Scores take nope + rope operations per head, values take `value`: the mean counts both.
            head_dim: (mla.nope + mla.rope + mla.value).div_ceil(2),
            kv: KvFormat::Bf16,
        },
    );
    ops.gemm("o", tokens, shard.hidden, heads.saturating_mul(mla.value), mla.weights);
}

fn delta_rule(ops: &mut Ops<'_>, linear: &LinearAttention, shard: &Shard<'_>) {
    let tokens = shard.tokens();
    let key_heads = linear.key_heads.div_ceil(shard.attention_ranks);
    let value_heads = linear.value_heads.div_ceil(shard.attention_ranks);
    let keys = key_heads.saturating_mul(linear.key_dim);
    let values = value_heads.saturating_mul(linear.value_dim);
    ops.gemm("in_proj_qkvz", tokens, 2 * keys + 2 * values, shard.hidden, linear.weights);
    // Two numbers per head: kept at 16 bit by the servers.
    ops.gemm("in_proj_ba", tokens, 2 * value_heads, shard.hidden, WeightFormat::Bf16);
    ops.elementwise("qkvz_split", tokens, 4 * (keys + values));
    ops.elementwise("convolution", tokens, (linear.convolution + 1) * (2 * keys + values));
    let state = f64::from(value_heads) * f64::from(linear.key_dim) * f64::from(linear.value_dim);
    // A prompt keeps its states on the chip: one read and one write, however many rows.
    let (rows, repeated) =
        if shard.kind == super::PassKind::Prefill { (1, shard.rows) } else { (shard.rows, 1) };
    ops.push(
        "delta_rule",
        OpKind::LinearAttention {
            requests: shard.requests,
            rows,
            state: Bytes::new(
                Attention::Linear(linear.clone()).state_per_request().get()
                    / f64::from(shard.attention_ranks),
            ),
            flops_per_row: Flops::new(DELTA_RULE_FLOPS * state * f64::from(repeated)),
        },
    );
    ops.elementwise("gated_norm", tokens, 3 * values);
    ops.gemm("out_proj", tokens, shard.hidden, values, linear.weights);
}
