//! Groups as text, JSON, CSV, Markdown and YAML.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::group::Group;
use super::section::Table;
use crate::cli::args::ImportFormat;
use crate::import::{Noted, Summary};

/// The report, section by section.
pub(super) fn text(groups: &[Group], _color: bool) -> String {
    let mut out = String::new();
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        for section in group.filled() {
            section.text(&mut out);
        }
        out.push('\n');
        for (name, summary) in &group.files {
            file_text(group, name, summary, &mut out);
        }
    }
    out
}

/// One file: what was read, what was not.
fn file_text(group: &Group, name: &str, summary: &Summary, out: &mut String) {
    let _ = write!(out, "{name}: {}, {} read", group.kind.word(), summary.read);
    if summary.lines > 0 {
        let _ = write!(out, " of {} lines", summary.lines);
    }
    let _ = writeln!(out, ", {} skipped", summary.skipped.count);
    if let Some(cut) = &summary.cut {
        let _ = writeln!(out, "  not whole: {cut}");
    }
    noted("skipped", &summary.skipped, out);
    for (code, found) in &summary.warnings {
        noted(code, found, out);
    }
    if !summary.unknown.is_empty() {
        let keys: Vec<&str> = summary.unknown.keys().map(String::as_str).collect();
        let _ = writeln!(out, "  unknown keys, not used: {}", keys.join(", "));
    }
}

fn noted(word: &str, found: &Noted, out: &mut String) {
    for notice in &found.first {
        let place = if notice.line > 0 { format!(", line {}", notice.line) } else { String::new() };
        let mut lines = String::new();
        super::wrap(&format!("{word}{place}: {}", notice.why), "  ", 78, &mut lines);
        for line in lines.lines() {
            let _ = writeln!(out, "  {line}");
        }
        if !notice.text.is_empty() {
            let shown: String = notice.text.chars().take(72).collect();
            let _ = writeln!(out, "      {shown}");
        }
    }
    let more = found.count - found.first.len() as u64;
    if more > 0 {
        let _ = writeln!(out, "  {word}: {more} more");
    }
}

/// One object, or a list of them where there are several kinds.
pub(super) fn json(groups: &[Group]) -> String {
    let mut objects: Vec<Value> = groups.iter().map(group_json).collect();
    let value = if objects.len() == 1 { objects.remove(0) } else { Value::Array(objects) };
    format!("{}\n", serde_json::to_string_pretty(&value).expect("a JSON value is text"))
}

fn group_json(group: &Group) -> Value {
    let total =
        |count: fn(&Summary) -> u64| group.files.iter().map(|(_, summary)| count(summary)).sum::<u64>();
    let mut object = Map::new();
    object.insert("schema_version".to_owned(), json!(1));
    object.insert("tool_version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    object.insert("kind".to_owned(), json!(group.kind.word()));
    object.insert("read".to_owned(), json!(total(|s| s.read)));
    object.insert("skipped".to_owned(), json!(total(|s| s.skipped.count)));
    let files: Vec<Value> = group.files.iter().map(|(name, s)| file_json(name, s)).collect();
    object.insert("files".to_owned(), json!(files));
    for section in group.filled() {
        section.json(&mut object);
    }
    Value::Object(object)
}

fn file_json(name: &str, summary: &Summary) -> Value {
    json!({
        "file": name,
        "lines": summary.lines,
        "read": summary.read,
        "skipped": summary.skipped,
        "warnings": summary.warnings,
        "unknown": summary.unknown,
        "cut": summary.cut,
    })
}

/// The rows of every section, tables parted by an empty line.
pub(super) fn csv(groups: &[Group]) -> String {
    let mut parts = Vec::new();
    for table in tables(groups) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&table.header).expect("writing to memory succeeds");
        for row in &table.rows {
            writer.write_record(row).expect("a row has the cells of its header");
        }
        let bytes = writer.into_inner().expect("writing to memory succeeds");
        parts.push(String::from_utf8(bytes).expect("CSV of text is text"));
    }
    parts.join("\n")
}

/// The same as Markdown tables.
pub(super) fn markdown(groups: &[Group]) -> String {
    let mut parts = Vec::new();
    for table in tables(groups) {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let header: Vec<String> = table.header.iter().map(|cell| (*cell).to_owned()).collect();
        let mut part = line(&header) + &line(&vec!["---".to_owned(); header.len()]);
        for row in &table.rows {
            let safe: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            part += &line(&safe);
        }
        parts.push(part);
    }
    parts.join("\n")
}

fn tables(groups: &[Group]) -> Vec<Table> {
    groups.iter().flat_map(Group::filled).filter_map(super::section::Section::table).collect()
}

/// The one file that the groups make.
///
/// # Errors
/// None of them makes one, or several do, or something is missing for it.
pub(super) fn yaml(groups: &[Group]) -> Result<String, String> {
    let mut files = Vec::new();
    for group in groups {
        for section in group.filled() {
            files.extend(section.yaml().map(|file| (group.kind.word(), file)));
        }
    }
    match files.len() {
        0 => {
            Err("these files make no calibration, box or scenario; -f text, json or csv shows them"
                .to_owned())
        }
        1 => files.remove(0).1,
        _ => {
            let kinds: Vec<&str> = files.iter().map(|(kind, _)| *kind).collect();
            Err(format!("{} make a file each: import one kind at a time", kinds.join(" and ")))
        }
    }
}

/// What is said on stderr: skipped lines and what was assumed. The text report shows the first itself.
pub(super) fn notes(group: &Group, format: ImportFormat) -> Vec<String> {
    let mut notes = Vec::new();
    if format != ImportFormat::Text {
        for (name, summary) in &group.files {
            if summary.skipped.count > 0 || summary.cut.is_some() || !summary.warnings.is_empty() {
                let mut out = String::new();
                file_text(group, name, summary, &mut out);
                notes.push(out.trim_end().to_owned());
            }
        }
    }
    for section in group.filled() {
        notes.extend(section.notes().into_iter().map(|note| format!("note: {note}")));
    }
    notes
}
