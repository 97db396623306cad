//! Arguments of `tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{OutputArgs, OverrideArgs};

/// Find the best setting at each batch size and context, and the lines that make a server use it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan tune scenarios/kimi-k2.6-eagle3-k3-8x-rtx-pro-6000.yaml
  specplan tune my.yaml --batch 1,2,4,8,16..128:8 --context 2048,32768
  specplan tune my.yaml --steps 1..7 --topk 1,2,4 --draft-tokens 4,8,16
  specplan tune eagle3.yaml mtp.yaml              # one scenario a method
  specplan tune my.yaml --allow execution,allreduce
  specplan tune my.yaml --slo '30 ms' --load '5000 tok/s' --plots out/")]
pub(in crate::cli) struct TuneArgs {
    /// Scenarios of one server, one for each drafting method; `-` reads one from standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) overrides: OverrideArgs,
    /// Batch sizes: numbers, and ranges `lo..hi` or `lo..hi:step`
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32,64,128")]
    pub(in crate::cli) batch: String,
    /// Contexts in tokens; left out: the scenario's
    #[arg(long, value_name = "LIST")]
    pub(in crate::cli) context: Option<String>,
    /// Draft steps
    #[arg(long, value_name = "LIST", default_value = "1..7")]
    pub(in crate::cli) steps: String,
    /// Branches per step, where the acceptance ranks them (`acceptance: { tree: ... }`)
    #[arg(long, value_name = "LIST", default_value = "1,2,4")]
    pub(in crate::cli) topk: String,
    /// Rows verified per request, for trees; a chain has one more than steps
    #[arg(long, value_name = "LIST", default_value = "4,6,8,12,16,24,32")]
    pub(in crate::cli) draft_tokens: String,
    /// Acceptance of drafted tokens beyond those that it was stated for
    #[arg(long, value_enum, default_value = "least", value_name = "WHAT")]
    pub(in crate::cli) beyond: BeyondWord,
    /// What else may change: `execution` (graph or eager), `allreduce` (the PCIe one-shot)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(in crate::cli) allow: Vec<Allowed>,
    /// Leave predicted times as modelled, also where the scenario observed others
    #[arg(long)]
    pub(in crate::cli) as_modelled: bool,
    /// What is best [default: throughput, or goodput with --slo]
    #[arg(long, value_enum)]
    pub(in crate::cli) objective: Option<ObjectiveWord>,
    /// Longest mean time per token of one request, for goodput
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) slo: Option<String>,
    /// Tokens per second to be served, for the number of GPUs
    #[arg(long, value_name = "RATE")]
    pub(in crate::cli) load: Option<String>,
    /// Draw the plots into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) out: OutputArgs,
}

/// Acceptance beyond the stated depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum BeyondWord {
    /// Nothing more is accepted: longer chains win only where their acceptance is known.
    Least,
    /// As the law goes on: geometric, or with the last known rate.
    Law,
}

/// What of the server tuning may change besides speculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Allowed {
    /// Graph or eager, for all passes.
    Execution,
    /// The PCIe one-shot all-reduce besides what the server takes by itself.
    Allreduce,
}

/// Objectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ObjectiveWord {
    /// Tokens per second of the batch.
    Throughput,
    /// Time per token of a request.
    Latency,
    /// Throughput of what keeps the limit of --slo.
    Goodput,
}
