//! Every command that can be printed, held to the documented rules of the servers.

use std::collections::BTreeMap;

use super::{Paste, paste};
use crate::scenario::ModelledSetup;
use crate::tune::testing::{candidate, point, setup};
use crate::tune::{Beyond, Goal, Objective, Plan, Space, Strategy as Search, plan};
use proptest::prelude::*;

/// Flags of SGLang 0.5 `server_args.py` that `tune` may print.
const SGLANG: [&str; 16] = [
    "--model-path",
    "--tp-size",
    "--ep-size",
    "--dp-size",
    "--enable-dp-attention",
    "--dcp-size",
    "--speculative-algorithm",
    "--speculative-draft-model-path",
    "--speculative-num-steps",
    "--speculative-eagle-topk",
    "--speculative-num-draft-tokens",
    "--speculative-ngram-max-bfs-breadth",
    "--page-size",
    "--max-running-requests",
    "--cuda-graph-max-bs",
    "--disable-cuda-graph",
];

/// Flags of vLLM that `tune` may print.
const VLLM: [&str; 8] = [
    "--tensor-parallel-size",
    "--data-parallel-size",
    "--enable-expert-parallel",
    "--compilation-config",
    "--decode-context-parallel-size",
    "--max-num-seqs",
    "--speculative-config",
    "--enforce-eager",
];

/// The words of a command, quotes taken off as a shell does.
pub(super) fn words(lines: &[String]) -> Vec<String> {
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line.ends_with(" \\"), at + 1 < lines.len(), "continued lines: {lines:?}");
    }
    let text = lines.join("\n").replace(" \\\n", " ");
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().expect("one").push(other),
        }
    }
    assert!(!quoted, "an open quote: {text}");
    words.retain(|word| !word.is_empty());
    words
}

/// Flags with their values, and what stands before the first.
fn flags(lines: &[String], known: &[&str]) -> (Vec<String>, BTreeMap<String, String>) {
    let words = words(lines);
    let first = words.iter().position(|word| word.starts_with("--")).unwrap_or(words.len());
    let mut flags = BTreeMap::new();
    let mut at = first;
    while at < words.len() {
        let flag = words[at].clone();
        assert!(known.contains(&flag.as_str()), "{flag} is no flag of this server: {words:?}");
        let value = words.get(at + 1).filter(|word| !word.starts_with("--")).cloned().unwrap_or_default();
        at += if value.is_empty() { 1 } else { 2 };
        assert!(flags.insert(flag, value).is_none(), "a flag twice: {words:?}");
    }
    (words[..first].to_vec(), flags)
}

fn number(flags: &BTreeMap<String, String>, flag: &str) -> Option<u32> {
    flags.get(flag).map(|value| value.parse().unwrap_or_else(|_| panic!("{flag} {value}")))
}

