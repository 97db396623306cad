//! What single commands say, word by word.

use proptest::prelude::*;

use super::rules::{captured, space, words};
use super::{Paste, paste};
use crate::scenario::ModelledSetup;
use crate::tune::testing::{candidate, point, setup};
use crate::tune::{Goal, Objective, Space, Strategy as Search, plan};

const GRAPH: &str = "kimi-k2.5-eagle3-8x-rtx-pro-6000-graph-verify.yaml";
const NGRAM: &str = "kimi-k2.5-ngram-tree-8x-rtx-pro-6000.yaml";
const MTP: &str = "deepseek-v3-mtp-8x-h200.yaml";

/// Commands where up to batch 8 the deepest chain is best, above it one step.
fn pastes(setup: &ModelledSetup, space: &Space) -> Vec<Paste> {
    let price = |setup: &ModelledSetup| {
        let c = &setup.common;
        let slope = if c.batch <= 8 { -0.5 } else { 2.0 };
        point(setup, 20.0, 10.0 + slope * f64::from(c.steps) + f64::from(c.topk))
    };
    let candidates = [candidate(setup, &price)];
    let goal = Goal { objective: Objective::Throughput, slo: None, load: None };
    paste(&plan(&candidates, space, goal, Search::Exhaustive), &candidates)
}

fn of(file: &str, set: &[&str], batches: &[u32]) -> Vec<Paste> {
    let space = Space { contexts: vec![1024], topk: vec![1], ..space(batches.to_vec(), false, false) };
    pastes(&setup(file, set), &space)
}

fn has(paste: &Paste, flag: &str, value: &str) -> bool {
    words(&paste.lines).windows(2).any(|pair| pair[0] == flag && pair[1] == value)
}

fn notes(pastes: &[Paste]) -> String {
    pastes.iter().flat_map(|paste| paste.notes.iter()).fold(String::new(), |all, note| all + note + "\n")
}

#[test]
fn sglang_is_asked_for_the_ranks_that_were_priced() {
    let set = ["parallel.expert=8", "parallel.data_attention=8"];
    let paste = &of(MTP, &set, &[1, 12])[0];
    for (flag, value) in [("--tp-size", "8"), ("--ep-size", "8"), ("--dp-size", "8")] {
        assert!(has(paste, flag, value), "{flag}: {:?}", paste.lines);
    }
    assert!(words(&paste.lines).contains(&"--enable-dp-attention".to_owned()));
    // 12 requests over 8 replicas: SGLang divides and rounds down.
    assert!(has(paste, "--max-running-requests", "16") && has(paste, "--cuda-graph-max-bs", "16"));
    let plain = words(&of(MTP, &[], &[1])[0].lines);
    assert!(!plain.iter().any(|word| ["--ep-size", "--dp-size", "--dcp-size"].contains(&word.as_str())));
    assert!(has(&of(MTP, &["parallel.decode_context=4"], &[1])[0], "--dcp-size", "4"));
}

#[test]
fn vllm_is_asked_for_the_ranks_that_were_priced() {
    let set = ["runtime=vllm", "parallel.expert=8", "parallel.data_attention=4"];
    let paste = &of(MTP, &set, &[1, 6])[0];
    for (flag, value) in [
        ("--tensor-parallel-size", "2"),
        ("--data-parallel-size", "4"),
        // 6 requests over 4 ranks.
        ("--max-num-seqs", "2"),
    ] {
        assert!(has(paste, flag, value), "{flag}: {:?}", paste.lines);
    }
    assert!(words(&paste.lines).contains(&"--enable-expert-parallel".to_owned()));
    let shared = &of(MTP, &["runtime=vllm", "parallel.decode_context=4"], &[1])[0];
    assert!(has(shared, "--decode-context-parallel-size", "4"));
}

