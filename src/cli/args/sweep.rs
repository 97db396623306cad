//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, OverrideArgs};

/// Answer a scenario over a grid of values of its keys: a summary as text, a row per point as CSV or as JSON lines
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan sweep my.yaml --vary workload.batch=1,4,16,64
  specplan sweep my.yaml --vary 'speculation.verify.time=10 ms..40 ms:31' --plots out/
  specplan sweep my.yaml --vary workload.batch=1..256:9:log \\
      --vary speculation.steps=1,2,3,5 -f csv -o sweep.csv     # crossed
  specplan sweep my.yaml --vary 'hardware=rtx-pro-6000-x4,h200-x8 & parallel.tensor=4,8'
      # value by value
  specplan sweep my.yaml -f csv --shard 2/7 -o part-2.csv
  specplan sweep --merge part-*.csv -o sweep.csv")]
pub(in crate::cli) struct SweepArgs {
    /// Scenario file; `-` reads it from standard input
    #[arg(value_name = "FILE", required_unless_present = "merge")]
    pub(in crate::cli) file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) overrides: OverrideArgs,
    /// Vary a key: `key=a,b,c`, `key=lo..hi:n`, `key=lo..hi:n:log` (repeatable: crossed; joined by ` & `: value by value);
    /// left out: `sweep` of the scenario
    #[arg(long = "vary", value_name = "AXIS")]
    pub(in crate::cli) vary: Vec<String>,
    /// Columns, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(in crate::cli) metrics: Vec<String>,
    /// Threads; left out: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(in crate::cli) threads: Option<u16>,
    /// Compute part i of n alone, for `--merge`; `auto` takes both from Slurm, `auto/n` the first also from Kubernetes or GNU
    /// parallel
    #[arg(long, value_name = "I/N")]
    pub(in crate::cli) shard: Option<String>,
    /// Join files of shards to what the whole sweep would have written
    #[arg(long, value_name = "FILE", num_args = 1..,
        conflicts_with_all = ["file", "vary", "set", "unset", "metrics", "shard", "plots", "threads"])]
    pub(in crate::cli) merge: Vec<PathBuf>,
    /// Draw the speedup over one or two axes into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) out: OutputArgs,
}
