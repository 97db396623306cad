//! What a study of one answer found, as numbers for the report.

use super::factor::Factor;
use super::sobol::Indices;
use super::summary::Summary;

/// How sure an answer is.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Monte Carlo samples.
    pub samples: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Share of the samples in which speculation wins.
    pub win_probability: f64,
    /// One standard error of that share.
    pub win_error: f64,
    /// The same probability to first order; none where no input has a range.
    pub first_order_probability: Option<f64>,
    /// Each output, the speedup first.
    pub outcomes: Vec<Outcome>,
    /// Each input that moves the speedup, the most influential first.
    pub effects: Vec<Effect>,
    /// Where the verdict turns over batch, context and draft tokens, in samples.
    pub turns: Vec<Turn>,
    /// Observation that would settle the accept length; none where a break-even or the spread of a cycle is unknown.
    pub more_cycles: Option<MoreCycles>,
}

/// One output.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its name in JSON and CSV: `speedup`, `break_even.verify`.
    pub key: String,
    /// Its name in the text.
    pub name: String,
    /// Unit of all numbers; empty for a plain number.
    pub unit: &'static str,
    /// The value of the plain answer.
    pub value: f64,
    /// Over all samples.
    pub sampled: Summary,
    /// 5th and 95th percentile to first order; none where no input moves it.
    pub first_order: Option<(f64, f64)>,
    /// Whether the value of the plain answer is possible at all.
    pub possible: bool,
    /// Share of the samples in which the value is possible at all: an accept length that a cycle can yield, a time
    /// above zero. 1 for what is no break-even.
    pub reachable: f64,
}

/// What one input does to the speedup.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The input.
    pub factor: Factor,
    /// Speedup with the input at its 5th percentile, the others at their middle.
    pub at_low: f64,
    /// Speedup with it at its 95th percentile.
    pub at_high: f64,
    /// Shares of the variance of ln speedup.
    pub indices: Indices,
}

/// A change of the verdict along a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// `batch`, `context` or `draft_tokens`.
    pub over: &'static str,
    /// Whether speculation wins from there on, or stops to.
    pub wins: bool,
    /// 5th percentile, median and 95th percentile of the place, over the samples in which there is one.
    pub at: [u32; 3],
    /// Share of the samples with such a change.
    pub share: f64,
}

/// Cycles to observe until it is sure on which side of its break-even the accept length lies.
#[derive(Debug, Clone, PartialEq)]
pub struct MoreCycles {
    /// Accept length at which speculation equals the baseline.
    pub break_even: f64,
    /// Half-width of what counts as equal \[tokens\].
    pub margin: f64,
    /// Independent cycles behind the accept length so far; none: not known, counted as none.
    pub seen: Option<f64>,
    /// Expected further cycles, as the user counts them; 0: decided.
    pub expected: f64,
    /// Cycles that are worth one independent cycle.
    pub per_independent: f64,
    /// Probability of the likelier verdict if the accept length were known exactly, 0.5 to 1.
    pub ceiling: f64,
    /// The input that then matters most, where the ceiling is below 0.95.
    pub blocker: Option<String>,
}
