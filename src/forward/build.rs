//! Builds forward passes of targets and drafts.

mod assembler;
mod attention;
mod ends;
mod ffn;
mod layer;
mod shard;

use super::coverage::ExpertOverlap;
use super::pass::{Batch, ForwardPass, Parallelism, PassKind};
use crate::model::{Draft, Eagle3, LayerGroup, Model, Mtp};
use crate::runtime::Runtime;
use assembler::Assembler;
use layer::Input;
use shard::Shard;

/// Distinct layers that are told apart; a network with more gets a block for each further group.
const MOST_DISTINCT: usize = 16;

/// The operations of a pass of the target on one rank. `kind` is a decode, a verify or a prefill; `batch.rows`
/// is 1, the verified rows per request, or the tokens of the chunk. `overlap` decides how many experts the rows
/// of a request share.
pub fn build(
    model: &Model,
    parallel: Parallelism,
    runtime: &Runtime,
    kind: PassKind,
    batch: Batch,
    overlap: ExpertOverlap,
) -> ForwardPass {
    let mut pass = ForwardPass::empty(kind, batch);
    rebuild(&mut pass, model, parallel, runtime, kind, batch, overlap);
    pass
}

/// As [`build`], into the memory of an earlier pass: for scans over batches and contexts.
pub fn rebuild(
    pass: &mut ForwardPass,
    model: &Model,
    parallel: Parallelism,
    runtime: &Runtime,
    kind: PassKind,
    batch: Batch,
    overlap: ExpertOverlap,
) {
    (pass.kind, pass.batch) = (kind, batch);
    let shard = Shard::new(model.hidden, model.kv, parallel, runtime, kind, batch, overlap);
    let mut assembler = Assembler::start(pass);
    whole_model(&mut assembler, model, &shard);
    assembler.finish();
}

/// The operations of one pass of a draft on one rank: a step (`batch.rows` = branches per request) or an extend
/// over the rows that verify produced. `target` brings the KV storage that the server uses for both. Coverage of
/// an expert layer in the draft takes the default [`ExpertOverlap`].
pub fn build_draft(
    draft: &Draft,
    target: &Model,
    parallel: Parallelism,
    runtime: &Runtime,
    kind: PassKind,
    batch: Batch,
) -> ForwardPass {
    let mut pass = ForwardPass::empty(kind, batch);
    rebuild_draft(&mut pass, draft, target, parallel, runtime, kind, batch);
    pass
}

/// As [`build_draft`], into the memory of an earlier pass.
pub fn rebuild_draft(
    pass: &mut ForwardPass,
    draft: &Draft,
    target: &Model,
    parallel: Parallelism,
    runtime: &Runtime,
    kind: PassKind,
    batch: Batch,
) {
    (pass.kind, pass.batch) = (kind, batch);
    let (hidden, kv) = match draft {
        Draft::Eagle3(eagle) => (eagle.hidden, target.kv),
        Draft::Mtp(mtp) => (mtp.hidden, target.kv),
        Draft::Model(model) => (model.hidden, model.kv),
    };
    let shard = Shard::new(hidden, kv, parallel, runtime, kind, batch, ExpertOverlap::default());
    let mut assembler = Assembler::start(pass);
    match draft {
        Draft::Eagle3(eagle) => eagle3(&mut assembler, eagle, shard),
        Draft::Mtp(mtp) => multi_token(&mut assembler, mtp, &shard),
        Draft::Model(model) => whole_model(&mut assembler, model, &shard),
    }
    assembler.finish();
}

fn whole_model(assembler: &mut Assembler<'_>, model: &Model, shard: &Shard<'_>) {
    assembler.once("embedding", |ops| ends::embedding(ops, shard));
    layers(assembler, &model.layers, shard);
    assembler.once("head", |ops| ends::head(ops, model.vocabulary, model.head_weights, shard));
}

/// Equal layers share a block even where they are no neighbours.
fn layers(assembler: &mut Assembler<'_>, groups: &[LayerGroup], shard: &Shard<'_>) {
    let first = assembler.next();
    let mut distinct = [0_usize; MOST_DISTINCT];
    let mut known = 0;
    for (number, group) in groups.iter().enumerate() {
        let same = distinct[..known].iter().position(|other| groups[*other].layer == group.layer);
        let block = if let Some(position) = same {
            first + position
        } else {
            if known < MOST_DISTINCT && assembler.next() == first + known {
                distinct[known] = number;
                known += 1;
            }
            let name = layer::name_of(&group.layer);
            assembler.block(name, |ops| layer::layer(ops, &group.layer, Input::Hidden, shard))
        };
        assembler.run(block, group.count);
    }
}

/// Fusion of the target's features happens where they arrive, in the extend pass; later steps feed on the
/// draft's own hidden state.
fn eagle3(assembler: &mut Assembler<'_>, eagle: &Eagle3, mut shard: Shard<'_>) {
    shard.input_multiple = Eagle3::INPUT_MULTIPLE;
    let shard = &shard;
    assembler.once("embedding", |ops| ends::embedding(ops, shard));
    if shard.kind == PassKind::DraftExtend {
        assembler.once("fusion", |ops| ends::eagle_fusion(ops, eagle.fused_features, eagle.weights, shard));
    }
    assembler.once("draft layer", |ops| layer::layer(ops, &eagle.layer, Input::EmbeddingAndFeature, shard));
    assembler.once("head", |ops| ends::head(ops, eagle.vocabulary, eagle.weights, shard));
}

fn multi_token(assembler: &mut Assembler<'_>, mtp: &Mtp, shard: &Shard<'_>) {
    assembler.once("embedding", |ops| ends::embedding(ops, shard));
    assembler.once("fusion", |ops| ends::mtp_fusion(ops, mtp.weights, shard));
    assembler.once("draft layer", |ops| layer::layer(ops, &mtp.layer, Input::Hidden, shard));
    assembler.once("head", |ops| ends::head(ops, mtp.vocabulary, mtp.weights, shard));
}
