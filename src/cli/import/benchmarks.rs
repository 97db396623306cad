//! Results of benchmarks: a table, rows for `validate`, and the observed block of a scenario.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::calibration::quoted;
use super::model_name;
use super::scenario;
use super::section::{Section, Table};
use crate::cli::args::ImportArgs;
use crate::hardware;
use crate::import::{Benchmark, Observation, What};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// Results of all files.
pub(super) struct Benchmarks {
    gpu: Option<String>,
    speculative: Option<PathBuf>,
    accept_length: Option<f64>,
    file: String,
    found: Vec<(String, Benchmark)>,
}

impl Benchmarks {
    /// None yet.
    pub(super) fn new(args: &ImportArgs) -> Self {
        Self {
            gpu: args.gpu.clone(),
            speculative: args.speculative.clone(),
            // A lone result is meant; of several, the one that is named.
            accept_length: args.accept_length.filter(|_| {
                args.speculative.is_some() || args.inputs.iter().filter(|p| p.is_file()).count() == 1
            }),
            file: String::new(),
            found: Vec::new(),
        }
    }
}

/// Time of a step without speculation, of a cycle with it: running · accept length / throughput.
fn cycle(found: &Benchmark) -> Option<Seconds> {
    let length = found.accept_length.map_or(1.0, AcceptLength::get);
    let rate = found.throughput?.get();
    Some(Seconds::new(found.concurrency? * length / rate))
}

impl Section for Benchmarks {
    fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    fn take(&mut self, observation: &Observation) {
        if let What::Benchmark(found) = &observation.what {
            let mut found = (**found).clone();
            let named = self.speculative.as_ref().is_none_or(|path| path.as_path() == Path::new(&self.file));
            if named && (self.speculative.is_some() || self.accept_length.is_some()) {
                found.said_to_speculate = true;
                let said = self.accept_length.map(AcceptLength::new);
                found.accept_length = found.accept_length.filter(|length| length.get() > 1.0).or(said);
            }
            self.found.push((self.file.clone(), found));
        }
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn fault(&self) -> Option<String> {
        let path = self.speculative.as_ref()?;
        let named = self.found.iter().any(|(file, _)| Path::new(file) == path.as_path());
        (!named).then(|| format!("--speculative {}: is none of the files that are imported", path.display()))
    }

    fn text(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "{:<20} {:>7} {:>8} {:>11} {:>7} {:>10} {:>9}",
            "result", "at once", "shape", "throughput", "length", "cycle", "TPOT"
        );
        for (_, found) in &self.found {
            let dash = || "-".to_owned();
            let shape = match (found.steps, found.topk, found.draft_tokens) {
                (Some(steps @ 1..), Some(topk), Some(tokens)) => format!("{steps}-{topk}-{tokens}"),
                _ => dash(),
            };
            let tpot = found.latencies_ms.get("mean_tpot_ms").map(|ms| Seconds::from_ms(*ms).to_string());
            let _ = writeln!(
                out,
                "{:<20} {:>7} {:>8} {:>11} {:>7} {:>10} {:>9}",
                short(found.name.as_deref().or(found.model.as_deref()).unwrap_or(found.tool)),
                found.concurrency.map_or_else(dash, |n| format!("{n}")),
                shape,
                found.throughput.map_or_else(dash, |rate| rate.to_string()),
                found.accept_length.map_or_else(dash, |length| format!("{:.2}", length.get())),
                cycle(found).map_or_else(dash, |time| time.to_string()),
                tpot.unwrap_or_else(dash),
            );
        }
    }

    fn json(&self, object: &mut Map<String, Value>) {
        let results: Vec<Value> = self.found.iter().map(|(file, found)| result_json(file, found)).collect();
        if let [one] = &results[..] {
            for key in ["accept_length", "cumulative", "cycle_ms", "throughput_tok_s"] {
                object.insert(key.to_owned(), one[key].clone());
            }
        }
        object.insert("results".to_owned(), json!(results));
    }

