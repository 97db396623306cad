//! What would have to change for speculation to equal the baseline.

use crate::analytic::{Prediction, WhatIfAnswer};
use crate::report::context::Style;
use crate::report::number::{TimeScale, times};
use crate::report::paint::Tone;
use crate::report::rows::{LeverRow, lever_heading, lever_rows};
use crate::report::table::{Align, Cell, Overflow, Table};
use crate::report::wrap::{columns, paragraph};

use super::tone;

/// Longest reason that stands inside the table; longer ones follow below it.
const REASON_IN_TABLE: usize = 28;

/// The table of levers and the largest of them.
pub(super) fn table(prediction: &Prediction, style: &Style) -> String {
    use Align::{Left, Right};
    let rows = lever_rows(&prediction.break_even, prediction.speculation.cycle.used.value);
    let mut table = Table::new(&[Left, Right, Right, Right, Right], Overflow::Elide);
    let heading = ["", "now", "needed", "change", "if drafting were free"];
    table.row(heading.map(|word| Cell::new(word, Tone::Strong)));
    let mut reasons = String::new();
    for row in &rows {
        let fits = columns(&row.draft_free) <= REASON_IN_TABLE;
        if !fits {
            let reason = format!("{}: {}", row.name, row.draft_free);
            reasons.push_str(&paragraph(&reason, "  ", "    ", style.width));
        }
        table.row(cells(row, if fits { row.draft_free.as_str() } else { "see below" }));
    }
    let heading = paragraph(&lever_heading(prediction), "", "", style.width);
    let heading: String = heading.lines().map(|line| Tone::Strong.paint(line, style.color) + "\n").collect();
    [heading, table.render(style.width, style.color), reasons, largest(prediction, style)].concat()
}

fn cells(row: &LeverRow, draft_free: &str) -> [Cell; 5] {
    let needed_tone = if row.reachable { Tone::Plain } else { Tone::Loss };
    [
        format!("  {}", row.name).into(),
        row.now.clone().into(),
        Cell::new(row.needed.clone(), needed_tone),
        row.change.clone().into(),
        draft_free.into(),
    ]
}

/// The other baseline of a change that moves the baseline too.
pub(in crate::report) fn against(prediction: &Prediction, lever: &WhatIfAnswer) -> String {
    let shown = lever.baseline.to_string();
    if shown == prediction.baseline.throughput.used.value.to_string() {
        String::new()
    } else {
        format!(" against {shown}")
    }
}

/// The single change that gains most, of those tried.
fn largest(prediction: &Prediction, style: &Style) -> String {
    let Some(lever) = &prediction.largest_lever else {
        return String::new();
    };
    let verify = TimeScale::for_largest([lever.verify]).text(lever.verify);
    let sentence = format!(
        "Largest lever: {}: {verify}, {}{} ({}).",
        lever.name,
        lever.throughput,
        against(prediction, lever),
        times(lever.speedup)
    );
    let text = paragraph(&sentence, "", "  ", style.width);
    let gain = format!("({})", times(lever.speedup));
    text.replacen(&gain, &tone(lever.verdict).paint(&gain, style.color), 1)
}
