//! The roofline: `time = max(bytes / achieved bandwidth, flops / achieved rate) + kernels · floor`.
//!
//! Bytes are those that must cross the memory bus: weights at their stored width, the KV cache once per request
//! (rows of one request share it), activations in bf16. Weight-only formats compute at the bf16 rate.
//!
//! * Achieved bandwidth: a fraction of the datasheet, per GPU, from matrices that no L2 cache holds.
//! * Achieved rate: [`COMPUTE_EFFICIENCY`] of the datasheet.
//! * Floor: the shortest time that a kernel takes in a graph, its launch included.

use crate::forward::OpKind;
use crate::hardware::Gpu;
use crate::model::WeightFormat;
use crate::sourced::Source;
use crate::units::{Bandwidth, Bytes, FlopRate, Flops, Seconds};

use super::pass::Bound;

/// Share of the datasheet's tensor rate that large matrices reach: the median of 99 bf16 products of 256 rows on
/// an RTX PRO 6000 is 0.64 (aiconfigurator-core 0.12.0); assumed for other GPUs and formats.
pub const COMPUTE_EFFICIENCY: f64 = 0.64;

/// What an operation asks of a GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Weights read \[B\]; what a benchmark may have found in L2.
    pub weights: Bytes,
    /// Everything else that crosses the memory bus.
    pub other: Bytes,
    /// Operations.
    pub flops: Flops,
    /// Kernels launched.
    pub kernels: u32,
    /// Storage of the weights, which decides the tensor rate.
    pub format: WeightFormat,
}

/// A time with what limits it and where it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The time.
    pub time: Seconds,
    /// What limits it.
    pub bound: Bound,
    /// Where it came from.
    pub source: Source,
    /// Whether a table was left at its edge.
    pub extrapolated: bool,
    /// Whether the operation was timed in a chain of itself, and takes longer amid others.
    pub alone: bool,
}

/// A GPU as the roofline sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofline {
    /// Achieved memory bandwidth.
    pub bandwidth: Bandwidth,
    /// Typical small kernel in a graph.
    pub floor: Seconds,
    /// The least that any kernel takes: the smallest product of the calibration's tables, or else the floor.
    pub least: Seconds,
    /// L2 cache.
    pub l2: Bytes,
    /// Source of bandwidth and floor together.
    pub source: Source,
    rates: Rates,
}

/// Tensor rates as achieved.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rates {
    bf16: FlopRate,
    fp8: FlopRate,
    fp4: FlopRate,
}

impl Roofline {
    /// The roofline of a GPU. `smallest` is the time of the smallest kernel that a table holds, if there is one.
    pub fn of(gpu: &Gpu, smallest: Option<Seconds>) -> Self {
        let bf16 = gpu.bf16 * COMPUTE_EFFICIENCY;
        let fp8 = gpu.fp8.map_or(bf16, |rate| rate * COMPUTE_EFFICIENCY);
        Self {
            bandwidth: gpu.bandwidth * gpu.achieved_bandwidth.value,
            floor: gpu.kernel_floor.value,
            least: smallest.unwrap_or(gpu.kernel_floor.value).min(gpu.kernel_floor.value),
            l2: gpu.l2,
            source: Source::Roofline.combine(gpu.achieved_bandwidth.source).combine(gpu.kernel_floor.source),
            rates: Rates { bf16, fp8, fp4: gpu.fp4.map_or(fp8, |rate| rate * COMPUTE_EFFICIENCY) },
        }
    }

    /// The time of a demand.
    pub fn time(&self, demand: &Demand) -> Cost {
        let memory = (demand.weights + demand.other) / self.bandwidth;
        let compute = demand.flops / self.rate(demand.format);
        let floor = self.floor * f64::from(demand.kernels);
        let bound = if memory.max(compute) < floor {
            Bound::Floor
        } else if compute > memory {
            Bound::Compute
        } else {
            Bound::Memory
        };
        Cost {
            time: memory.max(compute) + floor,
            bound,
            source: self.source,
            extrapolated: false,
            alone: false,
        }
    }

