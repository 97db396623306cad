//! How sure the answer is, where Monte Carlo was asked for.

use crate::report::context::{Context, Style};
use crate::report::paint::Tone;
use crate::report::surely::{
    EFFECT_HEADING, OUTCOME_HEADING, effect_cells, headline, more_cycles_words, outcome_cells, turn_words,
};
use crate::report::table::{Align, Cell, Overflow, Table};
use crate::report::wrap::paragraph;

/// Ranges of all outputs, what they hang on, where the verdict turns, what to observe.
pub(super) fn sections(context: &Context, style: &Style) -> String {
    let Some(found) = &context.uncertainty else { return String::new() };
    let title = |words: &str| Tone::Strong.paint(words, style.color) + "\n";
    let mut out = title("How sure") + &paragraph(&headline(found), "  ", "  ", style.width);
    out.push_str(&table(OUTCOME_HEADING, found.outcomes.iter().map(outcome_cells), style));
    if !found.effects.is_empty() {
        out.push('\n');
        let heading = ["What the speedup hangs on"]
            .into_iter()
            .chain(EFFECT_HEADING.into_iter().skip(1))
            .collect::<Vec<_>>();
        let heading = heading.try_into().expect("as many cells");
        out.push_str(&table(heading, found.effects.iter().map(effect_cells), style));
        out.push_str(&paragraph(
            "alone, in all: share of the variance of ln speedup (Sobol indices, first order and total)",
            "  ",
            "  ",
            style.width,
        ));
    }
    if !found.turns.is_empty() {
        out.push('\n');
        out.push_str(&title("Where the verdict turns, by the model alone"));
        for turn in &found.turns {
            out.push_str(&paragraph(&turn_words(turn), "  ", "    ", style.width));
        }
    }
    if let Some(more) = &found.more_cycles {
        out.push('\n');
        out.push_str(&paragraph(&more_cycles_words(more), "", "  ", style.width));
    }
    out
}

fn table(heading: [&str; 5], rows: impl Iterator<Item = [String; 5]>, style: &Style) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[Left, Right, Right, Right, Right], Overflow::Stack);
    table.row(heading.map(|word| Cell::new(word, Tone::Strong)));
    for [name, rest @ ..] in rows {
        let name = Cell::from(format!("  {name}"));
        table.row(std::iter::once(name).chain(rest.into_iter().map(Cell::from)));
    }
    table.render(style.width, style.color)
}
