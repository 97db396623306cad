//! SGLang's `bench_serving` and `bench_one_batch_server`: one object a line.

use std::io::BufRead;

use serde_json::Value;

use super::fields::{Fields, accept_length, cautions, seconds, throughput};
use super::{Benchmark, read_results};
use crate::import::{Claim, Head, Importer, Sink, Summary};

/// The importer.
pub(in crate::import) const SGLANG: Importer = Importer {
    kind: "sglang-bench",
    about: "results of SGLang bench_serving or bench_one_batch_server (JSON lines)",
    claim,
    read,
};

fn claim(head: &Head) -> Claim {
    let own = ["\"total_output_tokens_retokenized\"", "\"sharegpt_output_len\"", "\"acc_length\""];
    // `vllm bench serve` can drive an SGLang server, and writes these beside it.
    let vllm = ["\"endpoint_type\"", "\"model_id\"", "\"total_token_throughput\""];
    let told = ["\"backend\":\"sglang", "\"backend\": \"sglang"];
    if told.iter().any(|word| head.has(word))
        && head.has("\"output_throughput\"")
        && !vllm.iter().any(|key| head.has(key))
    {
        return Claim::Sure;
    }
    head.sure_if(&own)
}

/// Keys that hold nothing we need: settings, lists of every request.
const IGNORED: &[&str] = &[
    "request_rate",
    "sharegpt_output_len",
    "random_input_len",
    "random_output_len",
    "random_range_ratio",
    "total_output_tokens_retokenized",
    "request_throughput",
    "input_throughput",
    "total_throughput",
    "overall_throughput",
    "last_gen_throughput",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "generated_texts",
    "errors",
    "total_input_text_tokens",
    "total_input_vision_tokens",
    "latency",
    "ttft",
    "last_ttft",
];

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    read_results(input, sink, IGNORED, |fields, line, noted| {
        if fields.has("acc_length") || fields.has("batch_size") {
            one_batch(fields, line, noted)
        } else {
            serving(fields, line, noted)
        }
    })
}

fn serving(fields: &mut Fields, line: u64, summary: &mut Summary) -> Benchmark {
    let length = fields.number("accept_length");
    let mut found = Benchmark {
        tool: "bench_serving",
        runtime: fields.text("backend").and_then(|backend| runtime(&backend)),
        name: fields.text("tag"),
        concurrency: fields.positive("max_concurrency"),
        completed: fields.count("completed"),
        duration: seconds(fields.number("duration")),
        input_tokens: fields.count("total_input_tokens"),
        output_tokens: fields.count("total_output_tokens"),
        throughput: throughput(fields.number("output_throughput")),
        accept_length: accept_length(length, line, summary),
        ..Benchmark::default()
    };
    // What ran on average; the limit is what was meant.
    let mean = fields.positive("concurrency");
    found.concurrency = found.concurrency.or(mean);
    fields.latencies(&mut found);
    let dataset = fields.text("dataset_name");
    if let Some(info) = fields.value("server_info") {
        server_info(info, &mut found);
    }
    if found.accept_length.is_some() {
        let why = "`accept_length` is the server's average since it started: wrong after mixed runs";
        summary.warn("since-boot", line, why, "");
    }
    cautions(&found, dataset.as_deref(), line, summary);
    found
}

/// Settings of the server, where the result holds them.
fn server_info(info: &Value, found: &mut Benchmark) {
    let small = |key: &str| info[key].as_u64().and_then(|number| u32::try_from(number).ok());
    found.model = info["model_path"].as_str().map(str::to_owned);
    found.tensor = small("tp_size");
    if info["speculative_algorithm"].is_string() {
        found.steps = small("speculative_num_steps");
        found.topk = small("speculative_eagle_topk");
        found.draft_tokens = small("speculative_num_draft_tokens");
    }
}

fn runtime(backend: &str) -> Option<&'static str> {
    ["sglang", "vllm"].into_iter().find(|runtime| backend.starts_with(runtime))
}

fn one_batch(fields: &mut Fields, line: u64, summary: &mut Summary) -> Benchmark {
    let batch = fields.positive("batch_size");
    let length = fields.number("acc_length");
    let (input, output) = (fields.count("input_len"), fields.count("output_len"));
    let total = |tokens: Option<u64>| Some((tokens? as f64 * batch?) as u64);
    Benchmark {
        tool: "bench_one_batch_server",
        runtime: Some("sglang"),
        name: fields.text("run_name"),
        concurrency: batch,
        completed: batch.map(|batch| batch as u64),
        input_tokens: total(input),
        output_tokens: total(output),
        throughput: throughput(fields.number("output_throughput")),
        accept_length: accept_length(length, line, summary),
        ..Benchmark::default()
    }
}