    /// Corrects a measured time for the L2 trap: a benchmark that repeats one matrix smaller than L2 reads it
    /// from there, and no decode step would find it there. Such a row is a lower bound; so is
    /// `bytes / achieved bandwidth` plus the least that each of its kernels takes.
    pub fn beyond_l2(&self, row: Cost, demand: &Demand) -> Cost {
        if demand.weights >= self.l2 {
            return row;
        }
        let streamed = demand.weights / self.bandwidth + self.least * f64::from(demand.kernels);
        if streamed <= row.time {
            return row;
        }
        Cost { time: streamed, bound: Bound::Memory, source: row.source.combine(self.source), ..row }
    }

    /// Time to read `bytes`, no floor.
    pub fn stream(&self, bytes: Bytes) -> Seconds {
        bytes / self.bandwidth
    }

    fn rate(&self, format: WeightFormat) -> FlopRate {
        match format {
            WeightFormat::Fp8 | WeightFormat::Fp8Block => self.rates.fp8,
            WeightFormat::Nvfp4 => self.rates.fp4,
            WeightFormat::Fp32
            | WeightFormat::Bf16
            | WeightFormat::Int8
            | WeightFormat::Int4 { .. }
            | WeightFormat::Mxfp4 => self.rates.bf16,
        }
    }
}

/// What a compute operation asks for; none for a collective.
pub fn demand(kind: &OpKind) -> Option<Demand> {
    let f = <f64 as From<u32>>::from;
    let none = Demand {
        weights: Bytes::ZERO,
        other: Bytes::ZERO,
        flops: Flops::ZERO,
        kernels: kernels(kind),
        format: WeightFormat::Bf16,
    };
    let demand = match *kind {
        OpKind::Gemm { rows, n, k, weights } => Demand {
            weights: weights.bytes(f(n) * f(k)),
            other: Bytes::new(2.0 * f(rows) * (f(n) + f(k))),
            flops: Flops::new(2.0 * f(rows) * f(n) * f(k)),
            format: weights,
            ..none
        },
        OpKind::Attention { requests, rows, context, heads, kv_heads, head_dim, kv } => Demand {
            other: Bytes::new(
                2.0 * f(requests) * f(context) * f(kv_heads) * f(head_dim) * kv.bytes_per_number(),
            ),
            flops: Flops::new(4.0 * f(heads) * f(head_dim) * f(context) * f(rows) * f(requests)),
            ..none
        },
        OpKind::MlaAttention { requests, rows, context, heads, kv_lora, rope, kv } => Demand {
            other: Bytes::new(f(requests) * f(context) * (f(kv_lora) + f(rope)) * kv.bytes_per_number()),
            flops: Flops::new(
                2.0 * f(heads) * (2.0 * f(kv_lora) + f(rope)) * f(context) * f(rows) * f(requests),
            ),
            ..none
        },
        OpKind::LinearAttention { requests, rows, state, flops_per_row } => Demand {
            other: state * (2.0 * f(requests)),
            flops: flops_per_row * (f(rows) * f(requests)),
            ..none
        },
        OpKind::Experts { hidden, width, shards, distinct, pairs, weights, .. } => {
            let expert = 3.0 * f(hidden) * f(width) / f(shards.max(1));
            Demand {
                weights: weights.bytes(distinct * expert),
                other: Bytes::new(2.0 * pairs * (2.0 * f(hidden) + 3.0 * f(width) / f(shards.max(1)))),
                flops: Flops::new(2.0 * pairs * expert),
                format: weights,
                ..none
            }
        }
        OpKind::Elementwise { bytes } => Demand { other: bytes, ..none },
        OpKind::Collective { .. } => return None,
    };
    Some(demand)
}

/// Kernels that an operation launches: decode attention is split over the context and then reduced; fused
/// experts align tokens, multiply, activate, multiply and sum (`fused_marlin_moe`, `fused_experts`).
pub(super) const fn kernels(kind: &OpKind) -> u32 {
    match kind {
        OpKind::Gemm { .. } | OpKind::Elementwise { .. } | OpKind::Collective { .. } => 1,
        OpKind::Attention { .. } | OpKind::MlaAttention { .. } | OpKind::LinearAttention { .. } => 2,
        OpKind::Experts { .. } => 5,
    }
}

#[cfg(test)]
mod tests;
