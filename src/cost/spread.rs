//! How far the times of a pass may be off.
//!
//! All operations are taken to err together, which is the widest a sum can be:
//!
//! | what | range | from |
//! |---|---|---|
//! | host issue, graph launch | the runtime profile's | [`crate::runtime`] |
//! | floor-bound kernels | the GPU's kernel floor, 3-5 µs by default | tables and a captured PyTorch layer |
//! | memory-bound kernels, kernel tables | achieved bandwidth, else [`KERNEL`] | spread between best and median rows |
//! | collectives | [`COLLECTIVE`] | rows of one box in different servers; boxes differ by more |

use super::pass::{Bound, PricedOp};
use super::price::Pricing;
use crate::runtime::{Execution, Runtime};
use crate::sourced::Sourced;
use crate::units::Seconds;

/// Relative range of kernel times whose table or bandwidth states none.
const KERNEL: f64 = 0.04;

/// Relative range of collective times on one box.
const COLLECTIVE: f64 = 0.10;

/// Which end of the ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The values themselves.
    Middle,
    /// Everything as cheap as the ranges allow.
    Low,
    /// Everything as dear.
    High,
}

impl End {
    fn of<T: Copy>(self, figure: Sourced<T>) -> T {
        match (self, figure.spread) {
            (Self::Low, Some(spread)) => spread.low,
            (Self::High, Some(spread)) => spread.high,
            _ => figure.value,
        }
    }

    fn sign(self) -> f64 {
        match self {
            Self::Middle => 0.0,
            Self::Low => -1.0,
            Self::High => 1.0,
        }
    }
}

/// Host costs and factors on GPU times at one end of the ranges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variant {
    kernel: Seconds,
    collective: Seconds,
    graph: Seconds,
    node: Seconds,
    floor_factor: f64,
    kernel_factor: f64,
    collective_factor: f64,
    end: End,
}

impl Variant {
    /// The variant of a setup.
    pub(super) fn new(with: &Pricing, end: End) -> Self {
        let gpu = &with.hardware.gpu;
        // Memory is slow where bandwidth is low.
        let bandwidth = match (end, gpu.achieved_bandwidth.spread) {
            (End::Low, Some(spread)) => gpu.achieved_bandwidth.value / spread.high,
            (End::High, Some(spread)) => gpu.achieved_bandwidth.value / spread.low,
            _ => 1.0 + end.sign() * KERNEL,
        };
        Self {
            floor_factor: end.of(gpu.kernel_floor) / gpu.kernel_floor.value,
            kernel_factor: bandwidth,
            collective_factor: 1.0 + end.sign() * COLLECTIVE,
            ..Self::host(with.runtime, end)
        }
    }

    /// The host alone.
    pub(super) fn host(runtime: &Runtime, end: End) -> Self {
        Self {
            kernel: end.of(runtime.issue_kernel),
            collective: end.of(runtime.issue_collective),
            graph: end.of(runtime.graph_launch),
            node: end.of(runtime.graph_node),
            floor_factor: 1.0,
            kernel_factor: 1.0,
            collective_factor: 1.0,
            end,
        }
    }

    /// Host and GPU time of a priced operation.
    pub(super) fn times(&self, op: &PricedOp) -> (Seconds, Seconds) {
        let factor = match op.bound {
            Bound::Floor => self.floor_factor,
            Bound::Communication => self.collective_factor,
            Bound::Table | Bound::Memory | Bound::Compute => self.kernel_factor,
        };
        let issue = match op.issue_measured {
            Some(issue) => self.end.of(issue),
            None => self.issue(op.is_collective(), op.kernels),
        };
        (issue, op.device * factor)
    }

    /// Host time of an operation in eager mode.
    pub(super) fn issue(&self, collective: bool, kernels: u32) -> Seconds {
        if collective { self.collective } else { self.kernel * f64::from(kernels) }
    }

    /// Time before the first operation can start.
    pub(super) fn launch(&self, execution: Execution, nodes: f64) -> Seconds {
        match execution {
            Execution::Graph => (self.graph + self.node * nodes).to_picosecond(),
            Execution::Eager => Seconds::ZERO,
        }
    }
}
