//! Arguments of `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ColorChoice;

/// Turn logs, tables, traces and command lines into calibrations, boxes, scenarios
#[derive(Debug, Default, Args)]
#[command(after_long_help = "\
Examples:
  specplan import all_reduce.txt -o my-box.yaml   # the kind is guessed
  specplan import nccl-tests *.txt -f json
  all_reduce_perf -g 8 | specplan import - --transport p2p -o my-box.yaml
  specplan import launch.sh --gpu rtx-pro-6000 --accept-length 2 -o my.yaml
  specplan import --kinds                         # what can be read")]
pub(in crate::cli) struct ImportArgs {
    /// Files, gzip accepted, `-` for standard input; the first may be a kind, which is guessed when left out
    #[arg(value_name = "[KIND] FILE", required_unless_present = "kinds")]
    pub(in crate::cli) inputs: Vec<PathBuf>,
    /// List the kinds of files that can be read
    #[arg(long)]
    pub(in crate::cli) kinds: bool,
    /// GPU preset of the box, where the file does not name the card
    #[arg(long, value_name = "PRESET")]
    pub(in crate::cli) gpu: Option<String>,
    /// What carries messages between GPUs, where the file does not say
    #[arg(long, value_enum, value_name = "WORD")]
    pub(in crate::cli) transport: Option<TransportWord>,
    /// Collective that was measured, where a table does not tell
    #[arg(long, value_name = "OPERATION")]
    pub(in crate::cli) op: Option<String>,
    /// The benchmark result, one of the files, that ran with speculation, where the results do not tell
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) speculative: Option<PathBuf>,
    /// Tokens gained per cycle and request, bonus included, where a command line or a benchmark result does not tell
    #[arg(long, value_name = "LENGTH")]
    pub(in crate::cli) accept_length: Option<f64>,
    /// Format of the result [default: by the ending of -o, else text]
    #[arg(short, long, value_enum)]
    pub(in crate::cli) format: Option<ImportFormat>,
    /// Write the result to a file instead of stdout; .yaml writes the calibration, box or scenario
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// No notes on stderr, only errors
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(in crate::cli) color: ColorChoice,
}

/// Formats of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ImportFormat {
    /// For reading, 80 columns.
    Text,
    /// What was read, for other programs.
    Json,
    /// The file that the rest of specplan takes: calibration, box, scenario.
    Yaml,
    /// One row per observation.
    Csv,
    /// For issues and wikis.
    Markdown,
}

/// What carries messages between GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TransportWord {
    /// NVLink.
    Nvlink,
    /// PCIe, from card to card.
    P2p,
    /// Host memory.
    Shm,
}
