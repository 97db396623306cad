//! What a user should know about variables and backends: said aloud, since the numbers alone do not show it.

use crate::collective::{Policy, Request, environment_notes, explain_choice, refusal_of_policy};
use crate::runtime::CollectiveOp;
use crate::scenario::{ModelledSetup, Setup};
use crate::simulation::kv_memory;
use crate::units::Bytes;

/// Sentences about the backend that is taken, about NCCL_* variables without effect, and about backends that the box
/// cannot run, each once.
pub(super) fn collective(setup: &Setup) -> Vec<String> {
    let Setup::Modelled(modelled) = setup else { return Vec::new() };
    if modelled.parallel.tensor < 2 {
        return Vec::new();
    }
    let mut notes = Vec::new();
    for (policy, requests) in by_policy(modelled) {
        for note in of_policy(modelled, policy, &requests) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// That the KV cache of the batch does not fit, by the rule of `tune` and of `simulate`: a tenth of the memory is kept back.
pub(super) fn memory(setup: &ModelledSetup) -> Option<String> {
    let room = kv_memory(setup).tokens;
    let tokens = u64::from(setup.common.batch) * u64::from(setup.context);
    (tokens > room).then(|| format!("{tokens} tokens of KV cache, room for {room}"))
}

/// The same for a server that would not run.
pub(super) fn does_not_fit(setup: &Setup) -> Option<String> {
    let Setup::Modelled(modelled) = setup else { return None };
    let why = memory(modelled)?;
    let batch = modelled.common.batch;
    Some(format!(
        "batch {batch} does not fit: {why} (a tenth of the memory is kept back); the answer is for a box with more"
    ))
}

/// The messages of all passes, those of equal policy together, so that one sentence names all their sizes.
fn by_policy(setup: &ModelledSetup) -> Vec<(&Policy, Vec<Request>)> {
    let passes = [(&setup.baseline, 1), (&setup.verify, setup.common.draft_tokens), (&setup.draft_pass, 1)];
    let mut groups: Vec<(&Policy, Vec<Request>)> = Vec::new();
    for (settings, rows) in passes {
        let request = Request {
            op: CollectiveOp::AllReduce,
            ranks: setup.parallel.tensor,
            bytes: Bytes::new(f64::from(setup.common.batch * rows) * f64::from(setup.model.hidden) * 2.0),
            execution: settings.execution,
        };
        match groups.iter_mut().find(|(policy, _)| **policy == settings.policy) {
            Some((_, requests)) if requests.contains(&request) => {}
            Some((_, requests)) => requests.push(request),
            None => groups.push((&settings.policy, vec![request])),
        }
    }
    groups
}

fn of_policy(setup: &ModelledSetup, policy: &Policy, requests: &[Request]) -> Vec<String> {
    let taken =
        requests.iter().map(|r| explain_choice(&setup.hardware, setup.runtime.kind, policy, *r).taken);
    let variables = environment_notes(&setup.hardware, policy, requests).into_iter().map(|n| n.sentence);
    let refusals =
        requests.iter().filter_map(|r| refusal_of_policy(&setup.hardware, policy, *r).map(|(_, _, s)| s));
    taken.chain(variables).chain(refusals).collect()
}