    fn table(&self) -> Option<Table> {
        let rows =
            self.found.iter().enumerate().map(|(at, (file, found))| self.row(at, file, found)).collect();
        Some(Table { header: COLUMNS.to_vec(), rows })
    }

    fn yaml(&self) -> Option<Result<String, String>> {
        Some(observed(&self.found))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.found.len() > 1 && self.accept_length.is_none() && self.speculative.is_none() {
            let told = self.found.iter().any(|(_, found)| found.speculates());
            if !told {
                notes.push(
                    "no result tells an accept length: `--speculative FILE --accept-length LENGTH` names the run with \
                     speculation"
                        .to_owned(),
                );
            }
        }
        notes.extend(vec!["throughput holds prefill too: a cycle from it is an upper bound".to_owned()]);
        if self.found.iter().any(|(_, found)| found.concurrency.is_none()) {
            notes.push(
                "a result without `max_concurrency` tells no batch: no cycle follows from it".to_owned(),
            );
        }
        notes
    }
}

fn short(text: &str) -> String {
    if text.chars().count() <= 20 { text.to_owned() } else { text.chars().take(19).chain(['…']).collect() }
}

fn result_json(file: &str, found: &Benchmark) -> Value {
    let quantity = |value: Option<f64>| value.map(|value| json!({ "value": value }));
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    json!({
        "file": file,
        "tool": found.tool,
        "runtime": found.runtime,
        "name": found.name,
        "model": found.model,
        "concurrency": found.concurrency,
        "completed": found.completed,
        "duration_s": found.duration.map(Seconds::get),
        "input_tokens": found.input_tokens,
        "output_tokens": found.output_tokens,
        "throughput_tok_s": quantity(found.throughput.map(TokensPerSecond::get)),
        "accept_length": quantity(found.accept_length.map(AcceptLength::get)),
        "cycle_ms": quantity(cycle(found).map(|time| rounded(time.ms()))),
        "drafts": found.drafts,
        "drafted": found.drafted,
        "accepted": found.accepted,
        "cumulative": found.cumulative,
        "steps": found.steps,
        "topk": found.topk,
        "draft_tokens": found.draft_tokens,
        "tensor": found.tensor,
        "latencies_ms": found.latencies_ms,
    })
}

/// Those of a table of measurements, which `validate` reads.
const COLUMNS: [&str; 27] = [
    "id",
    "group",
    "level",
    "hardware",
    "calibration",
    "model",
    "weights",
    "kv",
    "runtime",
    "tensor",
    "decode_context",
    "batch",
    "context",
    "method",
    "draft",
    "steps",
    "topk",
    "draft_tokens",
    "accept_length",
    "execution",
    "allreduce",
    "quantity",
    "measured",
    "n",
    "use",
    "source",
    "note",
];

impl Benchmarks {
    /// A row for `validate`; what the result does not tell is left empty.
    fn row(&self, at: usize, file: &str, found: &Benchmark) -> Vec<String> {
        let whole = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
        // A box that is named runs on all its GPUs unless told.
        let of_box = self.gpu.as_deref().and_then(hardware::preset).map(|found| found.count);
        let tensor = found.tensor.or(of_box);
        let hardware = self.gpu.as_deref().and_then(|gpu| scenario::box_of(gpu, tensor.unwrap_or(1)));
        let hardware = hardware.filter(|_| tensor.is_some());
        let known = found.model.as_deref().and_then(model_name::of_model);
        let speculates = found.speculates();
        let model = known.as_ref().map(|known| known.preset.to_owned()).or(found.model.clone());
        let draft = known.as_ref().and_then(|known| model_name::head_of(known.preset)).filter(|_| speculates);
        let batch = found.concurrency.map_or(String::new(), |n| format!("{:.0}", n.max(1.0)));
        let level = if batch == "1" { "V3" } else { "V4" };
        let name = std::path::Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let cells = [
            format!("{name}-{}", at + 1),
            found.name.clone().unwrap_or_else(|| found.tool.to_owned()),
            level.to_owned(),
            hardware.clone().unwrap_or_default(),
            String::new(),
            model.unwrap_or_default(),
            known.and_then(|known| known.weights).unwrap_or_default().to_owned(),
            String::new(),
            found.runtime.unwrap_or_default().to_owned(),
            whole(tensor),
            String::new(),
            batch,
            mean_context(found).map_or(String::new(), |tokens| format!("{tokens:.0}")),
            if speculates { "eagle3" } else { "" }.to_owned(),
            draft.unwrap_or_default().to_owned(),
            whole(found.steps.filter(|_| speculates)),
            whole(found.topk.filter(|_| speculates)),
            whole(found.draft_tokens.filter(|_| speculates)),
            found.accept_length.map_or(String::new(), |length| length.get().to_string()),
            "graph".to_owned(),
            String::new(),
            "throughput_tok_s".to_owned(),
            found.throughput.map_or(String::new(), |rate| rate.get().to_string()),
            "1".to_owned(),
            "held out".to_owned(),
            format!("{} of {name}", found.tool),
            "prefill included".to_owned(),
        ];
        cells.to_vec()
    }
}

