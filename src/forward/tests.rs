//! Bytes, operations and counts of whole passes against figures computed by hand from the published shapes.

mod counts;
mod drafts;
mod laws;
mod reference;

use super::*;
use crate::model::{Model, preset};
use crate::runtime::{Runtime, RuntimeKind};
use crate::sourced::{Source, Sourced};
use crate::units::Seconds;

/// A runtime of which only the layout matters here.
fn runtime(kind: RuntimeKind) -> Runtime {
    let nothing = Sourced::new(Seconds::ZERO, Source::Assumed);
    let server = matches!(kind, RuntimeKind::Sglang | RuntimeKind::Vllm);
    Runtime {
        kind,
        issue_kernel: nothing,
        issue_collective: nothing,
        graph_launch: nothing,
        graph_node: nothing,
        host_per_step: nothing,
        host_per_cycle: nothing,
        host_per_cycle_overlapped: nothing,
        host_jitter: Sourced::new(0.0, Source::Assumed),
        embedding_allreduce: kind == RuntimeKind::Sglang,
        replicates_mla_down: true,
        fuses_small_ops: server,
        overlaps_shared_experts: server,
    }
}

fn model(name: &str) -> Model {
    preset(name).unwrap_or_else(|| panic!("{name} is a preset"))
}

const fn batch(requests: u32, rows: u32) -> Batch {
    Batch { requests, rows, context: 2048 }
}

/// A verify of `rows` rows of each request on SGLang.
fn verify(name: &str, parallel: Parallelism, batch: Batch, overlap: ExpertOverlap) -> ForwardPass {
    build(&model(name), parallel, &runtime(RuntimeKind::Sglang), PassKind::Verify, batch, overlap)
}

/// A decode on SGLang with tensor parallelism alone.
fn decode(name: &str, ranks: u32) -> ForwardPass {
    let parallel = Parallelism::tensor(ranks);
    build(
        &model(name),
        parallel,
        &runtime(RuntimeKind::Sglang),
        PassKind::Decode,
        batch(1, 1),
        ExpertOverlap::default(),
    )
}

/// Weights read under one label, over the whole pass.
fn weights_of(pass: &ForwardPass, labels: &[&str]) -> f64 {
    let labelled = pass.ops().filter(|(op, _)| labels.contains(&op.label));
    labelled.map(|(op, count)| op.weight_bytes().get() * f64::from(count)).sum()
}

fn within_1_percent(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.01, "{what}: {found:.5e} instead of {expected:.5e}");
}
