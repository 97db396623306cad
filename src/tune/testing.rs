//! Setups and prices for tests.

use super::{Candidate, Point};
use crate::analytic::Parts;
use crate::scenario::{Builtin, ModelledSetup, Overrides, Setup, open};
use crate::sourced::Sourced;
use crate::speculation::DraftShape;
use crate::units::Seconds;

/// A shipped scenario with keys set.
pub(super) fn setup(file: &str, set: &[&str]) -> ModelledSetup {
    let path = format!("{}/scenarios/{file}", env!("CARGO_MANIFEST_DIR"));
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    let (_, loaded) = open(path, &Overrides { set, unset: Vec::new() }, &Builtin).expect("a sound scenario");
    match loaded.variation.unwrap_or(loaded.base) {
        Setup::Modelled(modelled) => *modelled,
        Setup::Observed(_) => panic!("no hardware"),
    }
}

/// A point with a step and a cycle of these lengths in milliseconds.
pub(super) fn point(setup: &ModelledSetup, step: f64, cycle: f64) -> Point {
    let common = &setup.common;
    let shape = DraftShape { steps: common.steps, topk: common.topk, draft_tokens: common.draft_tokens };
    let parts = Parts {
        batch: common.batch,
        accept_limit: common.accept_limit(),
        accept_length: common.acceptance.accept_length(shape),
        baseline_step: Sourced::given(Seconds::from_ms(step)),
        verify: Sourced::given(Seconds::from_ms(cycle)),
        allreduce: None,
        draft_host: Sourced::given(Seconds::ZERO),
        observed: None,
    };
    let speedup = parts.speedup().spread;
    Point {
        parts,
        predicted: true,
        speedup,
        baseline_measured: false,
        speculation_measured: false,
        excess: 0.0,
    }
}

/// A candidate that is priced by a function.
pub(super) fn candidate<'a>(
    setup: &'a ModelledSetup,
    evaluate: &'a (dyn Fn(&ModelledSetup) -> Point + Sync),
) -> Candidate<'a> {
    Candidate {
        setup,
        draft: setup.draft.as_deref().map(|draft| draft.name().to_owned()),
        evaluate,
        refuse: &|_| None,
        carried: Vec::new(),
    }
}
