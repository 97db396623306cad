//! vLLM's flags (`vllm/engine/arg_utils.py`, `vllm/config/speculative.py`), of V1 and the ones of V0 for speculation.

use serde_json::{Map, Value};

use super::flags::Flags;
use super::server::{Drafting, ServerCommand, assumed_of, kv_word, weights_word};
use crate::import::Summary;

/// What the flags say; oddities go to the summary.
pub(super) fn read(
    flags: &mut Flags,
    environment: Vec<(String, String)>,
    line: u64,
    summary: &mut Summary,
) -> (u64, ServerCommand) {
    let mut warn = |code: &'static str, why: String| summary.warn(code, line, &why, "");
    let mut server = ServerCommand { server: "vllm", ..ServerCommand::default() };
    if environment.iter().any(|(name, value)| name == "VLLM_ENABLE_PCIE_ALLREDUCE" && value == "1") {
        server.allreduce.push("one-shot");
    }
    server.take_environment(environment, &["VLLM_ENABLE_PCIE_ALLREDUCE"]);
    let mut wrong = |why| warn("flag", why);
    server.model = flags.text(&["--model"]).or_else(|| flags.positional.first().cloned());
    server.tensor = flags.whole(&["--tensor-parallel-size", "-tp"], &mut wrong);
    server.replicas = flags.whole(&["--data-parallel-size", "-dp"], &mut wrong);
    server.decode_context = flags.whole(&["--decode-context-parallel-size", "-dcp"], &mut wrong);
    if flags.switch(&["--enable-expert-parallel"]) {
        // Experts are divided over all GPUs.
        server.expert = server.tensor.map(|tensor| tensor * server.replicas.unwrap_or(1));
    }
    server.max_requests = flags.whole(&["--max-num-seqs"], &mut wrong);
    server.token_budget = flags.whole(&["--max-num-batched-tokens"], &mut wrong);
    server.block_size = flags.whole(&["--block-size"], &mut wrong);
    let mut group = None;
    for (name, ours, place) in [
        ("--quantization", weights_word as fn(&str) -> Option<&'static str>, &mut server.weights),
        ("--kv-cache-dtype", kv_word, &mut server.kv),
    ] {
        let short = if name == "--quantization" { "-q" } else { name };
        if let Some(word) = flags.text(&[name, short]) {
            *place = ours(&word);
            group = group.or_else(|| assumed_of(&word).filter(|_| name == "--quantization"));
            if place.is_none() && word != "auto" {
                wrong(format!("{name} {word}: left to what the model's config.json says"));
            }
        }
    }
    let eager = flags.switch(&["--enforce-eager"]);
    let captured = flags.whole(&["--max-cudagraph-capture-size"], &mut wrong);
    let compilation = flags.object(&["--compilation-config", "-O", "-cc"], &mut wrong);
    let speculation = flags.object(&["--speculative-config", "--speculative_config"], &mut wrong);
    graphs(&mut server, eager, compilation, &mut warn);
    server.graph_max_batch = captured.or(server.graph_max_batch);
    if let Some(group) = group {
        warn("group-size", group);
    }
    server.drafting = match speculation {
        // A text that is no JSON says nothing, and names no method.
        Some(config) if config.is_empty() => None,
        Some(config) => Some(drafting(&config, &mut warn)),
        None => drafting_v0(flags, &mut warn),
    };
    for why in flags.repeated() {
        warn("flag", why);
    }
    server.unread = std::mem::take(&mut flags.unread);
    server.used.extend(flags.used());
    server.not_modelled.extend(flags.positional.iter().skip(1).cloned().chain(flags.left()));
    (line, server)
}

fn graphs(
    server: &mut ServerCommand,
    eager: bool,
    compilation: Option<Map<String, Value>>,
    warn: &mut dyn FnMut(&'static str, String),
) {
    let Some(config) = compilation else {
        server.graph = eager.then_some(false);
        return;
    };
    let mode = config.get("cudagraph_mode").and_then(Value::as_str).map(str::to_ascii_uppercase);
    match mode.as_deref() {
        Some("NONE") => server.graph = Some(false),
        Some("PIECEWISE") => {
            server.graph = Some(true);
            warn(
                "graph",
                "cudagraph_mode PIECEWISE issues attention eagerly: priced as a whole graph".to_owned(),
            );
        }
        Some(_) => server.graph = Some(true),
        None => {}
    }
    if eager {
        server.graph = Some(false);
    }
    let sizes = config.get("cudagraph_capture_sizes").and_then(Value::as_array);
    let largest = sizes.and_then(|sizes| sizes.iter().filter_map(Value::as_u64).max());
    let most = config.get("max_cudagraph_capture_size").and_then(Value::as_u64).or(largest);
    server.graph_max_batch = most.and_then(|most| u32::try_from(most).ok());
    for key in config.keys() {
        if !["cudagraph_mode", "cudagraph_capture_sizes", "max_cudagraph_capture_size"]
            .contains(&key.as_str())
        {
            server.not_modelled.push(format!("--compilation-config.{key}"));
        }
    }
}

/// The keys of `--speculative-config`.
fn drafting(config: &Map<String, Value>, warn: &mut dyn FnMut(&'static str, String)) -> Drafting {
    let text = |key: &str| config.get(key).and_then(Value::as_str).map(str::to_owned);
    let whole =
        |key: &str| config.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let draft = text("model").filter(|model| !["ngram", "[ngram]"].contains(&model.as_str()));
    let named = config.get("model").is_some_and(Value::is_string);
    let algorithm = text("method").unwrap_or_else(|| match &draft {
        Some(name) if name.to_ascii_lowercase().contains("eagle3") => "eagle3".to_owned(),
        Some(name) if name.to_ascii_lowercase().contains("eagle") => "eagle".to_owned(),
        Some(_) => "draft_model".to_owned(),
        None if named => "ngram".to_owned(),
        None => "(neither method nor model)".to_owned(),
    });
    if text("rejection_sample_method").as_deref() == Some("synthetic")
        || config.contains_key("synthetic_acceptance_length")
    {
        warn("synthetic", "rejection_sample_method synthetic forces acceptance: a synthetic run".to_owned());
    }
    let method = method(&algorithm, warn);
    let k = whole("num_speculative_tokens").filter(|k| (1..1024).contains(k));
    if k.is_none() {
        let why = match config.get("num_speculative_tokens") {
            Some(told) => format!("num_speculative_tokens takes a whole number from 1 to 1023, not `{told}`"),
            None => {
                "num_speculative_tokens is missing: vLLM needs it unless the drafter states it".to_owned()
            }
        };
        warn("num-speculative-tokens", why);
    }
    let by_batch = by_batch(config.get("num_speculative_tokens_per_batch_size"));
    for key in config.keys() {
        let used = [
            "method",
            "model",
            "num_speculative_tokens",
            "rejection_sample_method",
            "synthetic_acceptance_length",
            "num_speculative_tokens_per_batch_size",
        ];
        if !used.contains(&key.as_str()) {
            warn("speculative-config", format!("`{key}` of --speculative-config is not modelled"));
        }
    }
    chain(algorithm, method, draft, k, by_batch)
}

fn method(algorithm: &str, warn: &mut dyn FnMut(&'static str, String)) -> Option<&'static str> {
    match algorithm {
        "eagle3" => Some("eagle3"),
        "ngram" | "[ngram]" | "suffix" => Some("ngram"),
        "draft_model" => Some("draft-model"),
        word if word == "mtp" || word.ends_with("_mtp") => Some("mtp"),
        "eagle" => {
            warn("eagle", "an EAGLE head is priced as an EAGLE-3 head".to_owned());
            Some("eagle3")
        }
        "(neither method nor model)" => {
            warn(
                "algorithm",
                "--speculative-config names neither a method nor a model: vLLM takes the model's own module, if it has one"
                    .to_owned(),
            );
            None
        }
        other => {
            warn("algorithm", format!("the method {other} is not modelled"));
            None
        }
    }
}

/// `[[from, to, k], ...]`.
fn by_batch(value: Option<&Value>) -> Vec<(u32, u32, u32)> {
    let row = |row: &Value| {
        let whole = |at: usize| row[at].as_u64().and_then(|number| u32::try_from(number).ok());
        Some((whole(0)?, whole(1)?, whole(2)?))
    };
    value.and_then(Value::as_array).into_iter().flatten().filter_map(row).collect()
}

/// A chain of k drafted tokens: k + 1 rows.
fn chain(
    algorithm: String,
    method: Option<&'static str>,
    draft: Option<String>,
    k: Option<u32>,
    by_batch: Vec<(u32, u32, u32)>,
) -> Drafting {
    let k = k.filter(|k| *k > 0);
    Drafting {
        algorithm,
        method,
        draft,
        steps: k,
        topk: k.map(|_| 1),
        draft_tokens: k.map(|k| k + 1),
        by_batch,
    }
}

/// The flags of V0.
fn drafting_v0(flags: &mut Flags, warn: &mut dyn FnMut(&'static str, String)) -> Option<Drafting> {
    let draft = flags.text(&["--speculative-model"])?;
    let k = flags.whole(&["--num-speculative-tokens"], &mut |why| warn("flag", why)).filter(|k| *k < 1024);
    let ngram = draft.trim_matches(['[', ']']) == "ngram";
    let algorithm = if ngram { "ngram" } else { "draft_model" }.to_owned();
    let method = method(&algorithm, warn);
    Some(chain(algorithm, method, Some(draft).filter(|_| !ngram), k, Vec::new()))
}
