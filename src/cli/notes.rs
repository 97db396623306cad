//! What a user should know about variables and backends: said aloud, since the numbers alone do not show it.

use crate::collective::{Request, environment_notes, refusal_of_policy};
use crate::runtime::CollectiveOp;
use crate::scenario::{ModelledSetup, PassSettings, Setup};
use crate::units::Bytes;

/// Sentences about NCCL_* variables without effect and about backends that the box cannot run, each once.
pub(super) fn collective(setup: &Setup) -> Vec<String> {
    let Setup::Modelled(modelled) = setup else { return Vec::new() };
    let mut notes = Vec::new();
    let passes = [
        (&modelled.baseline, 1),
        (&modelled.verify, modelled.common.draft_tokens),
        (&modelled.draft_pass, 1),
    ];
    for (settings, rows) in passes {
        for note in of_pass(modelled, settings, rows) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

fn of_pass(setup: &ModelledSetup, settings: &PassSettings, rows: u32) -> Vec<String> {
    let request = Request {
        op: CollectiveOp::AllReduce,
        ranks: setup.parallel.tensor,
        bytes: Bytes::new(f64::from(setup.common.batch * rows) * f64::from(setup.model.hidden) * 2.0),
        execution: settings.execution,
    };
    let mut notes: Vec<String> = environment_notes(&setup.hardware, &settings.policy, &[request])
        .into_iter()
        .map(|note| note.sentence)
        .collect();
    notes.extend(
        refusal_of_policy(&setup.hardware, &settings.policy, request).map(|(_, _, sentence)| sentence),
    );
    notes
}
