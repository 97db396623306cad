//! Tables whose columns are as wide as their content and whose rows stay one line.

use super::paint::Tone;
use super::wrap::{columns, elide, wrap};

/// Blanks between two columns.
const GAP: usize = 3;

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Against the left edge.
    Left,
    /// Against the right edge.
    Right,
}

/// What happens to a first column that would push the row over the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    /// It is cut, with an ellipsis.
    Elide,
    /// It takes lines of its own; the numbers stand on the last of them.
    Stack,
}

/// Text in a tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Text in a tone.
    pub(super) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// A table; its first row is the heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    aligns: Vec<Align>,
    overflow: Overflow,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of columns; each row must have as many cells.
    pub(super) fn new(aligns: &[Align], overflow: Overflow) -> Self {
        Self { aligns: aligns.to_vec(), overflow, rows: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(row.len(), self.aligns.len(), "a row has a cell for each column");
        self.rows.push(row);
    }

    /// The lines, each ended by a newline and none with blanks at its end.
    pub(super) fn render(&self, width: usize, color: bool) -> String {
        let widths = self.widths(width);
        let mut out = String::new();
        for row in &self.rows {
            let head = self.fold_first(&row[0].text, widths[0]);
            let (last, above) = head.split_last().expect("a cell has at least one line");
            for line in above {
                out.push_str(line);
                out.push('\n');
            }
            out.push_str(&self.line(last, row, &widths, color));
            out.push('\n');
        }
        out
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let natural =
            |column: usize| self.rows.iter().map(|row| columns(&row[column].text)).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..self.aligns.len()).map(natural).collect();
        let others: usize = widths[1..].iter().map(|w| w + GAP).sum();
        widths[0] = widths[0].min(width.saturating_sub(others).max(16));
        widths
    }

    fn fold_first(&self, text: &str, width: usize) -> Vec<String> {
        if columns(text) <= width {
            return vec![text.to_owned()];
        }
        match self.overflow {
            Overflow::Elide => vec![elide(text, width)],
            Overflow::Stack => {
                let indent = &text[..text.len() - text.trim_start().len()];
                let rest = format!("{indent}  ");
                let lines = wrap(text, width.saturating_sub(columns(&rest)));
                let lead =
                    |(i, line): (usize, &String)| format!("{}{line}", if i == 0 { indent } else { &rest });
                lines.iter().enumerate().map(lead).collect()
            }
        }
    }

    fn line(&self, first: &str, row: &[Cell], widths: &[usize], color: bool) -> String {
        let mut line = String::new();
        let mut pending = 0;
        for (column, cell) in row.iter().enumerate() {
            let text = if column == 0 { first } else { &cell.text };
            let padding = widths[column].saturating_sub(columns(text));
            let (before, after) = match self.aligns[column] {
                Align::Left => (0, padding),
                Align::Right => (padding, 0),
            };
            pending += before + if column == 0 { 0 } else { GAP };
            if text.is_empty() {
                pending += after;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', pending));
            line.push_str(&cell.tone.paint(text, color));
            pending = after;
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(overflow: Overflow) -> Table {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left], overflow);
        table.row(["Part".into(), "time".into(), "source".into()]);
        table.row(["  a part with many words in it".into(), "3.0 µs".into(), "given".into()]);
        table.row(["  b".into(), "".into(), "".into()]);
        table
    }

    #[test]
    fn columns_align_and_no_line_ends_in_blanks() {
        assert_eq!(
            sample(Overflow::Elide).render(80, false),
            "Part                               time   source\n\
             \x20 a part with many words in it   3.0 µs   given\n\
             \x20 b\n"
        );
    }

    #[test]
    fn a_long_first_column_is_cut_or_stacked() {
        assert_eq!(
            sample(Overflow::Elide).render(36, false).lines().nth(1),
            Some("  a part with man…   3.0 µs   given")
        );
        assert_eq!(
            sample(Overflow::Stack).render(36, false),
            "Part                   time   source\n  a part with\n    many words in\n    it               3.0 µs   given\n  b\n"
        );
    }
}
