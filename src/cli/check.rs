//! `specplan check`: every fault of scenario and calibration files; exit 1 where one has any.

use std::path::Path;

use super::args::CheckArgs;
use super::exit::Failure;
use super::output::color_stderr;
use crate::calibration;
use crate::diagnostic::render_all;
use crate::scenario::{self, Overrides};

/// Checks every file.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let colour = color_stderr(args.color);
    let mut faulty = 0;
    for path in &args.files {
        match faults(path, colour) {
            None if args.quiet => {}
            None => println!("{}: sound", path.display()),
            Some(text) => {
                eprint!("{text}");
                faulty += 1;
            }
        }
    }
    if faulty == 0 {
        return Ok(());
    }
    let plural = if args.files.len() == 1 { "" } else { "s" };
    eprintln!("{faulty} of {} file{plural} with faults", args.files.len());
    Err(Failure::Check)
}

/// The faults of one file as text.
fn faults(path: &Path, colour: bool) -> Option<String> {
    if let Some(text) = calibration_text(path) {
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let side = move |name: &str| std::fs::read(folder.join(name));
        return calibration::parse(&path.display().to_string(), &text, &side)
            .err()
            .map(|error| format!("error: {}: {error}\n", path.display()));
    }
    let checked = scenario::open(path, &Overrides::default(), &scenario::Builtin);
    checked.err().map(|diagnostics| render_all(&diagnostics, colour))
}

/// The text of a file that says it is a calibration.
fn calibration_text(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().any(|line| line.starts_with("format:")).then_some(text)
}
