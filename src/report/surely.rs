//! How sure an answer is, in the cells and sentences that text and Markdown share.

use std::fmt::Write;

use crate::uncertainty::{Effect, Factor, MoreCycles, Outcome, Turn, Uncertainty};
use crate::units::significant;

use super::number::{minus, percent, times};

/// Heading of the table of outputs.
pub(super) const OUTCOME_HEADING: [&str; 5] = ["", "value", "5 %", "95 %", "to first order"];
/// Heading of the table of inputs.
pub(super) const EFFECT_HEADING: [&str; 5] = ["", "5 % to 95 %", "speedup", "alone", "in all"];

/// Whether speculation wins, in samples.
pub(super) fn headline(found: &Uncertainty) -> String {
    let loses = found.win_probability < 0.5;
    let share = if loses { 1.0 - found.win_probability } else { found.win_probability };
    let first = found.first_order_probability.map(|p| if loses { 1.0 - p } else { p });
    let first = first.map_or_else(String::new, |p| format!("; to first order {}", share_words(p)));
    format!(
        "Speculation {} in {} of {} samples (seed {}; standard error {} points{first}).",
        if loses { "loses" } else { "wins" },
        share_words(share),
        significant(f64::from(found.samples), 12),
        found.seed,
        one_decimal(found.win_error * 100.0),
    )
}

/// A share of samples without claiming certainty: one decimal near the ends.
fn share_words(share: f64) -> String {
    match share {
        s if s > 0.9995 => "over 99.9 %".to_owned(),
        s if s > 0.97 => format!("{} %", one_decimal(s * 100.0)),
        s => percent(s),
    }
}

fn one_decimal(number: f64) -> String {
    minus(&format!("{number:.1}"))
}

/// A number of an output with its unit.
fn figure(outcome: &Outcome, number: f64) -> String {
    if outcome.key.ends_with("speedup") { times(number) } else { with_unit(number, outcome.unit) }
}

fn with_unit(number: f64, unit: &str) -> String {
    match unit {
        "x" => times(number),
        "" => minus(&format!("{number:.3}")),
        "tokens" => minus(&format!("{number:.2}")),
        "us" => format!("{} µs", minus(&significant(number, 3))),
        unit => format!("{} {unit}", minus(&significant(number, 3))),
    }
}

/// One output: name, value, both ends by samples, both ends by first order.
pub(super) fn outcome_cells(outcome: &Outcome) -> [String; 5] {
    let first_order = outcome.first_order.map_or_else(
        || "—".to_owned(),
        |(low, high)| format!("{} to {}", figure(outcome, low), figure(outcome, high)),
    );
    let sometimes = outcome.reachable < 0.9995;
    let reachable =
        if sometimes { format!(" (reachable: {})", percent(outcome.reachable)) } else { String::new() };
    [
        format!("{}{reachable}", outcome.name),
        figure(outcome, outcome.value),
        figure(outcome, outcome.sampled.low),
        figure(outcome, outcome.sampled.high),
        first_order,
    ]
}

/// One input: name, its range, the speedup at both ends, its share of the variance alone and in all.
pub(super) fn effect_cells(effect: &Effect) -> [String; 5] {
    [
        effect.factor.name.clone(),
        range_words(&effect.factor),
        format!("{} to {}", times(effect.at_low), times(effect.at_high)),
        percent(effect.indices.first.max(0.0)),
        percent(effect.indices.total),
    ]
}

/// `1.84 to 2.16`; factors on times as `0.96x to 1.04x`.
pub(super) fn range_words(factor: &Factor) -> String {
    let high = with_unit(factor.high, factor.unit);
    let low = with_unit(factor.low, factor.unit);
    // One unit is enough for both numbers.
    let unit = high.rsplit_once(' ').map_or("", |(_, unit)| unit);
    let low = if unit.is_empty() { low } else { low.trim_end_matches(unit).trim_end().to_owned() };
    format!("{low} to {high}")
}

/// One turn: `batch: loses from 12 on (8 to 20), in 97 % of the samples`.
pub(super) fn turn_words(turn: &Turn) -> String {
    let [low, middle, high] = turn.at.map(|at| significant(f64::from(at), 12));
    let verb = if turn.wins { "wins" } else { "loses" };
    let over = turn.over.replace('_', " ");
    format!("{over}: {verb} from {middle} on ({low} to {high}), in {} of the samples", percent(turn.share))
}

/// Which observation would make the verdict sure.
pub(super) fn more_cycles_words(more: &MoreCycles) -> String {
    let against = format!(
        "accept length against its break-even, {} ± {}, with 5 % of error on either side",
        with_unit(more.break_even, "tokens"),
        minus(&format!("{:.3}", more.margin))
    );
    let seen = more.seen.map(|seen| {
        let worth = significant((seen * more.per_independent).round().max(1.0), 2);
        format!("{worth} cycles are behind it")
    });
    let count = significant(more.expected.ceil().max(1.0), 2);
    let mut words = match (more.expected > 0.0, seen) {
        (false, Some(seen)) => format!("Cycles: enough were observed ({against}); {seen}."),
        (false, None) => format!("Cycles: enough were observed ({against})."),
        (true, Some(seen)) => {
            format!("Cycles: about {count} more would decide the {against}; {seen}.")
        }
        (true, None) => format!("Cycles: about {count} would decide the {against}; none are known so far."),
    };
    if let Some(blocker) = &more.blocker {
        let _ = write!(
            words,
            " They alone cannot make the verdict 95 % sure: with the accept length known exactly it is {} sure. \
             What to measure first: {blocker}.",
            percent(more.ceiling)
        );
    }
    words
}
