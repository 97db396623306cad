//! The parts of a cycle as they enter the arithmetic: observed where observed, predicted where not.

use super::passes::{cycle, difference, sum};
use crate::analytic::{AllreducePart, Figure, Parts};
use crate::scenario::{Common, Setup, StatedPass};
use crate::sourced::{Source, Sourced};
use crate::speculation::{Acceptance, Cycle, DraftShape};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// The parts of one case. Every figure that the model can give carries it as `predicted`.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Requests.
    pub batch: u32,
    /// Most that one cycle can yield: the longest chain and the bonus token.
    pub accept_limit: f64,
    /// Accept length.
    pub accept_length: Figure<AcceptLength>,
    /// The decode step without speculation.
    pub baseline_step: Figure<Seconds>,
    /// The throughput from which that step was derived, where it was stated as one.
    pub baseline_throughput: Option<Sourced<TokensPerSecond>>,
    /// Its all-reduces.
    pub baseline_allreduce: Option<KnownAllreduce>,
    /// The verify pass.
    pub verify: Figure<Seconds>,
    /// Its all-reduces.
    pub allreduce: Option<KnownAllreduce>,
    /// Drafting and host work.
    pub draft_host: Figure<Seconds>,
    /// Drafting alone, where known apart.
    pub draft: Option<Figure<Seconds>>,
    /// Host work alone, where known apart.
    pub host: Option<Figure<Seconds>>,
    /// The model's own cycle, where there is a hardware model.
    pub model: Option<Box<Cycle>>,
    /// The throughput that fixed drafting and host work as the remainder, for ranges.
    pub observed: Option<Sourced<TokensPerSecond>>,
}

/// The all-reduces of a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownAllreduce {
    /// How many.
    pub count: u32,
    /// One of them, as it enters the arithmetic and as the model has it.
    pub each: Figure<Seconds>,
    /// How many the model counts.
    pub predicted_count: Option<u32>,
}

impl Known {
    /// The base case: observed totals fix the parts that nobody measured.
    pub fn base(setup: &Setup) -> Self {
        Self::of(common(setup), predicted_cycle(setup))
    }

    /// The base case of what the user states and what the model says.
    pub(super) fn of(common: &Common, model: Option<Box<Cycle>>) -> Self {
        let stated = &common.stated;
        let accept_length = accept_length(common);
        let tokens = accept_length.used.value.tokens(f64::from(common.batch));

        let model_step = model.as_ref().map(|m| m.baseline_time());
        let (baseline_step, baseline_allreduce) =
            stated_pass(&stated.baseline, model_step, model.as_ref().map(|m| &m.baseline));

        let model_verify = model.as_ref().map(|m| m.verify.time);
        let model_draft_host = model.as_ref().map(|m| m.draft_host_time());
        let observed_cycle = stated.observed_throughput.map(|throughput| {
            let spread = throughput.spread;
            let mut cycle = Sourced::new(
                tokens / throughput.value,
                throughput.source.combine(accept_length.used.source).combine(Source::Derived),
            );
            if let Some(s) = spread {
                cycle = cycle.with_spread(tokens / s.high, tokens / s.low);
            }
            cycle
        });
        let verify_is_stated = stated.verify.time.is_some() || stated.verify.observed.is_some();
        let known_draft = stated.draft.or(stated.observed_draft);
        let model_draft = model.as_ref().map(|m| m.draft_time());
        let model_host = model.as_ref().map(|m| m.host_time());
        let both_stated = known_draft.zip(stated.host).map(|(draft, host)| sum(draft, host));
        let any_stated = (known_draft.is_some() || stated.host.is_some()).then(|| {
            let draft = known_draft.or(model_draft).unwrap_or(nothing());
            let host = stated.host.or(model_host).unwrap_or(nothing());
            sum(draft, host)
        });

        // The observed cycle fixes whichever of its two parts is not known; with both known it is only compared.
        let assumed_draft_host = any_stated.or(model_draft_host).unwrap_or(nothing());
        let (verify_total, draft_host) = match observed_cycle {
            Some(cycle) if verify_is_stated => {
                let verify = stated.verify.observed.or(stated.verify.time).expect("verify is stated");
                (None, both_stated.unwrap_or_else(|| at_least_zero(difference(cycle, verify))))
            }
            Some(cycle) => (Some(at_least_zero(difference(cycle, assumed_draft_host))), assumed_draft_host),
            None => (None, assumed_draft_host),
        };
        let verify_stated = match verify_total {
            Some(total) => StatedPass { observed: Some(total), ..stated.verify.clone() },
            None => stated.verify.clone(),
        };
        let (verify, allreduce) =
            stated_pass(&verify_stated, model_verify, model.as_ref().map(|m| &m.verify));

        // Where only the sum is known (cycle minus verify), its split is not invented.
        let fixed = observed_cycle.is_some() && !(verify_is_stated && both_stated.is_some());
        let only_sum = observed_cycle.is_some() && verify_is_stated && both_stated.is_none();
        let draft = known_draft
            .or(if only_sum { None } else { model_draft })
            .map(|used| Figure { used, predicted: model_draft });
        let host = stated
            .host
            .or_else(|| match (only_sum, known_draft) {
                (true, Some(draft)) => Some(at_least_zero(difference(draft_host, draft))),
                (true, None) => None,
                (false, _) => model_host,
            })
            .map(|used| Figure { used, predicted: model_host });
        Self {
            batch: common.batch,
            accept_limit: accept_limit(common),
            accept_length,
            baseline_step,
            baseline_throughput: stated
                .baseline
                .observed_throughput
                .filter(|_| stated.baseline.time.is_none() && stated.baseline.allreduce_each.is_none()),
            baseline_allreduce,
            verify,
            allreduce,
            draft_host: Figure { used: draft_host, predicted: model_draft_host },
            draft,
            host,
            model,
            observed: if fixed { stated.observed_throughput } else { None },
        }
    }

