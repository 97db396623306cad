//! Arguments of `validate`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;

/// Compare predictions with measurements
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan validate                               # the shipped measurements
  specplan validate docs/validation/data -f markdown
  specplan validate --plots out/
  specplan validate --max-error '20 %'            # exit 1 beyond it")]
pub(in crate::cli) struct ValidateArgs {
    /// Tables of measurements (CSV), or folders of them; none: the shipped ones
    #[arg(value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// What was measured on the machine of rows that name no calibration: a preset or a file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) calibration: Option<String>,
    /// Largest median error of the headline that passes; exit 1 beyond it
    #[arg(long, value_name = "PERCENT")]
    pub(in crate::cli) max_error: Option<String>,
    /// Draw predicted against measured into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) out: OutputArgs,
}
