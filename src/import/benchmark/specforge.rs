//! SpecForge `bench_eagle3.py`: for each workload a list of configurations, each with its runs.

use std::io::BufRead;

use serde_json::Value;

use super::Benchmark;
use super::fields::{Fields, accept_length, throughput};
use crate::import::{Head, Importer, Observation, Sink, Summary, What, json};

/// The importer.
pub(in crate::import) const SPECFORGE: Importer = Importer {
    kind: "specforge",
    about: "benchmark results of SpecForge",
    claim: |head: &Head| {
        if head.has("\"accept_length\"") && head.has("\"output_throughput\"") {
            return head.sure_if(&[
                "\"num_draft_tokens\"",
                "\"categorical_performance\"",
                "\"num_valid_predictions\"",
            ]);
        }
        crate::import::Claim::No
    },
    read,
};

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let document = match json::read(input) {
        Ok(document) => document,
        Err(why) => {
            summary.fault = Some(why);
            return summary;
        }
    };
    summary.cut = document.cut;
    for (name, value) in document.value.as_object().into_iter().flatten() {
        match value {
            Value::Array(configurations) => {
                for configuration in configurations {
                    workload(name, configuration, &mut summary, sink);
                }
            }
            Value::Object(by_configuration) => {
                for (configuration, value) in by_configuration {
                    keyed(name, configuration, value, &mut summary, sink);
                }
            }
            // It names the drafter.
            _ if name == "model" => {}
            _ => summary.unknown_key(name),
        }
    }
    summary
}

/// A configuration with its keys; every run of it is a result.
fn workload(name: &str, value: &Value, summary: &mut Summary, sink: &mut Sink) {
    let small = |key: &str| value[key].as_u64().and_then(|number| u32::try_from(number).ok());
    let base = Benchmark {
        concurrency: value["batch_size"].as_f64().filter(|batch| *batch > 0.0),
        steps: small("steps"),
        topk: small("topk"),
        draft_tokens: small("num_draft_tokens"),
        ..named(name)
    };
    match value["metrics"].as_array() {
        Some(runs) => runs.iter().for_each(|run| result(&base, run, summary, sink)),
        None => result(&base, value, summary, sink),
    }
}

/// A configuration named `<batch>,<steps>,<topk>,<draft tokens>`.
fn keyed(name: &str, key: &str, value: &Value, summary: &mut Summary, sink: &mut Sink) {
    let parts: Vec<u32> = key.split([',', '-']).filter_map(|part| part.trim().parse().ok()).collect();
    let [batch, steps, topk, draft_tokens] = parts[..] else {
        summary.unknown_key(&format!("{name}.{key}"));
        return;
    };
    let base = Benchmark {
        concurrency: Some(f64::from(batch)).filter(|batch| *batch > 0.0),
        steps: Some(steps),
        topk: Some(topk),
        draft_tokens: Some(draft_tokens),
        ..named(name)
    };
    result(&base, value, summary, sink);
}

fn named(name: &str) -> Benchmark {
    Benchmark {
        tool: "SpecForge",
        runtime: Some("sglang"),
        name: Some(name.to_owned()),
        ..Benchmark::default()
    }
}

fn result(base: &Benchmark, value: &Value, summary: &mut Summary, sink: &mut Sink) {
    let shown = || value.to_string().chars().take(80).collect::<String>();
    let Some(map) = value.as_object() else {
        summary.skipped.note(0, "no object", &shown());
        return;
    };
    let mut fields = Fields::new(map);
    let length = fields.number("accept_length");
    let drafts = base.steps.is_none_or(|steps| steps > 0);
    let found = Benchmark {
        throughput: throughput(fields.number("output_throughput")),
        // Without drafting it is 1, and no accept length.
        accept_length: accept_length(length.filter(|_| drafts), 0, summary),
        completed: fields.count("num_questions"),
        ..base.clone()
    };
    if found.throughput.is_none() {
        summary.skipped.note(0, "no `output_throughput` in it", &shown());
        return;
    }
    summary.read += 1;
    sink(Observation::at(0, What::Benchmark(Box::new(found))));
}
