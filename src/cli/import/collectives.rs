//! Rows of collective benchmarks: a table for reading, and a calibration.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::calibration;
use super::section::{Section, Table};
use crate::cli::args::{ImportArgs, TransportWord};
use crate::import::{Collective, CollectiveRun, Observation, What};
use crate::units::{Bytes, Seconds};

/// What the command line says about all runs.
pub(super) struct Said {
    /// GPU preset.
    pub(super) gpu: Option<String>,
    /// Word of the transport.
    pub(super) transport: Option<&'static str>,
    /// Word of the operation.
    pub(super) op: Option<String>,
}

/// One table of one file.
pub(super) struct Run {
    /// The file.
    pub(super) file: String,
    /// What holds for its rows.
    pub(super) facts: CollectiveRun,
    /// The rows.
    pub(super) rows: Vec<Collective>,
}

impl Run {
    /// The operation, as told or said.
    pub(super) fn op<'a>(&'a self, said: &'a Said) -> Option<&'a str> {
        self.facts.op.or(said.op.as_deref())
    }
}

/// Runs of all files.
pub(super) struct Collectives {
    said: Said,
    file: String,
    runs: Vec<Run>,
}

impl Collectives {
    /// None yet.
    pub(super) fn new(args: &ImportArgs) -> Self {
        let word = |transport| match transport {
            TransportWord::Nvlink => "nvlink",
            TransportWord::P2p => "p2p",
            TransportWord::Shm => "shm",
        };
        let said = Said { gpu: args.gpu.clone(), transport: args.transport.map(word), op: args.op.clone() };
        Self { said, file: String::new(), runs: Vec::new() }
    }

    fn each_row(&self) -> impl Iterator<Item = (&Run, &Collective)> {
        self.runs.iter().flat_map(|run| run.rows.iter().map(move |row| (run, row)))
    }
}

impl Section for Collectives {
    fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    fn take(&mut self, observation: &Observation) {
        match &observation.what {
            What::CollectiveRun(facts) => {
                self.runs.push(Run { file: self.file.clone(), facts: facts.clone(), rows: Vec::new() });
            }
            What::Collective(row) => {
                self.runs.last_mut().expect("a run comes before its rows").rows.push(row.clone());
            }
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn text(&self, out: &mut String) {
        for (at, run) in self.runs.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let _ = writeln!(out, "{}", title(run, &self.said));
            let _ = writeln!(
                out,
                "{:>12}   {:>12}   {:>12}   {:>12}",
                "size", "out of place", "in place", "algbw"
            );
            for row in &run.rows {
                let time = |time: Option<Seconds>| time.map_or("-".to_owned(), |time| time.to_string());
                let bandwidth = row.out_of_place.map(|time| (row.bytes / time).to_string());
                let _ = writeln!(
                    out,
                    "{:>12}   {:>12}   {:>12}   {:>12}",
                    size(row.bytes),
                    time(row.out_of_place),
                    time(row.in_place),
                    bandwidth.unwrap_or_default()
                );
            }
        }
    }

    fn json(&self, object: &mut Map<String, Value>) {
        let runs: Vec<Value> = self.runs.iter().map(|run| run_json(run, &self.said)).collect();
        let rows: Vec<Value> =
            self.each_row().flat_map(|(run, row)| row_json(run, row, &self.said)).collect();
        object.insert("runs".to_owned(), json!(runs));
        object.insert("rows".to_owned(), json!(rows));
    }

    fn table(&self) -> Option<Table> {
        let header = vec!["file", "op", "ranks", "mode", "bytes", "dtype", "time_us", "in_place_us"];
        let us = |time: Option<Seconds>| time.map_or(String::new(), |time| microseconds(time).to_string());
        let rows = self.each_row().map(|(run, row)| {
            vec![
                run.file.clone(),
                run.op(&self.said).unwrap_or_default().to_owned(),
                run.facts.ranks.map_or(String::new(), |ranks| ranks.to_string()),
                mode(&run.facts).to_owned(),
                format!("{:.0}", row.bytes.get()),
                row.dtype.clone(),
                us(row.out_of_place),
                us(row.in_place),
            ]
        });
        Some(Table { header, rows: rows.collect() })
    }

    fn yaml(&self) -> Option<Result<String, String>> {
        Some(calibration::yaml(&self.runs, &self.said))
    }

    fn notes(&self) -> Vec<String> {
        calibration::notes(&self.runs, &self.said)
    }
}

/// `stream` or `graph`, as the calibration calls it.
pub(super) fn mode(run: &CollectiveRun) -> &'static str {
    if run.graph { "graph" } else { "stream" }
}

/// Microseconds to the nanosecond, as benchmarks print them.
pub(super) fn microseconds(time: Seconds) -> f64 {
    (time.us() * 1e3).round() / 1e3
}

/// "all-reduce, 8 ranks of NVIDIA GeForce RTX 5090, NCCL 2.29.7, p2p: rtx5090.txt".
fn title(run: &Run, said: &Said) -> String {
    let facts = &run.facts;
    let ranks = facts.ranks.map_or("ranks not told".to_owned(), |ranks| format!("{ranks} ranks"));
    let gpu = facts.gpu.as_ref().map_or(String::new(), |gpu| {
        let others = facts.other_gpus.iter().map(|other| format!(" and {other}"));
        format!(" of {gpu}{}", others.collect::<String>())
    });
    let version = facts.nccl.as_ref().map_or(String::new(), |version| format!(", NCCL {version}"));
    let transport = facts.transport.map_or(String::new(), |word| format!(", over {word}"));
    let graph = if facts.graph { ", in a CUDA graph" } else { "" };
    format!("{}, {ranks}{gpu}{version}{transport}{graph}", run.op(said).unwrap_or("an operation not told"))
}

/// Powers of two as such: people look for them.
fn size(bytes: Bytes) -> String {
    let whole = bytes.get();
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(unit, _)| whole >= *unit as f64 && whole % *unit as f64 == 0.0);
    unit.map_or(format!("{whole:.0} B"), |(unit, word)| format!("{} {word}", whole / *unit as f64))
}

fn run_json(run: &Run, said: &Said) -> Value {
    let facts = &run.facts;
    let environment: Map<String, Value> =
        facts.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "file": run.file,
        "table": facts.table,
        "op": run.op(said),
        "ranks": facts.ranks,
        "processes": facts.processes,
        "hosts": facts.hosts,
        "gpu": facts.gpu,
        "nccl": facts.nccl,
        "mode": mode(facts),
        "cpu_time": facts.cpu_time,
        "transport": facts.transport,
        "channels": facts.channels,
        "command": facts.command,
        "environment": environment,
        "rows": run.rows.len(),
    })
}

/// A row for each block of figures.
fn row_json(run: &Run, row: &Collective, said: &Said) -> Vec<Value> {
    let blocks = [(row.out_of_place, false), (row.in_place, true)];
    let one = |(time, in_place): (Option<Seconds>, bool)| {
        Some(json!({
            "op": run.op(said),
            "ranks": run.facts.ranks,
            "bytes": row.bytes.get() as u64,
            "time_us": microseconds(time?),
            "in_place": in_place,
            "mode": mode(&run.facts),
            "transport": run.facts.transport,
            "dtype": row.dtype,
            "file": run.file,
            "table": run.facts.table,
        }))
    };
    blocks.into_iter().filter_map(one).collect()
}
