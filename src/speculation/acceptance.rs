//! Acceptance laws: one enum, answered through the tails of the accepted tokens (see the parent module).
//!
//! Sources: arXiv 2211.17192 (i.i.d. rate), arXiv 2402.12374 (trees), vLLM `v1/spec_decode/metrics.py` (cumulative
//! rates per position). Mean and variance take no allocation; a [`DraftTree`] does when it is asked for a shape
//! other than the one it was prepared for, so sweeps call [`Acceptance::with_shape`] first.

use std::borrow::Cow;

use crate::sourced::{Source, Sourced, Spread};
use crate::units::AcceptLength;

use super::beta::BetaRate;
use super::error::{AcceptanceError, probability};
use super::markov::Markov;
use super::mean_only::{FloorCeil, MeanOnly};
use super::mixture::Mixture;
use super::positions::{Positions, power};
use super::shape::{DraftShape, ShapeNote};
use super::tree::DraftTree;

/// Distribution of the drafted tokens that one cycle accepts.
#[derive(Debug, Clone, PartialEq)]
pub enum Acceptance {
    /// One rate at every position, independent: the mean is (1 - a^(k+1)) / (1 - a).
    Geometric(Geometric),
    /// Conditional (or cumulative) rates per position.
    Conditional(Positions),
    /// Observed counts of 0, 1, ... accepted tokens.
    Histogram(Positions),
    /// A tree of drafted tokens.
    Tree(DraftTree),
    /// Only the mean is known: the geometric law with that mean.
    MeanOnly(MeanOnly),
    /// Only the mean is known: the law of least variance with that mean.
    FloorCeil(FloorCeil),
    /// Several kinds of request.
    Mixture(Mixture),
    /// Each request has its own rate.
    Beta(BetaRate),
    /// States that a request walks through from cycle to cycle.
    Markov(Markov),
}

/// One rate at every position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometric {
    rate: Sourced<f64>,
}

impl Geometric {
    /// The rate a = E[Σ min(p, q)], 0 to 1.
    pub const fn rate(&self) -> Sourced<f64> {
        self.rate
    }
}

impl Acceptance {
    /// One i.i.d. conditional rate, written by the user.
    pub fn geometric(rate: f64) -> Result<Self, AcceptanceError> {
        Self::geometric_sourced(Sourced::given(rate))
    }

    /// One i.i.d. conditional rate with its source and range; a range that leaves \[0, 1\] is cut.
    pub fn geometric_sourced(mut rate: Sourced<f64>) -> Result<Self, AcceptanceError> {
        probability(1, rate.value)?;
        rate.spread = rate.spread.map(|s| Spread { low: s.low.max(0.0), high: s.high.min(1.0) });
        Ok(Self::Geometric(Geometric { rate }))
    }

    /// Conditional rates a_i: position i accepted, given all before.
    pub fn conditional(rates: &[f64]) -> Result<Self, AcceptanceError> {
        Positions::from_conditional(rates).map(Self::Conditional)
    }

    /// Cumulative rates: drafts in which position i was accepted, as vLLM prints them.
    pub fn cumulative(rates: &[f64]) -> Result<Self, AcceptanceError> {
        Positions::from_cumulative(rates).map(Self::Conditional)
    }

    /// Weights (counts or shares) of 0, 1, 2, ... accepted drafted tokens.
    pub fn histogram(weights: &[f64]) -> Result<Self, AcceptanceError> {
        Positions::from_histogram(weights).map(Self::Histogram)
    }

    /// A bare accept length, stated for `shape`: geometric with that mean.
    pub fn mean_only(
        accept_length: Sourced<AcceptLength>,
        shape: DraftShape,
    ) -> Result<Self, AcceptanceError> {
        MeanOnly::new(accept_length, shape).map(Self::MeanOnly)
    }

    /// Accepted over drafted tokens, stated for `shape`: accept length 1 + k·rate, geometric with that mean.
    pub fn mean_rate(rate: Sourced<f64>, shape: DraftShape) -> Result<Self, AcceptanceError> {
        probability(1, rate.value)?;
        let drafted = f64::from(shape.depth());
        Self::mean_only(rate.map(|r| AcceptLength::new(1.0 + drafted * r)), shape)
    }

    /// The law of least variance with the mean `accept_length`.
    pub fn floor_ceil(accept_length: AcceptLength) -> Result<Self, AcceptanceError> {
        FloorCeil::new(accept_length).map(Self::FloorCeil)
    }

