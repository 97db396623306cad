//! Acceptance from counts: estimates with intervals, tests, and which law the counts support.
//!
//! Counts are the numbers of cycles in which at least i drafted tokens were accepted (index 0: all cycles). Servers
//! print them as a histogram (SGLang), or as drafts and accepted tokens per position (vLLM
//! `v1/spec_decode/metrics.py`); the two say the same. Maximum likelihood throughout:
//!
//! ```text
//! rate of the geometric law   accepted / (accepted + cycles that met a rejection)
//! conditional rate at i       at least i / at least i - 1
//! ```

use crate::sourced::{SPREAD_DEVIATIONS, Source, Sourced};
use crate::units::AcceptLength;

use super::acceptance::Acceptance;
use super::error::AcceptanceError;
use super::fit_beta::{BetaFit, fit_beta};
use super::goodness::{ChiSquare, chi_square};
use super::interval::{Interval, exact_interval, wilson_interval};
use super::shape::DraftShape;

/// Below this probability a law counts as refuted.
const REFUTED: f64 = 0.05;

/// Counts up to here are exact as floating point numbers, and their sums over positions fit.
const MOST: u64 = 1 << 53;

/// Cycles by how far they were accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// `at_least[i]`: cycles that accepted at least i drafted tokens.
    at_least: Vec<u64>,
}

impl Counts {
    /// From the cycles that accepted exactly 0, 1, ... k drafted tokens.
    pub fn from_histogram(cycles: &[u64]) -> Result<Self, AcceptanceError> {
        let mut at_least = cycles.to_vec();
        for i in (0..at_least.len().saturating_sub(1)).rev() {
            at_least[i] = at_least[i].saturating_add(at_least[i + 1]);
        }
        Self::checked(at_least)
    }

    /// From the number of drafts and the accepted tokens at positions 1 ... k, as vLLM counts them.
    pub fn from_positions(drafts: u64, accepted: &[u64]) -> Result<Self, AcceptanceError> {
        Self::checked(std::iter::once(drafts).chain(accepted.iter().copied()).collect())
    }

    fn checked(at_least: Vec<u64>) -> Result<Self, AcceptanceError> {
        if at_least.first().is_none_or(|cycles| *cycles == 0) {
            return Err(AcceptanceError::Empty);
        }
        if let Some(count) = at_least.iter().copied().find(|count| *count > MOST) {
            return Err(AcceptanceError::CountTooLarge { count });
        }
        match at_least.windows(2).position(|pair| pair[1] > pair[0]) {
            Some(i) => Err(AcceptanceError::Counts {
                position: i + 1,
                accepted: at_least[i + 1],
                tried: at_least[i],
            }),
            None => Ok(Self { at_least }),
        }
    }

    /// All cycles.
    pub fn cycles(&self) -> u64 {
        self.at_least[0]
    }

    /// Drafted tokens per cycle, k.
    pub fn drafted(&self) -> u32 {
        self.at_least.len() as u32 - 1
    }

    /// Accepted drafted tokens over all cycles.
    pub fn accepted(&self) -> u64 {
        self.at_least[1..].iter().sum()
    }

    /// Trials and acceptances at each position: given all before.
    pub(super) fn trials(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.at_least.windows(2).map(|pair| (pair[0], pair[1]))
    }

    /// Cycles that accepted exactly 0, 1, ... k drafted tokens.
    pub fn histogram(&self) -> Vec<u64> {
        let next = self.at_least[1..].iter().copied().chain(std::iter::once(0));
        self.at_least.iter().zip(next).map(|(this, next)| this - next).collect()
    }

    /// The mean accept length, with the range that its sampling error gives (normal approximation on cycles).
    pub fn accept_length(&self) -> Sourced<AcceptLength> {
        let cycles = self.cycles() as f64;
        let mean = self.accepted() as f64 / cycles;
        let square: f64 =
            self.histogram().iter().zip(0_u32..).map(|(c, n)| *c as f64 * f64::from(n).powi(2)).sum();
        let variance = (square / cycles - mean * mean).max(0.0);
        let half = SPREAD_DEVIATIONS * (variance / cycles).sqrt();
        let end = |x: f64| AcceptLength::new(1.0 + x.clamp(0.0, f64::from(self.drafted())));
        Sourced::new(end(mean), Source::Measured).with_spread(end(mean - half), end(mean + half))
    }
}

