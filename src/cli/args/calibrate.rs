//! Arguments of `calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ColorChoice, OverrideArgs};

/// Measure the GPUs of this host: launch costs, collectives, kernels, links
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan calibrate --dry-run --gpus 8           # the plan and its duration, no GPU
  specplan calibrate --quick -o my-box.yaml
  specplan calibrate --scenario my.yaml -o my-box.yaml
  specplan calibrate --only collectives,launch -o my-box.yaml
  NCCL_P2P_DISABLE=1 specplan calibrate --only collectives -o without-p2p.yaml
  specplan calibrate -o my-box.yaml --resume      # after Ctrl-C or a lost GPU")]
#[allow(clippy::struct_excessive_bools)] // Flags are.
pub(in crate::cli) struct CalibrateArgs {
    /// Measure the shapes of this scenario's model and split instead of a general grid
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) overrides: OverrideArgs,
    /// Which GPUs: all, how many (2), or which (0,3)
    #[arg(long, default_value = "all", value_name = "GPUS")]
    pub(in crate::cli) gpus: String,
    /// A coarser grid, under a minute on two GPUs
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Only these parts: launch, collectives, gemm, moe, attention, memory, links, variants
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    pub(in crate::cli) only: Vec<String>,
    /// Print the plan and its duration, measure nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Continue a run that ended early, from its journal beside the output
    #[arg(long, conflicts_with = "fresh")]
    pub(in crate::cli) resume: bool,
    /// Begin anew although there is such a journal
    #[arg(long)]
    pub(in crate::cli) fresh: bool,
    /// The python of your server, for the rows of plain PyTorch; left out: python3
    #[arg(long, value_name = "PATH", conflicts_with = "no_torch")]
    pub(in crate::cli) python: Option<PathBuf>,
    /// Do not probe PyTorch
    #[arg(long)]
    pub(in crate::cli) no_torch: bool,
    /// The calibration to write; left out: the GPU's name and their number
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Format of the summary or plan on stdout
    #[arg(short, long, value_enum, default_value = "text")]
    pub(in crate::cli) format: CalibrateFormat,
    /// No plan and notes on stderr, only errors
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(in crate::cli) color: ColorChoice,
    /// Made-up times and faults, for tests
    #[arg(long, hide = true, value_name = "WORDS")]
    pub(in crate::cli) synthetic: Option<String>,
    /// Longest wait for one answer, for tests
    #[arg(long, hide = true, value_name = "MS")]
    pub(in crate::cli) limit_ms: Option<u64>,
}

/// Formats of what `calibrate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum CalibrateFormat {
    /// For reading.
    Text,
    /// For other programs.
    Json,
}
