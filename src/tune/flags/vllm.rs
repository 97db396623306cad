//! vLLM: chains only, and a number of tokens per batch size.

use serde_json::{Map, Value, json};

use super::environment::several_environments;
use super::{DRAFT, MODEL, Paste, Step, command, range, ranks};
use crate::runtime::Execution;
use crate::scenario::{Method, ModelledSetup};
use crate::tune::Candidate;
use crate::tune::plan::Fixed;
use crate::tune::setting::{Service, Setting};

/// One server whose number of drafted tokens follows the batch, where vLLM can do that; else the fixed setting, and a
/// server per run.
pub(super) fn paste(steps: &[Step], fixed: Option<&Fixed>, candidates: &[Candidate<'_>]) -> Vec<Paste> {
    let most = steps.last().map_or(1, |step| step.to);
    let service = steps[0].setting.service;
    let methods: Vec<usize> = steps.iter().filter_map(|step| step.setting.draft.map(|(at, _)| at)).collect();
    let alike =
        steps.iter().all(|step| step.setting.service == service) && methods.windows(2).all(|m| m[0] == m[1]);
    let at = methods.first().copied();
    let depths: Vec<[u32; 3]> = steps.iter().map(|step| [step.from, step.to, step.setting.depth()]).collect();
    let why = at.filter(|_| alike && depths.len() > 1).and_then(|at| why_static(candidates[at].setup));
    let chains = steps.iter().all(|step| is_chain(&step.setting));
    if alike && chains && why.is_none() {
        let mut paste = server(at, service, &depths, most, candidates);
        paste.title = format!("A server for {}", range(1, most));
        return vec![paste];
    }
    let mut pastes: Vec<Paste> =
        fixed.map(|fixed| one(&fixed.setting, 1, most, candidates)).into_iter().collect();
    for step in steps.iter().filter(|step| fixed.is_none_or(|fixed| fixed.setting != step.setting)) {
        let title = format!("A server for {}", range(step.from, step.to));
        pastes.push(Paste { title, ..one(&step.setting, step.from, step.to, candidates) });
    }
    if let Some(first) = pastes.first_mut() {
        first.notes.splice(0..0, why);
    }
    pastes
}

fn is_chain(setting: &Setting) -> bool {
    setting.draft.is_none_or(|(_, shape)| shape.is_chain())
}

/// A server with one setting.
fn one(setting: &Setting, from: u32, to: u32, candidates: &[Candidate<'_>]) -> Paste {
    let at = setting.draft.map(|(at, _)| at);
    let title = format!("One server for {}", range(from, to));
    if !is_chain(setting) {
        let why = "vLLM drafts chains only: no command does the tree that was priced.".to_owned();
        return Paste { title, lines: Vec::new(), notes: vec![why] };
    }
    Paste { title, ..server(at, setting.service, &[[1, to, setting.depth()]], to, candidates) }
}

/// Why vLLM keeps one number of drafted tokens here (`docs/features/speculative_decoding/dynamic_speculative_decoding.md`
/// @015a47e, limitations).
fn why_static(setup: &ModelledSetup) -> Option<String> {
    let key = "`num_speculative_tokens_per_batch_size`";
    if setup.parallel.data_attention > 1 {
        return Some(format!(
            "One number of drafted tokens for each server: with `--data-parallel-size` vLLM switches {key} off."
        ));
    }
    let tested = matches!(setup.common.method, Method::Eagle3 | Method::Unstated);
    (!tested).then(|| {
        let method = word(setup.common.method);
        format!(
            "One number of drafted tokens for each server: vLLM tested {key} with EAGLE, EAGLE-3 and DFlash, not \
             with `{method}`."
        )
    })
}

/// `max_cudagraph_capture_size` that leaves a graph for `requests` of `rows` each. vLLM captures 1, 2, 4, multiples of
/// 8 up to 256 and of 16 above, each rounded up to a multiple of the rows, and drops those above the limit
/// (docs.vllm.ai `configuration/engine_args`, `vllm/config/compilation.py`). Where none is given the limit is 512, or 1024,
/// at most: more rows would run without a graph.
pub(super) fn capture_size(requests: u32, rows: u32) -> u32 {
    let next = (requests * rows).next_multiple_of(16);
    (next + rows - 1).next_multiple_of(16)
}

fn server(
    at: Option<usize>,
    service: Service,
    schedule: &[[u32; 3]],
    most: u32,
    candidates: &[Candidate<'_>],
) -> Paste {
    let setup = candidates[at.unwrap_or(0)].setup;
    let ranks = match ranks::vllm(setup) {
        Ok(ranks) => ranks,
        Err(why) => return Paste { title: String::new(), lines: Vec::new(), notes: vec![why] },
    };
    let (mut flags, mut notes) = (ranks.flags, ranks.notes);
    notes.extend(several_environments(setup));
    let requests = ranks::share(setup, most);
    flags.push(format!("--max-num-seqs {requests}"));
    if let Some(at) = at {
        let config = Value::Object(config(&candidates[at], schedule));
        flags.push(format!("--speculative-config '{config}'"));
        notes.extend(remarks(setup, schedule));
    }
    match service.execution.unwrap_or(setup.baseline.execution) {
        Execution::Eager => flags.push("--enforce-eager".to_owned()),
        Execution::Graph => {
            let deepest = schedule.iter().map(|step| step[2]).max().unwrap_or(0);
            let size = json!({ "max_cudagraph_capture_size": capture_size(requests, deepest + 1) });
            flags.push(format!("--compilation-config '{size}'"));
        }
    }
    let mut start = format!("vllm serve {MODEL}");
    if service.opt_in.is_some() {
        start.insert_str(0, "VLLM_ENABLE_PCIE_ALLREDUCE=1 ");
        notes.push(
            "VLLM_ENABLE_PCIE_ALLREDUCE exists in forks for these cards only (local-inference-lab)."
                .to_owned(),
        );
    }
    Paste { title: String::new(), lines: command(setup, &start, &flags), notes }
}

/// What the configuration of speculation leaves open.
fn remarks(setup: &ModelledSetup, schedule: &[[u32; 3]]) -> Vec<String> {
    let mut remarks = Vec::new();
    if schedule.len() > 1 {
        remarks.push(
            "With `num_speculative_tokens_per_batch_size` vLLM keeps full CUDA graphs, which were priced, in Model \
             Runner V2 only; V1 (`VLLM_USE_V2_MODEL_RUNNER=0`, as vLLM's own EAGLE examples set) has piecewise ones. \
             Watch the log."
                .to_owned(),
        );
    }
    if setup.common.method == Method::Ngram {
        // `vllm/config/speculative.py`: both 5 where neither is given, each equal to the other where one is.
        remarks.push(
            "vLLM looks for the last 5 tokens unless `prompt_lookup_min` and `prompt_lookup_max` say otherwise: \
             keep those with which acceptance was counted."
                .to_owned(),
        );
    }
    remarks
}

fn word(method: Method) -> &'static str {
    match method {
        Method::Eagle3 | Method::Unstated => "eagle3",
        Method::Mtp => "mtp",
        Method::DraftModel => "draft_model",
        Method::Ngram => "ngram",
    }
}

/// The JSON of `--speculative-config`.
fn config(candidate: &Candidate<'_>, schedule: &[[u32; 3]]) -> Map<String, Value> {
    let method = candidate.setup.common.method;
    let mut config = Map::new();
    config.insert("method".to_owned(), json!(word(method)));
    if matches!(method, Method::Eagle3 | Method::DraftModel | Method::Unstated) {
        config.insert("model".to_owned(), json!(DRAFT));
    }
    let deepest = schedule.iter().map(|step| step[2]).max().unwrap_or(0);
    config.insert("num_speculative_tokens".to_owned(), json!(deepest));
    if schedule.len() > 1 {
        config.insert("num_speculative_tokens_per_batch_size".to_owned(), json!(schedule));
    }
    config
}
