//! Where each millisecond goes.

use crate::analytic::Prediction;
use crate::report::context::Style;
use crate::report::paint::Tone;
use crate::report::rows::{PartRow, Parts, baseline_parts, cycle_parts};
use crate::report::table::{Align, Cell, Overflow, Table};

/// One draft/verify cycle as a tree.
pub(super) fn cycle(prediction: &Prediction, style: &Style) -> String {
    tree("One cycle", &cycle_parts(prediction), style)
}

/// One step without speculation, where its parts are known.
pub(super) fn baseline(prediction: &Prediction, style: &Style) -> String {
    let parts = baseline_parts(prediction);
    if parts.rows.len() < 2 { String::new() } else { tree("One step without it", &parts, style) }
}

fn tree(title: &str, parts: &Parts, style: &Style) -> String {
    use Align::{Left, Right};
    let aligns = [Left, Right, Right, Left, Right];
    let shown = if parts.has_model { 5 } else { 4 };
    let mut table = Table::new(&aligns[..shown], Overflow::Elide);
    let heading = [title, "time", "share", "source", "model"];
    table.row(heading.into_iter().take(shown).map(|word| Cell::new(word, Tone::Strong)));
    for row in &parts.rows {
        table.row(cells(row).into_iter().take(shown));
    }
    let mut out = table.render(style.width, style.color);
    if parts.has_extrapolated {
        out.push_str("  * outside the measured range\n");
    }
    out
}

fn cells(row: &PartRow) -> [Cell; 5] {
    [
        format!("  {}{}", row.branch, row.label).into(),
        row.time.clone().into(),
        row.share.clone().into(),
        Cell::new(row.source.clone(), Tone::Dim),
        row.model.clone().into(),
    ]
}
