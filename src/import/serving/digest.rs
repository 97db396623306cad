//! Many intervals in little memory: accept length, counts, and cycle times by batch.
//!
//! ```text
//! mean accept length   μ = Σ n L / Σ n                 n: draft/verify cycles of an interval, over its requests
//! its standard error   √(Σ n² (L - μ)²) / Σ n          from the differences between intervals, so that texts that are
//!                                                      drafted well or badly for a while widen it
//! dispersion           Σ n (L - μ)² / (intervals - 1)  the variance of one cycle, if all intervals were alike
//! ```
//!
//! Lines without an accept length are decoding without speculation only where their whole run has none.

use std::collections::BTreeMap;

use super::batch::BatchRow;
use super::distribution::Distribution;
use super::flags::ServerFlags;
use super::interval::{Counted, DecodeInterval, Server};
use super::rate::RateSegment;
use super::timeline::Timeline;

/// Batch sizes that are told apart; the rest is counted.
const MOST_BATCHES: usize = 2048;

/// Definitions and flags that are kept.
const MOST_KEPT: usize = 64;

/// Sums over intervals, weighted by their cycles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    /// Intervals.
    pub intervals: u64,
    /// Σ n.
    pub cycles: f64,
    nl: f64,
    nll: f64,
    nn: f64,
    nnl: f64,
    nnll: f64,
}

impl Sums {
    /// Takes an interval of `n` cycles with mean accept length `length` in.
    pub fn add(&mut self, n: f64, length: f64) {
        self.intervals += 1;
        self.cycles += n;
        self.nl += n * length;
        self.nll += n * length * length;
        self.nn += n * n;
        self.nnl += n * n * length;
        self.nnll += n * n * length * length;
    }

    /// Adds other sums.
    pub(super) fn merge(&mut self, other: &Self) {
        self.intervals += other.intervals;
        self.cycles += other.cycles;
        self.nl += other.nl;
        self.nll += other.nll;
        self.nn += other.nn;
        self.nnl += other.nnl;
        self.nnll += other.nnll;
    }

    /// The mean over cycles; none without cycles.
    pub fn mean(&self) -> Option<f64> {
        (self.cycles > 0.0).then(|| self.nl / self.cycles)
    }

    /// Standard error of the mean by the differences between intervals; none for a single interval.
    pub fn standard_error(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.intervals >= 2)?;
        let squares = self.nnll - 2.0 * mean * self.nnl + mean * mean * self.nn;
        // The mean was fitted to the same intervals.
        let freedom = self.intervals as f64 / (self.intervals as f64 - 1.0);
        Some((squares.max(0.0) * freedom).sqrt() / self.cycles)
    }

    /// The variance of one cycle that would explain how intervals differ; none below eight.
    pub fn dispersion(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.intervals >= 8)?;
        Some((self.nll - mean * mean * self.cycles).max(0.0) / (self.intervals as f64 - 1.0))
    }
}

/// Intervals of one kind: with speculation, or without.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DigestBatch {
    /// By requests that ran.
    pub batches: BTreeMap<u32, BatchRow>,
    /// Intervals left out of the rows: more batch sizes than are told apart.
    pub beyond: u64,
    /// Intervals whose requests, or time, are not told.
    pub unbatched: u64,
}

impl DigestBatch {
    fn add(&mut self, interval: &DecodeInterval) {
        let Some(running) = interval.running.filter(|running| *running > 0) else {
            self.unbatched += 1;
            return;
        };
        if self.batches.len() >= MOST_BATCHES && !self.batches.contains_key(&running) {
            self.beyond += 1;
            return;
        }
        self.batches.entry(running).or_default().add(interval);
    }

    /// The batch with most intervals that have a cycle time, undisturbed ones first.
    pub fn usual(&self) -> Option<(u32, &BatchRow)> {
        let rows = self.batches.iter().filter(|(_, row)| row.cycle_times().count() > 0);
        rows.max_by_key(|(batch, row)| (row.cycle_times().count(), std::cmp::Reverse(**batch)))
            .map(|(b, row)| (*b, row))
    }
}

/// Everything that intervals told.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Digest {
    /// Intervals by server.
    pub servers: BTreeMap<Server, u64>,
    /// Starts of the server, over all files: at least one.
    pub runs: u64,
    /// Data-parallel replicas: the highest number of one, plus one.
    pub replicas: u32,
    /// Accept lengths, weighted by cycles.
    pub lengths: Sums,
    /// Accept lengths of intervals, each counting once.
    pub spread: Distribution,
    /// Accept lengths over time.
    pub timeline: Timeline,
    /// Counts by drafted tokens per cycle; none: not told, so that shorter lists are filled with zeros.
    pub counts: BTreeMap<Option<u32>, Counted>,
    /// With speculation.
    pub speculation: DigestBatch,
    /// Without.
    pub baseline: DigestBatch,
    /// What accept rates mean.
    pub rates: Vec<RateSegment>,
    /// Flags, each once.
    pub flags: Vec<ServerFlags>,
    file: u32,
    /// The run that is open, whether it drafts, and its intervals without an accept length.
    open: Option<(u32, u32)>,
    drafts: bool,
    plain: DigestBatch,
}

impl Digest {
    /// A file begins.
    pub fn begin(&mut self) {
        self.file += 1;
    }

