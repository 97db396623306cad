//! SGLang: one setting per server.

use super::environment::several_environments;
use super::{DRAFT, MODEL, Paste, Step, command, continued, range, ranks};
use crate::runtime::Execution;
use crate::scenario::Method;
use crate::speculation::DraftShape;
use crate::tune::Candidate;
use crate::tune::plan::Fixed;
use crate::tune::setting::{Service, Setting};

/// One server for all batch sizes; where the best setting changes with them, also the flags of each run.
pub(super) fn paste(steps: &[Step], fixed: Option<&Fixed>, candidates: &[Candidate<'_>]) -> Vec<Paste> {
    let most = steps.last().map_or(1, |step| step.to);
    let [step] = steps else { return several(steps, most, fixed, candidates) };
    let title = format!("A server for {}", range(step.from, step.to));
    vec![Paste { title, ..server(&step.setting, most, candidates) }]
}

fn several(steps: &[Step], most: u32, fixed: Option<&Fixed>, candidates: &[Candidate<'_>]) -> Vec<Paste> {
    let mut pastes = Vec::new();
    if let Some(fixed) = fixed {
        let mut paste = server(&fixed.setting, most, candidates);
        paste.title = format!("One server for {}", range(1, most));
        let (batch, gain) = fixed.worst;
        let mean = fixed.mean_gain;
        let sentence =
            format!("Mean gain {mean:.2}x over these batch sizes, the least {gain:.2}x at batch {batch}.");
        paste.notes.insert(0, sentence);
        paste.notes.extend(adaptive(steps).filter(|_| fixed.setting.draft.is_some()));
        pastes.push(paste);
    }
    for step in steps.iter().filter(|step| fixed.is_none_or(|fixed| fixed.setting != step.setting)) {
        pastes.push(alone(step, most, candidates));
    }
    pastes
}

/// The flags of one run of batch sizes.
fn alone(step: &Step, most: u32, candidates: &[Candidate<'_>]) -> Paste {
    let service = step.setting.service;
    let methods: Vec<Method> = candidates.iter().map(|c| c.setup.common.method).collect();
    let named = if service == Service::default() {
        String::new()
    } else {
        format!(" ({})", step.setting.words(&methods))
    };
    let place = format!("Best for {} alone{named}", range(step.from, step.to));
    let (mut flags, mut notes, words) = match step.setting.draft {
        Some((at, shape)) => {
            let setup = candidates[at].setup;
            let method = setup.common.method;
            if let Err(why) = ranks::sglang(setup, Some(method)) {
                return Paste { title: place, lines: Vec::new(), notes: vec![why] };
            }
            let notes: Vec<String> = lookup(method, shape).into_iter().collect();
            (drafting(method, shape, &candidates[at]), notes, "these flags instead")
        }
        None => (Vec::new(), Vec::new(), "no speculative flags"),
    };
    flags.extend(service.execution.map(|execution| execution_flag(execution, most)));
    notes.extend(service.opt_in.map(|_| ONE_SHOT.to_owned()));
    let lines = if flags.is_empty() { Vec::new() } else { continued(&flags) };
    Paste { title: format!("{place}: {words}"), lines, notes }
}

/// What SGLang can do by itself where the best number of steps changes with the batch.
fn adaptive(steps: &[Step]) -> Option<String> {
    let chains = steps.iter().filter_map(|step| step.setting.draft).all(|(_, shape)| shape.is_chain());
    chains.then(|| {
        "SGLang keeps one shape; `--speculative-adaptive` (topk 1) changes steps by the accept length it sees."
            .to_owned()
    })
}

fn server(setting: &Setting, most: u32, candidates: &[Candidate<'_>]) -> Paste {
    let (at, shape) = setting.draft.map_or((0, None), |(at, shape)| (at, Some(shape)));
    let candidate = &candidates[at];
    let setup = candidate.setup;
    let method = shape.map(|_| setup.common.method);
    let ranks = match ranks::sglang(setup, method) {
        Ok(ranks) => ranks,
        Err(why) => return Paste { title: String::new(), lines: Vec::new(), notes: vec![why] },
    };
    let mut notes = ranks.notes;
    notes.extend(several_environments(setup));
    let mut flags = vec![format!("--model-path {MODEL}")];
    flags.extend(ranks.flags);
    if let Some(shape) = shape {
        flags.extend(drafting(setup.common.method, shape, candidate));
        notes.extend(lookup(setup.common.method, shape));
    }
    // Divided among the attention replicas, rounded down; with speculation 48 where none is given.
    let most = most.next_multiple_of(setup.parallel.data_attention.max(1));
    flags.push(format!("--max-running-requests {most}"));
    if shape.is_some()
        && setting.service.execution.is_none()
        && setup.verify.execution != setup.baseline.execution
    {
        notes.push(
            "The scenario verifies in another execution mode than it decodes in, which no flag asks for: look for \
             `cuda graph: False` in the log. `--allow execution` prices graphs for all passes."
                .to_owned(),
        );
    }
    flags.push(execution_flag(setting.service.execution.unwrap_or(setup.baseline.execution), most));
    if setting.service.opt_in.is_some() {
        notes.push(ONE_SHOT.to_owned());
    }
    let overlap =
        setup.overlap && shape.is_some_and(DraftShape::is_chain) && setup.common.method != Method::Ngram;
    let mut start = "python3 -m sglang.launch_server".to_owned();
    if overlap {
        start.insert_str(0, "SGLANG_ENABLE_SPEC_V2=1 ");
        notes.push(
            "From 0.5.14 on the overlapping worker is always used and the variable is gone.".to_owned(),
        );
    }
    Paste { title: String::new(), lines: command(setup, &start, &flags), notes }
}

/// What makes the PCIe one-shot, which no flag does.
const ONE_SHOT: &str = "With the PCIe one-shot all-reduce, which is no flag of a released SGLang: sglang PR 32479, or \
                        the b12x kernels.";

fn execution_flag(execution: Execution, most: u32) -> String {
    match execution {
        // A batch above it would silently run eager.
        Execution::Graph => format!("--cuda-graph-max-bs {most}"),
        Execution::Eager => "--disable-cuda-graph".to_owned(),
    }
}

fn drafting(method: Method, shape: DraftShape, candidate: &Candidate<'_>) -> Vec<String> {
    let algorithm = match method {
        Method::Eagle3 | Method::Unstated => "EAGLE3",
        Method::Mtp => "NEXTN",
        Method::DraftModel => "STANDALONE",
        Method::Ngram => "NGRAM",
    };
    let mut flags = vec![format!("--speculative-algorithm {algorithm}")];
    if method == Method::Ngram {
        flags.push(format!("--speculative-num-draft-tokens {}", shape.draft_tokens));
        // 10 where none is given: a tree.
        flags.push(format!("--speculative-ngram-max-bfs-breadth {}", shape.topk));
        if !shape.is_chain() {
            flags.push("--page-size 1".to_owned());
        }
        return flags;
    }
    if candidate.draft.is_some() && method != Method::Mtp {
        flags.push(format!("--speculative-draft-model-path {DRAFT}"));
    }
    flags.push(format!("--speculative-num-steps {}", shape.steps));
    flags.push(format!("--speculative-eagle-topk {}", shape.topk));
    flags.push(format!("--speculative-num-draft-tokens {}", shape.draft_tokens));
    if !shape.is_chain() {
        // Trees with larger pages need one of a few attention backends.
        flags.push("--page-size 1".to_owned());
    }
    flags
}

/// What a number of steps means to a lookup.
fn lookup(method: Method, shape: DraftShape) -> Option<String> {
    (method == Method::Ngram && !shape.is_chain()).then(|| {
        "SGLang's n-gram lookup has no number of steps: rows and breadth alone bound its tree.".to_owned()
    })
}
