//! Rows of a sweep as CSV and as JSON lines.
//!
//! Columns: the axes by their keys, with `_ms` and the like behind where all values are numbers of one unit; the metrics;
//! `error`, empty where there is an answer. Numbers have at most 12 significant figures, as everywhere for machines.

use std::borrow::Cow;
use std::io::Write as _;

use crate::report::number::finite;
use crate::sweep::{Grid, Metric, Points, Row, Shard, Shown, Value};

/// The name of an axis' column: its key, and the unit of its numbers.
pub(super) fn axis_column(axis: &Points) -> String {
    match axis.unit {
        Some(unit) => {
            format!("{}_{}", axis.key, unit.replace(['µ', 'μ'], "u").replace('/', "_").to_lowercase())
        }
        None => axis.key.clone(),
    }
}

/// All columns in order.
pub fn sweep_columns(grid: &Grid, metrics: &[&Metric]) -> Vec<String> {
    let axes = grid.axes().map(|(_, axis)| axis_column(axis));
    axes.chain(metrics.iter().map(|metric| metric.name.to_owned())).chain(["error".to_owned()]).collect()
}

/// The heading of the CSV.
pub fn sweep_csv_header(columns: &[String]) -> String {
    let quoted: Vec<_> = columns.iter().map(|column| field(column)).collect();
    format!("{}\n", quoted.join(","))
}

/// One row of the CSV.
pub fn sweep_csv_row(row: &Row, metrics: usize, out: &mut Vec<u8>) {
    for (dimension, axis) in row.grid.axes() {
        match axis.shown(row.place[dimension]) {
            Shown::Number(number) => put_number(number, out),
            Shown::Other(text, _) => out.extend_from_slice(field(text).as_bytes()),
        }
        out.push(b',');
    }
    match row.cells {
        Ok(cells) => {
            for cell in cells {
                match cell {
                    Value::Number(number) => put_number(*number, out),
                    Value::Word(word) => out.extend_from_slice(word.as_bytes()),
                    Value::Flag(flag) => out.extend_from_slice(flag.to_string().as_bytes()),
                    Value::Words(words) => out.extend_from_slice(words.join("; ").as_bytes()),
                    Value::Missing => {}
                }
                out.push(b',');
            }
        }
        Err(why) => {
            out.extend(std::iter::repeat_n(b',', metrics));
            out.extend_from_slice(field(why).as_bytes());
        }
    }
    out.push(b'\n');
}

/// One row of the JSON lines.
pub fn sweep_json_row(row: &Row, columns: &[String], out: &mut Vec<u8>) {
    let mut names = columns.iter();
    let mut begin = |out: &mut Vec<u8>| {
        out.extend_from_slice(if out.last().is_none_or(|last| *last == b'\n') { b"{" } else { b"," });
        put_text(names.next().expect("a column for each value"), out);
        out.push(b':');
    };
    for (dimension, axis) in row.grid.axes() {
        begin(out);
        match axis.shown(row.place[dimension]) {
            Shown::Number(number) => put_json_number(number, out),
            Shown::Other(_, json) => write!(out, "{json}").expect("memory takes all"),
        }
    }
    let metrics = columns.len() - row.grid.axes().count() - 1;
    for at in 0..metrics {
        begin(out);
        match row.cells.as_ref().map(|cells| &cells[at]) {
            Ok(Value::Number(number)) => put_json_number(*number, out),
            Ok(Value::Word(word)) => put_text(word, out),
            Ok(Value::Flag(flag)) => out.extend_from_slice(flag.to_string().as_bytes()),
            Ok(Value::Words(words)) => {
                out.extend_from_slice(&serde_json::to_vec(words).expect("words become JSON"));
            }
            Ok(Value::Missing) | Err(_) => out.extend_from_slice(b"null"),
        }
    }
    begin(out);
    match row.cells {
        Ok(_) => out.extend_from_slice(b"null"),
        Err(why) => put_text(why, out),
    }
    out.extend_from_slice(b"}\n");
}

/// The first line of a shard's file: what it is a part of.
pub fn sweep_shard_line(csv: bool, id: &str, shard: Shard, total: u64) -> String {
    let (Shard { index, of }, points) = (shard, shard.range(total));
    let rows = points.end - points.start;
    let about = serde_json::json!({
        "specplan_sweep": { "id": id, "shard": index, "of": of, "rows": rows, "total": total },
    });
    format!("{}{about}\n", if csv { "# " } else { "" })
}

/// A field of a CSV, in quotes where it needs them (RFC 4180).
fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r', '#']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

fn put_number(number: f64, out: &mut Vec<u8>) {
    if let Some(number) = finite(number) {
        write!(out, "{number}").expect("memory takes all");
    }
}

fn put_json_number(number: f64, out: &mut Vec<u8>) {
    match finite(number) {
        Some(number) => write!(out, "{number}").expect("memory takes all"),
        None => out.extend_from_slice(b"null"),
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("memory takes all");
}
