//! Rows of the breakdowns: what was used, and beside it what the model says.

use super::known::{Known, KnownAllreduce};
use super::passes::difference;
use crate::analytic::{Figure, Parts, Row};
use crate::cost::PricedPass;
use crate::sourced::{Source, Sourced};
use crate::units::Seconds;

/// A wait shorter than this share of the pass is not worth a row.
const VISIBLE: f64 = 0.005;

/// The cycle as a tree: the cycle, its parts, the parts of verify.
pub(super) fn cycle_rows(known: &Known, parts: &Parts) -> Vec<Row> {
    let cycle = parts.cycle();
    let whole = cycle.value;
    let predicted_cycle = known.predicted_parts().map(|p| p.cycle());
    let mut rows = vec![row("cycle".to_owned(), Some(cycle), predicted_cycle, whole, 0)];
    match (known.draft, known.host) {
        (Some(draft), Some(host)) => {
            rows.push(figure_row("draft".to_owned(), draft, whole, 1));
            rows.push(figure_row("host".to_owned(), host, whole, 1));
        }
        _ => rows.push(figure_row("draft and host".to_owned(), known.draft_host, whole, 1)),
    }
    rows.push(figure_row("verify".to_owned(), known.verify, whole, 1));
    rows.extend(verify_rows(known, 2, whole));
    rows
}

/// The parts of the verify pass, shares of `whole`.
pub(super) fn verify_rows(known: &Known, depth: u8, whole: Seconds) -> Vec<Row> {
    let pass = known.model.as_ref().map(|m| &m.verify);
    pass_rows(known.verify, known.allreduce, pass, depth, whole)
}

/// The parts of the baseline step.
pub(super) fn baseline_rows(known: &Known) -> Vec<Row> {
    let whole = known.baseline_step.used.value;
    let pass = known.model.as_ref().map(|m| &m.baseline);
    pass_rows(known.baseline_step, known.baseline_allreduce, pass, 0, whole)
}

fn pass_rows(
    total: Figure<Seconds>,
    allreduce: Option<KnownAllreduce>,
    pass: Option<&PricedPass>,
    depth: u8,
    whole: Seconds,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let waiting = pass.map(|p| Sourced::new(p.waiting(), p.time.source));
    let communication = pass.map(|p| Sourced::new(p.allreduce.total, p.allreduce.source));
    if let Some(known) = allreduce {
        let all = known.each.used.map(|each| each * f64::from(known.count));
        rows.push(Row {
            count: Some(known.count),
            each: Some(known.each.used.value),
            ..row("allreduce".to_owned(), Some(all), communication, whole, depth)
        });
    }
    // Waiting is a part of its own only where the model's pass is what was used; an observed total has it inside
    // whatever the profiler booked.
    let modelled = total.predicted == Some(total.used);
    if let Some(waiting) = waiting.filter(|w| w.value > whole * VISIBLE) {
        let used = if modelled { Some(waiting) } else { None };
        rows.push(row("waiting for the hosts".to_owned(), used, Some(waiting), whole, depth));
    }
    let hidden = if modelled { waiting.map_or(Seconds::ZERO, |w| w.value) } else { Seconds::ZERO };
    let used_rest = allreduce.map(|known| {
        let mut rest = difference(total.used, known.each.used.map(|each| each * f64::from(known.count)));
        rest.source = if modelled { total.used.source } else { rest.source.combine(Source::Derived) };
        rest.value = (rest.value - hidden).max(Seconds::ZERO);
        rest
    });
    let predicted_rest = total.predicted.zip(pass).map(|(all, pass)| {
        let rest = all.value - pass.allreduce.total - pass.waiting();
        Sourced::new(rest.max(Seconds::ZERO), all.source)
    });
    if allreduce.is_some() {
        rows.push(row("all else".to_owned(), used_rest, predicted_rest, whole, depth));
    }
    rows
}

fn figure_row(part: String, figure: Figure<Seconds>, whole: Seconds, depth: u8) -> Row {
    row(part, Some(figure.used), figure.predicted, whole, depth)
}

fn row(
    part: String,
    time: Option<Sourced<Seconds>>,
    predicted: Option<Sourced<Seconds>>,
    whole: Seconds,
    depth: u8,
) -> Row {
    Row { part, count: None, each: None, share: time.map(|t| t.value / whole), time, predicted, depth }
}
