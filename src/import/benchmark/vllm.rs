//! `vllm bench serve`: one object.

use std::io::BufRead;

use super::fields::{Fields, accept_length, cautions, seconds, throughput};
use super::{Benchmark, read_results};
use crate::import::{Claim, Head, Importer, Sink, Summary};
use crate::units::AcceptLength;

/// The importer.
pub(in crate::import) const VLLM: Importer =
    Importer { kind: "vllm-bench", about: "results of vllm bench serve (JSON)", claim, read };

fn claim(head: &Head) -> Claim {
    let plain = ["\"output_throughput\"", "\"total_token_throughput\"", "\"endpoint_type\"", "\"model_id\""];
    if head.has("\"spec_decode_acceptance_length\"") || plain.iter().filter(|key| head.has(key)).count() >= 3
    {
        Claim::Sure
    } else if head.has(plain[0]) {
        Claim::Maybe
    } else {
        Claim::No
    }
}

const IGNORED: &[&str] = &[
    "date",
    "endpoint_type",
    "backend",
    "label",
    "tokenizer_id",
    "num_prompts",
    "request_rate",
    "burstiness",
    "failed",
    "request_throughput",
    "request_goodput",
    "total_token_throughput",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "generated_texts",
    "errors",
    "rtfx",
    "start_times",
];

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    read_results(input, sink, IGNORED, result)
}

fn result(fields: &mut Fields, line: u64, summary: &mut Summary) -> Benchmark {
    let length = fields.number("spec_decode_acceptance_length");
    let mut found = Benchmark {
        tool: "vllm bench serve",
        runtime: Some("vllm"),
        model: fields.text("model_id"),
        concurrency: fields.positive("max_concurrency"),
        completed: fields.count("completed"),
        duration: seconds(fields.number("duration")),
        input_tokens: fields.count("total_input_tokens"),
        output_tokens: fields.count("total_output_tokens"),
        throughput: throughput(fields.number("output_throughput")),
        accept_length: accept_length(length, line, summary),
        drafts: fields.count("spec_decode_num_drafts"),
        drafted: fields.count("spec_decode_draft_tokens"),
        accepted: fields.count("spec_decode_accepted_tokens"),
        cumulative: fields.shares("spec_decode_per_position_acceptance_rates"),
        ..Benchmark::default()
    };
    let rate = fields.number("spec_decode_acceptance_rate");
    fields.latencies(&mut found);
    if !found.cumulative.is_empty() {
        let k = found.cumulative.len() as u32;
        (found.steps, found.topk, found.draft_tokens) = (Some(k), Some(1), Some(k + 1));
    }
    checks(&found, rate, line, summary);
    cautions(&found, None, line, summary);
    found
}

/// Sums that must agree: 1 + accepted / drafts, 1 + Σ rates, accepted / drafted.
fn checks(found: &Benchmark, rate: Option<f64>, line: u64, summary: &mut Summary) {
    let Some(length) = found.accept_length.map(AcceptLength::get) else { return };
    let mut check = |what: &str, expected: f64, tolerance: f64| {
        if (length - expected).abs() > tolerance {
            let why = format!("acceptance length {length} is not {what}, {expected:.3}");
            summary.warn("checksum", line, &why, "");
        }
    };
    if let (Some(drafts @ 1..), Some(accepted)) = (found.drafts, found.accepted) {
        check("1 + accepted / drafts", 1.0 + accepted as f64 / drafts as f64, 0.006);
    }
    let k = found.cumulative.len() as f64;
    if k > 0.0 {
        check("1 + the sum of the rates", 1.0 + found.cumulative.iter().sum::<f64>(), 0.005 + 0.0005 * k);
    }
    if let (Some(rate), Some(drafted @ 1..), Some(accepted)) = (rate, found.drafted, found.accepted) {
        let expected = 100.0 * accepted as f64 / drafted as f64;
        if (rate - expected).abs() > 0.06 {
            let why = format!("acceptance rate {rate} % is not accepted / drafted, {expected:.2} %");
            summary.warn("checksum", line, &why, "");
        }
    }
}
