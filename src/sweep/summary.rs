//! What a sweep comes to: how many win, the best and the worst, each axis by itself, and where the verdict turns.

use super::grid::Grid;
use super::metric::Outcome;
use crate::analytic::Verdict;

/// Speedups that are kept for crossings and plots: 16 MB.
pub const MOST_KEPT: u64 = 2_000_000;

/// A point that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// Its number.
    pub index: u64,
    /// By what it stands out: a speedup, a throughput \[tok/s\].
    pub value: f64,
}

/// All points that have one value of a dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marginal {
    /// Points with an answer.
    pub answered: u64,
    /// Points without.
    pub failed: u64,
    /// Points with a speedup above 1, whatever its range.
    pub faster: u64,
    /// Sum of the speedups.
    pub sum: f64,
    /// Least speedup.
    pub least: f64,
    /// Largest speedup.
    pub most: f64,
}

/// Where the speedup passes 1 along a dimension, the others unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossings {
    /// Lines along the dimension: one per combination of the others.
    pub lines: u64,
    /// Lines on which the speedup passes 1 somewhere.
    pub crossed: u64,
    /// The least and the largest place on the dimension at which it has passed 1.
    pub ends: Option<(usize, usize)>,
    /// On the first [`Crossings::SHOWN`] of these: the place before, the place after, and whether speculation is faster after.
    pub turns: Vec<(u64, u64, bool)>,
}

impl Crossings {
    /// Turns that are kept.
    pub const SHOWN: usize = 64;
}

/// The sum over points.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Points with an answer.
    pub answered: u64,
    /// Points without.
    pub failed: u64,
    /// By verdict.
    pub wins: u64,
    /// By verdict.
    pub loses: u64,
    /// By verdict.
    pub ties: u64,
    /// Points with a speedup above 1, whatever its range.
    pub faster: u64,
    /// Points of which no part had to be predicted because an input of it changed.
    pub kept: u64,
    /// Highest speedup.
    pub best: Option<Extreme>,
    /// Lowest speedup.
    pub worst: Option<Extreme>,
    /// Highest throughput, with speculation or without.
    pub fastest: Option<Extreme>,
    /// Reasons of failure with the first point that has it and how many do; other reasons beyond the first few.
    pub reasons: Vec<(String, u64, u64)>,
    /// For each dimension, each of its values.
    pub marginals: Vec<Vec<Marginal>>,
    /// The speedups in order from the first point on, NaN where there is none; nothing where they are too many.
    pub speedups: Vec<f64>,
    /// What a reader should know of combinations that were answered: tables of another GPU, each once, sorted.
    pub notes: Vec<String>,
    keep: bool,
    /// The reasons without their numbers.
    kinds: Vec<String>,
}

/// Different reasons that are told apart.
const REASONS: usize = 20;

impl Summary {
    /// Nothing yet.
    pub(super) fn new(grid: &Grid) -> Self {
        let none = Marginal {
            answered: 0,
            failed: 0,
            faster: 0,
            sum: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        };
        Self {
            answered: 0,
            failed: 0,
            wins: 0,
            loses: 0,
            ties: 0,
            faster: 0,
            kept: 0,
            best: None,
            worst: None,
            fastest: None,
            reasons: Vec::new(),
            marginals: grid.sizes().iter().map(|size| vec![none; *size]).collect(),
            speedups: Vec::new(),
            notes: Vec::new(),
            keep: grid.total() <= MOST_KEPT,
            kinds: Vec::new(),
        }
    }

    /// Points so far.
    pub const fn points(&self) -> u64 {
        self.answered + self.failed
    }

    /// Adds the point after those that were added.
    pub(super) fn add(&mut self, index: u64, place: &[usize], digest: &Result<Digest, String>) {
        match digest {
            Ok(digest) => self.add_answer(index, place, *digest),
            Err(reason) => self.add_failure(index, place, reason),
        }
    }

