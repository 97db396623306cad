//! Arguments of `run`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, OverrideArgs};

/// Answer scenarios: verdict, breakdown, break-evens, what-ifs, diagnosis
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan run scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml
  specplan run scenarios/observed-only.yaml -f json
  specplan run my.yaml --set 'speculation.verify.execution=graph' --plots out/
  specplan run my.yaml --unset baseline.observed --unset speculation.observed \\
      --unset speculation.verify.observed        # the model alone
  specplan run - < my.yaml                        # from standard input
  specplan run scenarios/*.yaml -f markdown -o report.md
  specplan run my.yaml --monte-carlo 1000         # how sure, and what it hangs on
  specplan run my.yaml --fail-below 1.0           # exit 1 where speculation loses")]
pub(in crate::cli) struct RunArgs {
    /// Scenario files; `-` reads one from standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) overrides: OverrideArgs,
    /// Draw the plots into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plots: Option<PathBuf>,
    /// Exit with 1 if any speedup is below this
    #[arg(long, value_name = "SPEEDUP")]
    pub(in crate::cli) fail_below: Option<f64>,
    /// Say how sure the answer is: draw all inputs from their ranges, N times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(in crate::cli) monte_carlo: Option<u32>,
    /// Seed of random draws; named in the report
    #[arg(long, default_value_t = 1, requires = "monte_carlo")]
    pub(in crate::cli) seed: u64,
    #[command(flatten)]
    pub(in crate::cli) out: OutputArgs,
}
