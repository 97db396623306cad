//! One answer as a function of scores: every uncertain input of a scenario, moved wherever it enters.
//!
//! ```text
//!  scores ─► Moves ─┬─► statements (observed, stated, acceptance) ─┐
//!                   └─► cycles raced again (causes, host costs) ───┴─► Known ─► Parts ─► outputs
//! ```
//!
//! Passes are priced once. One cause moves the baseline, the verify pass and the draft passes alike, so that what
//! they share does not widen the range of the speedup. Two inputs are independent.

mod inputs;
mod outputs;
mod point;
mod rates;
mod scans;
mod surely;

pub(super) use point::Shared;
pub use point::Sureness;
pub(super) use surely::{make_sure, of as uncertainty};

use super::known::{Known, common};
use super::passes::{cycle, host_work, pricing, verify_again};
use super::variation::{Changes, vary_with};
use crate::analytic::Parts;
use crate::cost::Elastic;
use crate::forward::ExpertOverlap;
use crate::runtime::Runtime;
use crate::scenario::{Common, Loaded, ModelledSetup, Setup};
use crate::sourced::Sourced;
use crate::speculation::{Acceptance, Cycle, DraftShape, DraftWork, HostWork};
use crate::uncertainty::Factor;
use crate::units::Seconds;
use inputs::{Input, Moves};
use rates::RateTables;
use std::sync::Arc;

/// A scenario whose inputs can be moved.
pub(super) struct Study<'a> {
    base: Case<'a>,
    /// The case that is answered, where overrides vary the base.
    variation: Option<Case<'a>>,
    what_ifs: Vec<(&'a str, Case<'a>)>,
    inputs: Vec<(Input, Factor)>,
}

/// One setup with its cycle.
struct Case<'a> {
    setup: &'a Setup,
    rates: Arc<RateTables>,
    model: Option<ElasticCycle>,
}

/// The answer and the what-ifs at some scores.
struct Moved {
    known: Known,
    what_ifs: Vec<Parts>,
}

impl<'a> Study<'a> {
    /// Prices every case of a scenario once.
    pub(super) fn new(loaded: &'a Loaded) -> Self {
        let case = |setup: &'a Setup| Case::new(setup, Arc::new(RateTables::new(setup.common())));
        let mut study = Self {
            base: case(&loaded.base),
            variation: loaded.variation.as_ref().map(case),
            what_ifs: loaded.what_ifs.iter().map(|w| (w.name.as_str(), case(&w.setup))).collect(),
            inputs: Vec::new(),
        };
        study.inputs = inputs::of(&study);
        study
    }

    /// All cases, the answered one first.
    fn cases(&self) -> impl Iterator<Item = &Case<'a>> {
        let what_ifs = self.what_ifs.iter().map(|(_, case)| case);
        self.variation.iter().chain([&self.base]).chain(what_ifs)
    }

    /// The case that is answered.
    fn answered(&self) -> &Case<'a> {
        self.variation.as_ref().unwrap_or(&self.base)
    }

    fn moves(&self, scores: &[f64]) -> Moves {
        Moves::new(self.inputs.iter().map(|(input, _)| *input).zip(scores.iter().copied()))
    }

    fn at(&self, scores: &[f64]) -> Moved {
        let moves = self.moves(scores);
        let base = Known::of(&self.base.statements(&moves), self.base.cycle(&moves));
        let vary = |case: &Case| {
            let (statements, cycle) = (case.statements(&moves), case.cycle(&moves));
            vary_with(Changes::between(self.base.setup, case.setup), &base, &statements, cycle).known
        };
        let what_ifs = self.what_ifs.iter().map(|(_, case)| vary(case).parts()).collect();
        let known = self.variation.as_ref().map(vary);
        Moved { known: known.unwrap_or(base), what_ifs }
    }
}

impl<'a> Case<'a> {
    fn new(setup: &'a Setup, rates: Arc<RateTables>) -> Self {
        let model = match setup {
            Setup::Observed(_) => None,
            Setup::Modelled(modelled) => Some(ElasticCycle::new(modelled)),
        };
        Self { setup, rates, model }
    }

