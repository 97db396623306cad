//! vLLM: chains only, and a number of tokens per batch size.

use serde_json::{Map, Value, json};

use super::{DRAFT, MODEL, Paste, Step, command, environment, range};
use crate::runtime::Execution;
use crate::scenario::Method;
use crate::tune::Candidate;
use crate::tune::plan::Fixed;
use crate::tune::setting::{Service, Setting};

/// One server whose number of drafted tokens follows the batch; where methods or services change with the batch, the
/// fixed setting, and a server per run.
pub(super) fn paste(steps: &[Step], fixed: Option<&Fixed>, candidates: &[Candidate<'_>]) -> Vec<Paste> {
    let most = steps.last().map_or(1, |step| step.to);
    let service = steps[0].setting.service;
    let methods: Vec<usize> = steps.iter().filter_map(|step| step.setting.draft.map(|(at, _)| at)).collect();
    let alike =
        steps.iter().all(|step| step.setting.service == service) && methods.windows(2).all(|m| m[0] == m[1]);
    if alike {
        let schedule =
            steps.iter().map(|step| [step.from, step.to, step.setting.depth()]).collect::<Vec<_>>();
        let at = methods.first().copied();
        let mut paste = server(at, service, &schedule, most, candidates);
        paste.title = format!("A server for {}", range(1, most));
        return vec![paste];
    }
    let single = |setting: &Setting, from: u32, to: u32| {
        let at = setting.draft.map(|(at, _)| at);
        server(at, setting.service, &[[from, to, setting.depth()]], to, candidates)
    };
    let mut pastes = Vec::new();
    if let Some(fixed) = fixed {
        let mut paste = single(&fixed.setting, 1, most);
        paste.title = format!("One server for {}", range(1, most));
        pastes.push(paste);
    }
    for step in steps {
        let mut paste = single(&step.setting, 1, step.to);
        paste.title = format!("A server for {}", range(step.from, step.to));
        pastes.push(paste);
    }
    pastes
}

fn server(
    at: Option<usize>,
    service: Service,
    schedule: &[[u32; 3]],
    most: u32,
    candidates: &[Candidate<'_>],
) -> Paste {
    let setup = candidates[at.unwrap_or(0)].setup;
    let mut notes = Vec::new();
    let mut flags = vec![format!("--tensor-parallel-size {}", setup.parallel.tensor)];
    if setup.parallel.decode_context > 1 {
        flags.push(format!("--decode-context-parallel-size {}", setup.parallel.decode_context));
    }
    flags.push(format!("--max-num-seqs {most}"));
    if let Some(at) = at {
        let config = Value::Object(config(&candidates[at], schedule));
        flags.push(format!("--speculative-config '{config}'"));
        if schedule.len() > 1 {
            notes.push(
                "Whether a change of depth keeps full CUDA graphs depends on the version (vllm #49548): watch the log."
                    .to_owned(),
            );
        }
    }
    let execution = service.execution.unwrap_or(setup.baseline.execution);
    if execution == Execution::Eager {
        flags.push("--enforce-eager".to_owned());
    }
    let mut start = format!("vllm serve {MODEL}");
    if service.opt_in.is_some() {
        start.insert_str(0, "VLLM_ENABLE_PCIE_ALLREDUCE=1 ");
        notes.push(
            "VLLM_ENABLE_PCIE_ALLREDUCE exists in forks for these cards only (local-inference-lab)."
                .to_owned(),
        );
    }
    start.insert_str(0, &environment(setup));
    Paste { title: String::new(), lines: command(&start, &flags), notes }
}

/// The JSON of `--speculative-config`.
fn config(candidate: &Candidate<'_>, schedule: &[[u32; 3]]) -> Map<String, Value> {
    let method = candidate.setup.common.method;
    let word = match method {
        Method::Eagle3 | Method::Unstated => "eagle3",
        Method::Mtp => "mtp",
        Method::DraftModel => "draft_model",
        Method::Ngram => "ngram",
    };
    let mut config = Map::new();
    config.insert("method".to_owned(), json!(word));
    if matches!(method, Method::Eagle3 | Method::DraftModel | Method::Unstated) {
        config.insert("model".to_owned(), json!(DRAFT));
    }
    let deepest = schedule.iter().map(|step| step[2]).max().unwrap_or(0);
    config.insert("num_speculative_tokens".to_owned(), json!(deepest));
    if schedule.len() > 1 {
        config.insert("num_speculative_tokens_per_batch_size".to_owned(), json!(schedule));
    }
    if method == Method::Ngram {
        config.insert("prompt_lookup_max".to_owned(), json!(deepest.max(1)));
    }
    config
}
