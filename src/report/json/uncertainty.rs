//! How sure the answer is, in the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use super::types::SourceJson;
use crate::report::number::finite;
use crate::uncertainty::{Effect, MoreCycles, Outcome, Turn, Uncertainty};

/// How sure the answer is, by Monte Carlo over the ranges of all inputs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UncertaintyJson {
    /// Samples drawn.
    pub samples: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Share of the samples in which speculation wins.
    pub win_probability: f64,
    /// One standard error of that share.
    pub win_probability_error: f64,
    /// The same probability to first order; null where no input has a range.
    pub first_order_win_probability: Option<f64>,
    /// Every output with its range.
    pub outcomes: Vec<OutcomeJson>,
    /// Every input that moves the speedup, the most influential first.
    pub inputs: Vec<InputJson>,
    /// Where the verdict turns over batch, context and draft tokens, by the model alone.
    pub turns: Vec<TurnJson>,
    /// Cycles to observe; null where the accept length cannot decide.
    pub more_cycles: Option<MoreCyclesJson>,
}

/// One output.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OutcomeJson {
    /// Its dotted name, as in the CSV.
    pub name: String,
    /// Unit of its numbers; empty for a plain number.
    pub unit: String,
    /// The value of the plain answer.
    pub value: Option<f64>,
    /// 5th percentile of the samples.
    pub low: Option<f64>,
    /// Median of the samples.
    pub median: Option<f64>,
    /// 95th percentile of the samples.
    pub high: Option<f64>,
    /// Mean of the samples.
    pub mean: Option<f64>,
    /// Standard deviation of the samples.
    pub deviation: Option<f64>,
    /// 5th percentile to first order; null where no input moves it.
    pub first_order_low: Option<f64>,
    /// 95th percentile to first order.
    pub first_order_high: Option<f64>,
    /// Share of the samples in which the value is possible at all; below 1 for break-evens alone.
    pub reachable: f64,
}

/// One uncertain input.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InputJson {
    /// Its name.
    pub name: String,
    /// Unit of its numbers; `x` for a factor on times.
    pub unit: String,
    /// Where its value came from.
    pub source: SourceJson,
    /// 5th percentile.
    pub low: Option<f64>,
    /// Median.
    pub value: Option<f64>,
    /// 95th percentile.
    pub high: Option<f64>,
    /// Speedup with this input at its 5th percentile, the others at their medians.
    pub speedup_at_low: Option<f64>,
    /// Speedup with it at its 95th percentile.
    pub speedup_at_high: Option<f64>,
    /// First-order Sobol index: share of the variance of ln speedup that it explains alone.
    pub sobol_first: Option<f64>,
    /// Total Sobol index: its share with all interactions.
    pub sobol_total: Option<f64>,
    /// One standard error of the first-order index.
    pub sobol_first_error: Option<f64>,
    /// One standard error of the total index.
    pub sobol_total_error: Option<f64>,
}

/// A change of the winner along a scan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TurnJson {
    /// `batch`, `context` or `draft_tokens`.
    pub over: String,
    /// Whether speculation wins from there on.
    pub wins: bool,
    /// 5th percentile of the place.
    pub low: u32,
    /// Median of the place.
    pub median: u32,
    /// 95th percentile of the place.
    pub high: u32,
    /// Share of the samples with such a turn.
    pub share: f64,
}

/// Cycles to observe until the accept length is surely on one side of its break-even.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MoreCyclesJson {
    /// Accept length at which speculation equals the baseline.
    pub break_even: Option<f64>,
    /// Half-width of what counts as equal.
    pub margin: Option<f64>,
    /// Independent cycles behind the accept length; null where not known.
    pub seen: Option<f64>,
    /// Expected further cycles; 0: decided.
    pub expected: Option<f64>,
    /// Cycles worth one independent cycle.
    pub per_independent: Option<f64>,
    /// Probability of the likelier verdict if the accept length were known exactly.
    pub ceiling: f64,
    /// The input to measure first, where that is below 0.95.
    pub blocker: Option<String>,
}

impl From<&Uncertainty> for UncertaintyJson {
    fn from(found: &Uncertainty) -> Self {
        Self {
            samples: found.samples,
            seed: found.seed,
            win_probability: found.win_probability,
            win_probability_error: short(found.win_error),
            first_order_win_probability: found.first_order_probability.and_then(finite),
            outcomes: found.outcomes.iter().map(outcome).collect(),
            inputs: found.effects.iter().map(input).collect(),
            turns: found.turns.iter().map(turn).collect(),
            more_cycles: found.more_cycles.as_ref().map(more_cycles),
        }
    }
}

fn short(share: f64) -> f64 {
    finite(share).unwrap_or(0.0)
}

fn outcome(outcome: &Outcome) -> OutcomeJson {
    let sampled = outcome.sampled;
    OutcomeJson {
        name: outcome.key.clone(),
        unit: outcome.unit.to_owned(),
        value: finite(outcome.value),
        low: finite(sampled.low),
        median: finite(sampled.median),
        high: finite(sampled.high),
        mean: finite(sampled.mean),
        deviation: finite(sampled.deviation),
        first_order_low: outcome.first_order.and_then(|ends| finite(ends.0)),
        first_order_high: outcome.first_order.and_then(|ends| finite(ends.1)),
        reachable: short(outcome.reachable),
    }
}

fn input(effect: &Effect) -> InputJson {
    let (factor, indices) = (&effect.factor, effect.indices);
    InputJson {
        name: factor.name.clone(),
        unit: factor.unit.to_owned(),
        source: factor.source.into(),
        low: finite(factor.low),
        value: finite(factor.value),
        high: finite(factor.high),
        speedup_at_low: finite(effect.at_low),
        speedup_at_high: finite(effect.at_high),
        sobol_first: finite(indices.first),
        sobol_total: finite(indices.total),
        sobol_first_error: finite(indices.first_error),
        sobol_total_error: finite(indices.total_error),
    }
}

fn turn(turn: &Turn) -> TurnJson {
    let [low, median, high] = turn.at;
    TurnJson { over: turn.over.to_owned(), wins: turn.wins, low, median, high, share: short(turn.share) }
}

fn more_cycles(more: &MoreCycles) -> MoreCyclesJson {
    MoreCyclesJson {
        break_even: finite(more.break_even),
        margin: finite(more.margin),
        seen: more.seen.and_then(finite),
        expected: finite(more.expected),
        per_independent: finite(more.per_independent),
        ceiling: short(more.ceiling),
        blocker: more.blocker.clone(),
    }
}