/// SGLang `server_args.py` and `docs/advanced_features/speculative_decoding.md` @067ad4d.
fn sglang_accepts(paste: &Paste) {
    if paste.lines.is_empty() {
        return;
    }
    let (start, flags) = flags(&paste.lines, &SGLANG);
    let whole = !start.is_empty();
    let steps = number(&flags, "--speculative-num-steps");
    let topk = number(&flags, "--speculative-eagle-topk");
    let rows = number(&flags, "--speculative-num-draft-tokens");
    let draft = flags.contains_key("--speculative-draft-model-path");
    let breadth = number(&flags, "--speculative-ngram-max-bfs-breadth");
    if whole {
        let limit = number(&flags, "--max-running-requests").expect("48 where none is given");
        match number(&flags, "--cuda-graph-max-bs") {
            Some(graphs) => assert!(graphs >= limit, "a batch above it runs eager"),
            None => assert!(flags.contains_key("--disable-cuda-graph")),
        }
        let replicas = number(&flags, "--dp-size").unwrap_or(1);
        assert_eq!(replicas > 1, flags.contains_key("--enable-dp-attention"), "whole replicas otherwise");
        assert_eq!(limit % replicas, 0, "the rest is cut off");
    }
    let Some(algorithm) = flags.get("--speculative-algorithm") else {
        assert!(steps.is_none() && topk.is_none() && rows.is_none() && !draft, "no algorithm: {flags:?}");
        return;
    };
    match algorithm.as_str() {
        "NGRAM" => {
            assert!(steps.is_none() && topk.is_none() && !draft);
            assert!(rows.is_some_and(|rows| rows >= 2));
            let breadth = breadth.expect("10 where none is given: a tree");
            assert_eq!(number(&flags, "--page-size"), (breadth > 1).then_some(1));
            assert!(!flags.contains_key("--enable-dp-attention"), "no lookup with it");
        }
        "EAGLE" | "EAGLE3" | "NEXTN" | "STANDALONE" => {
            // All three or none.
            let (steps, topk, rows) =
                (steps.expect("steps"), topk.expect("topk"), rows.expect("draft tokens"));
            assert!(steps >= 1 && topk >= 1);
            if topk == 1 {
                assert_eq!(rows, steps + 1, "topk 1 forces draft tokens = steps + 1");
            } else {
                assert!(
                    u64::from(rows) <= u64::from(topk) + u64::from(steps - 1) * u64::from(topk).pow(2) + 1
                );
                // Larger pages with topk > 1 need one of a few attention backends.
                assert_eq!(number(&flags, "--page-size"), Some(1));
            }
            assert!(rows >= 2);
            assert_eq!(
                draft,
                algorithm != "NEXTN" && algorithm != "EAGLE",
                "a module of the target has no path"
            );
        }
        other => panic!("no algorithm of SGLang: {other}"),
    }
    if start.iter().any(|word| word.starts_with("SGLANG_ENABLE_SPEC_V2")) {
        assert_eq!(topk, Some(1), "the overlapping worker is for topk 1");
        assert_ne!(algorithm, "NGRAM");
    }
}

/// vLLM's `--speculative-config`: keys, and ranges of `num_speculative_tokens_per_batch_size` = [from, to, k].
fn vllm_accepts(paste: &Paste) {
    if paste.lines.is_empty() {
        assert!(!paste.notes.is_empty(), "no command, and no reason: {paste:?}");
        return;
    }
    let (start, flags) = flags(&paste.lines, &VLLM);
    assert!(start.ends_with(&["vllm".to_owned(), "serve".to_owned(), "MODEL_PATH".to_owned()]), "{start:?}");
    let most = number(&flags, "--max-num-seqs").expect("a limit");
    let object = |flag: &str| -> Option<serde_json::Value> {
        flags.get(flag).map(|text| serde_json::from_str(text).expect("JSON"))
    };
    let config = object("--speculative-config");
    let rows = config.as_ref().map_or(1, |config| config["num_speculative_tokens"].as_u64().expect("k") + 1);
    match object("--compilation-config") {
        None => assert!(flags.contains_key("--enforce-eager")),
        Some(graphs) => {
            let limit = graphs["max_cudagraph_capture_size"].as_u64().expect("a number");
            assert!(
                captured(limit, rows).last() >= Some(&(u64::from(most) * rows)),
                "{graphs}: it runs eager"
            );
        }
    }
    let Some(config) = config else { return };
    let config = config.as_object().expect("an object");
    let keys = ["method", "model", "num_speculative_tokens", "num_speculative_tokens_per_batch_size"];
    assert!(config.keys().all(|key| keys.contains(&key.as_str())), "{config:?}");
    let method = config["method"].as_str().expect("a word");
    assert!(["eagle3", "mtp", "draft_model", "ngram"].contains(&method));
    assert_eq!(config.contains_key("model"), ["eagle3", "draft_model"].contains(&method));
    let deepest = config["num_speculative_tokens"].as_u64().expect("a number");
    assert!(deepest >= 1);
    let Some(ranges) = config.get("num_speculative_tokens_per_batch_size") else { return };
    assert_eq!(method, "eagle3", "tested with EAGLE and DFlash only");
    assert!(!flags.contains_key("--data-parallel-size"), "switched off with it");
    let mut next = 1;
    let mut reached = 0;
    for range in ranges.as_array().expect("a list") {
        let [from, to, k] = [0, 1, 2].map(|at| range[at].as_u64().expect("a number"));
        assert_eq!(from, next, "ranges follow one another from 1: {ranges}");
        assert!(from <= to && k <= deepest);
        next = to + 1;
        reached = reached.max(k);
    }
    assert_eq!((next - 1, reached), (u64::from(most), deepest), "{ranges}");
}

