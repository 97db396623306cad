//! Changes that a user can make, tried one at a time: which gains most?

use super::excess::Ratios;
use super::known::Known;
use super::scan::with_rows;
use super::variation::{Varied, vary};
use crate::analytic::WhatIfAnswer;
use crate::collective::{Backend, offered};
use crate::runtime::Execution;
use crate::scenario::{Method, ModelledSetup, Setup};

/// Chain lengths that are tried.
const STEPS: std::ops::RangeInclusive<u32> = 1..=7;

/// Logarithm of the least ratio of observed and modelled verify that is told with a lever.
const SHOWN: f64 = 0.05;

/// The change with the highest throughput, where it beats the case as it is by more than one percent, also against
/// its own baseline. What was observed beyond the model is carried along ([`Ratios`]): a gain that comes of leaving it
/// out is none.
pub(super) fn largest(setup: &Setup, known: &Known) -> Option<WhatIfAnswer> {
    let Setup::Modelled(modelled) = setup else { return None };
    let now = known.parts().throughput().value;
    let speedup = known.parts().speedup_value();
    let ratios = Ratios::of(setup, known);
    candidates(modelled)
        .into_iter()
        .map(|(name, changed)| {
            let changed = Setup::Modelled(Box::new(changed));
            let mut varied = vary(setup, known, &changed);
            let carried = ratios.carry(setup, &changed, &mut varied);
            let kept = carried.filter(|ratio| ratio.ln().abs() > SHOWN);
            let kept = kept.map(|ratio| format!(" (verify still {ratio:.2} times the model's)"));
            what_if_answer(name + &kept.unwrap_or_default(), &varied)
        })
        .filter(|answer| answer.throughput > now * 1.01 && answer.speedup > speedup * 1.01)
        .max_by(|a, b| a.throughput.get().total_cmp(&b.throughput.get()))
}

/// A variation's answer.
pub(super) fn what_if_answer(name: String, varied: &Varied) -> WhatIfAnswer {
    let parts = varied.known.parts();
    let speedup = parts.speedup();
    WhatIfAnswer {
        name,
        verdict: parts.verdict(),
        speedup: speedup.value,
        throughput: parts.throughput().value,
        baseline: parts.baseline_throughput().value,
        verify: varied.known.verify.used.value,
        source: speedup.source,
        predicted_parts: varied.predicted.clone(),
    }
}

fn candidates(setup: &ModelledSetup) -> Vec<(String, ModelledSetup)> {
    let mut list = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut ModelledSetup)| {
        let mut changed = without_statements(setup);
        change(&mut changed);
        list.push((name, changed));
    };
    if setup.verify.execution == Execution::Eager {
        add("verify inside a CUDA graph".to_owned(), &|s| s.verify.execution = Execution::Graph);
    }
    if setup.draft_pass.execution == Execution::Eager && setup.draft.is_some() {
        add("draft passes inside a CUDA graph".to_owned(), &|s| s.draft_pass.execution = Execution::Graph);
    }
    if !setup.overlap && setup.common.topk == 1 && setup.common.method != Method::Ngram {
        add("an overlap scheduler".to_owned(), &|s| s.overlap = true);
    }
    if setup.hardware.p2p
        && setup.verify.policy.backend.is_none()
        && offered(setup.runtime.kind, Backend::OneShot)
    {
        add("one-shot all-reduce for small messages".to_owned(), &|s| {
            for settings in [&mut s.baseline, &mut s.verify, &mut s.draft_pass] {
                if !settings.policy.opt_in.contains(&Backend::OneShot) {
                    settings.policy.opt_in.push(Backend::OneShot);
                }
            }
        });
    }
    if setup.common.topk == 1 && setup.common.method != Method::Ngram {
        // Longer chains only where the acceptance of their positions is known, not supposed.
        let known = |steps: u32| {
            steps < setup.common.steps
                || setup.common.method != Method::Mtp
                    && setup.common.acceptance.note(crate::speculation::DraftShape::chain(steps)).is_none()
        };
        for steps in STEPS.filter(|steps| *steps != setup.common.steps && known(*steps)) {
            let plural = if steps == 1 { "" } else { "s" };
            list.push((
                format!("{steps} draft step{plural}"),
                without_statements(&with_rows(setup, steps + 1)),
            ));
        }
    }
    list
}

/// A variation states nothing of its own: what was observed is kept through the base case.
fn without_statements(setup: &ModelledSetup) -> ModelledSetup {
    let mut copy = setup.clone();
    copy.common.stated = crate::scenario::Stated::default();
    copy
}
