//! SGLang's flags (`server_args.py` @067ad4d; adaptive speculation @369fa46) and what it requires of them.

use super::flags::Flags;
use super::server::{Drafting, ServerCommand, assumed_of, kv_word, weights_word};
use crate::import::Summary;

const VARIABLES: &[&str] =
    &["SGLANG_ENABLE_SPEC_V2", "SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD"];

/// What the flags say; oddities go to the summary.
pub(super) fn read(
    flags: &mut Flags,
    environment: Vec<(String, String)>,
    line: u64,
    summary: &mut Summary,
) -> (u64, ServerCommand) {
    let value = |name: &str| environment.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.clone());
    let mut warn = |code: &'static str, why: String| summary.warn(code, line, &why, "");
    if value("SGLANG_SIMULATE_ACC_LEN").is_some_and(|v| v.parse::<f64>().is_ok_and(|v| v > 0.0)) {
        warn("synthetic", "SGLANG_SIMULATE_ACC_LEN forces the accept length: a synthetic run".to_owned());
    }
    let spec_v2 = value("SGLANG_ENABLE_SPEC_V2").map(|v| matches!(v.as_str(), "1" | "true" | "True"));
    let mut server = ServerCommand { server: "sglang", ..ServerCommand::default() };
    server.take_environment(environment, VARIABLES);
    let mut wrong = |why| warn("flag", why);
    server.model = flags.text(&["--model-path", "--model"]);
    server.tensor = flags.whole(&["--tp-size", "--tensor-parallel-size", "--tp"], &mut wrong);
    server.expert = flags.whole(&["--ep-size", "--expert-parallel-size", "--ep"], &mut wrong);
    let data = flags.whole(&["--dp-size", "--data-parallel-size", "--dp"], &mut wrong);
    if flags.switch(&["--enable-dp-attention"]) {
        server.data_attention = data;
    } else {
        server.replicas = data;
    }
    server.max_requests = flags.whole(&["--max-running-requests"], &mut wrong);
    server.block_size = flags.whole(&["--page-size"], &mut wrong);
    server.graph_max_batch = flags.whole(&["--cuda-graph-max-bs"], &mut wrong);
    // -1 switches chunking off.
    if let Some(budget) = flags.text(&["--chunked-prefill-size"]) {
        match budget.parse::<i64>() {
            Ok(budget) => server.token_budget = u32::try_from(budget).ok().filter(|budget| *budget > 0),
            Err(_) => wrong(format!("--chunked-prefill-size takes a whole number, not `{budget}`")),
        }
    }
    server.weights = words(flags, "--quantization", weights_word, &mut wrong);
    let group = flags.text(&["--quantization"]).and_then(|word| assumed_of(&word));
    server.kv = words(flags, "--kv-cache-dtype", kv_word, &mut wrong);
    if let Some(group) = group {
        warn("group-size", group);
    }
    server.graph = flags.switch(&["--disable-cuda-graph"]).then_some(false);
    server.allreduce = allreduce(flags);
    let backend = flags.text(&["--attention-backend"]);
    server.drafting = drafting(flags, server.model.as_deref().unwrap_or_default(), &mut warn);
    let overlap_off = flags.switch(&["--disable-overlap-schedule"]);
    if let Some(drafting) = &server.drafting {
        server.overlap = overlap(drafting, spec_v2, overlap_off, &mut warn);
        constraints(drafting, &server, backend.as_deref(), &mut warn);
        let untold = flags.unread.iter().any(|unread| unread.flag == "--max-running-requests");
        if server.max_requests.is_none() && !untold {
            warn(
                "max-running-requests",
                "with speculation SGLang runs at most 48 requests unless told".to_owned(),
            );
            server.max_requests = Some(48);
        }
    }
    for why in flags.repeated() {
        warn("flag", why);
    }
    server.unread = std::mem::take(&mut flags.unread);
    server.used.extend(flags.used());
    server.not_modelled.extend(flags.positional.iter().cloned().chain(flags.left()));
    (line, server)
}

/// A word of the server in ours; one that is not known is said.
fn words(
    flags: &mut Flags,
    name: &str,
    ours: fn(&str) -> Option<&'static str>,
    wrong: &mut dyn FnMut(String),
) -> Option<&'static str> {
    let word = flags.text(&[name])?;
    let found = ours(&word);
    if found.is_none() && word != "auto" {
        wrong(format!("{name} {word}: left to what the model's config.json says"));
    }
    found
}

fn allreduce(flags: &mut Flags) -> Vec<&'static str> {
    let switches = [
        ("--enable-mscclpp", "mscclpp"),
        ("--enable-torch-symm-mem", "torch-symm-mem"),
        ("--enable-symm-mem", "nccl-symmetric"),
        ("--enable-flashinfer-allreduce-fusion", "flashinfer-fused"),
    ];
    switches.into_iter().filter(|(flag, _)| flags.switch(&[flag])).map(|(_, word)| word).collect()
}

