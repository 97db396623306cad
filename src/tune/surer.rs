//! What the choice rests on, and what to measure to be surer of it.

use super::plan::{Cell, Plan};
use super::{Candidate, Carried};
use crate::runtime::RuntimeKind;
use crate::scenario::Stated;

/// Beyond this probability, or below its complement, on or off counts as settled.
const SETTLED: f64 = 0.95;

/// A choice between shapes closer than this is no choice yet.
const CLOSE: f64 = 0.03;

/// What was assumed about acceptance by the best settings, each once.
pub(super) fn assumed(plan: &Plan, candidates: &[Candidate<'_>]) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    if candidates.iter().any(|candidate| is_observed(&candidate.setup.common.stated)) {
        list.push(
            "what was observed is kept where a setting leaves its inputs alone, and predicted elsewhere: near \
             what was observed, two settings may differ by the model's error"
                .to_owned(),
        );
    }
    list.extend(plan.carried.iter().map(|carried| scaled(carried, plan.as_modelled)));
    if candidates.iter().any(|candidate| !candidate.setup.common.measured.is_empty()) {
        list.push(
            "`measured` is what the acceptance file says of a batch size, taken for the scenario's own setting and context"
                .to_owned(),
        );
    }
    let has_baseline = plan.carried.iter().any(|carried| carried.part == "baseline");
    if !has_baseline && plan.carried.iter().any(Carried::is_far) {
        list.push(
            "no baseline was observed: it stays the model's, although the model missed what was observed"
                .to_owned(),
        );
    }
    let notes = plan.cells.iter().filter_map(|cell| cell.on()?.accept.as_ref()?.assumed.clone());
    for note in notes {
        if !list.contains(&note) {
            list.push(note);
        }
    }
    list
}

/// What became of the ratio of observed and modelled time.
fn scaled(carried: &Carried, as_modelled: bool) -> String {
    let each = carried.ratios.iter().map(|(batch, ratio)| format!("{ratio:.2} (batch {batch})"));
    let ratios = each.collect::<Vec<_>>().join(", ");
    let part = carried.part;
    if as_modelled {
        return format!("{part}: as modelled (--as-modelled), though observed at {ratios} times the model's");
    }
    let eager = if carried.eager { ", except in a graph, whose kernels the host does not issue" } else { "" };
    format!("{part}: model scaled by {ratios} to what was observed{eager} (--as-modelled leaves it)")
}

/// Whether any time was observed.
fn is_observed(stated: &Stated) -> bool {
    stated.baseline.observed.is_some()
        || stated.verify.observed.is_some()
        || stated.observed_draft.is_some()
        || stated.observed_throughput.is_some()
}

/// Measurements that would settle what is not.
pub(super) fn measure(plan: &Plan, candidates: &[Candidate<'_>]) -> Vec<String> {
    let mut list = Vec::new();
    let doubtful: Vec<&Cell> = plan.cells.iter().filter(|cell| is_doubtful(cell)).collect();
    if let Some(words) = places(&doubtful) {
        list.push(format!(
            "On or off is undecided at {words}: run the server there once with the setting and once without, 30 s each or \
             longer (in 30 s the accept length moves by ±0.2), and put both under `observed`."
        ));
    }
    let open: Vec<&Cell> = plan.cells.iter().filter(|cell| rests_on_acceptance(cell)).collect();
    if let Some(words) = places(&open) {
        list.push(format!(
            "At {words} the choice of steps rests on acceptance that was not measured at that depth: run the deepest setting \
             once and give its per-position rates ({}) as `acceptance`.",
            rates_of(candidates[0].setup.runtime.kind)
        ));
    }
    let close: Vec<&Cell> = plan.cells.iter().filter(|cell| is_close(cell)).collect();
    if let Some(words) = places(&close) {
        list.push(format!(
            "At {words} the best two settings differ by less than {:.0} %: take the one that suits the other batch sizes.",
            CLOSE * 100.0
        ));
    }
    list
}

/// Whether the best with speculation neither surely wins nor surely loses.
fn is_doubtful(cell: &Cell) -> bool {
    let chance = cell.on().and_then(|on| on.win_probability);
    chance.is_some_and(|p| (1.0 - SETTLED..SETTLED).contains(&p))
}

/// Whether another setting would win at the ends of what the acceptance leaves open.
fn rests_on_acceptance(cell: &Cell) -> bool {
    let Some(best) = cell.best() else { return false };
    let others = || cell.tried.iter().skip(1);
    others().any(|o| o.gain_high > best.gain_high && o.gain_high > o.gain * 1.001)
        || others().any(|o| o.gain > best.gain_low && best.gain_low < best.gain * 0.999)
}

fn is_close(cell: &Cell) -> bool {
    match (cell.best(), cell.rival()) {
        (Some(best), Some(rival)) => best.gain / rival.gain < 1.0 + CLOSE,
        _ => false,
    }
}

/// `batch 4, 8 and 16`, with contexts where there are several.
fn places(cells: &[&Cell]) -> Option<String> {
    let first = cells.first()?;
    let several = cells.iter().any(|cell| cell.context != first.context);
    let each = |cell: &&Cell| {
        if several { format!("{} (context {})", cell.batch, cell.context) } else { cell.batch.to_string() }
    };
    let mut words: Vec<String> = cells.iter().take(8).map(each).collect();
    if cells.len() > 8 {
        words.push(format!("{} more", cells.len() - 8));
    }
    let last = words.pop()?;
    Some(if words.is_empty() {
        format!("batch {last}")
    } else {
        format!("batch {} and {last}", words.join(", "))
    })
}

/// Where a server prints acceptance per position.
const fn rates_of(kind: RuntimeKind) -> &'static str {
    match kind {
        RuntimeKind::Vllm => {
            "`Per-position acceptance rate` of the SpecDecoding log line, `cumulative` in a scenario"
        }
        _ => "the accept length at each number of steps, from the decode log lines",
    }
}