/// A rate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Accepted over tried; 0 without trials.
    pub rate: f64,
    /// Wilson's interval.
    pub interval: Interval,
    /// Clopper and Pearson's interval.
    pub exact: Interval,
    /// Accepted.
    pub accepted: u64,
    /// Tried.
    pub tried: u64,
}

impl Estimate {
    fn new(accepted: u64, tried: u64) -> Self {
        Self {
            rate: if tried == 0 { 0.0 } else { accepted as f64 / tried as f64 },
            interval: wilson_interval(accepted, tried),
            exact: exact_interval(accepted, tried),
            accepted,
            tried,
        }
    }
}

/// The geometric law of greatest likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeometricFit {
    /// Its rate.
    pub rate: Estimate,
    /// Whether the counts bear it; none where they cannot tell.
    pub goodness: Option<ChiSquare>,
}

/// Which law to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recommended {
    /// One rate: the counts do not refute it.
    Geometric,
    /// One rate, because the counts are too few to test it.
    GeometricUntested,
    /// Rates that differ between requests: conditional rates rise with the position.
    Beta,
    /// Position by position: neither of the two laws fits.
    Positions,
}

impl Recommended {
    /// Why, in a sentence.
    pub const fn because(self) -> &'static str {
        match self {
            Self::Geometric => "one rate for every position explains the counts",
            Self::GeometricUntested => "the counts are too few to tell more than one rate",
            Self::Beta => {
                "conditional rates rise with the position, as they do where requests differ in their rate"
            }
            Self::Positions => "the rate changes with the position in a way that no simpler law explains",
        }
    }
}

/// All fits to one set of counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fits {
    /// The counts.
    pub counts: Counts,
    /// One rate.
    pub geometric: GeometricFit,
    /// One rate per position, given all before.
    pub positions: Vec<Estimate>,
    /// A Beta law over cycles; none where the conditional rates do not rise.
    pub beta: Option<BetaFit>,
    /// The law to use.
    pub recommended: Recommended,
}

impl Fits {
    /// Fits every law to `counts`.
    pub fn new(counts: Counts) -> Self {
        let shape = DraftShape::chain(counts.drafted());
        let histogram = counts.histogram();
        let accepted = counts.accepted();
        let rejections: u64 = counts.trials().map(|(tried, accepted)| tried - accepted).sum();
        let rate = Estimate::new(accepted, accepted + rejections);
        let test = |law: &Acceptance, fitted| chi_square(&histogram, &law.pmf(shape), fitted);
        let law = Acceptance::geometric(rate.rate).expect("a share of trials is a probability");
        let geometric = GeometricFit { rate, goodness: test(&law, 1) };
        let positions = counts.trials().map(|(tried, accepted)| Estimate::new(accepted, tried)).collect();
        let beta =
            fit_beta(&counts).map(|fit| BetaFit { goodness: test(&Acceptance::Beta(fit.law), 2), ..fit });
        let refuted = |goodness: Option<ChiSquare>| goodness.is_some_and(|g| g.p_value < REFUTED);
        let recommended = match (geometric.goodness, &beta) {
            // A single position has a single rate, however many cycles there are.
            _ if counts.drafted() <= 1 => Recommended::Geometric,
            (None, _) => Recommended::GeometricUntested,
            (goodness, _) if !refuted(goodness) => Recommended::Geometric,
            (_, Some(fit)) if !refuted(fit.goodness) => Recommended::Beta,
            _ => Recommended::Positions,
        };
        Self { counts, geometric, positions, beta, recommended }
    }

    /// The recommended law.
    pub fn acceptance(&self) -> Acceptance {
        let rate = &self.geometric.rate;
        let geometric = || {
            let rate =
                Sourced::new(rate.rate, Source::Measured).with_spread(rate.interval.low, rate.interval.high);
            Acceptance::geometric_sourced(rate).expect("a share of trials is a probability")
        };
        match (self.recommended, &self.beta) {
            (Recommended::Beta, Some(fit)) => Acceptance::Beta(fit.law),
            (Recommended::Positions, _) => {
                let histogram: Vec<f64> = self.counts.histogram().iter().map(|c| *c as f64).collect();
                Acceptance::histogram(&histogram).expect("there are cycles")
            }
            _ => geometric(),
        }
    }
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
