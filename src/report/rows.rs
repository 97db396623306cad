//! The cells that text and Markdown share: breakdowns and levers, formatted but not yet laid out.

use crate::analytic::{BreakEven, BreakEvens, Lever, Prediction, Row, Verdict};
use crate::sourced::Sourced;
use crate::units::{AcceptLength, Seconds};

use super::number::{TimeScale, difference, percent, percent_change};

/// One line of a breakdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartRow {
    /// Tree characters before the label.
    pub(super) branch: String,
    /// `allreduce, 122 x 205 µs`.
    pub(super) label: String,
    /// Depth in the tree.
    pub(super) depth: u8,
    /// Time used.
    pub(super) time: String,
    /// Share of the whole.
    pub(super) share: String,
    /// Where the time came from; a `*` says that a table was left at its edge.
    pub(super) source: String,
    /// The model's own figure.
    pub(super) model: String,
}

/// A breakdown: its rows, and what is true of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// The rows.
    pub(super) rows: Vec<PartRow>,
    /// Whether any row has a model's figure.
    pub(super) has_model: bool,
    /// Whether a source carries a `*`.
    pub(super) has_extrapolated: bool,
}

/// The cycle as a tree.
pub(super) fn cycle_parts(prediction: &Prediction) -> Parts {
    let speculation = &prediction.speculation;
    let label = |row: &Row| match (row.part.as_str(), row.depth) {
        ("cycle", 0) => format!("cycle, {} tokens", speculation.accept_length.used.value),
        ("verify", 1) => match speculation.execution {
            Some(execution) => format!("verify, {execution}"),
            None => "verify".to_owned(),
        },
        _ => counted(row),
    };
    parts(&speculation.cycle_breakdown, label)
}

/// The baseline step, the whole of it first.
pub(super) fn baseline_parts(prediction: &Prediction) -> Parts {
    let baseline = &prediction.baseline;
    let whole = Row {
        part: baseline.execution.map_or("step".to_owned(), |execution| format!("step, {execution}")),
        count: None,
        each: None,
        time: Some(baseline.step.used),
        share: None,
        predicted: baseline.step.predicted,
        depth: 0,
    };
    // Rows that start at depth 0 and are not the step itself hang below it.
    let is_step = |row: &Row| row.depth == 0 && row.part == "step";
    let deeper = u8::from(!baseline.breakdown.iter().any(is_step));
    let below = baseline.breakdown.iter().filter(|row| !is_step(row));
    let below = below.map(|row| Row { depth: row.depth + deeper, ..row.clone() });
    let rows: Vec<Row> = std::iter::once(whole).chain(below).collect();
    parts(&rows, counted)
}

fn counted(row: &Row) -> String {
    match (row.count, row.each) {
        (Some(count), Some(each)) => format!("{}, {count} x {each}", row.part),
        (Some(count), None) => format!("{}, {count} x", row.part),
        (None, _) => row.part.clone(),
    }
}

fn parts(rows: &[Row], label: impl Fn(&Row) -> String) -> Parts {
    let value = |time: &Option<Sourced<Seconds>>| time.map(|t| t.value);
    let scale = TimeScale::for_largest(
        rows.iter().flat_map(|row| [value(&row.time), value(&row.predicted)]).flatten(),
    );
    let depths: Vec<u8> = rows.iter().map(|row| row.depth).collect();
    let text = |time: &Option<Sourced<Seconds>>| time.map_or(String::new(), |t| scale.text(t.value));
    let one = |(i, row): (usize, &Row)| PartRow {
        branch: branch(&depths, i),
        label: label(row),
        depth: row.depth,
        time: text(&row.time),
        share: row.share.map_or(String::new(), percent),
        source: row.time.map_or(String::new(), |time| source_word(&time)),
        model: text(&row.predicted),
    };
    Parts {
        rows: rows.iter().enumerate().map(one).collect(),
        // Beside figures that are the model's own, its column would only repeat them.
        has_model: rows.iter().any(|row| row.predicted.is_some() && text(&row.predicted) != text(&row.time)),
        has_extrapolated: rows.iter().any(|row| row.time.is_some_and(|time| time.extrapolated)),
    }
}

/// The source of a value; a `*` where a table was left at its edge.
pub(super) fn source_word<T>(sourced: &Sourced<T>) -> String {
    let mark = if sourced.extrapolated { "*" } else { "" };
    format!("{}{mark}", sourced.source.word())
}

