//! `specplan check`: every fault of scenarios, boxes, calibrations and model files; exit 1 where one has any.

use std::io::{self, Write as _};
use std::path::Path;

use super::args::CheckArgs;
use super::exit::Failure;
use super::output::{color_stderr, say};
use crate::diagnostic::{Diagnostics, SourceText, render_all};
use crate::scenario::tree::{self, STDIN};
use crate::scenario::{self, FileKind, Loaded, Overrides};
use crate::{calibration, hardware, model};

/// Checks every file.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let colour = color_stderr(args.color);
    let mut faulty = 0;
    let mut stdout = io::stdout();
    for path in &args.files {
        let (kind, found) = checked(path, colour);
        match found {
            Ok(_) if args.quiet => {}
            Ok(notes) => {
                writeln!(stdout, "{}: sound ({kind})", path.display())?;
                stdout.flush()?;
                for note in notes {
                    say(&format!("note: {}: {note}", path.display()));
                }
            }
            Err(text) => {
                say(text.trim_end());
                faulty += 1;
            }
        }
    }
    if faulty == 0 {
        return Ok(());
    }
    let plural = if args.files.len() == 1 { "" } else { "s" };
    say(&format!("{faulty} of {} file{plural} with faults", args.files.len()));
    Err(Failure::Check)
}

/// Notes on a sound file, or the faults as text.
type Found = Result<Vec<String>, String>;

/// What the file is taken for, and what is wrong with it.
fn checked(path: &Path, colour: bool) -> (&'static str, Found) {
    let faults = |found: &Diagnostics| render_all(found, colour);
    let wrong = |error: &dyn std::fmt::Display| format!("error: {}: {error}\n", path.display());
    let as_scenario = || {
        let opened = scenario::open(path, &Overrides::default(), &scenario::Builtin);
        let notes =
            |loaded: &Loaded| super::notes::passed_by(loaded.variation.as_ref().unwrap_or(&loaded.base));
        opened.map(|(_, loaded)| notes(&loaded)).map_err(|found| faults(&found))
    };
    if path == Path::new(STDIN) {
        return (FileKind::Scenario.word(), as_scenario());
    }
    let name = path.display().to_string();
    let text = match tree::read_text(path, None) {
        Ok(text) => text,
        Err(fault) => return (FileKind::Scenario.word(), Err(faults(&(*fault).into()))),
    };
    let tree = tree::parse(&SourceText::file(name.clone(), text.clone()));
    let kind = tree.as_ref().map_or(FileKind::Scenario, FileKind::of);
    let found = match (kind, tree) {
        (FileKind::Box, Ok(tree)) => hardware::parse(&name, &tree.to_json())
            .map(|hardware| hardware.notes)
            .map_err(|error| wrong(&error)),
        (FileKind::Calibration, _) => {
            let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
            let side = move |name: &str| calibration::read_side_file(&folder.join(name));
            calibration::parse(&name, &text, &side).map(|_| Vec::new()).map_err(|error| wrong(&error))
        }
        (FileKind::ModelConfig, _) => match model::parse_draft_config(&name, &text) {
            Ok(model::Draft::Model(model)) => Ok(model.notes),
            Ok(_) => return ("EAGLE-3 head", Ok(Vec::new())),
            Err(error) => Err(wrong(&error)),
        },
        (FileKind::Acceptance, Ok(tree)) => {
            scenario::check_acceptance_file(&tree).map(|()| Vec::new()).map_err(|found| faults(&found))
        }
        _ => as_scenario(),
    };
    (kind.word(), found)
}
