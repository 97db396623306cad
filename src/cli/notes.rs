//! What a user should know about variables and backends: said aloud, since the numbers alone do not show it.

use crate::collective::{Policy, Request, environment_notes, explain_choice, refusal_of_policy};
use crate::cost::{self, OtherWay, Pricing};
use crate::runtime::{CollectiveOp, Execution};
use crate::scenario::{ModelledSetup, Setup};
use crate::units::Bytes;

/// Sentences about the backend that is taken, about NCCL_* variables without effect, and about backends that the box
/// cannot run, each once.
pub(super) fn collective(setup: &Setup) -> Vec<String> {
    let Setup::Modelled(modelled) = setup else { return Vec::new() };
    if modelled.parallel.tensor < 2 {
        return Vec::new();
    }
    let mut notes = passed_by(setup);
    for (policy, requests) in by_policy(modelled) {
        for note in of_policy(modelled, policy, &requests) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// Measured rows that are not used because they went another way than the messages of the scenario, each way once.
pub(super) fn passed_by(setup: &Setup) -> Vec<String> {
    let Setup::Modelled(modelled) = setup else { return Vec::new() };
    let mut notes = Vec::new();
    let passes = [(&modelled.baseline, 1), (&modelled.verify, modelled.common.draft_tokens)];
    for (settings, rows) in passes {
        let with = Pricing {
            hardware: &modelled.hardware,
            calibration: &modelled.calibration,
            runtime: &modelled.runtime,
            execution: settings.execution,
            policy: &settings.policy,
        };
        let Some(found) = cost::other_way(request(modelled, settings.execution, rows), &with) else {
            continue;
        };
        let note = other_way(modelled, &found);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn other_way(setup: &ModelledSetup, found: &OtherWay) -> String {
    let have: Vec<&str> = found.measured.iter().map(|transport| transport.word()).collect();
    let (have, taken) = (have.join(" and "), found.taken.word());
    let (name, ranks) = (&setup.calibration.name, setup.parallel.tensor);
    let fix = if found.by_itself {
        format!(
            "If they were measured on this box, one of the two is wrong: import them with `--transport {taken}`, or \
             without --transport, or correct the paths and `p2p` of the box"
        )
    } else {
        format!(
            "The settings of the scenario make NCCL go over {taken}: measure with them, and import with `--transport {taken}`"
        )
    };
    format!(
        "the rows of {name} for all-reduce over {ranks} GPUs went over {have}, NCCL goes over {taken} here: they are \
         not used, and the time is modelled. {fix}"
    )
}

/// The all-reduce of a pass.
fn request(setup: &ModelledSetup, execution: Execution, rows: u32) -> Request {
    Request {
        op: CollectiveOp::AllReduce,
        ranks: setup.parallel.tensor,
        bytes: Bytes::new(f64::from(setup.common.batch * rows) * f64::from(setup.model.hidden) * 2.0),
        execution,
    }
}

/// The messages of all passes, those of equal policy together, so that one sentence names all their sizes.
fn by_policy(setup: &ModelledSetup) -> Vec<(&Policy, Vec<Request>)> {
    let passes = [(&setup.baseline, 1), (&setup.verify, setup.common.draft_tokens), (&setup.draft_pass, 1)];
    let mut groups: Vec<(&Policy, Vec<Request>)> = Vec::new();
    for (settings, rows) in passes {
        let request = request(setup, settings.execution, rows);
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
