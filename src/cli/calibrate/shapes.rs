//! What a scenario asks of the GPUs: shapes of every operation of its passes, per rank.

use crate::calibration::measure::plan::{AttentionShape, MoeShape, Shapes};
use crate::forward::{self, Batch, ExpertOverlap, ForwardPass, OpKind, PassKind};
use crate::runtime::CollectiveOp;
use crate::scenario::{Method, ModelledSetup};

/// Shapes of decode, verify and draft passes.
pub(super) fn of(setup: &ModelledSetup) -> Shapes {
    let mut shapes = Shapes {
        hidden: setup.model.hidden,
        vocabulary: setup.model.vocabulary,
        context: setup.context,
        batch: setup.common.batch,
        ranks: setup.parallel.tensor,
        ..Shapes::default()
    };
    for pass in passes(setup) {
        for (op, _) in pass.ops() {
            add(&mut shapes, &op.kind, pass.batch.tokens());
        }
    }
    shapes
}

/// One request with one row: shapes do not depend on more, and messages are counted in rows.
fn passes(setup: &ModelledSetup) -> Vec<ForwardPass> {
    let batch = Batch { requests: 1, rows: 1, context: setup.context };
    let (parallel, runtime) = (setup.parallel, &setup.runtime);
    let target =
        |kind| forward::build(&setup.model, parallel, runtime, kind, batch, ExpertOverlap::default());
    let mut passes = vec![target(PassKind::Decode), target(PassKind::Verify)];
    if let Some(draft) = setup.draft.as_deref().filter(|_| setup.common.method != Method::Ngram) {
        for kind in [PassKind::DraftStep, PassKind::DraftExtend] {
            passes.push(forward::build_draft(draft, &setup.model, parallel, runtime, kind, batch));
        }
    }
    passes
}

fn add(shapes: &mut Shapes, kind: &OpKind, tokens: u32) {
    match *kind {
        OpKind::Gemm { n, k, weights, .. } => {
            shapes.gemms.insert((weights, n, k));
        }
        OpKind::Attention { heads, kv_heads, head_dim, kv, .. } => {
            shapes.attention.insert(AttentionShape { kv, head_dim, heads, kv_heads });
        }
        OpKind::MlaAttention { heads, kv_lora: 512, rope: 64, kv, .. } => {
            shapes.latent.insert((kv, heads));
        }
        OpKind::Experts { hidden, width, shards, experts, per_token, weights, .. } => {
            shapes.experts.insert(MoeShape { weights, hidden, width, per_token, experts, shards });
        }
        OpKind::Collective { op, bytes, .. } => {
            let row = (bytes.get() / f64::from(tokens.max(1))).round() as u64;
            match op {
                CollectiveOp::AllReduce => shapes.row_bytes.insert(row),
                CollectiveOp::AllGather => shapes.gathered_row_bytes.insert(row),
                CollectiveOp::ReduceScatter | CollectiveOp::AllToAll => false,
            };
        }
        OpKind::MlaAttention { .. } | OpKind::LinearAttention { .. } | OpKind::Elementwise { .. } => {}
    }
}
