//! What a case becomes when keys of its scenario change: observed parts stay as long as their inputs do.
//!
//! A part whose inputs changed is predicted. If only its collectives are done otherwise, the observed time moves by
//! what the model saves or adds, so that the gap between model and observation is not sold as a gain; a change that
//! the model prices at nothing changes nothing.

use super::known::{
    Known, KnownAllreduce, accept_length, accept_limit, at_least_zero, common, predicted_cycle, stated_pass,
};
use super::passes::sum;
use crate::analytic::Figure;
use crate::cost::PricedPass;
use crate::scenario::{Common, Method, ModelledSetup, PassSettings, Setup, StatedPass};
use crate::sourced::Sourced;
use crate::speculation::Cycle;
use crate::units::Seconds;
use std::sync::Arc;

/// A case with the parts that had to be predicted because an input of theirs changed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Varied {
    /// The parts.
    pub(super) known: Known,
    /// `baseline`, `verify`, `draft and host`: the predicted ones.
    pub(super) predicted: Vec<&'static str>,
    /// Parts whose inputs changed although nothing can predict them: no hardware model was given.
    pub(super) unpredictable: Vec<&'static str>,
}

/// The case of `setup`, a variation of `base_setup` whose case is `base`.
pub(super) fn vary(base_setup: &Setup, base: &Known, setup: &Setup) -> Varied {
    vary_with(Changes::between(base_setup, setup), base, common(setup), predicted_cycle(setup))
}

/// The same with any statements and any cycle, where it is known what changes.
pub(super) fn vary_with(
    changes: Changes,
    base: &Known,
    common: &Common,
    model: Option<Box<Cycle>>,
) -> Varied {
    let mut varied = vary_without_model(changes, base, common, model.as_deref());
    varied.known.model = model;
    varied
}

/// The same, whose case does not keep the cycle.
pub(super) fn vary_without_model(
    changes: Changes,
    base: &Known,
    common: &Common,
    model: Option<&Cycle>,
) -> Varied {
    let stated = &common.stated;
    let changes = changes.that_matter(base.model.as_deref(), model);
    let mut predicted = Vec::new();
    let mut unpredictable = Vec::new();
    let mut note = |name, change: Change, is_stated: bool| {
        if change != Change::None && !is_stated {
            if model.is_some() { predicted.push(name) } else { unpredictable.push(name) }
        }
    };
    note("baseline", changes.baseline, stated.baseline.time.is_some());
    note("verify", changes.verify, stated.verify.time.is_some());
    note("draft and host", changes.draft_host, stated.draft.is_some() && stated.host.is_some());

    let (baseline_step, baseline_allreduce) = pass(
        changes.baseline,
        &stated.baseline,
        (base.baseline_step, base.baseline_allreduce),
        model.map(|m| (m.baseline_time(), &m.baseline)),
    );
    let (verify, allreduce) = pass(
        changes.verify,
        &stated.verify,
        (base.verify, base.allreduce),
        model.map(|m| (m.verify.time, &m.verify)),
    );
    let (draft_host, draft, host) = draft_and_host(changes.draft_host, common, base, model);
    let known = Known {
        batch: common.batch,
        accept_limit: accept_limit(common),
        accept_length: accept_length(common),
        baseline_step,
        baseline_throughput: base.baseline_throughput.filter(|_| {
            changes.baseline == Change::None
                && stated.baseline.time.is_none()
                && stated.baseline.allreduce_each.is_none()
        }),
        baseline_allreduce,
        verify,
        allreduce,
        draft_host,
        draft,
        host,
        model: None,
        observed: None,
    };
    Varied { known, predicted, unpredictable }
}

/// A pass of the variation: kept, moved by what other communication saves, or the model's.
fn pass(
    change: Change,
    stated: &StatedPass,
    base: (Figure<Seconds>, Option<KnownAllreduce>),
    model: Option<(Sourced<Seconds>, &PricedPass)>,
) -> (Figure<Seconds>, Option<KnownAllreduce>) {
    let own = || stated_pass(&hypotheses(stated), model.map(|m| m.0), model.map(|m| m.1));
    if stated.time.is_some() {
        // The split of what was observed says nothing about a pass that is supposed to take another time.
        return own();
    }
    match (change, model) {
        (Change::None, _) | (_, None) => keep(stated, base.0, base.1),
        (Change::Everything, Some(_)) => own(),
        (Change::Communication, Some((time, _))) => {
            let moved =
                |used: Sourced<Seconds>, before: Option<Sourced<Seconds>>, after: Sourced<Seconds>| {
                    // One profile prices both, so its range cancels: what is left is the range of the observation.
                    before.map_or(after, |before| {
                        let source = used.source.combine(after.source);
                        at_least_zero(sum(used, Sourced::new(after.value - before.value, source)))
                    })
                };
            let figure = Figure { used: moved(base.0.used, base.0.predicted, time), predicted: Some(time) };
            let (_, own_allreduce) = own();
            let allreduce = base.1.zip(own_allreduce).map(|(before, after)| {
                let each = moved(before.each.used, before.each.predicted, after.each.used);
                KnownAllreduce { each: Figure { used: each, ..after.each }, ..before }
            });
            keep(stated, figure, allreduce)
        }
    }
}

type DraftAndHost = (Figure<Seconds>, Option<Figure<Seconds>>, Option<Figure<Seconds>>);