fn drafting(flags: &mut Flags, model: &str, warn: &mut dyn FnMut(&'static str, String)) -> Option<Drafting> {
    let algorithm = flags.text(&["--speculative-algorithm", "--speculative-algo"])?.to_ascii_uppercase();
    let draft = flags.text(&["--speculative-draft-model-path", "--speculative-draft-model"]);
    let mut wrong = |why| warn("flag", why);
    let steps = flags.whole(&["--speculative-num-steps"], &mut wrong);
    let topk = flags.whole(&["--speculative-eagle-topk"], &mut wrong);
    let tokens = flags.whole(&["--speculative-num-draft-tokens"], &mut wrong);
    let window = flags.whole(&["--speculative-ngram-max-match-window-size"], &mut wrong);
    let method = method(&algorithm, draft.is_some(), warn);
    for threshold in ["--speculative-accept-threshold-single", "--speculative-accept-threshold-acc"] {
        if flags.text(&[threshold]).and_then(|text| text.parse::<f64>().ok()).is_some_and(|value| value < 1.0)
        {
            warn("lossy", format!("{threshold} below 1 accepts tokens that the model would not draw: lossy"));
        }
    }
    let mut found =
        Drafting { algorithm, method, draft, steps, topk, draft_tokens: tokens, by_batch: Vec::new() };
    if flags.switch(&["--speculative-adaptive"]) {
        let needs = if topk.unwrap_or(1) == 1 { "" } else { ", and needs topk 1" };
        warn(
            "adaptive",
            format!("--speculative-adaptive changes the steps while it runs: not modelled{needs}"),
        );
    }
    // What is told and cannot be read is no default.
    if !flags.unread.iter().any(|unread| unread.flag.starts_with("--speculative-")) {
        shape(&mut found, window, model, warn);
    }
    Some(found)
}

fn method(
    algorithm: &str,
    has_draft: bool,
    warn: &mut dyn FnMut(&'static str, String),
) -> Option<&'static str> {
    match algorithm {
        "EAGLE3" => Some("eagle3"),
        // NEXTN is another word for EAGLE; without a drafter it is the model's own module.
        "EAGLE" | "NEXTN" if !has_draft => Some("mtp"),
        "NEXTN" => Some("mtp"),
        "EAGLE" => {
            warn(
                "eagle",
                "an EAGLE head is priced as an EAGLE-3 head; if it is the model's own module, write mtp"
                    .to_owned(),
            );
            Some("eagle3")
        }
        "STANDALONE" => Some("draft-model"),
        "NGRAM" => Some("ngram"),
        other => {
            warn("algorithm", format!("--speculative-algorithm {other} is not modelled"));
            None
        }
    }
}

/// Steps, topk and draft tokens: all three or none; topk 1 forces draft tokens to steps + 1.
fn shape(found: &mut Drafting, window: Option<u32>, model: &str, warn: &mut dyn FnMut(&'static str, String)) {
    if found.method == Some("ngram") {
        // A lookup has no steps of its own: the chain is all rows but the root.
        let tokens = found.draft_tokens.or(window).unwrap_or(12);
        (found.draft_tokens, found.steps, found.topk) =
            (Some(tokens), Some(tokens.saturating_sub(1).max(1)), Some(1));
        return;
    }
    match (found.steps, found.topk, found.draft_tokens) {
        (None, None, None) => {
            let name = model.to_ascii_lowercase();
            let llama = (name.contains("llama") || name.contains("grok")) && found.method != Some("draft-model");
            let (steps, topk, tokens) = if llama { (5, 4, 8) } else { (3, 1, 4) };
            (found.steps, found.topk, found.draft_tokens) = (Some(steps), Some(topk), Some(tokens));
            warn("default-shape", format!("steps, topk and draft tokens are not given: SGLang takes {steps}, {topk}, {tokens}"));
        }
        (Some(steps), Some(1), Some(tokens)) if tokens != steps + 1 => {
            warn("draft-tokens", format!("with topk 1 SGLang sets draft tokens to steps + 1 = {}, not {tokens}", steps + 1));
            found.draft_tokens = Some(steps + 1);
        }
        (Some(steps), Some(topk), Some(tokens)) => {
            let most = u64::from(topk) + u64::from(steps.saturating_sub(1)) * u64::from(topk).pow(2) + 1;
            if u64::from(tokens) > most {
                warn("draft-tokens", format!("a tree of {steps} steps and topk {topk} has at most {most} nodes, not {tokens}"));
            }
        }
        _ => warn(
            "all-three-or-none",
            "--speculative-num-steps, -eagle-topk and -num-draft-tokens go together: SGLang takes all three or none".to_owned(),
        ),
    }
}

/// The overlap scheduler needs topk 1; before 0.5.14 a variable switches it on.
fn overlap(
    drafting: &Drafting,
    spec_v2: Option<bool>,
    off: bool,
    warn: &mut dyn FnMut(&'static str, String),
) -> Option<bool> {
    if off {
        return Some(false);
    }
    if spec_v2 == Some(true) && drafting.topk.unwrap_or(1) > 1 {
        warn("overlap", "SGLANG_ENABLE_SPEC_V2 works with topk 1 only".to_owned());
        return Some(false);
    }
    if spec_v2.is_none() {
        warn(
            "overlap",
            "whether the scheduler overlaps depends on the version: 0.5.14 and newer always do".to_owned(),
        );
    }
    spec_v2
}

fn constraints(
    drafting: &Drafting,
    server: &ServerCommand,
    backend: Option<&str>,
    warn: &mut dyn FnMut(&'static str, String),
) {
    if drafting.topk.unwrap_or(1) > 1 {
        let paged = server.block_size.is_some_and(|size| size > 1);
        if paged && !backend.is_none_or(|backend| ["flashinfer", "fa3", "triton"].contains(&backend)) {
            warn(
                "page-size",
                "topk above 1 with a page size above 1 needs flashinfer (later also fa3, triton)".to_owned(),
            );
        }
        if backend == Some("trtllm_mha") {
            warn("attention-backend", "trtllm_mha takes topk 1 only".to_owned());
        }
    }
    let most = server.max_requests.unwrap_or(48);
    if server.graph != Some(false)
        && let Some(captured) = server.graph_max_batch
        && captured < most
    {
        let why = format!(
            "--cuda-graph-max-bs {captured} is below the {most} requests that may run: beyond it verify is eager"
        );
        warn("graph-batch", why);
    }
}
