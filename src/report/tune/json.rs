//! The plan for other programs.

use serde_json::{Value, json};

use crate::report::context::Context;
use crate::report::number::finite;
use crate::tune::{Cell, Fleet, Objective, Outcome, Paste, Plan, Side};

/// Version of the JSON of `tune`; it rises when a field changes its meaning or goes.
pub const TUNE_SCHEMA_VERSION: u32 = 1;

/// The plan as JSON.
pub fn tune_json(plan: &Plan, pastes: &[Paste], context: &Context) -> Value {
    json!({
        "schema_version": TUNE_SCHEMA_VERSION,
        "tool_version": context.tool_version,
        "scenario": { "name": context.scenario_name, "path": context.scenario_path },
        "calibration": { "name": context.calibration_name },
        "overrides": context.overrides.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect::<Vec<_>>(),
        "objective": match plan.goal.objective {
            Objective::Throughput => "throughput",
            Objective::Latency => "latency",
            Objective::Goodput => "goodput",
        },
        "slo_ms": plan.goal.slo.and_then(|slo| finite(slo.ms())),
        "cells": plan.cells.iter().map(|cell| self::cell(plan, cell)).collect::<Vec<_>>(),
        "fixed": plan.fixed.iter().map(|fixed| json!({
            "context": fixed.context,
            "setting": fixed.setting.words(&plan.methods),
            "mean_gain": finite(fixed.mean_gain),
            "least_gain": { "batch": fixed.worst.0, "gain": finite(fixed.worst.1) },
        })).collect::<Vec<_>>(),
        "fleets": plan.fleets.iter().map(|fleet| self::fleet(plan, fleet)).collect::<Vec<_>>(),
        "commands": pastes.iter().map(|paste| json!({
            "title": paste.title,
            "lines": paste.lines,
            "notes": paste.notes,
        })).collect::<Vec<_>>(),
        "priced": plan.priced,
        "possible": plan.possible,
        "carried": plan.carried.iter().map(|carried| json!({
            "part": carried.part,
            "ratios": carried.ratios.iter().map(|(batch, ratio)| json!({ "batch": batch, "ratio": finite(*ratio) })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "as_modelled": plan.as_modelled,
        "assumed": plan.assumed,
        "measure": plan.measure,
        "plots": context.plots,
    })
}

fn cell(plan: &Plan, cell: &Cell) -> Value {
    json!({
        "batch": cell.batch,
        "context": cell.context,
        "refused": cell.refused,
        "best": cell.best().map(|best| best.setting.words(&plan.methods)),
        "speculates": cell.best().map(|best| best.setting.draft.is_some()),
        "tried": cell.tried.iter().map(|outcome| self::outcome(plan, outcome)).collect::<Vec<_>>(),
    })
}

fn outcome(plan: &Plan, outcome: &Outcome) -> Value {
    let shape = outcome.setting.draft;
    json!({
        "setting": outcome.setting.words(&plan.methods),
        "method": shape.map(|(at, _)| plan.methods[at].word()),
        "steps": shape.map(|(_, s)| s.steps),
        "topk": shape.map(|(_, s)| s.topk),
        "draft_tokens": shape.map(|(_, s)| s.draft_tokens),
        "accept_length": outcome.accept.as_ref().map(|accept| json!({
            "value": outcome.length.and_then(|length| finite(length.get())),
            "by_law": finite(accept.mean.get()),
            "low": finite(accept.low.get()),
            "high": finite(accept.high.get()),
            "assumed": accept.assumed,
        })),
        "cycle_ms": finite(outcome.cycle.ms()),
        "per_token_ms": finite(outcome.per_token.ms()),
        "throughput_tok_s": finite(outcome.throughput.get()),
        "gain": finite(outcome.gain),
        "gain_low": finite(outcome.gain_low),
        "gain_high": finite(outcome.gain_high),
        "win_probability": outcome.win_probability.and_then(finite),
        "keeps_slo": outcome.keeps_slo,
        "source": super::csv::source(outcome),
    })
}

fn fleet(plan: &Plan, fleet: &Fleet) -> Value {
    let side = |side: &Side| {
        json!({
            "setting": side.setting.words(&plan.methods),
            "batch": side.batch,
            "throughput_tok_s": finite(side.throughput.get()),
            "per_token_ms": finite(side.per_token.ms()),
            "replicas": side.replicas,
            "gpus": side.gpus,
        })
    };
    json!({
        "context": fleet.context,
        "load_tok_s": finite(fleet.load.get()),
        "off": fleet.off.as_ref().map(side),
        "tuned": fleet.tuned.as_ref().map(side),
        "gpus_saved": fleet.saved(),
        "gpus_saved_range": fleet.saved_range.map(|(low, high)| json!([low, high])),
    })
}
