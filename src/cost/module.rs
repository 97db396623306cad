//! Groups of operations that the tables time as one.
//!
//! vLLM's rows (aiconfigurator-core 0.12.0, vLLM 0.24) time the server's own modules, small kernels included:
//!
//! * Attention of DeepSeek-V3's shapes (`collect_mla_module.py`): stands for the operations from the first projection
//!   to the last before the collective, where shapes and storage agree. The input norm stays outside.
//! * Experts (`collect_moe.py`): the layer is called with router logits, so the selection of experts is inside.
//!
//! Both were replayed one module a graph (`repeat_n=1`), so a row contains the launch of a graph, [`REPLAY`], which
//! is taken off. Weights were read from L2 where they fit; [`Roofline::beyond_l2`] holds for modules too.

use super::kernel::{self, is_measured_here, is_plain, per_cache_width, tables_of};
use super::price::Pricing;
use super::roofline::{Cost, Demand, Roofline, demand, kernels};
use super::shared::sharing;
use crate::calibration::Lookup;
use crate::forward::{Op, OpKind, Part};
use crate::model::KvFormat;
use crate::runtime::RuntimeKind;
use crate::units::{Bytes, Flops, Seconds};

/// The shapes of DeepSeek-V3 (and Kimi-K2), which the tables have: hidden size, fused down-projection.
const HIDDEN: u32 = 7168;
const DOWN: [u32; 2] = [1536 + 576, 1536];

/// A graph launch on its own stream, 2.5 µs (NVIDIA's blog on constant-time launch), inside rows that time one module
/// a graph.
pub(super) const REPLAY: Seconds = Seconds::from_us(2.5);

/// Operations that a table prices as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Module {
    /// Its name in breakdowns.
    pub(super) label: &'static str,
    /// How many operations it stands for.
    pub(super) length: usize,
    /// Kernels of those operations.
    pub(super) kernels: u32,
    /// Its time.
    pub(super) cost: Cost,
}

/// The module that starts with the first of `ops`, if there is one and a table for it.
pub(super) fn at(ops: &[Op], with: &Pricing, roofline: &Roofline) -> Option<Module> {
    if tables_of(with.runtime.kind) != RuntimeKind::Vllm {
        return None;
    }
    match ops.first()?.part {
        Part::Attention => attention(ops, with, roofline),
        Part::Experts => experts(ops, with, roofline),
        _ => None,
    }
}

/// Selection of experts and the experts.
fn experts(ops: &[Op], with: &Pricing, roofline: &Roofline) -> Option<Module> {
    let [Op { label: "topk", kind: select, .. }, Op { kind, label, .. }, ..] = ops else { return None };
    let demand = demand(kind)?;
    let (row, server) = kernel::experts(kind, with)?;
    if server.is_some_and(is_measured_here) {
        return None;
    }
    let cost = roofline.beyond_l2(row, &demand);
    Some(Module { label, length: 2, kernels: demand.kernels + kernels(select), cost })
}

/// Projections and attention between them. Servers only: other runtimes do not run vLLM's module.
fn attention(ops: &[Op], with: &Pricing, roofline: &Roofline) -> Option<Module> {
    if with.runtime.kind != RuntimeKind::Vllm || !starts(ops.first()?) {
        return None;
    }
    let length = ops.iter().take_while(|op| op.part == Part::Attention).count();
    let ops = &ops[..length];
    let total = whole(ops)?;
    let OpKind::MlaAttention { requests, rows, context, heads, kv_lora: 512, rope: 64, kv } =
        ops.iter().map(|op| op.kind).find(|kind| matches!(kind, OpKind::MlaAttention { .. }))?
    else {
        return None;
    };
    let look_up = |kv, heads, batch, context| {
        let server = tables_of(with.runtime.kind);
        with.calibration.mla_module(server, kv, batch, heads, context)
    };
    let row = sharing(requests, rows, context, |batch, context| {
        let wide = per_cache_width(kv, |kv| look_up(kv, heads, batch, context))?;
        Some(narrowed(kv, wide.into(), |kv| look_up(kv, 1, batch, context)))
    })?;
    let alone = Cost { time: (row.time - REPLAY).max(Seconds::ZERO), ..row };
    Some(Module {
        label: "attention module",
        length,
        kernels: total.kernels,
        cost: roofline.beyond_l2(alone, &total),
    })
}

/// A bf16 row for a narrower cache: what the cache saves is measured for one head on some GPUs, at the same batch and
/// context, and a share of the time as for all heads that read the cache together.
fn narrowed(kv: KvFormat, row: Cost, one_head: impl Fn(KvFormat) -> Option<Lookup>) -> Cost {
    if kv == KvFormat::Bf16 || !row.extrapolated {
        return row;
    }
    match (one_head(kv), one_head(KvFormat::Bf16)) {
        (Some(narrow), Some(wide)) => Cost { time: row.time * (narrow.time / wide.time).min(1.0), ..row },
        _ => row,
    }
}

/// Whether an operation is the first projection of such a module.
fn starts(op: &Op) -> bool {
    matches!(op.kind, OpKind::Gemm { n, k: HIDDEN, .. } if op.part == Part::Attention && DOWN.contains(&n))
}

/// The demand of all operations together; none if a projection is stored in another format than the table's.
fn whole(ops: &[Op]) -> Option<Demand> {
    let mut total = Demand {
        weights: Bytes::ZERO,
        other: Bytes::ZERO,
        flops: Flops::ZERO,
        kernels: 0,
        format: crate::model::WeightFormat::Bf16,
    };
    for op in ops {
        let part = demand(&op.kind)?;
        if !is_plain(part.format) {
            return None;
        }
        total.weights += part.weights;
        total.other += part.other;
        total.flops += part.flops;
        total.kernels += part.kernels;
    }
    Some(total)
}
