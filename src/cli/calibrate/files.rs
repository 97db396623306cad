//! The calibration and its journal on disk, and the summary on stdout.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::calibration::Draft;
use crate::calibration::measure::journal::{self, Record};
use crate::calibration::measure::summary::{self, Summary};
use crate::calibration::measure::{GpuInfo, Inspection};
use crate::cli::args::{CalibrateArgs, CalibrateFormat};
use crate::cli::exit::Failure;
use crate::cli::output::say;

/// Where a run writes.
pub(super) struct Files {
    /// The calibration.
    pub(super) output: PathBuf,
    /// Its journal.
    pub(super) journal: PathBuf,
}

impl Files {
    /// As the flags say, or by the name of the box.
    pub(super) fn of(args: &CalibrateArgs, found: &Inspection) -> Self {
        let output = super::output(args, found);
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".partial.jsonl");
        Self { journal: output.with_file_name(name), output }
    }

    /// Whether a journal that shall be continued is one.
    pub(super) fn check(&self, args: &CalibrateArgs) -> Result<(), Failure> {
        if !self.journal.exists() || args.fresh {
            return Ok(());
        }
        if !args.resume {
            say(&format!(
                "note: {} is there: --resume continues it, --fresh begins anew",
                self.journal.display()
            ));
            return Ok(());
        }
        let wrong = |error| Failure::Input(format!("--resume {}: {error}", self.journal.display()));
        journal::read(&self.journal).map(|_| ()).map_err(wrong)
    }

    /// Writes the calibration in the place of the one before.
    pub(super) fn replace(&self, text: &str) -> Result<(), Failure> {
        replace(&self.output, text)
            .map_err(|error| Failure::Input(format!("cannot write {}: {error}", self.output.display())))
    }

    /// Prints what was measured.
    pub(super) fn summary(
        &self,
        args: &CalibrateArgs,
        draft: &Draft,
        records: &[Record],
        found: &Inspection,
    ) -> Result<(), Failure> {
        let summary = Summary::of(draft, records, found);
        let text = match args.format {
            CalibrateFormat::Text => summary::text(&summary),
            CalibrateFormat::Json => pretty(&summary::json(&summary, env!("CARGO_PKG_VERSION"))),
        };
        print(&text)?;
        if !args.quiet {
            say(&format!("wrote {}", self.output.display()));
        }
        Ok(())
    }
}

/// Writes beside the place and moves there, so that a reader never sees half a file and a full disk loses nothing.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let draft = path.with_file_name(name);
    let written = File::create(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// JSON for reading.
pub(super) fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).expect("a JSON value becomes text");
    format!("{text}\n")
}

/// The result on stdout.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Names that must not reach a file: of the host and of the user.
pub(super) fn hidden() -> Vec<String> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let short = host.as_ref().and_then(|name| name.split('.').next().map(str::to_owned));
    let names = [host, short, std::env::var("USER").ok(), std::env::var("LOGNAME").ok()];
    names.into_iter().flatten().map(|name| name.trim().to_owned()).filter(|name| name.len() > 1).collect()
}

/// The day in UTC, from days since 1970 (Hinnant, "chrono-compatible low-level date algorithms").
pub(super) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// A box for a plan without one.
pub(super) fn imagined(count: u32) -> Inspection {
    let gpu = GpuInfo {
        name: "GPU".to_owned(),
        memory: 80 << 30,
        free: 78 << 30,
        l2: 64 << 20,
        sms: 0,
        capability: [9, 0],
        clocks: String::new(),
        pcie_generation: 0,
        pcie_lanes: 0,
    };
    let n = count as usize;
    Inspection {
        gpus: vec![gpu; n],
        driver: String::new(),
        cuda: String::new(),
        nccl: Some(String::new()),
        missing: Vec::new(),
        peers: vec![vec![true; n]; n],
        nvlink: false,
        topology: String::new(),
        synthetic: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, date) in
            [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (20_787, (2026, 11, 30))]
        {
            assert_eq!(civil(days), date);
        }
    }
}
