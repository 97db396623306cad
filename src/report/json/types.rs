//! The shape of the JSON report. Field order is output order.

use schemars::JsonSchema;
use serde::Serialize;

use super::uncertainty::UncertaintyJson;
use crate::sourced::Source;

/// The answer to one scenario. Keys end in their unit; a number that is not finite is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "specplan report")]
pub struct ReportJson {
    /// Version of this schema; it grows when a key changes its meaning or goes away.
    pub schema_version: u32,
    /// Version of the tool that answered.
    pub tool_version: String,
    /// Seed of everything random.
    pub seed: u64,
    /// The scenario that was answered.
    pub scenario: ScenarioJson,
    /// The calibration that was used.
    pub calibration: CalibrationJson,
    /// Does speculation pay.
    pub verdict: VerdictJson,
    /// Probability that speculation wins, where inputs carry spreads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win_probability: Option<f64>,
    /// Throughput with speculation over throughput without it.
    pub speedup: Quantity,
    /// Without speculation.
    pub baseline: BaselineJson,
    /// With speculation.
    pub speculation: SpeculationJson,
    /// What each lever would have to be, alone, for speculation to equal the baseline.
    pub break_even: BreakEvensJson,
    /// Named variations.
    pub what_if: Vec<WhatIfJson>,
    /// Relative change of the speedup per relative change of an input, most influential first.
    pub elasticities: Vec<ElasticityJson>,
    /// The single change that gains most of those tried; null where none was tried.
    pub largest_lever: Option<WhatIfJson>,
    /// Contradictions between observed and predicted parts.
    pub diagnosis: Vec<FindingJson>,
    /// How sure the answer is, where `--monte-carlo` asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<UncertaintyJson>,
    /// Paths of the plots written beside this report.
    pub plots: Vec<String>,
}

/// Which scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScenarioJson {
    /// Its name, as the file says.
    pub name: String,
    /// Its path, as typed.
    pub path: String,
    /// Keys that the command line changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<OverrideJson>,
}

/// A key that the command line changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OverrideJson {
    /// The dotted key.
    pub key: String,
    /// The value given.
    pub value: String,
}

/// Which calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CalibrationJson {
    /// Its name; null without a hardware model or with the roofline alone.
    pub name: Option<String>,
}

/// Whether speculation pays; it ties when |speedup - 1| < 0.01 or the interval of the speedup contains 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictJson {
    /// Faster with it.
    Wins,
    /// Slower with it.
    Loses,
    /// Neither.
    Ties,
}

/// Where a number came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceJson {
    /// Measured on hardware, or interpolated between measurements.
    Measured,
    /// Written by the user.
    Given,
    /// Arithmetic on measured and given values alone.
    Derived,
    /// A curve fitted to measurements.
    Fitted,
    /// Bytes over bandwidth or operations over rate.
    Roofline,
    /// A default that nobody measured on this machine.
    Assumed,
}

impl From<Source> for SourceJson {
    fn from(source: Source) -> Self {
        match source {
            Source::Measured => Self::Measured,
            Source::Given => Self::Given,
            Source::Derived => Self::Derived,
            Source::Fitted => Self::Fitted,
            Source::Roofline => Self::Roofline,
            Source::Assumed => Self::Assumed,
        }
    }
}

/// A number with where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Quantity {
    /// The value that was used.
    pub value: Option<f64>,
    /// Where it came from.
    pub source: SourceJson,
    /// Lower end of the range that holds the true value nine times in ten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of that range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The model's own figure, where a hardware model is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
    /// True where a table was left at its edge to get the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extrapolated: bool,
}

/// One part of a pass.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartJson {
    /// Its name.
    pub part: String,
    /// How many of it, where that means something.
    pub count: Option<u32>,
    /// Time used; null where only the model knows the part.
    pub time_ms: Option<f64>,
    /// The model's own figure, where a hardware model is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_ms: Option<f64>,
}

/// Without speculation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BaselineJson {
    /// One decode step.
    pub step_ms: Quantity,
    /// Output tokens per second over all requests.
    pub throughput_tok_s: Quantity,
    /// Parts of the step.
    pub breakdown: Vec<PartJson>,
}

/// With speculation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpeculationJson {
    /// Tokens gained per cycle and request, bonus token included.
    pub accept_length: Quantity,
    /// Rows verified over the whole batch.
    pub rows: Quantity,
    /// One draft/verify cycle.
    pub cycle_ms: Quantity,
    /// Drafting and host work together.
    pub draft_host_ms: Quantity,
    /// Drafting alone; null where only the sum is known.
    pub draft_ms: Option<Quantity>,
    /// Host work alone; null where only the sum is known.
    pub host_ms: Option<Quantity>,
    /// The verify pass.
    pub verify_ms: Quantity,
    /// Output tokens per second over all requests.
    pub throughput_tok_s: Quantity,
    /// Parts of the verify pass.
    pub verify_breakdown: Vec<PartJson>,
}

/// Break-evens in every lever.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BreakEvensJson {
    /// Least accept length.
    pub accept_length: BreakEvenJson,
    /// Longest verify pass.
    pub verify_ms: BreakEvenJson,
    /// Longest single all-reduce of the verify pass.
    pub allreduce_us: BreakEvenJson,
    /// Longest drafting and host work.
    pub draft_host_ms: BreakEvenJson,
    /// Speedup in each execution mode of verify.
    pub execution: Vec<CrossingJson>,
    /// Crossings of speedup 1 over the batch size.
    pub batch: Vec<CrossingJson>,
    /// Crossings over the context.
    pub context: Vec<CrossingJson>,
    /// Crossings over the number of draft tokens.
    pub draft_tokens: Vec<CrossingJson>,
}

/// What a lever would have to be, or why it does not matter what it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BreakEvenJson {
    /// A value does it.
    Reached(Needed),
    /// No value does it.
    Unreachable {
        /// Always false.
        reachable: bool,
        /// Why.
        because: String,
    },
}

/// The values that do it; null: none does under that column's condition.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Needed {
    /// With drafting and host work as they are.
    pub value: Option<f64>,
    /// If drafting and host work cost nothing.
    pub draft_free: Option<f64>,
}

/// A point at which the verdict changes, or a mode with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CrossingJson {
    /// The value from which the verdict holds.
    pub at: At,
    /// The verdict from there on.
    pub verdict: VerdictJson,
    /// The speedup there.
    pub speedup: Option<f64>,
}

/// A number, or the name of a mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum At {
    /// A batch size, a context, a number of draft tokens.
    Number(u64),
    /// `graph`, `eager`.
    Word(String),
}

/// A variation and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WhatIfJson {
    /// Its name.
    pub name: String,
    /// Does speculation pay then.
    pub verdict: VerdictJson,
    /// Against the baseline of the variation.
    pub speedup: Option<f64>,
    /// With speculation, over all requests.
    pub throughput_tok_s: Option<f64>,
    /// The verify pass of the variation.
    pub verify_ms: Option<f64>,
    /// The weakest source that entered.
    pub source: SourceJson,
    /// Parts that the model predicted because an input of theirs changed.
    pub predicted_parts: Vec<String>,
}

/// Relative sensitivity of the speedup.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ElasticityJson {
    /// Of which input.
    pub of: String,
    /// d ln speedup / d ln input.
    pub value: Option<f64>,
}

/// A contradiction and its resolution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingJson {
    /// Stable code.
    pub code: String,
    /// One or two sentences with the numbers.
    pub message: String,
    /// Commands or measurements that would settle it.
    pub settle: Vec<String>,
}
