//! An axis of a sweep: numbers on a linear or logarithmic scale, or words side by side.

use super::axis::Axis;
use super::page::{Tick, number_ticks};

/// Values of one axis, in the order of the sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepAxis {
    /// The key, with its unit: `speculation.verify.time [ms]`.
    pub name: String,
    /// The values; 0, 1, 2, ... where they are words.
    pub values: Vec<f64>,
    /// The words, where they are none or too few to make a scale.
    pub words: Option<Vec<String>>,
    /// Equal ratios are equally far apart.
    pub logarithmic: bool,
}

impl SweepAxis {
    /// The order in which the values rise.
    pub(super) fn rising(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|a, b| self.values[*a].total_cmp(&self.values[*b]));
        order
    }

    /// The scale between two pixels, with room for half a step beside words.
    pub(super) fn scale(&self, from: f64, to: f64) -> Axis {
        let ends = || self.values.iter().copied();
        let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
        if self.words.is_some() {
            Axis::linear(low - 0.5, high + 0.5, from, to)
        } else if self.logarithmic && low > 0.0 {
            Axis::log(low, high, from, to)
        } else {
            Axis::linear(low, high, from, to)
        }
    }

    /// Ticks of that scale, about `wanted`.
    pub(super) fn ticks(&self, scale: &Axis, wanted: usize) -> Vec<Tick> {
        match &self.words {
            Some(words) => self.values.iter().copied().zip(words.iter().cloned()).collect(),
            None => number_ticks(scale, wanted),
        }
    }
}