    /// The arithmetic of the four closed-form levers.
    pub fn parts(&self) -> Parts {
        Parts {
            batch: self.batch,
            accept_limit: self.accept_limit,
            accept_length: self.accept_length.used,
            baseline_step: self.baseline_step.used,
            verify: self.verify.used,
            allreduce: self.allreduce.map(|a| AllreducePart { count: a.count, each: a.each.used }),
            draft_host: self.draft_host.used,
            observed: self.observed,
        }
    }

    /// The same with the model's figures alone.
    pub fn predicted_parts(&self) -> Option<Parts> {
        Some(Parts {
            batch: self.batch,
            accept_limit: self.accept_limit,
            accept_length: self.accept_length.used,
            baseline_step: self.baseline_step.predicted?,
            verify: self.verify.predicted?,
            allreduce: self
                .allreduce
                .and_then(|a| Some(AllreducePart { count: a.predicted_count?, each: a.each.predicted? })),
            draft_host: self.draft_host.predicted?,
            observed: None,
        })
    }
}

/// What both kinds of setup share.
pub(super) fn common(setup: &Setup) -> &Common {
    match setup {
        Setup::Observed(observed) => &observed.common,
        Setup::Modelled(modelled) => &modelled.common,
    }
}

pub(super) fn predicted_cycle(setup: &Setup) -> Option<Box<Cycle>> {
    match setup {
        Setup::Observed(_) => None,
        Setup::Modelled(modelled) => Some(Box::new(cycle(modelled))),
    }
}

pub(super) fn draft_shape(common: &Common) -> DraftShape {
    if common.steps > 0 {
        return DraftShape { steps: common.steps, topk: common.topk, draft_tokens: common.draft_tokens };
    }
    // Observed numbers may answer without a stated shape: then the law's own reach serves.
    match &common.acceptance {
        Acceptance::MeanOnly(law) => DraftShape::chain(law.drafted()),
        Acceptance::Conditional(law) | Acceptance::Histogram(law) => DraftShape::chain(law.known()),
        _ => DraftShape::chain(1),
    }
}

pub(super) fn accept_length(common: &Common) -> Figure<AcceptLength> {
    Figure { used: common.acceptance.accept_length(draft_shape(common)), predicted: None }
}

pub(super) fn accept_limit(common: &Common) -> f64 {
    common.accept_limit()
}

/// Used and predicted figure of a pass and of its all-reduces.
///
/// A hypothesis (`time`) sets the pass outright; an observed total is split by the observed all-reduces, or by the
/// model's where none were observed; a hypothesis about one all-reduce then replaces that part of the sum.
pub(super) fn stated_pass(
    stated: &StatedPass,
    model: Option<Sourced<Seconds>>,
    pass: Option<&crate::cost::PricedPass>,
) -> (Figure<Seconds>, Option<KnownAllreduce>) {
    let model_each = pass.filter(|p| p.allreduce.count > 0).map(|p| {
        let each = p.allreduce.total / f64::from(p.allreduce.count);
        Sourced::new(each, p.allreduce.source)
    });
    let model_count = pass.map(|p| p.allreduce.count).filter(|count| *count > 0);
    let observed_each = stated
        .observed_allreduce
        .filter(|a| a.count > 0)
        .map(|a| a.total.map(|total| total / f64::from(a.count)));
    let count = stated.observed_allreduce.map(|a| a.count).filter(|c| *c > 0).or(model_count);
    let split_each = observed_each.or(model_each);
    let total = stated.observed.or(model);
    let used = match (stated.time, stated.allreduce_each, total) {
        (Some(time), _, _) => time,
        (None, Some(each), Some(total)) => match (count, split_each) {
            (Some(count), Some(now)) => {
                let replaced = now.map(|t| t * f64::from(count));
                let by = each.map(|t| t * f64::from(count));
                sum(at_least_zero(difference(total, replaced)), by)
            }
            _ => total,
        },
        (None, None, Some(total)) => total,
        (None, _, None) => nothing(),
    };
    let allreduce = match (count, stated.allreduce_each.or(split_each)) {
        (Some(count), Some(each)) => Some(KnownAllreduce {
            count,
            each: Figure { used: each, predicted: model_each },
            predicted_count: model_count,
        }),
        _ => None,
    };
    (Figure { used, predicted: model }, allreduce)
}

fn nothing() -> Sourced<Seconds> {
    Sourced::new(Seconds::ZERO, Source::Assumed)
}

pub(super) fn at_least_zero(time: Sourced<Seconds>) -> Sourced<Seconds> {
    time.map(|t| t.max(Seconds::ZERO))
}
