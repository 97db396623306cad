//! The answer for machines, and the schema that describes it.

mod fill;
mod types;
mod uncertainty;

use crate::analytic::Prediction;

use super::context::Context;

pub use fill::SCHEMA_VERSION;
pub use types::{
    At, BaselineJson, BreakEvenJson, BreakEvensJson, CalibrationJson, CrossingJson, ElasticityJson,
    FindingJson, Needed, OverrideJson, PartJson, Quantity, ReportJson, ScenarioJson, SourceJson,
    SpeculationJson, VerdictJson, WhatIfJson,
};
pub use uncertainty::{InputJson, MoreCyclesJson, OutcomeJson, TurnJson, UncertaintyJson};

/// The answer as one JSON object; see [`json_schema`] for its shape.
pub fn json(prediction: &Prediction, context: &Context) -> serde_json::Value {
    serde_json::to_value(ReportJson::new(prediction, context)).expect("plain structs become JSON")
}

/// The JSON Schema of [`json`]'s result.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(ReportJson).to_value()
}
