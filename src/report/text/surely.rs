//! How sure the answer is, where Monte Carlo was asked for.

use crate::report::context::{Context, Style};
use crate::report::paint::Tone;
use crate::report::surely::{
    EFFECT_HEADING, EFFECT_NOTE, OUTCOME_HEADING, caveat, effect_cells, headline, more_cycles_words, moving,
    outcome_cells, turn_words,
};
use crate::report::table::{Align, Cell, Overflow, Table};
use crate::report::wrap::paragraph;

/// Ranges of all outputs, what they hang on, where the verdict turns, what to observe.
pub(super) fn sections(context: &Context, style: &Style) -> String {
    use Align::{Left, Right};
    let Some(found) = &context.uncertainty else { return String::new() };
    let title = |words: &str| Tone::Strong.paint(words, style.color) + "\n";
    let mut out = title("How sure") + &paragraph(&headline(found), "  ", "  ", style.width);
    if moving(found).next().is_some() {
        out.push('\n');
        let rows = moving(found).map(outcome_cells);
        out.push_str(&table(&[Left, Right, Right, Right], OUTCOME_HEADING, rows, style));
    }
    if !found.effects.is_empty() {
        out.push('\n');
        let rows = found.effects.iter().map(effect_cells);
        out.push_str(&table(&[Left, Right, Right, Right, Right], EFFECT_HEADING, rows, style));
        out.push_str(&paragraph(EFFECT_NOTE, "  ", "  ", style.width));
        if let Some(caveat) = caveat(found) {
            out.push_str(&paragraph(caveat, "  ", "  ", style.width));
        }
    }
    if !found.turns.is_empty() {
        out.push('\n');
        out.push_str(&title("Where the winner changes, by the model alone"));
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

fn table<const N: usize>(
    aligns: &[Align; N],
    heading: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    style: &Style,
) -> String {
    let mut table = Table::new(aligns, Overflow::Stack);
    table.row(heading.map(|word| Cell::new(word, Tone::Strong)));
    for mut cells in rows {
        cells[0].insert_str(0, "  ");
        table.row(cells.map(Cell::from));
    }
    table.render(style.width, style.color)
}
