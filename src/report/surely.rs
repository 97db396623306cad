//! How sure an answer is, in the cells and sentences that text and Markdown share.

use std::fmt::Write;

use crate::uncertainty::{Effect, Factor, MoreCycles, Outcome, Turn, Uncertainty};
use crate::units::significant;

use super::number::{minus, percent, times};
use super::plot::{Tornado, TornadoBar};

/// Heading of the table of outputs.
pub(super) const OUTCOME_HEADING: [&str; 4] = ["5 % to 95 % of the samples", "value", "range", "first order"];
/// Heading of the table of inputs.
pub(super) const EFFECT_HEADING: [&str; 5] =
    ["What the speedup hangs on", "5 % to 95 %", "speedup", "alone", "in all"];
/// What stands below that table.
pub(super) const EFFECT_NOTE: &str =
    "alone, in all: share of the variance of ln speedup (Sobol indices, first order and total)";

/// Whether speculation wins, in samples; or that nothing can move.
pub(super) fn headline(found: &Uncertainty) -> String {
    let Some(first) = found.first_order_probability else {
        return "No input that the speedup uses has a range, so there is nothing to draw. State one where a figure was \
                measured, as `30 ms +- 1 ms`, or the cycles behind the acceptance."
            .to_owned();
    };
    let loses = found.win_probability < 0.5;
    let of_side = |p: f64| if loses { 1.0 - p } else { p };
    format!(
        "Speculation {} in {} of {} samples (seed {}, standard error {} points), to first order in {}.",
        if loses { "loses" } else { "wins" },
        share_words(of_side(found.win_probability)),
        whole(found.samples.into()),
        found.seed,
        one_decimal(found.win_error * 100.0),
        share_words(of_side(first)),
    )
}

/// What ranges of modelled inputs leave out; none where no factor of the model moves the speedup.
pub(super) fn caveat(found: &Uncertainty) -> Option<&'static str> {
    found.effects.iter().any(|effect| effect.factor.unit == "x").then_some(
        "These are the ranges of the inputs. What the model leaves out is not in them: `specplan validate` shows how \
         far its times are off.",
    )
}

/// A whole number, thousands apart.
fn whole(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
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

/// Outputs that something moves.
pub(super) fn moving(found: &Uncertainty) -> impl Iterator<Item = &Outcome> {
    found.outcomes.iter().filter(|outcome| outcome.first_order.is_some())
}

/// One output: name, value, range by samples, range by first order.
pub(super) fn outcome_cells(outcome: &Outcome) -> [String; 4] {
    let sometimes = outcome.reachable < 0.995;
    let is_time = matches!(outcome.unit, "us" | "ms" | "s");
    // No time is below zero: such an end of a range stands for what cannot be reached.
    let out_of_reach = |number: f64| sometimes && is_time && number <= 0.0;
    let ends = |low: f64, high: f64| {
        let beyond = out_of_reach(low) && out_of_reach(high);
        match (beyond || outcome.reachable <= 0.0, out_of_reach(low)) {
            (true, _) => "—".to_owned(),
            (_, true) => format!("none to {}", bare(&figure(outcome, high))),
            _ => range(&figure(outcome, low), &figure(outcome, high), true),
        }
    };
    let reachable =
        if sometimes { format!(" (reachable: {})", percent(outcome.reachable)) } else { String::new() };
    [
        format!("{}{reachable}", outcome.name),
        if outcome.possible { figure(outcome, outcome.value) } else { "unreachable".to_owned() },
        ends(outcome.sampled.low, outcome.sampled.high),
        outcome.first_order.map_or_else(|| "—".to_owned(), |(low, high)| ends(low, high)),
    ]
}

/// Two numbers of one unit, which stands behind the second unless the column says it already.
fn range(low: &str, high: &str, without_unit: bool) -> String {
    let high = if without_unit { bare(high) } else { high };
    format!("{} to {high}", bare(low))
}

/// A number without its unit.
fn bare(text: &str) -> &str {
    text.trim_end_matches('x').split(' ').next().unwrap_or_default()
}

/// One input: name, its range, the speedup at both ends, its share of the variance alone and in all.
pub(super) fn effect_cells(effect: &Effect) -> [String; 5] {
    [
        effect.factor.name.clone(),
        range_words(&effect.factor),
        range(&times(effect.at_low), &times(effect.at_high), false),
        percent(effect.indices.first.clamp(0.0, 1.0)),
        percent(effect.indices.total.clamp(0.0, 1.0)),
    ]
}

/// `0.30 to 1.00 ms`; factors on times as `0.96 to 1.04x`.
pub(super) fn range_words(factor: &Factor) -> String {
    let text = |number: f64| with_unit(number, factor.unit);
    range(&text(factor.low), &text(factor.high), false)
}

/// One turn: `batch: loses from 12 on (8 to 20), in 97 % of the samples`.
pub(super) fn turn_words(turn: &Turn) -> String {
    let [low, middle, high] = turn.at.map(|at| whole(at.into()));
    let verb = if turn.wins { "wins" } else { "loses" };
    let over = turn.over.replace('_', " ");
    let place = if low == high { String::new() } else { format!(" ({low} to {high})") };
    format!("{over}: {verb} from {middle}{place} on, in {} of the samples", percent(turn.share))
}

/// Rounded to two figures.
fn two_figures(number: f64) -> u64 {
    let power = 10_f64.powi((number.log10().floor() as i32 - 1).max(0));
    ((number / power).ceil() * power) as u64
}

/// Which observation would make the verdict sure.
pub(super) fn more_cycles_words(more: &MoreCycles) -> String {
    let against = format!(
        "accept length against its break-even, {} ± {}, with 5 % of error on either side",
        with_unit(more.break_even, "tokens"),
        minus(&format!("{:.3}", more.margin))
    );
    let count = |cycles: f64| whole(two_figures(cycles.max(1.0)));
    let seen = more.seen.map(|seen| {
        let all = count(seen * more.per_independent);
        let worth = if more.per_independent > 1.005 {
            format!(", worth {} independent ones", count(seen))
        } else {
            String::new()
        };
        format!("about {all} are behind it{worth}")
    });
    let seen = seen.unwrap_or_else(|| "how many are behind it is not known".to_owned());
    let mut words = if more.expected > 0.0 {
        format!("Cycles: about {} more would decide the {against}; {seen}.", count(more.expected))
    } else {
        format!("Cycles: enough were observed for the {against}; {seen}.")
    };
    if let Some(blocker) = &more.blocker {
        let _ = write!(
            words,
            " Cycles alone cannot make the verdict 95 % sure: with the accept length known exactly it would be {} \
             sure. Measure first: {blocker}.",
            percent(more.ceiling)
        );
    }
    words
}

/// The data of the tornado: what the inputs do to the speedup, as studied.
pub(super) fn tornado(found: &Uncertainty, setup: &str) -> Option<Tornado> {
    let first = found.effects.first()?;
    let speedup = found.outcomes.first()?.value;
    let title = format!("What moves the speedup of {} most: {}", times(speedup), first.factor.name);
    let bar = |effect: &Effect| TornadoBar {
        name: effect.factor.name.clone(),
        range: range_words(&effect.factor),
        at_low: effect.at_low,
        at_high: effect.at_high,
    };
    Some(Tornado { setup: setup.to_owned(), title, speedup, bars: found.effects.iter().map(bar).collect() })
}
