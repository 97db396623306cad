//! The whole answer to one scenario.

use super::breakdown::{baseline_rows, cycle_rows, verify_rows};
use super::known::{Known, common};
use super::variation::{Varied, vary};
use super::{diagnosis, levers, scan, study};
use crate::analytic::{
    BaselineAnswer, BreakEvens, Figure, Finding, Parts, Prediction, SpeculationAnswer, WhatIfAnswer,
};
use crate::runtime::Execution;
use crate::scenario::{Common, Loaded, Setup, WhatIf};
use crate::sourced::{Source, Sourced};
use crate::speculation::Cycle;
use crate::uncertainty::Uncertainty;
use crate::units::{AcceptLength, TokensPerSecond};
use std::sync::OnceLock;

use super::study::Sureness;

/// Everything `run` says about a scenario: verdict, breakdown, break-evens, what-ifs, levers, diagnosis.
pub fn answer(loaded: &Loaded) -> Prediction {
    let base = Known::base(&loaded.base);
    let (setup, varied) = match &loaded.variation {
        None => {
            let varied = Varied { known: base.clone(), predicted: Vec::new(), unpredictable: Vec::new() };
            (&loaded.base, varied)
        }
        Some(setup) => (setup, vary(&loaded.base, &base, setup)),
    };
    let known = &varied.known;
    let parts = known.parts();
    let mut diagnosis = diagnosis::findings(setup, known, &parts);
    diagnosis.extend(needs_model("the overrides", &varied));
    if loaded.variation.is_some() {
        diagnosis.extend(observed_replaced(&loaded.base, common(setup), &varied));
    }
    let (what_ifs, refused) = what_ifs(&loaded.base, &base, &loaded.what_ifs);
    diagnosis.extend(refused);
    let mut prediction = Prediction {
        verdict: parts.verdict(),
        win_probability: parts.win_probability(),
        speedup: Figure { used: parts.speedup(), predicted: known.predicted_parts().map(|p| p.speedup()) },
        baseline: baseline_answer(setup, known, &parts),
        speculation: speculation_answer(setup, known, &parts),
        break_even: break_evens(setup, &parts),
        what_ifs,
        elasticities: parts.elasticities(),
        largest_lever: levers::largest(setup, known),
        diagnosis,
    };
    study::make_sure(&mut prediction, loaded);
    prediction
}

/// How sure the answer to a scenario is: `samples` Monte Carlo draws with `seed`, and first order beside them.
pub fn uncertainty(loaded: &Loaded, samples: u32, seed: u64) -> Uncertainty {
    study::uncertainty(loaded, samples, seed)
}

/// Step time of both sides, breakdown and closed-form break-evens of a modelled setup, without scans, what-ifs and
/// texts: one evaluation of a sweep.
pub fn evaluate(setup: &Setup) -> (Known, Parts, BreakEvens) {
    let known = Known::base(setup);
    let parts = known.parts();
    let break_evens = parts.break_evens();
    (known, parts, break_evens)
}

/// A variation of a setup, as a sweep asks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// The parts.
    pub known: Known,
    /// `baseline`, `verify`, `draft and host`: those that are predicted because an input of theirs changed.
    pub predicted: Vec<&'static str>,
    /// Those that had to be and cannot: no hardware model is given.
    pub unpredictable: Vec<&'static str>,
}

/// One evaluation of a sweep: the case of `setup`, a variation of `base_setup` whose case is `base`. It is the case that
/// [`answer`] gives for the same overrides.
pub fn variation(base_setup: &Setup, base: &Known, setup: &Setup) -> Variation {
    let Varied { known, predicted, unpredictable } = vary(base_setup, base, setup);
    Variation { known, predicted, unpredictable }
}

/// What all variations of one base share.
pub struct Base {
    /// The base itself.
    pub known: Known,
    shared: OnceLock<study::Shared>,
}

impl Base {
    /// Of a setup.
    pub fn new(setup: &Setup) -> Self {
        Self { known: Known::base(setup), shared: OnceLock::new() }
    }

    /// Verdict, range and probability of the speedup, as [`answer`] gives them, for the base or for a variation of it whose
    /// plain speedup is `speedup`. A cycle of the variation that was priced before is not priced again.
    pub fn sureness(
        &self,
        base: &Setup,
        variation: Option<(&Setup, Option<&Cycle>)>,
        speedup: f64,
    ) -> Sureness {
        study::Shared::sureness(&self.shared, base, variation, speedup)
    }
}

fn break_evens(setup: &Setup, parts: &Parts) -> BreakEvens {
    let mut result = parts.break_evens();
    if let Setup::Modelled(modelled) = setup {
        let [execution, batch, context, draft_tokens] = scan::all(modelled);
        result.execution = execution;
        result.batch = batch;
        result.context = context;
        result.draft_tokens = draft_tokens;
    }
    result
}