    /// The tree of `shape` that Sequoia's recursion finds best when the b-th ranked branch of a node is the
    /// accepted one with probability `ranks[b]`.
    pub fn tree(ranks: &[f64], shape: DraftShape) -> Result<Self, AcceptanceError> {
        DraftTree::positional(ranks, shape).map(Self::Tree)
    }

    /// A rate that differs from request to request as Beta(α, β).
    pub fn beta(alpha: f64, beta: f64) -> Result<Self, AcceptanceError> {
        BetaRate::new(alpha, beta).map(Self::Beta)
    }

    /// Plain laws with their shares of the cycles.
    pub fn mixture(parts: Vec<(f64, Self)>) -> Result<Self, AcceptanceError> {
        Mixture::new(parts).map(Self::Mixture)
    }

    /// States with plain laws, and `transitions[from][to]` per cycle.
    pub fn markov(states: Vec<Self>, transitions: &[Vec<f64>]) -> Result<Self, AcceptanceError> {
        Markov::new(states, transitions).map(Self::Markov)
    }

    /// The word for it in reports and files.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Geometric(_) => "rate",
            Self::Conditional(_) => "conditional",
            Self::Histogram(_) => "histogram",
            Self::Tree(_) => "tree",
            Self::MeanOnly(_) => "accept_length",
            Self::FloorCeil(_) => "floor-ceil",
            Self::Mixture(_) => "mixture",
            Self::Beta(_) => "beta",
            Self::Markov(_) => "markov",
        }
    }

    /// Whether a cycle's law does not depend on the request or its past.
    pub(super) const fn is_plain(&self) -> bool {
        !matches!(self, Self::Mixture(_) | Self::Beta(_) | Self::Markov(_))
    }

    /// P(at least `i` drafted tokens accepted) in a cycle taken at random; 0 beyond the depth of `shape`.
    pub fn tail(&self, i: u32, shape: DraftShape) -> f64 {
        if i == 0 {
            return 1.0;
        }
        if i > shape.depth() {
            return 0.0;
        }
        match self {
            Self::Geometric(law) => power(law.rate.value, i),
            Self::Conditional(law) | Self::Histogram(law) => law.tail(i),
            Self::Tree(law) => law.tails(shape).get(i as usize - 1).copied().unwrap_or(0.0),
            Self::MeanOnly(law) => power(law.rate().value, i),
            Self::FloorCeil(law) => law.tail(i),
            Self::Mixture(law) => law.tail(i, shape),
            Self::Beta(law) => law.tail(i),
            Self::Markov(law) => law.tail(i, shape),
        }
    }

    /// Σ weight(i)·S_i over 1 ≤ i ≤ k.
    fn sum_tails(&self, shape: DraftShape, weight: impl Fn(u32) -> f64) -> f64 {
        let depth = shape.depth();
        match self {
            Self::Geometric(law) => sum_products(depth, |_| law.rate.value, weight),
            Self::MeanOnly(law) => sum_products(depth, |_| law.rate().value, weight),
            Self::Beta(law) => sum_products(depth, |i| law.conditional(i), weight),
            Self::Tree(law) => {
                let tails: Cow<'_, [f64]> = law.tails(shape);
                tails.iter().zip(1..=depth).map(|(tail, i)| weight(i) * tail).sum()
            }
            _ => (1..=depth).map(|i| weight(i) * self.tail(i, shape)).sum(),
        }
    }

    /// The mean accept length, bonus token included: 1 + Σ S_i.
    pub fn mean(&self, shape: DraftShape) -> AcceptLength {
        match self {
            // The stated mean itself, free of the rounding of the solved rate.
            Self::MeanOnly(law) if law.drafted() == shape.depth() => law.accept_length().value,
            _ => AcceptLength::new(1.0 + self.sum_tails(shape, |_| 1.0)),
        }
    }

    /// The variance of the accept length of one cycle taken at random: Σ (2i - 1) S_i - (Σ S_i)² \[tokens²\].
    pub fn variance(&self, shape: DraftShape) -> f64 {
        let first = self.sum_tails(shape, |_| 1.0);
        let second = self.sum_tails(shape, |i| 2.0 * f64::from(i) - 1.0);
        (second - first * first).max(0.0)
    }

    /// P(n drafted tokens accepted) for n = 0 ... k; the accept length is n + 1.
    pub fn pmf(&self, shape: DraftShape) -> Vec<f64> {
        let prepared = self.prepared(shape);
        let mut tail = 1.0;
        let mut pmf = Vec::with_capacity(shape.depth() as usize + 1);
        for i in 1..=shape.depth() {
            let next = prepared.tail(i, shape);
            pmf.push((tail - next).max(0.0));
            tail = next;
        }
        pmf.push(tail);
        pmf
    }

    /// The mean accept length with where it came from and its range. Rates as written give `given` or `derived`;
    /// whatever a [`ShapeNote`] tells of makes it `assumed`.
    pub fn accept_length(&self, shape: DraftShape) -> Sourced<AcceptLength> {
        let mean = self.mean(shape);
        let supposed = self.note(shape).is_some_and(|note| !matches!(note, ShapeNote::NothingBeyond { .. }));
        let (source, spread) = match self {
            Self::MeanOnly(law) if law.drafted() == shape.depth() => return law.accept_length(),
            Self::Geometric(Geometric { rate }) => (arithmetic(rate.source), rate.spread),
            Self::MeanOnly(law) => (law.rate().source, law.rate().spread),
            Self::FloorCeil(_) => (Source::Given, None),
            _ => (Source::Derived, None),
        };
        let at = |rate: f64| {
            let law = Self::Geometric(Geometric { rate: Sourced::given(rate) });
            law.mean(shape)
        };
        Sourced {
            value: mean,
            source: if supposed { Source::Assumed } else { source },
            spread: spread.map(|s| Spread { low: at(s.low), high: at(s.high) }),
            extrapolated: false,
        }
    }

    /// What had to be supposed for `shape`, if anything.
    pub fn note(&self, shape: DraftShape) -> Option<ShapeNote> {
        let drafted = shape.depth();
        match self {
            Self::Conditional(law) | Self::Histogram(law) if law.known() < drafted => {
                Some(ShapeNote::Extended { known: law.known(), drafted, rate: law.beyond() })
            }
            Self::MeanOnly(law) if law.drafted() != drafted => {
                Some(ShapeNote::GeometricAssumed { stated: law.drafted(), drafted, rate: law.rate().value })
            }
            Self::Tree(law) if law.fixed_depth().is_some_and(|depth| depth < drafted) => {
                law.fixed_depth().map(|known| ShapeNote::NothingBeyond { known, drafted })
            }
            Self::FloorCeil(law) if law.reach() < drafted => {
                Some(ShapeNote::NothingBeyond { known: law.reach(), drafted })
            }
            Self::Mixture(law) => law.parts().iter().find_map(|(_, part)| part.note(shape)),
            Self::Markov(law) => law.states().iter().find_map(|part| part.note(shape)),
            _ => None,
        }
    }

    /// The same law, prepared for `shape`, so that no call for this shape computes a tree again.
    #[must_use]
    pub fn with_shape(self, shape: DraftShape) -> Self {
        match self {
            Self::Tree(law) => Self::Tree(law.with_shape(shape)),
            Self::Mixture(law) => Self::Mixture(law.with_shape(shape)),
            Self::Markov(law) => Self::Markov(law.with_shape(shape)),
            other => other,
        }
    }

    fn prepared(&self, shape: DraftShape) -> Cow<'_, Self> {
        match self {
            Self::Tree(law) if law.is_prepared_for(shape) => Cow::Borrowed(self),
            Self::Tree(_) | Self::Mixture(_) | Self::Markov(_) => Cow::Owned(self.clone().with_shape(shape)),
            _ => Cow::Borrowed(self),
        }
    }
}

/// Σ weight(i)·S_i over 1 ≤ i ≤ depth, the tails S_i being products of conditional rates.
fn sum_products(depth: u32, conditional: impl Fn(u32) -> f64, weight: impl Fn(u32) -> f64) -> f64 {
    let mut tail = 1.0;
    let mut sum = 0.0;
    for i in 1..=depth {
        tail *= conditional(i);
        if tail < f64::MIN_POSITIVE {
            break;
        }
        sum += weight(i) * tail;
    }
    sum
}

/// The source of a result of arithmetic on one input.
const fn arithmetic(input: Source) -> Source {
    match input {
        Source::Measured | Source::Given | Source::Derived => Source::Derived,
        modelled => modelled,
    }
}

#[cfg(test)]
#[path = "acceptance_tests.rs"]
mod tests;
