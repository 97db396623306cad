//! Conditional rates known from counted cycles: their posterior laws.
//!
//! Of n independent cycles n·S_(i-1) reach position i and n·S_i pass it. With Jeffreys' prior, Beta(½, ½), the rate there is
//! Beta(n·S_i + ½, n·S_(i-1) - n·S_i + ½), independent of the other positions (a Dirichlet posterior of the counts, taken
//! apart position by position). Its intervals hold the true rate close to as often as they say
//! (L. Brown, T. Cai, A. DasGupta, Statist. Sci. 16 (2001) 101).

use crate::scenario::Common;
use crate::sourced::{SPREAD_DEVIATIONS, Source};
use crate::speculation::{Acceptance, beta_quantile};
use crate::uncertainty::{Factor, normal_probability};

/// Quantiles of the rate at every position; empty where no cycles were counted.
pub(super) struct RateTables(Vec<RateTable>);

/// The rate at scores -4, -3.75 ... 4.
struct RateTable {
    middle: f64,
    quantiles: Vec<f64>,
}

const REACH: f64 = 4.0;
const STEP: f64 = 0.25;

impl RateTables {
    pub(super) fn new(common: &Common) -> Self {
        let (Some(evidence), Acceptance::Conditional(law) | Acceptance::Histogram(law)) =
            (common.evidence, &common.acceptance)
        else {
            return Self(Vec::new());
        };
        let n = evidence.independent;
        let before = std::iter::once(1.0).chain(law.tails().iter().copied());
        let pairs = before.zip(law.tails().iter().copied());
        Self(
            pairs
                .map(|(reached, passed)| RateTable::new(n * passed, n * (reached - passed).max(0.0)))
                .collect(),
        )
    }

    /// The rates at the scores of the positions; none where nothing was counted.
    pub(super) fn at(&self, scores: &[f64]) -> Option<Vec<f64>> {
        let score = |at: usize| scores.get(at).copied().unwrap_or(0.0);
        (!self.0.is_empty()).then(|| self.0.iter().enumerate().map(|(i, rate)| rate.at(score(i))).collect())
    }

    pub(super) fn factors(&self) -> impl Iterator<Item = Factor> + '_ {
        self.0.iter().enumerate().map(|(at, rate)| Factor {
            name: format!("acceptance at position {}", at + 1),
            unit: "",
            low: rate.at(-SPREAD_DEVIATIONS),
            value: rate.middle,
            high: rate.at(SPREAD_DEVIATIONS),
            source: Source::Measured,
        })
    }
}

impl RateTable {
    fn new(passed: f64, stopped: f64) -> Self {
        let points = (2.0 * REACH / STEP) as u32;
        let score = |i: u32| f64::from(i) * STEP - REACH;
        let quantiles = (0..=points)
            .map(|i| beta_quantile(passed + 0.5, stopped + 0.5, normal_probability(score(i))))
            .collect();
        // The plain answer stays the observed share, a hair off the median of the posterior.
        let tried = passed + stopped;
        Self { middle: if tried > 0.0 { passed / tried } else { 0.0 }, quantiles }
    }

    fn at(&self, score: f64) -> f64 {
        if score.abs() < f64::EPSILON {
            return self.middle;
        }
        let place = ((score + REACH) / STEP).clamp(0.0, (self.quantiles.len() - 1) as f64);
        let below = (place.floor() as usize).min(self.quantiles.len() - 2);
        let share = place - below as f64;
        self.quantiles[below] * (1.0 - share) + self.quantiles[below + 1] * share
    }
}