/// Sizes that vLLM captures up to a limit for passes of so many rows (docs.vllm.ai `configuration/engine_args`,
/// `max_cudagraph_capture_size`, and `adjust_cudagraph_sizes_for_spec_decode` of `vllm/config/compilation.py`).
pub(super) fn captured(limit: u64, rows: u64) -> Vec<u64> {
    let sizes = [1, 2, 4].into_iter().chain((8..256).step_by(8)).chain((256..=limit).step_by(16));
    sizes
        .filter(|size| *size <= limit)
        .map(|size| size.next_multiple_of(rows))
        .filter(|size| *size <= limit)
        .collect()
}

/// A server with methods, shapes and modes of every kind.
fn setups() -> Vec<(&'static str, Vec<ModelledSetup>)> {
    const GRAPH: &str = "kimi-k2.5-eagle3-8x-rtx-pro-6000-graph-verify.yaml";
    const TREE: &str = "speculation.acceptance={tree: {ranks: [0.6, 0.15, 0.05]}}";
    const MTP: &str = "deepseek-v3-mtp-8x-h200.yaml";
    let llama = |runtime: &str| {
        let small = ["speculation.method=draft-model", "speculation.draft=llama-3.1-8b", runtime];
        setup("llama-3.3-70b-fp8-8x-l40s.yaml", &small)
    };
    vec![
        ("sglang", vec![setup(GRAPH, &[])]),
        ("sglang", vec![setup(GRAPH, &[TREE])]),
        ("sglang", vec![setup("kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml", &[])]),
        ("sglang", vec![setup(GRAPH, &[TREE]), setup("kimi-k2.5-ngram-tree-8x-rtx-pro-6000.yaml", &[])]),
        ("sglang", vec![setup(MTP, &[])]),
        ("sglang", vec![llama("runtime=sglang")]),
        ("sglang", vec![setup(MTP, &["parallel.expert=8", "parallel.data_attention=8"])]),
        ("sglang", vec![setup(MTP, &["parallel.decode_context=2"])]),
        ("sglang", vec![setup("kimi-k2.5-eagle3-8x-rtx-pro-6000-tuned-nccl.yaml", &[])]),
        ("vllm", vec![setup(MTP, &["runtime=vllm", "parallel.expert=8", "parallel.data_attention=4"])]),
        ("vllm", vec![setup(MTP, &["runtime=vllm", "parallel.expert=4"])]),
        ("vllm", vec![setup(GRAPH, &["runtime=vllm", TREE])]),
        ("vllm", vec![setup(MTP, &["runtime=vllm", "speculation.scheduler.overlap=false"])]),
        ("vllm", vec![llama("runtime=vllm")]),
        (
            "vllm",
            vec![
                setup(GRAPH, &["runtime=vllm"]),
                setup("kimi-k2.5-ngram-tree-8x-rtx-pro-6000.yaml", &["runtime=vllm"]),
            ],
        ),
        ("vllm", vec![setup("kimi-k2.6-eagle3-mla-dual-turin.yaml", &["parallel.decode_context=4"])]),
    ]
}

pub(super) fn space(batches: Vec<u32>, execution: bool, allreduce: bool) -> Space {
    Space {
        batches,
        contexts: vec![1024, 4096],
        steps: (1..=6).collect(),
        topk: vec![1, 2, 4],
        draft_tokens: vec![2, 4, 6, 8, 12, 16],
        beyond: Beyond::Law,
        execution,
        allreduce,
        as_modelled: false,
    }
}