/// Tree characters for row `i` of rows with these depths: `├─ `, `╰─ ` after the last of its siblings, and a
/// bar below each ancestor that has siblings to come.
fn branch(depths: &[u8], i: usize) -> String {
    let depth = depths[i];
    let has_later_sibling =
        |level: u8| depths[i + 1..].iter().take_while(|&&d| d >= level).any(|&d| d == level);
    (1..=depth)
        .map(|level| match (level == depth, has_later_sibling(level)) {
            (true, true) => "├─ ",
            (true, false) => "╰─ ",
            (false, true) => "│  ",
            (false, false) => "   ",
        })
        .collect()
}

/// Stands for an accept length that every cycle exceeds.
const ANY: &str = "any";

/// One line of the lever table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeverRow {
    /// The lever.
    pub(super) name: &'static str,
    /// Its value now.
    pub(super) now: String,
    /// The value needed, or `unreachable`.
    pub(super) needed: String,
    /// From now to needed.
    pub(super) change: String,
    /// The value needed if drafting were free, or why no value does it.
    pub(super) draft_free: String,
    /// Whether a value is needed that can be reached.
    pub(super) reachable: bool,
}

/// The levers, in a fixed order.
pub(super) fn lever_rows(break_even: &BreakEvens, cycle: Seconds) -> Vec<LeverRow> {
    let own = TimeScale::for_largest([cycle]);
    // Every cycle yields the bonus token: what needs less is met by any draft.
    let accept_text =
        |length: AcceptLength| if length.get() < 1.0 { ANY.to_owned() } else { length.to_string() };
    let mut rows = vec![
        lever_row("accept length", &break_even.accept_length, accept_text, difference),
        lever_row("verify", &break_even.verify, |t| own.text(t), percent_change),
    ];
    if let Some(lever) = &break_even.allreduce {
        let scale = TimeScale::for_largest(lever_times(lever));
        rows.push(lever_row("one allreduce", lever, |t| scale.text(t), percent_change));
    }
    rows.push(lever_row("draft and host", &break_even.draft_host, |t| own.text(t), percent_change));
    rows
}

fn lever_times(lever: &Lever<Seconds>) -> Vec<Seconds> {
    let needed = match lever.needed {
        BreakEven::Reached { value, draft_free } => [value, draft_free],
        BreakEven::Unreachable { .. } => [None, None],
    };
    std::iter::once(lever.now.value).chain(needed.into_iter().flatten()).collect()
}

fn lever_row<T: Copy>(
    name: &'static str,
    lever: &Lever<T>,
    text: impl Fn(T) -> String,
    change: impl Fn(f64) -> String,
) -> LeverRow {
    let bound = |value: T| match text(value) {
        any if any == ANY => any,
        text => format!("{} {text}", if lever.at_least { '≥' } else { '≤' }),
    };
    let unreachable = || "unreachable".to_owned();
    let none = || "—".to_owned();
    let (needed, draft_free, reachable) = match &lever.needed {
        BreakEven::Reached { value, draft_free } => {
            // A lever that is reached with drafting kept has nothing to add only where it is drafting itself.
            let missing = || if value.is_some() { none() } else { unreachable() };
            let free = draft_free.map_or_else(missing, &bound);
            (value.map(&bound), free, value.is_some())
        }
        BreakEven::Unreachable { because } => (None, because.clone(), false),
    };
    LeverRow {
        name,
        now: text(lever.now.value),
        needed: needed.unwrap_or_else(unreachable),
        change: lever.change.filter(|_| reachable).map_or_else(none, change),
        draft_free,
        reachable,
    }
}

/// What the lever table answers, as its heading.
pub(super) fn lever_heading(prediction: &Prediction) -> String {
    let baseline = prediction.baseline.throughput.used.value;
    match prediction.verdict {
        Verdict::Wins => {
            format!("To stay above {baseline}, any one of these may change this far (the rest unchanged):")
        }
        Verdict::Loses | Verdict::Ties => {
            format!("To reach {baseline}, any one of these (the rest unchanged):")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::branch;

    #[test]
    fn branches_follow_the_depths() {
        let depths = [0, 1, 2, 2, 1, 2, 0];
        let drawn: Vec<String> = (0..depths.len()).map(|i| branch(&depths, i)).collect();
        assert_eq!(drawn, ["", "├─ ", "│  ├─ ", "│  ╰─ ", "╰─ ", "   ╰─ ", ""]);
    }
}