/// Context in the middle of a request: the prompt and half of the output, on average.
fn mean_context(found: &Benchmark) -> Option<f64> {
    let requests = found.completed.filter(|n| *n > 0)? as f64;
    Some((found.input_tokens? as f64 + found.output_tokens? as f64 / 2.0) / requests)
}

/// A scenario that observed numbers alone answer, or a part of one.
fn observed(found: &[(String, Benchmark)]) -> Result<String, String> {
    let pick = |speculates: bool| -> Result<Option<&Benchmark>, String> {
        let of: Vec<&Benchmark> =
            found.iter().map(|(_, found)| found).filter(|found| found.speculates() == speculates).collect();
        match of[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => {
                let which = if speculates { "with" } else { "without" };
                let way = if speculates {
                    "import the one that the scenario is about"
                } else {
                    "these files do not tell a run with it; name it, as in `--speculative FILE --accept-length 2.5`, \
                     or import the one that the scenario is about"
                };
                Err(format!("{} results {which} speculation: {way}", of.len()))
            }
        }
    };
    let (base, spec) = (pick(false)?, pick(true)?);
    let mut out = format!("# Imported from benchmark results by specplan {}.\n", env!("CARGO_PKG_VERSION"));
    let name = spec.or(base).and_then(|found| found.name.as_deref().or(found.model.as_deref()));
    let _ = writeln!(out, "name: {}", quoted(name.unwrap_or("observed")));
    let batches: Vec<f64> =
        [base, spec].into_iter().flatten().filter_map(|found| found.concurrency).collect();
    if let [a, b] = batches[..]
        && (a - b).abs() > 1e-9
    {
        return Err(format!("{a} requests without speculation and {b} with it do not compare"));
    }
    if let Some(batch) = batches.first() {
        let _ = writeln!(out, "workload: {{ batch: {:.0} }}", batch.max(1.0));
    }
    if let Some(rate) = base.and_then(|base| base.throughput) {
        let _ = writeln!(out, "baseline:\n  observed: {{ throughput: {} tok/s }}", rate.get());
    }
    if let Some(spec) = spec {
        out.push_str("speculation:\n");
        for (key, value) in [("steps", spec.steps), ("topk", spec.topk), ("draft_tokens", spec.draft_tokens)]
        {
            if let Some(value) = value {
                let _ = writeln!(out, "  {key}: {value}");
            }
        }
        if !spec.cumulative.is_empty() {
            let _ = writeln!(out, "  acceptance: {{ cumulative: {} }}", json!(spec.cumulative));
        } else if let Some(length) = spec.accept_length {
            let _ = writeln!(out, "  acceptance: {{ accept_length: {} }}", length.get());
        }
        if let Some(rate) = spec.throughput {
            let _ = writeln!(out, "  observed: {{ throughput: {} tok/s }}", rate.get());
        }
    }
    Ok(out)
}