/// Drafting and host work of the variation, as a sum and apart.
fn draft_and_host(change: Change, common: &Common, base: &Known, model: Option<&Cycle>) -> DraftAndHost {
    let stated = &common.stated;
    let (own_draft, own_host) = (model.map(Cycle::draft_time), model.map(Cycle::host_time));
    let own_sum = model.map(Cycle::draft_host_time);
    let pick = |part: Option<Figure<Seconds>>, own: Option<Sourced<Seconds>>| match own {
        Some(used) if change != Change::None => Some(Figure { used, predicted: own }),
        _ => part,
    };
    let hypothesis = |stated: Option<Sourced<Seconds>>, part: Option<Figure<Seconds>>| match stated {
        Some(used) => Some(Figure { used, predicted: part.and_then(|p| p.predicted) }),
        None => part,
    };
    let draft = hypothesis(stated.draft, pick(base.draft, own_draft));
    let host = hypothesis(stated.host, pick(base.host, own_host));
    let whole = pick(Some(base.draft_host), own_sum).unwrap_or(base.draft_host);
    if stated.draft.is_none() && stated.host.is_none() {
        return (whole, draft, host);
    }
    // Where only the sum was known, the half that is not stated comes from the model, or is nothing.
    let half = |part: Option<Figure<Seconds>>, own: Option<Sourced<Seconds>>| {
        part.map(|p| p.used).or(own).unwrap_or(Sourced::given(Seconds::ZERO))
    };
    let used = sum(half(draft, own_draft), half(host, own_host));
    (Figure { used, predicted: whole.predicted }, draft, host)
}

/// Only what a variation may state: observed totals belong to the base case.
fn hypotheses(stated: &StatedPass) -> StatedPass {
    StatedPass { observed: None, observed_allreduce: None, ..stated.clone() }
}

/// The base's pass, with the variation's hypotheses about it.
fn keep(
    stated: &StatedPass,
    base: Figure<Seconds>,
    allreduce: Option<KnownAllreduce>,
) -> (Figure<Seconds>, Option<KnownAllreduce>) {
    let split = allreduce.map(|a| crate::scenario::ObservedAllreduce {
        count: a.count,
        total: a.each.used.map(|each| each * f64::from(a.count)),
    });
    let stated = StatedPass { observed: Some(base.used), observed_allreduce: split, ..stated.clone() };
    let (mut figure, mut kept) = stated_pass(&stated, base.predicted, None);
    figure.predicted = base.predicted;
    if let (Some(kept), Some(before)) = (kept.as_mut(), allreduce) {
        kept.each.predicted = before.each.predicted;
        kept.predicted_count = before.predicted_count;
    }
    (figure, kept)
}

/// What of a part's inputs differs between two setups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Nothing, or nothing that the model prices.
    None,
    /// Only how collectives are done: backend, algorithm, environment.
    Communication,
    /// More than that.
    Everything,
}

impl Change {
    const fn of(everything: bool, communication: bool) -> Self {
        match (everything, communication) {
            (true, _) => Self::Everything,
            (false, true) => Self::Communication,
            (false, false) => Self::None,
        }
    }
}

/// The changes of all parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changes {
    baseline: Change,
    verify: Change,
    draft_host: Change,
}

impl Changes {
    /// What differs between two setups, however little it may matter.
    pub(super) fn between(a: &Setup, b: &Setup) -> Self {
        let (x, y) = (common(a), common(b));
        let batch = x.batch != y.batch;
        match (a, b) {
            (Setup::Modelled(m), Setup::Modelled(n)) => {
                let surroundings = surroundings_differ(m, n);
                let of = |p: &PassSettings, q: &PassSettings, more: bool| {
                    Change::of(surroundings || more || p.execution != q.execution, p.policy != q.policy)
                };
                let drafting = m.draft != n.draft || m.overlap != n.overlap || shape(x) != shape(y);
                Self {
                    baseline: of(&m.baseline, &n.baseline, false),
                    verify: of(&m.verify, &n.verify, x.draft_tokens != y.draft_tokens),
                    draft_host: of(&m.draft_pass, &n.draft_pass, drafting),
                }
            }
            (Setup::Observed(_), Setup::Observed(_)) => Self {
                baseline: Change::of(batch, false),
                verify: Change::of(batch || x.draft_tokens != y.draft_tokens, false),
                draft_host: Change::of(batch || shape(x) != shape(y), false),
            },
            _ => Self {
                baseline: Change::Everything,
                verify: Change::Everything,
                draft_host: Change::Everything,
            },
        }
    }

    /// Whether no part changes.
    pub(super) fn are_none(self) -> bool {
        [self.baseline, self.verify, self.draft_host].iter().all(|change| *change == Change::None)
    }

    /// Communication settings that leave the model's time as it is change nothing.
    fn that_matter(self, before: Option<&Cycle>, after: Option<&Cycle>) -> Self {
        let Some((before, after)) = before.zip(after) else { return self };
        let matters = |change: Change, time: fn(&Cycle) -> Seconds| match change {
            Change::Communication if time(before) == time(after) => Change::None,
            other => other,
        };
        Self {
            baseline: matters(self.baseline, |c| c.baseline.time.value),
            verify: matters(self.verify, |c| c.verify.time.value),
            draft_host: matters(self.draft_host, |c| c.draft_time().value),
        }
    }
}

fn shape(common: &Common) -> (Method, u32, u32, u32) {
    (common.method, common.steps, common.topk, common.draft_tokens)
}

fn surroundings_differ(m: &ModelledSetup, n: &ModelledSetup) -> bool {
    m.hardware.name != n.hardware.name
        || m.calibration.name != n.calibration.name
        || !(Arc::ptr_eq(&m.model, &n.model) || m.model == n.model)
        || m.runtime != n.runtime
        || m.parallel != n.parallel
        || m.context != n.context
        || m.common.batch != n.common.batch
}
