//! What several verbs take: the format and place of the result, changes of the scenario.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Formats of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// For reading, 80 columns.
    Text,
    /// The contract for other programs; of `run`, `specplan schema report` describes it.
    Json,
    /// One row per quantity, or per case.
    Csv,
    /// For issues and wikis.
    Markdown,
}

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where the result goes.
#[derive(Debug, Args)]
pub(in crate::cli) struct OutputArgs {
    /// Format of the result
    #[arg(short, long, value_enum, default_value = "text")]
    pub(in crate::cli) format: Format,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// No notes on stderr, only errors
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(in crate::cli) color: ColorChoice,
}

/// Changes of a scenario from the command line.
#[derive(Debug, Args)]
pub(in crate::cli) struct OverrideArgs {
    /// Set a key of the scenario, dotted as in the file (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) set: Vec<String>,
    /// Remove a key of the scenario (repeatable)
    #[arg(long = "unset", value_name = "KEY")]
    pub(in crate::cli) unset: Vec<String>,
}
