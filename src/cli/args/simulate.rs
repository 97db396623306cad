//! Arguments of `simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{OutputArgs, OverrideArgs};

/// Simulate a scenario: the ranks of the box, or requests over time
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan simulate scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml
  specplan simulate my.yaml --set speculation.verify.execution=graph
  specplan simulate my.yaml --trace out/trace.json --trace-run 7
      # a run for https://ui.perfetto.dev or chrome://tracing
  specplan simulate my.yaml --set simulation.host_jitter=0 \\
      --set simulation.rank_speed=0              # the closed form
  specplan simulate scenarios/serving-kimi-k2.5-8x-rtx-pro-6000.yaml --plots out/
  specplan simulate my.yaml --mode serving \\
      --set 'simulation.serving.arrivals.interval=4 s' -f json")]
pub(in crate::cli) struct SimulateArgs {
    /// Scenario file; `-` reads it from standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// What to simulate; left out: `simulation.mode` of the scenario, else machine
    #[arg(long, value_enum)]
    pub(in crate::cli) mode: Option<Mode>,
    #[command(flatten)]
    pub(in crate::cli) overrides: OverrideArgs,
    /// Cycles to simulate on the machine; left out: `simulation.runs`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(in crate::cli) runs: Option<u32>,
    /// Seed of all random draws; left out: `simulation.seed`
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
    /// Write the timeline of one run as a Chrome trace, which Perfetto opens (machine)
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) trace: Option<PathBuf>,
    /// Which run to draw, in the trace and as a figure; runs count from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) trace_run: u32,
    /// Draw the plots into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) out: OutputArgs,
}

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Mode {
    /// One draft/verify cycle on the ranks of the box, many times.
    Machine,
    /// Requests that arrive, wait and are served, with speculation and without.
    Serving,
}