#[test]
fn what_a_server_cannot_do_is_said_and_no_command_printed() {
    for (file, set, why) in [
        (MTP, &["runtime=vllm", "parallel.expert=4"][..], "`parallel.expert` 4 of 8"),
        (
            MTP,
            &["runtime=vllm", "parallel.data_attention=4", "parallel.decode_context=4"],
            "`parallel.decode_context` 4",
        ),
        (NGRAM, &["runtime=vllm", "speculation.steps=3", "speculation.topk=4"], "vLLM drafts chains only"),
        (NGRAM, &["parallel.data_attention=2"], "does not go with `--enable-dp-attention`"),
    ] {
        let pastes = of(file, set, &[1]);
        assert!(pastes.iter().all(|paste| paste.lines.is_empty()), "{set:?}: {pastes:?}");
        assert!(notes(&pastes).contains(why), "{set:?}: {pastes:?}");
    }
}

#[test]
fn a_lookup_drafts_the_shape_that_was_priced() {
    let chain = &of(NGRAM, &[], &[1])[0];
    assert!(has(chain, "--speculative-ngram-max-bfs-breadth", "1"), "{:?}", chain.lines);
    let vllm = of(NGRAM, &["runtime=vllm"], &[1]);
    assert!(!vllm[0].lines.join("").contains("prompt_lookup"), "{:?}", vllm[0].lines);
    assert!(notes(&vllm).contains("`prompt_lookup_max`"));
    let tree = of(NGRAM, &["speculation.steps=3", "speculation.topk=4"], &[1]);
    assert!(has(&tree[0], "--speculative-ngram-max-bfs-breadth", "4"), "{:?}", tree[0].lines);
    assert!(has(&tree[0], "--page-size", "1") && notes(&tree).contains("no number of steps"));
}

#[test]
fn depth_follows_the_batch_only_where_vllm_tested_it() {
    let key = "num_speculative_tokens_per_batch_size";
    let count = |pastes: &[Paste]| pastes.iter().filter(|p| p.lines.join("").contains(key)).count();
    let eagle = of(GRAPH, &["runtime=vllm"], &[1, 8, 64]);
    assert_eq!((eagle.len(), count(&eagle)), (1, 1), "{eagle:?}");
    assert!(notes(&eagle).contains("Model Runner V2 only"));
    let mtp = of(MTP, &["runtime=vllm"], &[1, 8, 64]);
    assert!(mtp.len() > 1 && count(&mtp) == 0, "{mtp:?}");
    assert!(notes(&mtp).contains("not with `mtp`"));
    let replicas = of(GRAPH, &["runtime=vllm", "parallel.data_attention=2"], &[1, 8, 64]);
    assert!(replicas.len() > 1 && count(&replicas) == 0, "{replicas:?}");
    assert!(notes(&replicas).contains("switches"));
}

#[test]
fn what_prices_rest_on_stands_in_the_command() {
    let tuned = of("kimi-k2.5-eagle3-8x-rtx-pro-6000-tuned-nccl.yaml", &[], &[1]);
    let said = "NCCL_PROTO=LL NCCL_ALGO=Ring NCCL_MAX_NCHANNELS=16 \\";
    assert_eq!(tuned[0].lines[0], said, "{:?}", tuned[0].lines);
    for (runtime, memory) in
        [("runtime=sglang", "--mem-fraction-static"), ("runtime=vllm", "--gpu-memory-utilization")]
    {
        let pastes = of(MTP, &[runtime], &[1, 64]);
        let kept: Vec<bool> = pastes.iter().map(|p| p.notes.iter().any(|n| n.contains(memory))).collect();
        assert!(kept[0] && kept[1..].iter().all(|kept| !kept), "said once: {kept:?}");
    }
}

proptest! {
    #[test]
    fn a_graph_is_captured_for_the_largest_batch(requests in 1_u32..600, rows in 1_u32..33) {
        let need = u64::from(requests * rows);
        let limit = u64::from(super::vllm::capture_size(requests, rows));
        prop_assert!(captured(limit, u64::from(rows)).into_iter().any(|size| size >= need));
        prop_assert!(limit < need + 64);
    }
}