/// A plan whose prices are as good as random, so that any setting can be the best anywhere.
fn any_plan(setups: &[ModelledSetup], space: &Space, seed: u64) -> (Plan, Vec<Paste>) {
    let price = |setup: &ModelledSetup| {
        let c = &setup.common;
        let keys = [c.batch, c.steps, c.topk, c.draft_tokens, setup.context, u32::from(setup.overlap)];
        let mix = |h: u64, key: u32| (h ^ u64::from(key)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let hash = keys.into_iter().fold(seed, mix);
        let hash = mix(hash, setup.baseline.execution as u32 + 2 * setup.baseline.policy.opt_in.len() as u32);
        point(setup, 8.0 + (hash % 97) as f64 / 20.0, 9.0 + (hash / 97 % 89) as f64 / 4.0)
    };
    let candidates: Vec<_> = setups.iter().map(|setup| candidate(setup, &price)).collect();
    let goal = Goal { objective: Objective::Throughput, slo: None, load: None };
    let plan = plan(&candidates, space, goal, Search::Exhaustive);
    let pastes = paste(&plan, &candidates);
    (plan, pastes)
}

fn accepted(server: &str, pastes: &[Paste]) {
    assert!(!pastes.is_empty());
    for paste in pastes {
        assert!(!paste.title.is_empty());
        if server == "sglang" { sglang_accepts(paste) } else { vllm_accepts(paste) }
    }
}

#[test]
fn every_command_satisfies_the_rules_of_its_server() {
    let setups = setups();
    proptest!(ProptestConfig::with_cases(40), |(
        seed: u64,
        batches in prop::collection::btree_set(1u32..300, 1..7),
        execution: bool,
        allreduce: bool,
    )| {
        let space = space(batches.into_iter().collect(), execution, allreduce);
        for (server, setups) in &setups {
            let (_, pastes) = any_plan(setups, &space, seed);
            accepted(server, &pastes);
        }
    });
}

#[test]
fn the_rules_refuse_what_the_servers_refuse() {
    let paste = |lines: &[&str]| Paste {
        title: "t".to_owned(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        notes: Vec::new(),
    };
    let sglang = |flags: &str| {
        let start = "python3 -m sglang.launch_server --model-path M --tp-size 8 --max-running-requests 8 --cuda-graph-max-bs 8";
        let paste = paste(&[&format!("{start} {flags}")]);
        std::panic::catch_unwind(|| sglang_accepts(&paste)).is_ok()
    };
    let eagle = "--speculative-algorithm EAGLE3 --speculative-draft-model-path D";
    let shape = |s: u32, t: u32, d: u32| {
        format!(
            "{eagle} --speculative-num-steps {s} --speculative-eagle-topk {t} --speculative-num-draft-tokens {d}"
        )
    };
    assert!(sglang(&shape(3, 1, 4)) && sglang(&format!("{} --page-size 1", shape(3, 4, 16))));
    assert!(!sglang(&shape(3, 1, 5)), "topk 1 with another number of rows");
    assert!(!sglang(&shape(3, 4, 16)), "topk above 1 with any page size");
    assert!(!sglang(&format!("{} --page-size 1", shape(1, 4, 16))), "more rows than the tree has");
    assert!(!sglang(&format!("{eagle} --speculative-num-steps 3")), "one of three");
    assert!(!sglang("--speculative-algorithm MEDUSA"));
    assert!(!sglang("--no-such-flag 1"));
    let vllm = |config: &str| {
        let paste = paste(&[&format!(
            "vllm serve MODEL_PATH --enforce-eager --max-num-seqs 16 --speculative-config '{config}'"
        )]);
        std::panic::catch_unwind(|| vllm_accepts(&paste)).is_ok()
    };
    let with = |ranges: &str| {
        let head = r#"{"method":"eagle3","model":"D","num_speculative_tokens":3"#;
        vllm(&format!(r#"{head},"num_speculative_tokens_per_batch_size":{ranges}}}"#))
    };
    assert!(with("[[1,8,3],[9,16,0]]"));
    assert!(
        !with("[[2,8,3],[9,16,0]]")
            && !with("[[1,8,3],[10,16,0]]")
            && !with("[[1,16,4]]")
            && !with("[[1,8,3]]")
    );
    assert!(!vllm(r#"{"method":"eagle3","num_speculative_tokens":3}"#), "a head has a path");
    assert!(!vllm(r#"{"method":"mtp","num_speculative_tokens":3,"topk":4}"#));
    assert!(vllm(r#"{"method":"ngram","num_speculative_tokens":3}"#));
    let window = r#"{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":3}"#;
    assert!(!vllm(window), "the window is not the number of drafted tokens");
    let by_batch = r#","num_speculative_tokens_per_batch_size":[[1,8,3],[9,16,0]]}"#;
    assert!(
        !vllm(&format!(r#"{{"method":"mtp","num_speculative_tokens":3{by_batch}"#)),
        "not tested with it"
    );
}
