//! What one rank must hold: weights and KV cache after sharding.

use super::build::{build, build_draft};
use super::coverage::ExpertOverlap;
use super::op::{OpKind, Part};
use super::pass::{Batch, ForwardPass, Parallelism, PassKind};
use crate::model::{Attention, Draft, Model};
use crate::runtime::{Runtime, RuntimeKind};
use crate::units::Bytes;

/// Weights resident on one rank, embedding included, at their stored widths. Experts count in full, whether a
/// pass touches them or not. Left out: workspaces, the CUDA context, draft weights.
pub fn weights_per_rank(model: &Model, parallel: Parallelism, runtime: &Runtime) -> Bytes {
    let pass = build(model, parallel, &plain(runtime), PassKind::Decode, ONE_ROW, ExpertOverlap::UNIFORM);
    held(&pass, None) + embedding(model, parallel)
}

/// Weights that a draft adds on one rank. An EAGLE-3 head uses the target's embedding, an MTP module its
/// embedding and head.
pub fn draft_weights_per_rank(
    draft: &Draft,
    target: &Model,
    parallel: Parallelism,
    runtime: &Runtime,
) -> Bytes {
    let pass = build_draft(draft, target, parallel, &plain(runtime), PassKind::DraftExtend, ONE_ROW);
    match draft {
        Draft::Eagle3(_) => held(&pass, None),
        Draft::Mtp(_) => held(&pass, Some(Part::Head)),
        Draft::Model(model) => held(&pass, None) + embedding(model, parallel),
    }
}

const ONE_ROW: Batch = Batch { requests: 1, rows: 1, context: 1 };

/// The same weights in vLLM's layout, which keeps the shared expert apart from the routed ones.
fn plain(runtime: &Runtime) -> Runtime {
    Runtime { kind: RuntimeKind::Vllm, ..runtime.clone() }
}

fn held(pass: &ForwardPass, without: Option<Part>) -> Bytes {
    let own = pass.ops().filter(|(op, _)| Some(op.part) != without);
    own.map(|(op, count)| {
        let once = match op.kind {
            OpKind::Experts { hidden, width, shards, experts, weights, .. } => weights
                .bytes(f64::from(experts) * 3.0 * f64::from(hidden) * f64::from(width) / f64::from(shards)),
            _ => op.weight_bytes(),
        };
        once * f64::from(count)
    })
    .sum()
}

/// A table of its own, unless the head's serves; in full on every rank of data-parallel attention.
fn embedding(model: &Model, parallel: Parallelism) -> Bytes {
    let split = if parallel.data_attention > 1 { 1.0 } else { f64::from(parallel.tensor.max(1)) };
    let table =
        if model.tied_embeddings { 0.0 } else { f64::from(model.vocabulary) * f64::from(model.hidden) };
    model.head_weights.bytes(table / split)
}

/// KV cache of one token of one request on one rank, over all layers: KV heads split down to one per rank and
/// then replicated, a latent cache replicated, both split again by decode-context parallelism where copies
/// exist. Windowed layers count as full ones.
pub fn kv_per_rank(model: &Model, parallel: Parallelism) -> Bytes {
    let ranks = (parallel.tensor / parallel.data_attention.max(1)).max(1);
    let per_layer = |attention: &Attention| {
        let heads = match attention {
            Attention::Gqa(gqa) => gqa.kv_heads,
            Attention::Mla(_) => 1,
            Attention::Linear(_) => return Bytes::ZERO,
        };
        let share = f64::from(heads.div_ceil(ranks)) / f64::from(heads);
        let copies = ranks / heads.clamp(1, ranks);
        let split = parallel.decode_context.clamp(1, copies.max(1));
        attention.kv_per_token(model.kv) * (share / f64::from(split)) + attention.index_per_token()
    };
    model.layers.iter().map(|group| per_layer(&group.layer.attention) * f64::from(group.count)).sum()
}
