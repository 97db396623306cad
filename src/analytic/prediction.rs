//! The answer, as numbers: what `evaluate` fills and `report` writes.

use crate::sourced::{Source, Sourced};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// A value that was used, and beside it the model's own figure where there is a hardware model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure<T> {
    /// The value that entered the arithmetic.
    pub used: Sourced<T>,
    /// What the model says by itself.
    pub predicted: Option<Sourced<T>>,
}

/// Whether speculation pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Faster with it.
    Wins,
    /// Slower with it.
    Loses,
    /// |speedup - 1| < 0.01, or the interval of the speedup contains 1.
    Ties,
}

impl Verdict {
    /// The verdict on a speedup, by the rule of [`Verdict::Ties`].
    pub fn of(speedup: Sourced<f64>) -> Self {
        let near = (speedup.value - 1.0).abs() < 0.01;
        let contains = speedup.spread.is_some_and(|s| s.low <= 1.0 && 1.0 <= s.high);
        if near || contains {
            Self::Ties
        } else if speedup.value > 1.0 {
            Self::Wins
        } else {
            Self::Loses
        }
    }
}

/// The whole answer to one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Does it pay.
    pub verdict: Verdict,
    /// Probability that speculation wins, where inputs carry spreads.
    pub win_probability: Option<f64>,
    /// Throughput with over throughput without.
    pub speedup: Figure<f64>,
    /// Without speculation.
    pub baseline: BaselineAnswer,
    /// With speculation.
    pub speculation: SpeculationAnswer,
    /// What would have to change.
    pub break_even: BreakEvens,
    /// Named variations.
    pub what_ifs: Vec<WhatIfAnswer>,
    /// Relative change of the speedup per relative change of an input, most influential first.
    pub elasticities: Vec<Elasticity>,
    /// The single change, among those the tool tries, that gains most.
    pub largest_lever: Option<WhatIfAnswer>,
    /// Contradictions and their resolution.
    pub diagnosis: Vec<Finding>,
}

/// The step without speculation.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineAnswer {
    /// Graph or eager, where known.
    pub execution: Option<&'static str>,
    /// One decode step.
    pub step: Figure<Seconds>,
    /// Over all requests.
    pub throughput: Figure<TokensPerSecond>,
    /// Its parts.
    pub breakdown: Vec<Row>,
}

/// The draft/verify cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeculationAnswer {
    /// Graph or eager verify, where known.
    pub execution: Option<&'static str>,
    /// Accept length, bonus token included.
    pub accept_length: Figure<AcceptLength>,
    /// The most that one cycle can yield per request: the longest drafted chain and the bonus token.
    pub accept_limit: AcceptLength,
    /// Rows verified over the whole batch.
    pub rows: Figure<f64>,
    /// One cycle.
    pub cycle: Figure<Seconds>,
    /// Drafting and host work together.
    pub draft_host: Figure<Seconds>,
    /// Drafting alone; none where only the sum is known.
    pub draft: Option<Figure<Seconds>>,
    /// Host work alone; none where only the sum is known.
    pub host: Option<Figure<Seconds>>,
    /// The verify pass.
    pub verify: Figure<Seconds>,
    /// Over all requests.
    pub throughput: Figure<TokensPerSecond>,
    /// The cycle as a tree: depth 0 the cycle, 1 its parts, 2 the parts of verify.
    pub cycle_breakdown: Vec<Row>,
    /// Parts of the verify pass.
    pub verify_breakdown: Vec<Row>,
}

/// One row of a breakdown.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The part: `allreduce`, `waiting for the hosts`, `all else`, `attention`, ...
    pub part: String,
    /// How many of it, where that means something.
    pub count: Option<u32>,
    /// One of it, where `count` is given.
    pub each: Option<Seconds>,
    /// Time used; none where only the model knows the part.
    pub time: Option<Sourced<Seconds>>,
    /// Share of the whole, 0 to 1.
    pub share: Option<f64>,
    /// The model's figure.
    pub predicted: Option<Sourced<Seconds>>,
    /// Depth in the tree.
    pub depth: u8,
}

/// What a lever would have to be for speculation to equal the baseline, the rest unchanged.
#[derive(Debug, Clone, PartialEq)]
pub enum BreakEven<T> {
    /// It can.
    Reached {
        /// Value needed with drafting and host work as they are; none: unreachable so, yet not if drafting were free.
        value: Option<T>,
        /// Value needed if drafting and host work cost nothing; none: not even then.
        draft_free: Option<T>,
    },
    /// No value does it.
    Unreachable {
        /// Why, in a clause: "verify alone exceeds 24.4 ms".
        because: String,
    },
}

/// One lever of the table "to reach the baseline".
#[derive(Debug, Clone, PartialEq)]
pub struct Lever<T> {
    /// Its value now.
    pub now: Sourced<T>,
    /// What is needed.
    pub needed: BreakEven<T>,
    /// (needed - now), for quantities shown as a difference, or (needed - now) / now; none where unreachable.
    pub change: Option<f64>,
    /// Whether the lever must be at least (accept length) or at most (times) the value.
    pub at_least: bool,
    /// What to know about the needed value: why it is missing where the draft-free one is not ("needs 3.80, one
    /// cycle yields at most 3.00"), or that it is out of the ordinary.
    pub note: Option<String>,
}

/// Break-evens in every lever.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEvens {
    /// Accept length; `change` is a difference.
    pub accept_length: Lever<AcceptLength>,
    /// The verify pass; `change` is relative.
    pub verify: Lever<Seconds>,
    /// One all-reduce of the verify pass, where their number is known; `change` is relative.
    pub allreduce: Option<Lever<Seconds>>,
    /// Drafting and host work; `change` is relative.
    pub draft_host: Lever<Seconds>,
    /// Speedup in each execution mode of verify, where a hardware model exists.
    pub execution: Vec<Crossing>,
    /// Crossings of speedup 1 over the batch size, found by scan.
    pub batch: Vec<Crossing>,
    /// Crossings over the context.
    pub context: Vec<Crossing>,
    /// Crossings over the number of draft tokens.
    pub draft_tokens: Vec<Crossing>,
}

/// A point of a scan at which the verdict changes, or (for execution modes) each mode's speedup.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// The value from which the verdict holds: `16`, `graph`.
    pub at: String,
    /// The verdict from there on.
    pub verdict: Verdict,
    /// The speedup there.
    pub speedup: f64,
}

/// A variation and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIfAnswer {
    /// Its name.
    pub name: String,
    /// Does it pay.
    pub verdict: Verdict,
    /// Against the baseline of the variation.
    pub speedup: f64,
    /// With speculation.
    pub throughput: TokensPerSecond,
    /// Without it.
    pub baseline: TokensPerSecond,
    /// The verify pass of the variation.
    pub verify: Seconds,
    /// The weakest source that entered.
    pub source: Source,
    /// Parts that were predicted because an input of theirs changed: `verify`, `baseline`.
    pub predicted_parts: Vec<&'static str>,
}

/// Relative sensitivity of the speedup.
#[derive(Debug, Clone, PartialEq)]
pub struct Elasticity {
    /// Of which input: `accept_length`, `verify`, `allreduce`, `draft_host`, `baseline_step`.
    pub of: &'static str,
    /// d ln speedup / d ln input.
    pub value: f64,
}

/// A finding about contradictions, with what would settle it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Stable code: `host-bound-verify`, `impossible-split`, ...
    pub code: &'static str,
    /// One or two sentences with the numbers.
    pub message: String,
    /// Commands or measurements that would settle it, each ready to paste or do.
    pub settle: Vec<String>,
}