    fn add_answer(
        &mut self,
        index: u64,
        place: &[usize],
        Digest { verdict, speedup, fastest, kept }: Digest,
    ) {
        self.answered += 1;
        self.faster += u64::from(speedup > 1.0);
        self.kept += u64::from(kept);
        *match verdict {
            Verdict::Wins => &mut self.wins,
            Verdict::Loses => &mut self.loses,
            Verdict::Ties => &mut self.ties,
        } += 1;
        if self.keep {
            self.speedups.push(speedup);
        }
        let take = |kept: &mut Option<Extreme>, value: f64, better: fn(f64, f64) -> bool| {
            if value.is_finite() && kept.is_none_or(|kept| better(value, kept.value)) {
                *kept = Some(Extreme { index, value });
            }
        };
        take(&mut self.best, speedup, |new, old| new > old);
        take(&mut self.worst, speedup, |new, old| new < old);
        take(&mut self.fastest, fastest, |new, old| new > old);
        for (values, at) in self.marginals.iter_mut().zip(place) {
            let marginal = &mut values[*at];
            marginal.answered += 1;
            marginal.faster += u64::from(speedup > 1.0);
            marginal.sum += speedup;
            marginal.least = marginal.least.min(speedup);
            marginal.most = marginal.most.max(speedup);
        }
    }

    fn add_failure(&mut self, index: u64, place: &[usize], reason: &str) {
        self.failed += 1;
        if self.keep {
            self.speedups.push(f64::NAN);
        }
        for (values, at) in self.marginals.iter_mut().zip(place) {
            values[*at].failed += 1;
        }
        // What differs between points, their numbers, does not make another reason.
        let kind: String = reason.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
        match self.kinds.iter().position(|known| *known == kind) {
            Some(at) => self.reasons[at].2 += 1,
            None if self.kinds.len() < REASONS => {
                self.kinds.push(kind);
                self.reasons.push((reason.to_owned(), index, 1));
            }
            None => {}
        }
    }

    /// Where the speedup passes 1 along a dimension; none where the speedups were too many, or not all were computed.
    pub fn crossings(&self, grid: &Grid, dimension: usize) -> Option<Crossings> {
        if self.speedups.len() as u64 != grid.total() {
            return None;
        }
        let (stride, size) = (grid.stride(dimension), grid.sizes()[dimension] as u64);
        let mut found =
            Crossings { lines: grid.total() / size.max(1), crossed: 0, ends: None, turns: Vec::new() };
        let starts = (0..grid.total()).filter(|index| (index / stride).is_multiple_of(size));
        for start in starts {
            let line = (0..size).map(|step| start + step * stride);
            let known: Vec<u64> = line.filter(|index| self.speedups[*index as usize].is_finite()).collect();
            let faster = |index: u64| self.speedups[index as usize] >= 1.0;
            let turns = known.windows(2).filter(|pair| faster(pair[0]) != faster(pair[1]));
            let mut crossed = false;
            for pair in turns {
                crossed = true;
                let at = ((pair[1] / stride) % size) as usize;
                let (low, high) = found.ends.unwrap_or((at, at));
                found.ends = Some((low.min(at), high.max(at)));
                if found.turns.len() < Crossings::SHOWN {
                    found.turns.push((pair[0], pair[1], faster(pair[1])));
                }
            }
            found.crossed += u64::from(crossed);
        }
        Some(found)
    }
}

impl Marginal {
    /// The mean speedup; none without an answer.
    pub fn mean(&self) -> Option<f64> {
        (self.answered > 0).then(|| self.sum / self.answered as f64)
    }
}

/// What the summary needs of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Digest {
    verdict: Verdict,
    speedup: f64,
    fastest: f64,
    kept: bool,
}

impl Digest {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let parts = &outcome.parts;
        let without = outcome.baseline_throughput.unwrap_or_else(|| parts.baseline_throughput().value);
        Self {
            verdict: outcome.verdict,
            speedup: parts.speedup_value(),
            fastest: parts.throughput().value.get().max(without.get()),
            kept: outcome.predicted.is_empty(),
        }
    }
}
