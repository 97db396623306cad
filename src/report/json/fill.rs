//! From the prediction to the JSON types.

use crate::analytic::{
    BaselineAnswer, BreakEven, BreakEvens, Crossing, Figure, Prediction, Row, SpeculationAnswer, Verdict,
    WhatIfAnswer,
};
use crate::report::context::Context;
use crate::report::number::finite;
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

use super::types::{
    At, BaselineJson, BreakEvenJson, BreakEvensJson, CalibrationJson, CrossingJson, ElasticityJson,
    FindingJson, Needed, OverrideJson, PartJson, Quantity, ReportJson, ScenarioJson, SpeculationJson,
    VerdictJson, WhatIfJson,
};

/// Version of the schema.
pub const SCHEMA_VERSION: u32 = 1;

impl ReportJson {
    /// The report of one answer.
    pub fn new(prediction: &Prediction, context: &Context) -> Self {
        let elasticity =
            |e: &crate::analytic::Elasticity| ElasticityJson { of: e.of.to_owned(), value: finite(e.value) };
        Self {
            schema_version: SCHEMA_VERSION,
            tool_version: context.tool_version.clone(),
            seed: context.seed,
            scenario: scenario(context),
            calibration: CalibrationJson { name: context.calibration_name.clone() },
            verdict: prediction.verdict.into(),
            win_probability: prediction.win_probability.and_then(finite),
            speedup: quantity(&prediction.speedup, |x| x),
            baseline: baseline(&prediction.baseline),
            speculation: speculation(&prediction.speculation),
            break_even: break_evens(&prediction.break_even),
            what_if: prediction.what_ifs.iter().map(what_if).collect(),
            elasticities: prediction.elasticities.iter().map(elasticity).collect(),
            largest_lever: prediction.largest_lever.as_ref().map(what_if),
            diagnosis: prediction.diagnosis.iter().map(finding).collect(),
            uncertainty: context.uncertainty.as_ref().map(Into::into),
            plots: context.plots.clone(),
        }
    }
}

impl From<Verdict> for VerdictJson {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Wins => Self::Wins,
            Verdict::Loses => Self::Loses,
            Verdict::Ties => Self::Ties,
        }
    }
}

fn scenario(context: &Context) -> ScenarioJson {
    let one = |(key, value): &(String, String)| OverrideJson { key: key.clone(), value: value.clone() };
    ScenarioJson {
        name: context.scenario_name.clone(),
        path: context.scenario_path.clone(),
        overrides: context.overrides.iter().map(one).collect(),
    }
}

fn finding(finding: &crate::analytic::Finding) -> FindingJson {
    FindingJson {
        code: finding.code.to_owned(),
        message: finding.message.clone(),
        settle: finding.settle.clone(),
    }
}

fn quantity<T: Copy>(figure: &Figure<T>, number: impl Fn(T) -> f64) -> Quantity {
    let used = figure.used;
    Quantity {
        value: finite(number(used.value)),
        source: used.source.into(),
        low: used.spread.and_then(|s| finite(number(s.low))),
        high: used.spread.and_then(|s| finite(number(s.high))),
        predicted: figure.predicted.and_then(|p| finite(number(p.value))),
        extrapolated: used.extrapolated,
    }
}

fn part(row: &Row) -> PartJson {
    PartJson {
        part: row.part.clone(),
        count: row.count,
        time_ms: row.time.and_then(|t| finite(t.value.ms())),
        predicted_ms: row.predicted.and_then(|t| finite(t.value.ms())),
    }
}

fn baseline(answer: &BaselineAnswer) -> BaselineJson {
    BaselineJson {
        step_ms: quantity(&answer.step, Seconds::ms),
        throughput_tok_s: quantity(&answer.throughput, TokensPerSecond::get),
        breakdown: answer.breakdown.iter().map(part).collect(),
    }
}

fn speculation(answer: &SpeculationAnswer) -> SpeculationJson {
    let ms = |figure: &Figure<Seconds>| quantity(figure, Seconds::ms);
    SpeculationJson {
        accept_length: quantity(&answer.accept_length, AcceptLength::get),
        rows: quantity(&answer.rows, |x| x),
        cycle_ms: ms(&answer.cycle),
        draft_host_ms: ms(&answer.draft_host),
        draft_ms: answer.draft.as_ref().map(ms),
        host_ms: answer.host.as_ref().map(ms),
        verify_ms: ms(&answer.verify),
        throughput_tok_s: quantity(&answer.throughput, TokensPerSecond::get),
        verify_breakdown: answer.verify_breakdown.iter().map(part).collect(),
    }
}

fn break_evens(all: &BreakEvens) -> BreakEvensJson {
    let list = |crossings: &[Crossing]| crossings.iter().map(crossing).collect();
    let no_allreduce = || BreakEvenJson::Unreachable {
        reachable: false,
        because: "the number of all-reduces in the verify pass is not known".to_owned(),
    };
    BreakEvensJson {
        accept_length: break_even(&all.accept_length.needed, AcceptLength::get),
        verify_ms: break_even(&all.verify.needed, Seconds::ms),
        allreduce_us: all
            .allreduce
            .as_ref()
            .map_or_else(no_allreduce, |l| break_even(&l.needed, Seconds::us)),
        draft_host_ms: break_even(&all.draft_host.needed, Seconds::ms),
        execution: list(&all.execution),
        batch: list(&all.batch),
        context: list(&all.context),
        draft_tokens: list(&all.draft_tokens),
    }
}

fn break_even<T: Copy>(needed: &BreakEven<T>, number: impl Fn(T) -> f64) -> BreakEvenJson {
    match needed {
        BreakEven::Reached { value, draft_free } => BreakEvenJson::Reached(Needed {
            value: value.and_then(|v| finite(number(v))),
            draft_free: draft_free.and_then(|v| finite(number(v))),
        }),
        BreakEven::Unreachable { because } => {
            BreakEvenJson::Unreachable { reachable: false, because: because.clone() }
        }
    }
}

fn crossing(crossing: &Crossing) -> CrossingJson {
    CrossingJson {
        at: crossing.at.parse().map_or_else(|_| At::Word(crossing.at.clone()), At::Number),
        verdict: crossing.verdict.into(),
        speedup: finite(crossing.speedup),
    }
}

fn what_if(answer: &WhatIfAnswer) -> WhatIfJson {
    WhatIfJson {
        name: answer.name.clone(),
        verdict: answer.verdict.into(),
        speedup: finite(answer.speedup),
        throughput_tok_s: finite(answer.throughput.get()),
        verify_ms: finite(answer.verify.ms()),
        source: answer.source.into(),
        predicted_parts: answer.predicted_parts.iter().map(|&p| p.to_owned()).collect(),
    }
}
