//! What a case becomes when keys of its scenario change: observed parts stay as long as their inputs do.

use super::known::{
    Known, KnownAllreduce, accept_length, accept_limit, common, predicted_cycle, stated_pass,
};
use super::passes::sum;
use crate::analytic::Figure;
use crate::scenario::{Common, ModelledSetup, Setup, StatedPass};
use crate::sourced::Sourced;
use crate::units::Seconds;

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
    let changed = Changed::between(base_setup, setup);
    let common = common(setup);
    let stated = &common.stated;
    let model = predicted_cycle(setup);
    let mut predicted = Vec::new();
    let mut unpredictable = Vec::new();
    let mut note = |name, is_changed: bool, is_stated: bool| {
        if is_changed && !is_stated {
            if model.is_some() { predicted.push(name) } else { unpredictable.push(name) }
        }
        is_changed && model.is_some()
    };

    let predict_baseline = note("baseline", changed.baseline, stated.baseline.time.is_some());
    let predict_verify = note("verify", changed.verify, stated.verify.time.is_some());
    let draft_host_stated = stated.draft.is_some() && stated.host.is_some();
    let predict_draft = note("draft and host", changed.draft_host, draft_host_stated);

    let model_step = model.as_ref().map(|m| m.baseline_time());
    let (baseline_step, baseline_allreduce) = if predict_baseline {
        stated_pass(&hypotheses(&stated.baseline), model_step, model.as_ref().map(|m| &m.baseline))
    } else {
        keep(&stated.baseline, base.baseline_step, base.baseline_allreduce)
    };
    let (verify, allreduce) = if predict_verify {
        let time = model.as_ref().map(|m| m.verify.time);
        stated_pass(&hypotheses(&stated.verify), time, model.as_ref().map(|m| &m.verify))
    } else {
        keep(&stated.verify, base.verify, base.allreduce)
    };

    let model_draft = model.as_ref().map(|m| m.draft_time());
    let model_host = model.as_ref().map(|m| m.host_time());
    let pick = |part: Option<Figure<Seconds>>, own: Option<Sourced<Seconds>>| {
        if predict_draft { own.map(|used| Figure { used, predicted: own }) } else { part }
    };
    let hypothesis = |stated: Option<Sourced<Seconds>>, part: Option<Figure<Seconds>>| match stated {
        Some(used) => Some(Figure { used, predicted: part.and_then(|p| p.predicted) }),
        None => part,
    };
    let draft = hypothesis(stated.draft, pick(base.draft, model_draft));
    let host = hypothesis(stated.host, pick(base.host, model_host));
    let whole = pick(Some(base.draft_host), model.as_ref().map(|m| m.draft_host_time()));
    let draft_host = match (draft, host) {
        (Some(draft), Some(host)) if stated.draft.is_some() || stated.host.is_some() => {
            Figure { used: sum(draft.used, host.used), predicted: whole.and_then(|w| w.predicted) }
        }
        // Only the sum was known: the other half of it comes from the model, or is nothing.
        _ if stated.draft.is_some() || stated.host.is_some() => {
            let half = |stated: Option<Sourced<Seconds>>, model: Option<Sourced<Seconds>>| {
                stated.or(model).unwrap_or(Sourced::given(Seconds::ZERO))
            };
            Figure {
                used: sum(half(stated.draft, model_draft), half(stated.host, model_host)),
                predicted: whole.and_then(|w| w.predicted),
            }
        }
        _ => whole.unwrap_or(base.draft_host),
    };
    let known = Known {
        batch: common.batch,
        accept_limit: accept_limit(common),
        accept_length: accept_length(common),
        baseline_step,
        baseline_allreduce,
        verify,
        allreduce,
        draft_host,
        draft,
        host,
        model,
        observed: None,
    };
    Varied { known, predicted, unpredictable }
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

/// Which parts have inputs that differ between two setups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Changed {
    baseline: bool,
    verify: bool,
    draft_host: bool,
}

impl Changed {
    fn between(a: &Setup, b: &Setup) -> Self {
        let (x, y) = (common(a), common(b));
        match (a, b) {
            (Setup::Modelled(m), Setup::Modelled(n)) => {
                let surroundings = surroundings_differ(m, n);
                Self {
                    baseline: surroundings || m.baseline != n.baseline,
                    verify: surroundings || m.verify != n.verify || x.draft_tokens != y.draft_tokens,
                    draft_host: surroundings
                        || m.draft != n.draft
                        || m.draft_pass != n.draft_pass
                        || m.overlap != n.overlap
                        || shape(x) != shape(y),
                }
            }
            (Setup::Observed(_), Setup::Observed(_)) => Self {
                baseline: x.batch != y.batch,
                verify: x.batch != y.batch || x.draft_tokens != y.draft_tokens,
                draft_host: x.batch != y.batch || shape(x) != shape(y),
            },
            _ => Self { baseline: true, verify: true, draft_host: true },
        }
    }
}

fn shape(common: &Common) -> (crate::scenario::Method, u32, u32, u32) {
    (common.method, common.steps, common.topk, common.draft_tokens)
}

fn surroundings_differ(m: &ModelledSetup, n: &ModelledSetup) -> bool {
    m.hardware.name != n.hardware.name
        || m.calibration.name != n.calibration.name
        || m.model != n.model
        || m.runtime != n.runtime
        || m.parallel != n.parallel
        || m.context != n.context
        || m.common.batch != n.common.batch
}
