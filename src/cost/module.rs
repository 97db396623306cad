//! Attention timed as a whole: tables that hold one number for the projections, the kernel between them and the
//! output projection.
//!
//! They are measured on the server's own module (aiconfigurator-core 0.12.0: vLLM 0.24, DeepSeek-V3's shapes), so
//! they know every small kernel of it. They stand for the operations from the first projection to the last
//! operation before the collective, where shapes and storage agree; the input norm stays outside.
//!
//! Such a row was replayed as a graph of its own, one module a launch (`collect_mla_module.py`, `repeat_n=1`), so
//! it contains one graph launch, which is taken off. Its weights were read from L2 where they fit; as for every
//! row, `bytes / bandwidth + floor` is the least it can be.

use super::kernel::{is_plain, per_cache_width, shared_cache, tables_of};
use super::price::Pricing;
use super::roofline::{Cost, Demand, Roofline, demand};
use crate::forward::{Op, OpKind, Part};
use crate::runtime::RuntimeKind;
use crate::units::{Bytes, Flops};

/// The shapes of DeepSeek-V3 (and Kimi-K2), which the tables have: hidden size, fused down-projection.
const HIDDEN: u32 = 7168;
const DOWN: [u32; 2] = [1536 + 576, 1536];

/// A module that a table prices as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Module {
    /// How many operations it stands for.
    pub(super) length: usize,
    /// Kernels of those operations.
    pub(super) kernels: u32,
    /// Its time.
    pub(super) cost: Cost,
}

/// The module that starts with the first of `ops`, if there is one and a table for it.
pub(super) fn at(ops: &[Op], with: &Pricing, roofline: &Roofline) -> Option<Module> {
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
    let row = per_cache_width(kv, |kv| {
        let server = tables_of(with.runtime.kind);
        with.calibration.mla_module(server, kv, requests * rows, heads, context)
    })?;
    let alone = Cost { time: row.time - with.runtime.graph_launch.value, ..shared_cache(row, rows) };
    Some(Module { length, kernels: total.kernels, cost: roofline.beyond_l2(alone, &total) })
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
