//! Rows of a sweep as CSV and as JSON lines.
//!
//! Columns: the axes by their keys, with `_ms` and the like behind where all values are numbers of one unit; the metrics;
//! `error`, empty where there is an answer. Numbers have at most 12 significant figures, as everywhere for machines.

use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;

use crate::report::number::finite;
use crate::sweep::{Fnv, Grid, Metric, Points, Row, Shard, Shown, Value};

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
    csv_axes(row.grid, row.place, out);
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

/// The cells of the axes, a comma behind each.
fn csv_axes(grid: &Grid, place: &[usize], out: &mut Vec<u8>) {
    for (dimension, axis) in grid.axes() {
        match axis.shown(place[dimension]) {
            Shown::Number(number) => put_number(number, out),
            Shown::Other(text, _) => out.extend_from_slice(field(text).as_bytes()),
        }
        out.push(b',');
    }
}

/// The cells of the axes, a brace or comma before each.
fn json_axes(grid: &Grid, place: &[usize], columns: &[String], out: &mut Vec<u8>) {
    for ((dimension, axis), column) in grid.axes().zip(columns) {
        begin_json(column, out);
        match axis.shown(place[dimension]) {
            Shown::Number(number) => put_json_number(number, out),
            Shown::Other(_, json) => write!(out, "{json}").expect("memory takes all"),
        }
    }
}

fn begin_json(column: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(if out.last().is_none_or(|last| *last == b'\n') { b"{" } else { b"," });
    put_text(column, out);
    out.push(b':');
}

/// One row of the JSON lines.
pub fn sweep_json_row(row: &Row, columns: &[String], out: &mut Vec<u8>) {
    json_axes(row.grid, row.place, columns, out);
    let mut names = columns[row.grid.axes().count()..].iter();
    let mut begin = |out: &mut Vec<u8>| begin_json(names.next().expect("a column for each value"), out);
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

/// The first line of a shard's file: what it is a part of, and which points its rows are (`places`).
pub fn sweep_shard_line(csv: bool, id: &str, shard: Shard, grid: &Grid, columns: &[String]) -> String {
    let (Shard { index, of }, total) = (shard, grid.total());
    let points = shard.range(total);
    let about = serde_json::json!({
        "specplan_sweep": {
            "id": id, "shard": index, "of": of, "rows": points.end - points.start, "total": total,
            "axes": grid.axes().count(), "columns": columns.len(), "places": places(csv, grid, points, columns),
        },
    });
    format!("{}{about}\n", if csv { "# " } else { "" })
}

/// A hash of the cells of the axes of all rows, in order: FNV-1a, with the byte 255 behind each row.
fn places(csv: bool, grid: &Grid, points: Range<u64>, columns: &[String]) -> String {
    let (mut hash, mut place, mut cells) = (Fnv::default(), Vec::new(), Vec::new());
    for index in points {
        grid.place(index, &mut place);
        cells.clear();
        if csv {
            csv_axes(grid, &place, &mut cells);
        } else {
            json_axes(grid, &place, columns, &mut cells);
        }
        hash.bytes(&cells);
        hash.bytes(&[0xff]);
    }
    hash.text()
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
