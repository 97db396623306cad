//! From records to the rows of the calibration's tables. What failed makes no row, and neither does a wrong result.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::journal::Record;
use super::plan::word;
use super::statistics::{Quantiles, quantiles};
use super::task::{CollectiveTask, SmallKind, Task};
use crate::calibration::Mode;
use crate::model::WeightFormat;

/// The tables that a run fills, with the columns before the times.
const TABLES: [(&str, &str); 8] = [
    ("collectives", "op,ranks,family,mode,transport,server,algorithm,protocol,bytes"),
    ("gemm", "server,weights,n,k,rows"),
    ("moe", "server,weights,hidden,width,per_token,experts,shards,tokens"),
    ("attention", "server,kv,head_dim,heads,kv_heads,batch,rows,context"),
    ("mla", "what,server,weights,kv,heads,batch,rows,context"),
    ("launch", "server,what,op,size_bytes"),
    ("links", "kind,from,to,bytes"),
    ("stream", "bytes"),
];

/// One row: the table, the cells before the times, the times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The table.
    pub table: String,
    /// Its cells, comma-separated.
    pub cells: String,
    /// Times \[µs\].
    pub times: Quantiles,
}

/// The row of a record; none for a failure.
pub fn row_of(record: &Record) -> Option<TableRow> {
    let measured = record.result.as_ref().ok()?;
    let times = quantiles(&measured.samples_us)?;
    let (table, cells) = cells(record)?;
    Some(TableRow { table: table.to_owned(), cells, times })
}

/// A row that another program printed as `{"table": NAME, "row": {column: value}}`; none where the file could not be read
/// with it.
pub fn row_of_json(line: &Value) -> Option<TableRow> {
    const TIMES: [&str; 4] = ["median_us", "p10_us", "p90_us", "samples"];
    let table = line.get("table")?.as_str()?;
    let (_, columns) = TABLES.iter().find(|(name, _)| *name == table)?;
    let row = line.get("row")?.as_object()?;
    let columns: Vec<&str> = columns.split(',').collect();
    if row.keys().any(|key| !columns.contains(&key.as_str()) && !TIMES.contains(&key.as_str())) {
        return None;
    }
    let mut cells = Vec::new();
    for column in columns {
        let cell = match row.get(column) {
            None | Some(Value::Null) => String::new(),
            Some(Value::Number(number)) => number.as_u64()?.to_string(),
            Some(Value::String(word)) => word.clone(),
            Some(_) => return None,
        };
        if !cell.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) || cell.len() > 40 {
            return None;
        }
        cells.push(cell);
    }
    let time = |column: &str| match row.get(column) {
        None => Some(None),
        Some(value) => value.as_f64().filter(|us| (1e-3..=1e9).contains(us)).map(Some),
    };
    let median = time("median_us")??;
    let (p10, p90) = (time("p10_us")?.unwrap_or(median), time("p90_us")?.unwrap_or(median));
    let samples = row.get("samples").map_or(Some(1), Value::as_u64)?.clamp(1, 1 << 30) as usize;
    let times = Quantiles { p10, median, p90, samples };
    (p10 <= median && median <= p90).then(|| TableRow {
        table: table.to_owned(),
        cells: cells.join(","),
        times,
    })
}

fn cells(record: &Record) -> Option<(&'static str, String)> {
    Some(match record.task() {
        Task::Inspect | Task::SelfTest => return None,
        Task::Stream { bytes } => ("stream", bytes.to_string()),
        Task::Gemm { weights, n, k, rows } => {
            ("gemm", format!("cuda,{},{n},{k},{rows}", table_word(*weights)))
        }
        Task::Dequant { group, n, k, rows, .. } => {
            let weights = u16::try_from(*group)
                .map_or(WeightFormat::Int4 { group: 0 }, |group| WeightFormat::Int4 { group });
            ("gemm", format!("cuda,{},{n},{k},{rows}", table_word(weights)))
        }
        Task::Moe { weights, hidden, width, per_token, experts, shards, tokens } => {
            let weights = table_word(*weights);
            ("moe", format!("cuda,{weights},{hidden},{width},{per_token},{experts},{shards},{tokens}"))
        }
        Task::Attention { kv, head_dim, heads, kv_heads, batch, rows, context } => {
            let kv = word(kv).to_lowercase();
            ("attention", format!("cuda,{kv},{head_dim},{heads},{kv_heads},{batch},{rows},{context}"))
        }
        Task::Mla { kv, heads, batch, rows, context } => {
            let kv = word(kv).to_lowercase();
            ("mla", format!("kernel,cuda,,{kv},{heads},{batch},{rows},{context}"))
        }
        Task::Small { kind, rows, hidden } => {
            ("launch", format!("cuda,small-kernel,{},{}", word(kind), small_bytes(*kind, *rows, *hidden)))
        }
        Task::Launch { kind } => ("launch", format!("cuda,{},,", word(kind))),
        Task::Link { kind, from, to, bytes } => ("links", format!("{},{from},{to},{bytes}", word(kind))),
        Task::Collective(collective) => ("collectives", collective_cells(record, collective)),
    })
}

