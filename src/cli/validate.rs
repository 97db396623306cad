//! `specplan validate`: predictions beside measurements.

mod draw;
mod tables;

use std::path::PathBuf;

use super::args::{Format, ValidateArgs};
use super::exit::Failure;
use super::measurements::{self, Machine, Measurement};
use super::output::{Output, say};
use crate::validation::{Comparison, Summary, summaries};
use draw::draw;
use tables::{csv_text, markdown, signed, text};

/// Compares, prints, and fails where the headline is worse than asked for.
pub(super) fn run(args: &ValidateArgs) -> Result<(), Failure> {
    let limit = args.max_error.as_deref().map(percent).transpose()?;
    let machine = Machine::of(args.calibration.as_deref()).map_err(Failure::Input)?;
    let mut output = Output::open(&args.out, &args.files)?;
    let mut measured = Vec::new();
    let files = files(&args.files)?;
    if files.is_empty() {
        measured.extend(measurements::shipped().map_err(Failure::Input)?);
    }
    for file in &files {
        measured.extend(measurements::read(file).map_err(Failure::Input)?);
    }
    let (mut comparisons, refused) = compare(&measured, &machine);
    // The shipped calibrations stand beside the shipped measurements, and beside no others.
    if files.is_empty() || files.iter().any(|file| measurements::is_shipped(file)) {
        comparisons.extend(super::validate_allreduce::comparisons());
    }
    let groups = summaries(&comparisons);
    if let Some(folder) = &args.plots {
        draw(folder, &groups, &comparisons)?;
    }
    if !args.out.quiet {
        notes(&measured, &machine, &refused);
    }
    let text = match args.out.format {
        Format::Text => text(&groups, &comparisons),
        Format::Markdown => markdown(&groups, &comparisons, &refused),
        Format::Csv => csv_text(&comparisons),
        Format::Json => {
            let value = serde_json::json!({
                "schema_version": 1,
                "tool_version": env!("CARGO_PKG_VERSION"),
                "summaries": groups,
                "rows": comparisons.iter().map(row_json).collect::<Vec<_>>(),
                "refused": refused,
            });
            format!("{}\n", serde_json::to_string_pretty(&value).expect("a JSON value becomes text"))
        }
    };
    output.write(&text)?;
    match limit {
        Some(limit) => headline_within(&groups, limit, &refused),
        None => Ok(()),
    }
}

/// What keeps rows from the headline or from a prediction, each once.
fn notes(measured: &[Measurement], machine: &Machine, refused: &[String]) {
    let mut told: Vec<String> = refused.iter().map(|reason| format!("not predicted: {reason}")).collect();
    told.extend(measured.iter().filter_map(Measurement::near_miss));
    let mut foreign: Vec<String> = Vec::new();
    for note in measured.iter().filter_map(|row| row.foreign(machine)) {
        if !foreign.contains(&note) {
            foreign.push(note);
        }
    }
    for note in told.iter().chain(&foreign) {
        say(&format!("note: {note}"));
    }
}

fn row_json(row: &Comparison) -> serde_json::Value {
    let mut value = serde_json::to_value(row).expect("plain structs become JSON");
    value["error"] = row.error().into();
    value
}

/// A folder stands for the CSV files in it, in order of their names.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut list = Vec::new();
    for path in paths {
        if path.is_dir() {
            let unreadable = |error| Failure::Input(format!("cannot read {}: {error}", path.display()));
            let mut inside: Vec<PathBuf> = std::fs::read_dir(path)
                .map_err(unreadable)?
                .filter_map(|entry| entry.ok().map(|e| e.path()))
                .filter(|p| p.extension().is_some_and(|e| e == "csv"))
                .collect();
            inside.sort();
            if inside.is_empty() {
                return Err(Failure::Input(format!("{} holds no .csv file", path.display())));
            }
            list.extend(inside);
        } else {
            list.push(path.clone());
        }
    }
    Ok(list)
}

fn compare(measured: &[Measurement], machine: &Machine) -> (Vec<Comparison>, Vec<String>) {
    let mut comparisons = Vec::new();
    let mut refused = Vec::new();
    for row in measured {
        match row.compare(machine) {
            Ok(comparison) => comparisons.push(comparison),
            Err(reason) => refused.push(format!("{}: {reason}", row.id)),
        }
    }
    (comparisons, refused)
}

fn percent(text: &str) -> Result<f64, Failure> {
    let number = text.trim().trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 && text.trim().ends_with('%') => Ok(value / 100.0),
        _ => Err(Failure::Input(format!("--max-error takes a percentage such as '10 %', not `{text}`"))),
    }
}

fn headline_within(groups: &[Summary], limit: f64, refused: &[String]) -> Result<(), Failure> {
    if !groups.iter().any(|group| group.held_out) {
        let why = refused.first().map_or(String::new(), |reason| format!("; the first row: {reason}"));
        say(&format!("no held-out row was predicted, so --max-error has nothing to check{why}"));
        return Err(Failure::Check);
    }
    let mut failed = false;
    for group in groups.iter().filter(|g| g.held_out && g.median > limit) {
        say(&format!("{}: median error {} is above {}", group.group, signed(group.median), signed(limit)));
        failed = true;
    }
    if failed { Err(Failure::Check) } else { Ok(()) }
}
