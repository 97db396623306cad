//! What-ifs, crossings over other settings, and sensitivities.

use crate::analytic::{Crossing, Prediction, WhatIfAnswer};
use crate::report::context::Style;
use crate::report::number::{TimeScale, minus, times};
use crate::report::paint::Tone;
use crate::report::table::{Align, Cell, Overflow, Table};
use crate::report::verb;
use crate::report::wrap::{NO_BREAK, paragraph};

use super::tone;

/// The named variations as a table.
pub(super) fn what_ifs(prediction: &Prediction, style: &Style) -> String {
    use Align::{Left, Right};
    if prediction.what_ifs.is_empty() {
        return String::new();
    }
    let scale = TimeScale::for_largest(prediction.what_ifs.iter().map(|answer| answer.verify));
    let mut table = Table::new(&[Left, Right, Right, Right, Left], Overflow::Stack);
    let heading = ["What if", "verify", "throughput", "speedup", "source"];
    table.row(heading.map(|word| Cell::new(word, Tone::Strong)));
    for answer in &prediction.what_ifs {
        table.row([
            format!("  {}", answer.name).into(),
            scale.text(answer.verify).into(),
            answer.throughput.to_string().into(),
            Cell::new(times(answer.speedup), tone(answer.verdict)),
            Cell::new(format!("{}{}", answer.source.word(), mark(answer)), Tone::Dim),
        ]);
    }
    let mut out = table.render(style.width, style.color);
    if prediction.what_ifs.iter().any(|answer| !answer.predicted_parts.is_empty()) {
        out.push_str("  † with the model's figure for each part whose inputs changed\n");
    }
    out
}

/// Marks an answer that contains a figure of the model.
fn mark(answer: &WhatIfAnswer) -> &'static str {
    if answer.predicted_parts.is_empty() { "" } else { " †" }
}

/// The weakest source, and which parts are the model's because their inputs changed.
pub(in crate::report) fn provenance(answer: &WhatIfAnswer) -> String {
    let word = answer.source.word();
    if answer.predicted_parts.is_empty() {
        word.to_owned()
    } else {
        format!("{word} ({})", answer.predicted_parts.join(", "))
    }
}

/// A scan under the name of what was varied.
pub(in crate::report) fn crossing_lists(prediction: &Prediction) -> [(&'static str, &[Crossing]); 4] {
    let scans = &prediction.break_even;
    [
        ("verify execution", &scans.execution),
        ("batch", &scans.batch),
        ("context", &scans.context),
        ("draft tokens", &scans.draft_tokens),
    ]
}

/// `loses from 4 (0.90x)`; `graph wins (1.33x)` for settings that have names instead of an order.
pub(in crate::report) fn crossing_words(crossing: &Crossing) -> String {
    let speedup = times(crossing.speedup);
    if crossing.at.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{} from {} ({speedup})", verb(crossing.verdict), crossing.at)
    } else {
        format!("{} {} ({speedup})", crossing.at, verb(crossing.verdict))
    }
}

/// Where the verdict turns, one line for each scan that was made.
pub(super) fn crossings(prediction: &Prediction, style: &Style) -> String {
    let lists = crossing_lists(prediction);
    let mut out = String::new();
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let words: Vec<String> =
            list.iter().map(|c| crossing_words(c).replace(' ', &NO_BREAK.to_string())).collect();
        let first = format!("  {name:<16}   ");
        out.push_str(&paragraph(&words.join(", "), &first, &" ".repeat(21), style.width));
    }
    if out.is_empty() {
        return out;
    }
    format!(
        "{}\n{out}",
        Tone::Strong.paint("Other settings, by the model alone (ties: within 1 %)", style.color)
    )
}

/// An input of the elasticities in the words of the other tables.
fn input_words(of: &str) -> String {
    if of == "draft_host" { "draft and host".to_owned() } else { of.replace('_', " ") }
}

/// What one per cent more of an input does to the speedup.
pub(super) fn elasticities(prediction: &Prediction, style: &Style) -> String {
    if prediction.elasticities.is_empty() {
        return String::new();
    }
    let one = |of: &str, value: f64| {
        // A negative zero is no loss.
        let value = if value.abs() < 0.005 { 0.0 } else { value };
        let sign = if value >= 0.0 { "+" } else { "" };
        format!("{} {sign}{} %", input_words(of), minus(&format!("{value:.2}")))
    };
    let all: Vec<String> = prediction.elasticities.iter().map(|e| one(e.of, e.value)).collect();
    let sentence = format!("1 % more of an input changes the speedup by: {}.", all.join(", "));
    paragraph(&sentence, "", "  ", style.width)
}
