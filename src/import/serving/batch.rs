//! What intervals with one number of running requests told.

use super::distribution::Distribution;
use super::interval::{Basis, DecodeInterval};

/// Undisturbed intervals that are enough to leave the others out.
const ENOUGH: u64 = 3;

/// Intervals of one batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BatchRow {
    /// All of them.
    pub intervals: u64,
    /// Those of passes outside a CUDA graph.
    pub eager: u64,
    /// Those of passes inside one.
    pub graph: u64,
    /// Accept lengths.
    pub lengths: super::digest::Sums,
    all: Times,
    undisturbed: Times,
    basis: Option<Basis>,
}

/// Cycle times \[s\] and throughputs \[tok/s\].
#[derive(Debug, Clone, PartialEq, Default)]
struct Times {
    cycle: Distribution,
    throughput: Distribution,
}

impl BatchRow {
    /// Takes an interval in.
    pub(super) fn add(&mut self, interval: &DecodeInterval) {
        self.intervals += 1;
        match interval.graph {
            Some(true) => self.graph += 1,
            Some(false) => self.eager += 1,
            None => {}
        }
        if let Some(length) = interval.accept_length {
            self.lengths.add(interval.cycles().unwrap_or(1.0), length.get());
        }
        let cycle = interval.cycle();
        self.basis = cycle.map(|(_, basis)| basis).or(self.basis);
        let take = |times: &mut Times| {
            if let Some((cycle, _)) = cycle {
                times.cycle.add(cycle.get());
            }
            if let Some(throughput) = interval.throughput {
                times.throughput.add(throughput.get());
            }
        };
        take(&mut self.all);
        if interval.is_undisturbed() {
            take(&mut self.undisturbed);
        }
    }

    /// Cycle times, or step times without speculation \[s\]: of undisturbed intervals where there are at least three, else of all.
    pub fn cycle_times(&self) -> &Distribution {
        &self.times().cycle
    }

    /// Tokens per second over all requests, of the same intervals.
    pub fn throughput(&self) -> &Distribution {
        &self.times().throughput
    }

    /// Whether its times leave disturbed intervals out: other requests before, prefill or idle time inside.
    pub fn is_undisturbed(&self) -> bool {
        self.undisturbed.cycle.count() >= ENOUGH
    }

    /// From which figures cycle times follow.
    pub const fn basis(&self) -> Option<Basis> {
        self.basis
    }

    fn times(&self) -> &Times {
        if self.is_undisturbed() { &self.undisturbed } else { &self.all }
    }

    /// Takes another row of the same batch in.
    pub(super) fn merge(&mut self, other: Self) {
        self.intervals += other.intervals;
        self.eager += other.eager;
        self.graph += other.graph;
        self.lengths.merge(&other.lengths);
        self.basis = self.basis.or(other.basis);
        for (times, other) in [(&mut self.all, other.all), (&mut self.undisturbed, other.undisturbed)] {
            times.cycle.merge(other.cycle);
            times.throughput.merge(other.throughput);
        }
    }
}
