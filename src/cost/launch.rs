//! What the calibration's table `launch` says of an operation: GPU time of a small one, what any takes longer amid others,
//! host time to issue it.
//!
//! Rows are asked by the operation's label (`rope`, `kv_write`), then by its class (`norm`, `activation`, `sampling`,
//! `elementwise`; `gemm`, `attention`, `experts`), small kernels last by rows without a name. A label's or class's row
//! holds the whole operation, however many kernels the server makes of it; host rows without a name hold one kernel and
//! come with the runtime ([`Calibration::measured_host`](crate::calibration::Calibration::measured_host)).

use super::pass::Bound;
use super::price::Pricing;
use super::roofline::Cost;
use crate::calibration::LaunchWhat;
use crate::forward::{ForwardPass, Op, OpKind};
use crate::sourced::Sourced;
use crate::units::{Bytes, Seconds};

/// GPU time of a small operation that moves `bytes`, the gap to its neighbour included.
pub(super) fn small(label: &str, bytes: Bytes, with: &Pricing) -> Option<Cost> {
    let row = |op| with.calibration.launch(with.runtime.kind, LaunchWhat::SmallKernel, op, bytes);
    let found =
        row(label).or_else(|| row(class(label))).or_else(|| row("elementwise")).or_else(|| row(""))?;
    Some(Cost {
        time: found.value,
        bound: Bound::Table,
        source: found.source,
        extrapolated: found.extrapolated,
        alone: true,
    })
}

/// What an operation takes longer amid others than in a chain of itself, measured on a whole layer, at the bytes of the
/// pass's hidden state.
pub(super) fn amid(pass: &ForwardPass, with: &Pricing) -> Seconds {
    let embedding = pass.blocks.first().and_then(|block| block.ops.first());
    let Some(OpKind::Elementwise { bytes }) = embedding.map(|op| op.kind) else { return Seconds::ZERO };
    // The embedding reads and writes one hidden state.
    let row = with.calibration.launch(with.runtime.kind, LaunchWhat::GraphNode, "amid", bytes * 0.5);
    row.map_or(Seconds::ZERO, |row| row.value)
}

/// Host time to issue an operation in eager mode, where this server's was measured by name.
pub(super) fn issue(op: &Op, with: &Pricing) -> Option<Sourced<Seconds>> {
    if op.is_collective() || with.calibration.launch_rows().is_empty() {
        return None;
    }
    let row = |name| with.calibration.launch(with.runtime.kind, LaunchWhat::Issue, name, Bytes::ZERO);
    let general = match op.kind {
        OpKind::Gemm { .. } => "gemm",
        OpKind::Attention { .. } | OpKind::MlaAttention { .. } | OpKind::LinearAttention { .. } => {
            "attention"
        }
        OpKind::Experts { .. } => "experts",
        OpKind::Elementwise { .. } | OpKind::Collective { .. } => "elementwise",
    };
    row(op.label).or_else(|| row(class(op.label))).or_else(|| row(general))
}

/// The class of a small operation, as the table names it.
fn class(label: &str) -> &str {
    match label {
        "act" | "silu" | "mul" | "shared_act" | "shared_silu" | "shared_mul" => "activation",
        "argmax" | "logits_to_fp32" | "softmax" | "draft_topk" => "sampling",
        label if label.ends_with("norm") => "norm",
        label if label.ends_with("_add") => "add",
        label => label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_table() {
        for (label, expected) in [
            ("input_norm", "norm"),
            ("q_a_norm", "norm"),
            ("qk_norm", "norm"),
            ("silu", "activation"),
            ("argmax", "sampling"),
            ("residual_add", "add"),
            ("rope", "rope"),
        ] {
            assert_eq!(class(label), expected);
        }
    }
}
