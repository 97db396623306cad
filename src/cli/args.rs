//! The clap definition of every verb: the verbs here, their arguments in a file each.

mod calibrate;
mod common;
mod files;
mod import;
mod run;
mod simulate;
mod sweep;
mod tune;
mod validate;

pub(super) use calibrate::{CalibrateArgs, CalibrateFormat};
pub(super) use common::{ColorChoice, Format, OutputArgs, OverrideArgs};
pub(super) use files::{
    CheckArgs, CompletionsArgs, CompletionsOf, ExplainArgs, ReferencePage, SchemaArgs, SchemaOf,
};
pub(super) use import::{ImportArgs, ImportFormat, TransportWord};
pub(super) use run::RunArgs;
pub(super) use simulate::{Mode, SimulateArgs};
pub(super) use sweep::SweepArgs;
pub(super) use tune::{Allowed, BeyondWord, ObjectiveWord, TuneArgs};
pub(super) use validate::ValidateArgs;

use clap::{Parser, Subcommand};

/// Verbs in their groups, as the help lists them; a test holds that each verb stands in exactly one.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Ask", &["run", "simulate", "sweep", "tune"]),
    ("Measure", &["calibrate", "import", "validate"]),
    ("Files", &["check", "explain", "schema", "completions"]),
];

const TEMPLATE: &str = "\
{about}

Usage: specplan <VERB> [OPTIONS]

Ask:
  run          does speculation pay here, why, and what would have to change
  simulate     the same with skew, contention, queues and bursts
  sweep        the answer over a grid of values of any keys
  tune         the best setting at each batch size, and the lines to paste
Measure:
  calibrate    measure the GPUs of this host and write a calibration
  import       logs, tables, traces, command lines -> files for the rest
  validate     predictions beside measurements, with errors
Files:
  check        every fault of scenarios, boxes, calibrations, model files
  explain      a term, a finding, a scenario key, an error code, the presets
  schema       JSON Schema of the scenario file or of the JSON report
  completions  shell completions or the man page

Options:
{options}

Start with:
  specplan run scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml
  specplan run my.yaml --set 'speculation.verify.time=15 ms' --plots out/
  specplan VERB --help     options and examples of a verb
";

/// Does speculative decoding pay on this box, and if not, what would have to change?
#[derive(Debug, Parser)]
#[command(name = "specplan", version, about, help_template = TEMPLATE, disable_help_subcommand = true,
    max_term_width = 80)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    #[command(hide = true)]
    Run(RunArgs),
    #[command(hide = true)]
    Simulate(SimulateArgs),
    #[command(hide = true)]
    Sweep(SweepArgs),
    #[command(hide = true)]
    Calibrate(CalibrateArgs),
    #[command(hide = true)]
    Tune(TuneArgs),
    #[command(hide = true)]
    Import(ImportArgs),
    #[command(hide = true)]
    Validate(ValidateArgs),
    #[command(hide = true)]
    Check(CheckArgs),
    #[command(hide = true)]
    Explain(ExplainArgs),
    #[command(hide = true)]
    Schema(SchemaArgs),
    #[command(hide = true)]
    Completions(CompletionsArgs),
}
