//! `specplan validate`: predictions beside measurements.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::args::{Format, ValidateArgs};
use super::exit::Failure;
use super::measurements::{self, Measurement};
use super::output::{Output, say};
use super::plots;
use crate::report::plot;
use crate::validation::{Comparison, Level, Summary, quantile, summaries};

/// Compares, prints, and fails where the headline is worse than asked for.
pub(super) fn run(args: &ValidateArgs) -> Result<(), Failure> {
    let limit = args.max_error.as_deref().map(percent).transpose()?;
    let mut output = Output::open(&args.out, &args.files)?;
    let mut measured = Vec::new();
    let files = files(&args.files)?;
    if files.is_empty() {
        measured.extend(measurements::shipped().map_err(Failure::Input)?);
    }
    for file in &files {
        measured.extend(measurements::read(file).map_err(Failure::Input)?);
    }
    let (mut comparisons, refused) = compare(&measured);
    if files.is_empty() || args.files.iter().any(|p| p.is_dir()) {
        comparisons.extend(super::validate_allreduce::comparisons());
    }
    let groups = summaries(&comparisons);
    if let Some(folder) = &args.plots {
        draw(folder, &groups, &comparisons)?;
    }
    for reason in &refused {
        if !args.out.quiet {
            say(&format!("note: not predicted: {reason}"));
        }
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
        Some(limit) => headline_within(&groups, limit),
        None => Ok(()),
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

fn compare(measured: &[Measurement]) -> (Vec<Comparison>, Vec<String>) {
    let mut comparisons = Vec::new();
    let mut refused = Vec::new();
    for row in measured {
        match row.compare() {
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

fn headline_within(groups: &[Summary], limit: f64) -> Result<(), Failure> {
    let mut failed = false;
    for group in groups.iter().filter(|g| g.held_out && g.median > limit) {
        say(&format!("{}: median error {} is above {}", group.group, signed(group.median), signed(limit)));
        failed = true;
    }
    if failed { Err(Failure::Check) } else { Ok(()) }
}

/// `+12.3 %`, `−4.0 %`.
fn signed(error: f64) -> String {
    let sign = if error < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} %", error.abs() * 100.0)
}

fn text(groups: &[Summary], rows: &[Comparison]) -> String {
    let mut text = String::from(
        "Predictions against measurements. Errors are predicted / measured - 1.\n\n\
         group                            level    n    bias  median     p90   worst\n",
    );
    for g in groups {
        let _ = writeln!(
            text,
            "{:<32} {:>5} {:>4} {:>7} {:>7} {:>7} {:>7}",
            shortened(&g.group, 32),
            g.level.word(),
            g.n,
            signed(g.median_signed),
            format!("{:.1} %", g.median * 100.0),
            format!("{:.1} %", g.p90 * 100.0),
            format!("{:.1} %", g.worst * 100.0),
        );
    }
    text.push_str("\nThe worst of each group:\n");
    for g in groups {
        let row = rows.iter().find(|r| r.id == g.worst_id && r.group == g.group);
        if let Some(row) = row {
            let _ = writeln!(
                text,
                "  {:<38} {:>9.4} measured {:>9.4} {:>9}",
                shortened(&row.id, 38),
                row.predicted,
                row.measured,
                signed(row.error())
            );
        }
    }
    text.push_str("\n-f markdown lists every row, -f json for programs.\n");
    text
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width - 1).collect();
    format!("{kept}…")
}

fn markdown(groups: &[Summary], rows: &[Comparison], refused: &[String]) -> String {
    let mut text = String::from(
        "<!-- Generated by `specplan validate docs/validation/data -f markdown`; do not edit. -->\n\n\
         # Validation table\n\nError = predicted / measured − 1. *Bias* is the median of the signed errors, *median*, *p90* and \
         *worst* are of\nabsolute errors. No prediction was given an observed inner quantity. *Inputs* says what it knew of the \
         machine.\n\n\
         | group | level | n | bias | median | p90 | worst | worst row | held out |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for g in groups {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} % | {:.1} % | {:.1} % | {} | {} |",
            g.group,
            g.level.word(),
            g.n,
            signed(g.median_signed),
            g.median * 100.0,
            g.p90 * 100.0,
            g.worst * 100.0,
            g.worst_id,
            if g.held_out { "yes" } else { "no" },
        );
    }
    let mut group = "";
    for row in rows {
        if row.group != group {
            group = &row.group;
            let _ = write!(
                text,
                "\n## {group}\n\n| id | quantity | measured | predicted | error | inputs | note | source |\n\
                 |---|---|---|---|---|---|---|---|\n"
            );
        }
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.id,
            row.quantity,
            crate::units::significant(row.measured, 4),
            crate::units::significant(row.predicted, 4),
            signed(row.error()),
            row.inputs,
            row.note,
            row.source
        );
    }
    if !refused.is_empty() {
        text.push_str("\n## Not predicted\n\n");
        for reason in refused {
            let _ = writeln!(text, "* {reason}");
        }
    }
    text
}

fn csv_text(rows: &[Comparison]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "id",
        "group",
        "level",
        "quantity",
        "measured",
        "predicted",
        "error",
        "inputs",
        "held_out",
        "source",
        "note",
    ];
    writer.write_record(head).expect("writing to memory succeeds");
    for row in rows {
        let cells = [
            row.id.clone(),
            row.group.clone(),
            row.level.word().to_owned(),
            row.quantity.clone(),
            row.measured.to_string(),
            row.predicted.to_string(),
            row.error().to_string(),
            row.inputs.clone(),
            row.held_out.to_string(),
            row.source.clone(),
            row.note.clone(),
        ];
        writer.write_record(&cells).expect("writing to memory succeeds");
    }
    let bytes = writer.into_inner().expect("writing to memory succeeds");
    String::from_utf8(bytes).expect("CSV of text is text")
}

/// One picture per unit, since milliseconds and tokens per second share no axis. Only the worst row of each group is
/// named: hundreds of names would hide the points.
fn draw(folder: &Path, groups: &[Summary], rows: &[Comparison]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Input(format!("cannot make {}: {error}", folder.display())))?;
    let kinds = [
        ("allreduce", "time of one all-reduce", "µs", &[Level::V0][..]),
        ("passes", "time of a pass or cycle", "ms", &[Level::V1, Level::V2][..]),
        ("throughput", "throughput", "tok/s", &[Level::V3][..]),
    ];
    for (name, quantity, unit, levels) in kinds {
        let rows: Vec<&Comparison> = rows.iter().filter(|row| levels.contains(&row.level)).collect();
        if rows.is_empty() {
            continue;
        }
        let errors: Vec<f64> = rows.iter().map(|row| row.error()).collect();
        let absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let worst = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
        let is_named = |row: &Comparison| groups.iter().any(|g| g.group == row.group && g.worst_id == row.id);
        let points = rows
            .iter()
            .map(|row| plot::ComparedPoint {
                id: if is_named(row) { row.id.clone() } else { String::new() },
                level: row.level.word().to_owned(),
                predicted: row.predicted,
                measured: row.measured,
            })
            .collect();
        let drawing = plot::predicted_against_measured(&plot::Comparison {
            title: format!(
                "Median error {:.1} % over {} rows, worst {}",
                quantile(&absolute, 0.5) * 100.0,
                rows.len(),
                signed(worst)
            ),
            setup: "all rows of the validation table, weak ones too; the worst of each group is named"
                .to_owned(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            points,
        });
        for path in plots::save(&folder.join(format!("validation-{name}")), &drawing)? {
            say(&format!("wrote {path}"));
        }
    }
    Ok(())
}