fn collective_cells(record: &Record, task: &CollectiveTask) -> String {
    let CollectiveTask { op, ranks, family, mode, transport, bytes, .. } = task;
    let forced = &record.variant;
    // The host's part of an eager call is that of plain CUDA; the device's time is anybody's.
    let server = if *mode == Mode::Eager { "cuda" } else { "" };
    format!(
        "{},{ranks},{},{},{},{server},{},{},{bytes}",
        word(op),
        word(family),
        word(mode),
        word(transport),
        forced.algorithm.as_ref().map(word).unwrap_or_default(),
        forced.protocol.as_ref().map(word).unwrap_or_default(),
    )
}

/// Other groups of 4-bit integers than those that the tables have a word for are not stated.
fn table_word(weights: WeightFormat) -> String {
    match weights {
        WeightFormat::Int4 { group } if !matches!(group, 32 | 128) => "int4".to_owned(),
        other => super::task::word_of_weights(other),
    }
}

/// Bytes that a small kernel reads and writes, activations of 2 bytes: the norm adds the residual and writes both.
fn small_bytes(kind: SmallKind, rows: u32, hidden: u32) -> u64 {
    let one = 2 * u64::from(rows) * u64::from(hidden);
    match kind {
        SmallKind::Norm => 4 * one,
        SmallKind::Elementwise => 2 * one,
        SmallKind::Activation => 3 * one,
        SmallKind::Sampling => one,
    }
}

/// The tables as comma-separated text, rows in the order of the records, and rows from elsewhere (a probe of the user's
/// PyTorch) after them. A point that two tasks measured keeps its first row.
pub fn tables(records: &[Record], others: &[TableRow]) -> Vec<(&'static str, String)> {
    let own: Vec<TableRow> = records.iter().filter_map(row_of).collect();
    let rows: Vec<&TableRow> = own.iter().chain(others).collect();
    let mut tables = Vec::new();
    for (table, columns) in TABLES {
        let mut seen = std::collections::BTreeSet::new();
        let mut text = String::new();
        for row in rows.iter().filter(|row| row.table == table && seen.insert(&row.cells)) {
            let Quantiles { p10, median, p90, samples } = row.times;
            let (median, p10, p90) = (number(median), number(p10), number(p90));
            let _ = writeln!(text, "{},{median},{p10},{p90},{samples}", row.cells);
        }
        if !text.is_empty() {
            tables.push((table, format!("{columns},median_us,p10_us,p90_us,samples\n{text}")));
        }
    }
    tables
}

/// Microseconds with three decimals, at least a nanosecond.
fn number(us: f64) -> String {
    let text = format!("{:.3}", us.max(1e-3));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The records of one collective curve: what they have in common, and their points.
pub(in crate::calibration) fn default_curves(records: &[Record]) -> Vec<(CollectiveTask, Vec<(f64, f64)>)> {
    let mut curves: Vec<(CollectiveTask, Vec<(f64, f64)>)> = Vec::new();
    for record in records {
        let Task::Collective(task) = record.task() else { continue };
        if record.variant.algorithm.is_some() || record.variant.protocol.is_some() {
            continue;
        }
        let Some(row) = row_of(record) else { continue };
        let same = |other: &CollectiveTask| {
            (other.op, other.ranks, other.family, other.mode, other.transport)
                == (task.op, task.ranks, task.family, task.mode, task.transport)
        };
        let point = (task.bytes as f64, row.times.median);
        match curves.iter_mut().find(|(other, _)| same(other)) {
            Some((_, points)) => points.push(point),
            None => curves.push((task.clone(), vec![point])),
        }
    }
    for (_, points) in &mut curves {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    }
    curves.sort_by_key(|(t, _)| (t.op, t.ranks, t.family, t.mode, t.transport));
    curves
}