fn what_ifs(base_setup: &Setup, base: &Known, list: &[WhatIf]) -> (Vec<WhatIfAnswer>, Vec<Finding>) {
    let mut answers = Vec::new();
    let mut refused = Vec::new();
    for what_if in list {
        let varied = vary(base_setup, base, &what_if.setup);
        match needs_model(&format!("what-if \"{}\"", what_if.name), &varied) {
            Some(finding) => refused.push(finding),
            None => answers.push(levers::what_if_answer(what_if.name.clone(), &varied)),
        }
    }
    (answers, refused)
}

/// Overrides that put the model's figures in the place of observed ones.
fn observed_replaced(base: &Setup, answered: &Common, varied: &Varied) -> Option<Finding> {
    let stated = &common(base).stated;
    let was_observed = |part: &str| match part {
        "baseline" => stated.baseline.observed.is_some(),
        "verify" => stated.verify.observed.is_some(),
        _ => stated.observed_throughput.is_some() || stated.observed_draft.is_some(),
    };
    let replaced: Vec<&str> = varied.predicted.iter().copied().filter(|part| was_observed(part)).collect();
    (!replaced.is_empty()).then(|| Finding {
        code: "observed-replaced",
        message: format!(
            "The overrides change inputs of {}, so what was observed there is replaced by the model's figures (moved by \
             the model's difference where only collectives change). The gap between model and observation is in them.{}",
            replaced.join(" and "),
            measured(common(base), answered).unwrap_or_default()
        ),
        settle: Vec::new(),
    })
}

/// What the acceptance file measured at another batch size than the scenario's.
fn measured(base: &Common, answered: &Common) -> Option<String> {
    let row = answered.measured.iter().find(|row| row.batch == answered.batch && row.batch != base.batch)?;
    let side =
        |rate: Option<Sourced<TokensPerSecond>>, word: &str| Some(format!("{} {word} it", rate?.value));
    let sides: Vec<String> =
        [side(row.with, "with"), side(row.without, "without")].into_iter().flatten().collect();
    (!sides.is_empty()).then(|| {
        format!(
            " At batch {} the acceptance file measured {}, which `tune` takes.",
            row.batch,
            sides.join(" and ")
        )
    })
}

/// A variation that changes what only a hardware model could predict.
fn needs_model(what: &str, varied: &Varied) -> Option<Finding> {
    (!varied.unpredictable.is_empty()).then(|| Finding {
        code: "needs-a-model",
        message: format!(
            "{what} changes {}, and nothing here can predict that: the scenario names no hardware and model.",
            varied.unpredictable.join(" and ")
        ),
        settle: vec!["add hardware: and model: to the scenario, or state the changed part's time".into()],
    })
}

fn baseline_answer(setup: &Setup, known: &Known, parts: &Parts) -> BaselineAnswer {
    BaselineAnswer {
        execution: execution(setup, |s| s.baseline.execution),
        step: known.baseline_step,
        throughput: Figure {
            used: known.baseline_throughput.unwrap_or_else(|| parts.baseline_throughput()),
            predicted: known.predicted_parts().map(|p| p.baseline_throughput()),
        },
        breakdown: baseline_rows(known),
    }
}

fn speculation_answer(setup: &Setup, known: &Known, parts: &Parts) -> SpeculationAnswer {
    let predicted = known.predicted_parts();
    let rows = f64::from(common(setup).draft_tokens * known.batch);
    SpeculationAnswer {
        execution: execution(setup, |s| s.verify.execution),
        accept_length: known.accept_length,
        accept_limit: AcceptLength::new(known.accept_limit),
        rows: Figure { used: Sourced::new(rows, Source::Given), predicted: None },
        cycle: Figure { used: parts.cycle(), predicted: predicted.as_ref().map(Parts::cycle) },
        draft_host: known.draft_host,
        draft: known.draft,
        host: known.host,
        verify: known.verify,
        throughput: Figure { used: parts.throughput(), predicted: predicted.as_ref().map(Parts::throughput) },
        cycle_breakdown: cycle_rows(known, parts),
        verify_breakdown: verify_rows(known, 0, known.verify.used.value),
    }
}

fn execution(
    setup: &Setup,
    of: impl Fn(&crate::scenario::ModelledSetup) -> Execution,
) -> Option<&'static str> {
    match setup {
        Setup::Observed(_) => None,
        Setup::Modelled(modelled) => Some(match of(modelled) {
            Execution::Graph => "graph",
            Execution::Eager => "eager",
        }),
    }
}
