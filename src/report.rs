//! The answer as text, JSON, CSV, Markdown and pictures: strings exist only here.
//!
//! Every function takes a finished [`Prediction`](crate::analytic::Prediction) (or a plain data struct of points to draw) and formats it. No
//! physical quantity is computed, not even a ratio: what is not in the data is not in the report. Units are
//! converted (seconds to milliseconds), columns are aligned, and that is all.
//!
//! The text comes in a fixed order: verdict, breakdown, levers, notes; 80 columns; tables never wrap. Colour
//! repeats what words and signs say already.

mod context;
mod csv;
mod json;
mod markdown;
mod number;
mod paint;
pub mod plot;
mod png;
mod rows;
mod simulation;
mod surely;
mod sweep;
mod table;
mod text;
mod tune;
mod wrap;

pub use self::csv::csv;
pub use context::{Context, Style};
pub use json::{
    At, BaselineJson, BreakEvenJson, BreakEvensJson, CalibrationJson, CrossingJson, ElasticityJson,
    FindingJson, InputJson, MoreCyclesJson, Needed, OutcomeJson, OverrideJson, PartJson, Quantity,
    ReportJson, SCHEMA_VERSION, ScenarioJson, SourceJson, SpeculationJson, TurnJson, UncertaintyJson,
    VerdictJson, WhatIfJson, json, json_schema,
};
pub use markdown::markdown;
pub use png::{PngError, png};
pub use simulation::{
    SIMULATION_SCHEMA_VERSION, machine_csv, machine_json, machine_markdown, machine_text, served_words,
    serving_csv, serving_json, serving_markdown, serving_text,
};
pub use sweep::{
    sweep_columns, sweep_csv_header, sweep_csv_row, sweep_json_row, sweep_markdown, sweep_shard_line,
    sweep_text,
};
pub use text::text;
pub use tune::{TUNE_SCHEMA_VERSION, tune_csv, tune_json, tune_markdown, tune_text};

#[cfg(test)]
mod golden;
#[cfg(test)]
mod reference;

use crate::analytic::Verdict;

/// The verdict as a verb of "speculation".
const fn verb(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Wins => "wins",
        Verdict::Loses => "loses",
        Verdict::Ties => "ties",
    }
}
