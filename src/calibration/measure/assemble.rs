//! From records to the file: facts, provenance, notes, tables, fits.

use std::collections::BTreeMap;

use super::facts::facts;
use super::journal::Record;
use super::plan::{LeftOut, Part, describe};
use super::privacy::scrub;
use super::reply::{Check, FailureKind, Inspection};
use super::rows::{TableRow, tables};
use super::{fits, plan};
use crate::calibration::{Draft, Provenance, base_for};

/// What a file is made from, beside the records.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources<'a> {
    /// The box.
    pub found: &'a Inspection,
    /// NCCL_* variables that are set.
    pub environment: &'a [(String, String)],
    /// Rows from the user's PyTorch.
    pub others: &'a [TableRow],
    /// What was not planned.
    pub left_out: &'a [LeftOut],
    /// What else a reader must know.
    pub notes: &'a [String],
    /// The command, without paths.
    pub command: &'a str,
    /// The day, `2026-01-31`.
    pub date: &'a str,
    /// Version of specplan.
    pub tool: &'a str,
    /// Names that must not stand in the file.
    pub hidden: &'a [String],
    /// Whether the run ended before its plan did.
    pub partial: bool,
}

/// The first word of the provenance of made-up times.
pub const SYNTHETIC: &str = "synthetic";

/// The most notes of one sort.
const MOST_NOTES: usize = 12;

/// The file of what was measured so far; none where nothing was.
pub fn assemble(records: &[Record], sources: &Sources) -> Option<Draft> {
    let tables = tables(records, sources.others);
    if tables.is_empty() {
        return None;
    }
    let facts = facts(sources.found, sources.environment);
    let base = base_for(&facts.gpu).map(str::to_owned);
    let fitted = fits::fit_all(records);
    let mut notes = notes(records, sources);
    notes.extend(fits::notes(&fitted));
    if let Some(base) = &base {
        notes.push(format!("Kernels without rows here are taken from `{base}` (key `base`)."));
    }
    Some(Draft {
        facts,
        provenance: provenance(sources),
        base,
        notes,
        tables,
        fits: fitted.collectives,
        kernel_fits: fitted.kernels,
        jitter: fitted.jitter,
    })
}

fn provenance(sources: &Sources) -> Provenance {
    let source = if sources.found.synthetic {
        format!("{SYNTHETIC}: times made up by the tests of specplan {}, not a measurement", sources.tool)
    } else {
        format!("measured on this box by specplan {} calibrate", sources.tool)
    };
    Provenance {
        source,
        licence: "that of whoever measured".to_owned(),
        command: sources.command.to_owned(),
        date: sources.date.to_owned(),
    }
}

fn notes(records: &[Record], sources: &Sources) -> Vec<String> {
    let mut notes = Vec::new();
    if sources.found.synthetic {
        notes.push("The times are made up. No prediction may be made from this file.".to_owned());
    }
    if sources.partial {
        notes.push("The run ended early: what it had not measured yet is missing.".to_owned());
    }
    if records.iter().any(|r| matches!(r.task(), super::Task::Collective(c) if c.between_gemms.is_some())) {
        notes.push(
            "Graph rows of NCCL's all-reduce stand between projections, as in a pass; stream rows are back to back; eager \
             rows are one call each, host included."
                .to_owned(),
        );
    }
    for left in sources.left_out.iter().take(MOST_NOTES) {
        notes.push(format!("Not measured as asked: {}: {}.", left.what, left.because));
    }
    if sources.left_out.len() > MOST_NOTES {
        notes.push(format!("{} more were not measured as asked.", sources.left_out.len() - MOST_NOTES));
    }
    notes.extend(sources.notes.iter().cloned());
    notes.extend(checks(records));
    notes.extend(failures(records));
    notes.extend(of_the_meter(records));
    notes.iter().map(|note| scrub(note, sources.hidden)).collect()
}

/// How results were checked.
fn checks(records: &[Record]) -> Option<String> {
    let count = |check: Check| {
        let of = |record: &&Record| record.result.as_ref().is_ok_and(|measured| measured.check == check);
        records.iter().filter(of).count()
    };
    let (exact, near) = (count(Check::Exact), count(Check::WithinTolerance));
    (exact + near > 0).then(|| {
        format!(
            "Results were compared with the host's or NCCL's: {exact} tasks agree bit for bit, {near} within rounding, {} \
             have none.",
            count(Check::NotApplicable)
        )
    })
}

/// One note per part and sort of failure, with the first of them.
fn failures(records: &[Record]) -> Vec<String> {
    let mut groups: BTreeMap<(Part, FailureKind), (usize, String)> = BTreeMap::new();
    for record in records {
        let Err(failure) = &record.result else { continue };
        let first = || (0, format!("{}: {}", describe(&record.planned), failure.because));
        groups.entry((record.part, failure.kind)).or_insert_with(first).0 += 1;
    }
    let note = |((part, kind), (count, first)): ((Part, FailureKind), (usize, String))| {
        let (part, kind) = (part.word(), plan::word(&kind));
        let tasks = if count == 1 { "task" } else { "tasks" };
        format!("{count} {tasks} of {part} failed ({kind}), the first being {first}.")
    };
    groups.into_iter().map(note).collect()
}

/// What the meter said, and tasks that memory made smaller; each once.
fn of_the_meter(records: &[Record]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for record in records {
        let Ok(measured) = &record.result else { continue };
        let smaller = record.instead.as_ref().map(|task| {
            format!("{}: memory was short, measured as {}.", describe(&record.planned), describe(task))
        });
        for note in smaller.iter().chain(&measured.notes) {
            if !notes.contains(note) && notes.len() < MOST_NOTES {
                notes.push(note.clone());
            }
        }
    }
    notes
}