    fn common(&self) -> &Common {
        common(self.setup)
    }

    fn statements(&self, moves: &Moves) -> Common {
        moves.statements(self.common(), &self.rates)
    }

    fn cycle(&self, moves: &Moves) -> Option<Box<Cycle>> {
        self.model.as_ref().map(|model| Box::new(model.at(moves)))
    }
}

/// A cycle whose passes and host costs can be moved.
struct ElasticCycle {
    shape: DraftShape,
    acceptance: Acceptance,
    baseline: Elastic,
    verify: Elastic,
    draft: ElasticDraft,
    runtime: Runtime,
    overlap: bool,
}

#[expect(clippy::large_enum_variant, reason = "a case holds one, and nearly all draft with passes")]
enum ElasticDraft {
    Passes { step: Option<Elastic>, extend: Elastic },
    Lookup(Sourced<Seconds>),
}

impl ElasticCycle {
    fn new(setup: &ModelledSetup) -> Self {
        Self::of(setup, &cycle(setup))
    }

    /// Of a cycle that was priced before.
    fn of(setup: &ModelledSetup, cycle: &Cycle) -> Self {
        let draft = match &cycle.draft {
            DraftWork::Lookup(time) => ElasticDraft::Lookup(*time),
            DraftWork::Passes { step, extend } => {
                let with = pricing(setup, &setup.draft_pass);
                let step = step.as_ref().map(|step| Elastic::new(step, &with));
                ElasticDraft::Passes { step, extend: Elastic::new(extend, &with) }
            }
        };
        Self {
            shape: cycle.shape,
            baseline: Elastic::new(&cycle.baseline, &pricing(setup, &setup.baseline)),
            verify: {
                let ends = ExpertOverlap::RANGE.map(|overlap| verify_again(setup, overlap, &cycle.verify));
                Elastic::with_overlaps(&cycle.verify, &ends, &pricing(setup, &setup.verify))
            },
            draft,
            runtime: setup.runtime.clone(),
            overlap: setup.overlap,
            acceptance: cycle.acceptance.clone(),
        }
    }

    fn passes(&self) -> impl Iterator<Item = &Elastic> {
        let draft = match &self.draft {
            ElasticDraft::Passes { step, extend } => [step.as_ref(), Some(extend)],
            ElasticDraft::Lookup(_) => [None, None],
        };
        [&self.baseline, &self.verify].into_iter().chain(draft.into_iter().flatten())
    }

    /// The cycle with its times moved; its acceptance stays.
    fn at(&self, moves: &Moves) -> Cycle {
        let causes = &moves.causes;
        let runtime = moves.host_costs(&self.runtime);
        Cycle {
            shape: self.shape,
            acceptance: self.acceptance.clone(),
            baseline: self.baseline.at(causes),
            baseline_host: HostWork::exposed(runtime.host_per_step),
            verify: self.verify.at(causes),
            draft: self.draft.at(moves),
            host: host_work(&runtime, self.overlap),
        }
    }

    /// Moves a cycle that [`ElasticCycle::at`] gave.
    fn move_to(&self, moves: &Moves, cycle: &mut Cycle) {
        let runtime = moves.host_costs(&self.runtime);
        cycle.baseline = self.baseline.at(&moves.causes);
        cycle.baseline_host = HostWork::exposed(runtime.host_per_step);
        cycle.verify = self.verify.at(&moves.causes);
        cycle.draft = self.draft.at(moves);
        cycle.host = host_work(&runtime, self.overlap);
    }
}

impl ElasticDraft {
    fn at(&self, moves: &Moves) -> DraftWork {
        match self {
            Self::Lookup(time) => DraftWork::Lookup(moves.lookup(*time)),
            Self::Passes { step, extend } => DraftWork::Passes {
                step: step.as_ref().map(|step| step.at(&moves.causes)),
                extend: extend.at(&moves.causes),
            },
        }
    }
}

#[cfg(test)]
mod tests;
