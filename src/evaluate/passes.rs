//! Every pass of a setup, lowered and priced, joined into a cycle: the model's own view, without observed times.

use crate::cost::{self, PricedPass, Pricing};
use crate::forward::{self, Batch, ExpertOverlap, PassKind};
use crate::runtime::{Execution, Runtime};
use crate::scenario::{Method, ModelledSetup, PassSettings};
use crate::sourced::{Source, Sourced};
use crate::speculation::{Cycle, DraftShape, DraftWork, HostWork};
use crate::units::Seconds;

use super::known::draft_shape;

/// Host time of one n-gram lookup and its bookkeeping: assumed, since no public measurement was found.
const LOOKUP: Seconds = Seconds::from_us(200.0);
/// Its range: a hash probe on one side, a trie walk in Python on the other.
const LOOKUP_RANGE: (Seconds, Seconds) = (Seconds::from_us(50.0), Seconds::from_us(1000.0));

/// The draft of a setup.
pub fn shape(setup: &ModelledSetup) -> DraftShape {
    draft_shape(&setup.common)
}

/// The cycle of `setup` and its baseline step as the model has them.
pub fn cycle(setup: &ModelledSetup) -> Cycle {
    let common = &setup.common;
    Cycle {
        shape: draft_shape(common),
        acceptance: common.acceptance.clone(),
        baseline: target_pass(setup, PassKind::Decode, 1, &setup.baseline, ExpertOverlap::default()),
        baseline_host: HostWork::exposed(setup.runtime.host_per_step),
        verify: verify_pass(setup, ExpertOverlap::default()),
        draft: draft_work(setup),
        host: host_work(&setup.runtime, setup.overlap),
    }
}

/// The pass over `tokens` of a prompt that begins with them, issued operation by operation as servers do, and what the
/// drafter adds to it: an EAGLE-3 head, an MTP module or a draft model reads the prompt too.
pub fn prefill(setup: &ModelledSetup, tokens: u32) -> (PricedPass, Option<PricedPass>) {
    let batch = Batch { requests: 1, rows: tokens, context: 0 };
    let eager = PassSettings { execution: Execution::Eager, ..setup.baseline.clone() };
    let with = pricing(setup, &eager);
    let (model, parallel, runtime) = (&setup.model, setup.parallel, &setup.runtime);
    let pass = forward::build(model, parallel, runtime, PassKind::Prefill, batch, ExpertOverlap::default());
    let draft = setup.draft.as_deref().filter(|_| setup.common.method != Method::Ngram).map(|draft| {
        let pass = forward::build_draft(draft, model, parallel, runtime, PassKind::DraftExtend, batch);
        cost::price(&pass, &with)
    });
    (cost::price(&pass, &with), draft)
}

fn batch(setup: &ModelledSetup, rows: u32) -> Batch {
    Batch { requests: setup.common.batch, rows, context: setup.context }
}

/// The verify pass, its rows sharing experts as `overlap` says.
pub(super) fn verify_pass(setup: &ModelledSetup, overlap: ExpertOverlap) -> PricedPass {
    target_pass(setup, PassKind::Verify, setup.common.draft_tokens, &setup.verify, overlap)
}

/// The priced verify pass `like` with experts shared as `overlap` says: exact in the blocks that have experts, and without
/// the operations of the others.
pub(super) fn verify_again(setup: &ModelledSetup, overlap: ExpertOverlap, like: &PricedPass) -> PricedPass {
    let batch = batch(setup, setup.common.draft_tokens);
    let (model, parallel, runtime) = (&setup.model, setup.parallel, &setup.runtime);
    let pass = forward::build(model, parallel, runtime, PassKind::Verify, batch, overlap);
    cost::price_experts(&pass, like, &pricing(setup, &setup.verify))
}

fn target_pass(
    setup: &ModelledSetup,
    kind: PassKind,
    rows: u32,
    settings: &PassSettings,
    overlap: ExpertOverlap,
) -> PricedPass {
    let batch = batch(setup, rows);
    let pass = forward::build(&setup.model, setup.parallel, &setup.runtime, kind, batch, overlap);
    cost::price(&pass, &pricing(setup, settings))
}

/// Lookup methods draft on the host; all others run S - 1 drafter steps and one extend over the verified rows.
fn draft_work(setup: &ModelledSetup) -> DraftWork {
    let common = &setup.common;
    let Some(draft) = setup.draft.as_deref().filter(|_| common.method != Method::Ngram) else {
        let (low, high) = LOOKUP_RANGE;
        return DraftWork::Lookup(Sourced::new(LOOKUP, Source::Assumed).with_spread(low, high));
    };
    let with = pricing(setup, &setup.draft_pass);
    let pass = |kind, rows| {
        let batch = batch(setup, rows);
        let pass = forward::build_draft(draft, &setup.model, setup.parallel, &setup.runtime, kind, batch);
        cost::price(&pass, &with)
    };
    DraftWork::Passes {
        step: (common.steps > 1).then(|| pass(PassKind::DraftStep, common.topk)),
        extend: pass(PassKind::DraftExtend, common.draft_tokens),
    }
}

/// Host work of a cycle: what a step costs, and what drafting and verifying add. With an overlap scheduler the
/// difference hides behind the GPUs.
pub(super) fn host_work(runtime: &Runtime, overlap: bool) -> HostWork {
    if overlap {
        let hidden =
            (runtime.host_per_cycle.value - runtime.host_per_cycle_overlapped.value).max(Seconds::ZERO);
        HostWork {
            exposed: sum(runtime.host_per_step, runtime.host_per_cycle_overlapped),
            hidden: Sourced::new(hidden, runtime.host_per_cycle.source),
        }
    } else {
        HostWork::exposed(sum(runtime.host_per_step, runtime.host_per_cycle))
    }
}

pub(super) fn pricing<'a>(setup: &'a ModelledSetup, settings: &'a PassSettings) -> Pricing<'a> {
    Pricing {
        hardware: &setup.hardware,
        calibration: &setup.calibration,
        runtime: &setup.runtime,
        execution: settings.execution,
        policy: &settings.policy,
    }
}

/// Sum with combined source; the ranges add end to end.
pub(super) fn sum(a: Sourced<Seconds>, b: Sourced<Seconds>) -> Sourced<Seconds> {
    let ((low_a, high_a), (low_b, high_b)) = (ends(a), ends(b));
    with_ends(a, b, a.value + b.value, low_a + low_b, high_a + high_b)
}

/// Difference with combined source: the range pairs opposite ends.
pub(super) fn difference(a: Sourced<Seconds>, b: Sourced<Seconds>) -> Sourced<Seconds> {
    let ((low_a, high_a), (low_b, high_b)) = (ends(a), ends(b));
    with_ends(a, b, a.value - b.value, low_a - high_b, high_a - low_b)
}

/// Arithmetic on given and measured values is `derived`; a part that is nothing does not name the result.
fn with_ends(
    a: Sourced<Seconds>,
    b: Sourced<Seconds>,
    value: Seconds,
    low: Seconds,
    high: Seconds,
) -> Sourced<Seconds> {
    let source = if b.value == Seconds::ZERO { a.source } else { a.source.combine(b.source) };
    let source = if source < Source::Fitted { Source::Derived } else { source };
    let mut result = Sourced::new(value, source);
    result.extrapolated = a.extrapolated || b.extrapolated;
    if a.spread.is_some() || b.spread.is_some() {
        result = result.with_spread(low, high);
    }
    result
}

fn ends(a: Sourced<Seconds>) -> (Seconds, Seconds) {
    a.spread.map_or((a.value, a.value), |s| (s.low, s.high))
}
