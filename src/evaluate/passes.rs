//! Every pass of a setup, lowered and priced: the model's own view, without any observed time.

use crate::cost::{self, PricedPass, Pricing};
use crate::forward::{self, Batch, ExpertOverlap, PassKind};
use crate::scenario::{Method, ModelledSetup, PassSettings};
use crate::sourced::{Source, Sourced};
use crate::units::Seconds;

/// The priced passes of one draft/verify cycle and of the baseline step.
#[derive(Debug, Clone, PartialEq)]
pub struct Passes {
    /// One decode step without speculation.
    pub baseline: PricedPass,
    /// The verify pass.
    pub verify: PricedPass,
    /// One drafter step; none for lookup methods and one-step drafts.
    pub draft_step: Option<PricedPass>,
    /// How many drafter steps a cycle has.
    pub draft_steps: u32,
    /// The drafter over the rows that verify produced; none for lookup methods.
    pub draft_extend: Option<PricedPass>,
    /// Host work of a baseline step outside the pass.
    pub baseline_host: Sourced<Seconds>,
    /// Host work of a cycle outside the passes.
    pub cycle_host: Sourced<Seconds>,
}

impl Passes {
    /// Lowers and prices all passes of `setup`.
    pub fn of(setup: &ModelledSetup) -> Self {
        let common = &setup.common;
        let batch = |rows| Batch { requests: common.batch, rows, context: setup.context };
        let target = |kind, rows, settings: &PassSettings| {
            let pass = forward::build(
                &setup.model,
                setup.parallel,
                &setup.runtime,
                kind,
                batch(rows),
                ExpertOverlap::default(),
            );
            cost::price(&pass, &pricing(setup, settings))
        };
        let drafter = |kind, rows| {
            setup.draft.as_deref().map(|draft| {
                let pass = forward::build_draft(
                    draft,
                    &setup.model,
                    setup.parallel,
                    &setup.runtime,
                    kind,
                    batch(rows),
                );
                cost::price(&pass, &pricing(setup, &setup.draft_pass))
            })
        };
        // A separate draft model has no extend pass of its own kind: its first step reads the new tokens.
        let draft_steps = match common.method {
            Method::Ngram => 0,
            Method::Eagle3 | Method::Mtp | Method::DraftModel => common.steps.saturating_sub(1),
        };
        Self {
            baseline: target(PassKind::Decode, 1, &setup.baseline),
            verify: target(PassKind::Verify, common.draft_tokens, &setup.verify),
            draft_step: if draft_steps > 0 { drafter(PassKind::DraftStep, common.topk) } else { None },
            draft_steps,
            draft_extend: drafter(PassKind::DraftExtend, common.draft_tokens),
            baseline_host: setup.runtime.host_per_step,
            cycle_host: cycle_host(setup),
        }
    }

    /// The baseline step: the decode pass and the host work around it.
    pub fn baseline_step(&self) -> Sourced<Seconds> {
        sum(self.baseline.time, self.baseline_host)
    }

    /// All drafting of a cycle.
    pub fn draft(&self) -> Sourced<Seconds> {
        let nothing = Sourced::new(Seconds::ZERO, Source::Derived);
        let steps = self.draft_step.as_ref().map_or(nothing, |pass| {
            let count = f64::from(self.draft_steps);
            pass.time.map(|time| time * count)
        });
        self.draft_extend.as_ref().map_or(steps, |pass| {
            if self.draft_steps == 0 { pass.time } else { sum(steps, pass.time) }
        })
    }

    /// Drafting and host work of a cycle.
    pub fn draft_host(&self) -> Sourced<Seconds> {
        sum(self.draft(), self.cycle_host)
    }
}

/// Host work of a cycle: what a step costs, and what drafting and verifying add.
fn cycle_host(setup: &ModelledSetup) -> Sourced<Seconds> {
    let runtime = &setup.runtime;
    let added = if setup.overlap { runtime.host_per_cycle_overlapped } else { runtime.host_per_cycle };
    sum(runtime.host_per_step, added)
}

fn pricing<'a>(setup: &'a ModelledSetup, settings: &'a PassSettings) -> Pricing<'a> {
    Pricing {
        hardware: &setup.hardware,
        calibration: &setup.calibration,
        runtime: &setup.runtime,
        execution: settings.execution,
        policy: &settings.policy,
    }
}

/// Sum with combined source; the ranges add end to end, since all come from one profile.
pub(super) fn sum(a: Sourced<Seconds>, b: Sourced<Seconds>) -> Sourced<Seconds> {
    combine(a, b, |x, y| x + y)
}

/// Difference with combined source: the range pairs opposite ends.
pub(super) fn difference(a: Sourced<Seconds>, b: Sourced<Seconds>) -> Sourced<Seconds> {
    let (low_a, high_a) = ends(a);
    let (low_b, high_b) = ends(b);
    let mut result = Sourced::new(a.value - b.value, a.source.combine(b.source));
    result.extrapolated = a.extrapolated || b.extrapolated;
    if a.spread.is_some() || b.spread.is_some() {
        result = result.with_spread(low_a - high_b, high_a - low_b);
    }
    result
}

fn combine(
    a: Sourced<Seconds>,
    b: Sourced<Seconds>,
    rising: impl Fn(Seconds, Seconds) -> Seconds,
) -> Sourced<Seconds> {
    let (low_a, high_a) = ends(a);
    let (low_b, high_b) = ends(b);
    let mut result = Sourced::new(rising(a.value, b.value), a.source.combine(b.source));
    result.extrapolated = a.extrapolated || b.extrapolated;
    if a.spread.is_some() || b.spread.is_some() {
        result = result.with_spread(rising(low_a, low_b), rising(high_a, high_b));
    }
    result
}

fn ends(a: Sourced<Seconds>) -> (Seconds, Seconds) {
    a.spread.map_or((a.value, a.value), |s| (s.low, s.high))
}