    /// Takes an interval in.
    pub fn add(&mut self, interval: &DecodeInterval) {
        if self.open != Some((self.file, interval.run)) {
            self.close();
            self.open = Some((self.file, interval.run));
            self.runs += 1;
        }
        *self.servers.entry(interval.server).or_default() += 1;
        self.replicas = self.replicas.max(interval.replica.saturating_add(1));
        let Some(length) = interval.accept_length else {
            self.plain.add(interval);
            return;
        };
        self.drafts = true;
        let cycles = interval.cycles().unwrap_or(1.0);
        self.lengths.add(cycles, length.get());
        self.spread.add(length.get());
        self.timeline.add(interval, cycles);
        self.speculation.add(interval);
        if let Some(counted) = &interval.counted {
            self.counts.entry(interval.drafted_tokens).or_default().take(counted);
        }
    }

    /// Takes a definition in.
    pub fn rate(&mut self, segment: &RateSegment) {
        if self.rates.len() < MOST_KEPT {
            self.rates.push(segment.clone());
        }
    }

    /// Takes flags in.
    pub fn flags(&mut self, flags: &ServerFlags) {
        if self.flags.len() < MOST_KEPT && !self.flags.contains(flags) {
            self.flags.push(flags.clone());
        }
    }

    /// The last run ends: where it never drafted, its lines are the baseline.
    pub fn close(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        if std::mem::take(&mut self.drafts) {
            return;
        }
        for (batch, row) in plain.batches {
            self.baseline.batches.entry(batch).or_default().merge(row);
        }
        self.baseline.beyond += plain.beyond;
        self.baseline.unbatched += plain.unbatched;
    }

    /// Whether nothing was taken in.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The server with most intervals.
    pub fn server(&self) -> Option<Server> {
        self.servers.iter().max_by_key(|(_, count)| **count).map(|(server, _)| *server)
    }

    /// Drafted tokens per cycle k that all lines agree on: as counted, else by the meaning of rates, else by flags.
    pub fn depth(&self) -> Option<u32> {
        agreed(self.counts.keys().flatten().copied())
            .or_else(|| agreed(self.flags.iter().filter_map(ServerFlags::depth)))
            .or_else(|| agreed(self.rates.iter().filter_map(|rate| rate.form.rows()?.checked_sub(1))))
    }

    /// The counts with most cycles whose positions are told.
    pub fn most_counted(&self) -> Option<&Counted> {
        self.counts
            .values()
            .filter(|counted| !counted.positions.is_empty())
            .max_by_key(|counted| counted.drafts)
    }
}

/// The one number that all agree on.
fn agreed(mut numbers: impl Iterator<Item = u32>) -> Option<u32> {
    let first = numbers.next()?;
    numbers.all(|number| number == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{AcceptLength, TokensPerSecond};

    fn interval(run: u32, length: Option<f64>, throughput: f64) -> DecodeInterval {
        let mut interval = DecodeInterval::new(Server::Sglang, 1);
        (interval.run, interval.running, interval.passes) = (run, Some(1), Some(40));
        interval.accept_length = length.map(AcceptLength::new);
        interval.throughput = Some(TokensPerSecond::new(throughput));
        interval
    }

    #[test]
    fn weighted_means_and_their_errors_by_hand() {
        let mut sums = Sums::default();
        for _ in 0..4 {
            sums.add(10.0, 2.0);
            sums.add(30.0, 3.0);
        }
        assert!((sums.mean().unwrap() - 2.75).abs() < 1e-12);
        // Σ n²(L - μ)² = 4·100·.5625 + 4·900·.0625 = 450; √(450·8/7)/160.
        assert!((sums.standard_error().unwrap() - (450.0_f64 * 8.0 / 7.0).sqrt() / 160.0).abs() < 1e-9);
        // Σ n(L - μ)² = 4·10·.5625 + 4·30·.0625 = 30; /7.
        assert!((sums.dispersion().unwrap() - 30.0 / 7.0).abs() < 1e-9);
        assert_eq!(Sums::default().mean(), None);
    }

    #[test]
    fn lines_without_accept_length_are_a_baseline_only_in_runs_without_any() {
        let mut digest = Digest::default();
        digest.begin();
        digest.add(&interval(0, None, 82.0));
        digest.add(&interval(1, None, 99.0));
        digest.add(&interval(1, Some(2.0), 60.0));
        digest.close();
        assert_eq!(digest.runs, 2);
        assert_eq!(digest.baseline.batches[&1].cycle_times().count(), 1);
        assert!((digest.baseline.batches[&1].throughput().mean().unwrap() - 82.0).abs() < 1e-12);
        assert_eq!(digest.speculation.batches[&1].cycle_times().count(), 1);
    }

    #[test]
    fn counts_add_up_by_depth() {
        let counted = |drafts, positions: &[u64]| Counted {
            drafts,
            drafted: drafts * positions.len() as u64,
            accepted: positions.iter().sum(),
            positions: positions.to_vec(),
            rounded: false,
        };
        let mut sum = Counted::default();
        sum.take(&counted(10, &[8, 4]));
        sum.take(&counted(10, &[5]));
        assert_eq!((sum.drafts, sum.positions.clone(), sum.accepted), (20, vec![13, 4], 17));
        sum.take(&counted(5, &[]));
        assert_eq!((sum.drafts, sum.positions), (25, vec![]), "positions no longer hold for all drafts");
    }
}
