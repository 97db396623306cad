//! Verbs about files and the program itself: `check`, `explain`, `schema`, `completions`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ColorChoice;

/// Find every fault of scenarios, box files, calibrations and model files
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan check scenarios/*.yaml calibration/*.yaml
  specplan check my-box.yaml my-model/config.json # says what it took them for
  specplan check my.yaml || echo faulty           # exit 1 on faults")]
pub(in crate::cli) struct CheckArgs {
    /// Scenarios, box files, calibrations, config.json of models and heads
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Only faults, no line per sound file
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(in crate::cli) color: ColorChoice,
}

/// Explain a term, a finding, a scenario key or word, an error code, a preset
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan explain accept-length
  specplan explain host-bound-verify              # a finding of run
  specplan explain S012
  specplan explain speculation.verify.time
  specplan explain presets
  specplan explain                                # all topics")]
pub(in crate::cli) struct ExplainArgs {
    /// Term, finding, key, word, code, preset, or `presets` for all of these
    pub(in crate::cli) topic: Option<String>,
    /// Print a generated reference page in Markdown instead
    #[arg(long, value_enum, value_name = "PAGE", conflicts_with = "topic")]
    pub(in crate::cli) markdown: Option<ReferencePage>,
}

/// Pages of docs/reference that are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ReferencePage {
    /// The command line.
    Cli,
    /// Keys of the scenario file.
    Scenario,
    /// Fields of the JSON report.
    ReportJson,
    /// Error codes.
    Errors,
    /// Presets with their sources.
    Presets,
}

/// Print a JSON Schema
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan schema scenario > scenarios/scenario.schema.json
  specplan schema report")]
pub(in crate::cli) struct SchemaArgs {
    /// Of what
    #[arg(value_enum, default_value = "scenario")]
    pub(in crate::cli) of: SchemaOf,
}

/// What a schema is printed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SchemaOf {
    /// The scenario file.
    Scenario,
    /// The JSON of `run`.
    Report,
}

/// Print shell completions or the man page
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan completions bash > ~/.local/share/bash-completion/completions/specplan
  specplan completions zsh > ~/.zfunc/_specplan
  specplan completions fish > ~/.config/fish/completions/specplan.fish
  specplan completions man > ~/.local/share/man/man1/specplan.1")]
pub(in crate::cli) struct CompletionsArgs {
    /// A shell, or `man` for the man page
    #[arg(value_enum, value_name = "SHELL|man")]
    pub(in crate::cli) of: CompletionsOf,
}

/// What `completions` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum CompletionsOf {
    /// bash.
    Bash,
    /// elvish.
    Elvish,
    /// fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// zsh.
    Zsh,
    /// The man page, in roff.
    Man,
}
