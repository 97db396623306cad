//! A sweep for reading: every row where they are few, then what they come to.

use super::super::Style;
use super::super::number::times;
use super::super::table::{Align, Cell, Overflow, Table};
use super::super::wrap::wrap;
use super::table::{axis_value, cell, point, short_keys};
use crate::sweep::{Crossings, Grid, Kept, Marginal, Metric, Points, Shown, Summary};
use crate::units::significant;

/// Values of an axis that are listed one by one.
const LISTED: usize = 16;
/// Columns of text.
const WIDTH: usize = 80;
/// Turns that are listed.
const TURNS: usize = 8;

/// The sweep as text.
pub fn sweep_text(
    grid: &Grid,
    metrics: &[&Metric],
    rows: &[Kept],
    summary: &Summary,
    setup: &str,
    style: &Style,
) -> String {
    let blocks = blocks(grid, metrics, rows, summary, setup);
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Words(words) => out.push_str(&(words + "\n")),
            Block::Rows { aligns, rows } => {
                let mut table = Table::new(&aligns, Overflow::Elide);
                for row in rows {
                    table.row(row.into_iter().map(Cell::from));
                }
                out.push('\n');
                out.push_str(&table.render(style.width, style.color));
            }
        }
    }
    out
}

/// The sweep as Markdown.
pub fn sweep_markdown(
    grid: &Grid,
    metrics: &[&Metric],
    rows: &[Kept],
    summary: &Summary,
    setup: &str,
) -> String {
    let mut out = String::new();
    for block in blocks(grid, metrics, rows, summary, setup) {
        match block {
            Block::Words(words) => out.push_str(&(words + "\n\n")),
            Block::Rows { aligns, rows } => {
                out.push_str(&pipes(&aligns, &rows));
                out.push('\n');
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A table with `|` between its cells.
fn pipes(aligns: &[Align], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = |align: &Align| if *align == Align::Right { "---:" } else { "---" }.to_owned();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| line(row.iter().map(|cell| cell.trim().replace('|', "\\|")).collect()))
        .collect();
    lines.insert(1.min(lines.len()), line(aligns.iter().map(rule).collect()));
    lines.concat()
}

/// A sentence, or a table whose first row is the heading.
enum Block {
    Words(String),
    Rows { aligns: Vec<Align>, rows: Vec<Vec<String>> },
}

fn blocks(grid: &Grid, metrics: &[&Metric], rows: &[Kept], summary: &Summary, setup: &str) -> Vec<Block> {
    let mut all = vec![Block::Words(verdict(summary)), Block::Words(setup.to_owned())];
    if rows.len() as u64 == summary.points() {
        all.extend(every_row(grid, metrics, rows));
    }
    all.extend(extremes(grid, summary));
    for (number, marginals) in summary.marginals.iter().enumerate() {
        let turns = summary.crossings(grid, number);
        if grid.dimensions().len() > 1 {
            all.push(marginal_table(grid, number, marginals));
        }
        if let Some(turns) = turns {
            all.extend(crossing_words(grid, number, &turns).map(Block::Words));
        }
    }
    all.extend(failures(grid, summary));
    all
}

fn verdict(summary: &Summary) -> String {
    let Summary { answered, wins, loses, ties, .. } = *summary;
    if answered == 0 {
        return format!("None of {} points has an answer.", count(summary.points()));
    }
    let whole = if summary.failed == 0 { "points".to_owned() } else { "points with an answer".to_owned() };
    let faster = count(summary.faster);
    let ties = if ties > 0 { format!(", ties at {}", count(ties)) } else { String::new() };
    let (wins, loses, answered) = (count(wins), count(loses), count(answered));
    format!(
        "Speculation wins at {wins} of {answered} {whole}, loses at {loses}{ties}; it is faster at {faster}."
    )
}

/// `100,000`.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|g| str::from_utf8(g).expect("digits")).collect();
    groups.join(",")
}

/// A row of values for each point. Columns at the right that have no room are left out, and named below.
fn every_row(grid: &Grid, metrics: &[&Metric], kept: &[Kept]) -> Vec<Block> {
    let mut heading = short_keys(grid);
    let axes = heading.len();
    heading.extend(metrics.iter().map(|metric| words_of(metric.name)));
    let mut rows = vec![heading];
    let mut place = Vec::new();
    for Kept { index, cells } in kept {
        grid.place(*index, &mut place);
        let mut row: Vec<String> =
            grid.axes().map(|(dimension, axis)| axis_value(axis, place[dimension])).collect();
        match cells {
            Ok(cells) => row.extend(cells.iter().map(cell)),
            Err(_) => row.extend(metrics.iter().map(|_| "failed".to_owned())),
        }
        rows.push(row);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut room = WIDTH;
    let fits = (0..rows[0].len()).take_while(|column| {
        let taken = width(*column) + if *column == 0 { 0 } else { 3 };
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    });
    let fitting = fits.count().max(axes);
    let hidden: Vec<&str> = metrics[fitting - axes..].iter().map(|metric| metric.name).collect();
    let words = format!("Further columns, with `-f csv` or `--metrics`: {}.", hidden.join(", "));
    for row in &mut rows {
        row.truncate(fitting);
    }
    let mut all = vec![Block::Rows { aligns: vec![Align::Right; fitting], rows }];
    if !hidden.is_empty() {
        all.push(Block::Words(wrap(&words, WIDTH).join("\n")));
    }
    all
}

/// `verify_ms` as a heading: `verify ms`.
fn words_of(name: &str) -> String {
    match name {
        "throughput_tok_s" => "tok/s".to_owned(),
        "baseline_throughput_tok_s" => "without".to_owned(),
        other => other.replace('_', " "),
    }
}

fn extremes(grid: &Grid, summary: &Summary) -> Vec<Block> {
    let Summary { best, worst, fastest, .. } = summary;
    let (Some(best), Some(worst)) = (best, worst) else { return Vec::new() };
    // Rounding alone makes no best point.
    if best.value - worst.value <= 1e-9 * best.value.abs() {
        return vec![Block::Words(format!("\nThe speedup is {} at every point.", times(best.value)))];
    }
    let mut rows = vec![
        vec![String::new(), String::new(), "at".to_owned()],
        vec!["Highest speedup".to_owned(), times(best.value), point(grid, best.index)],
        vec!["Lowest speedup".to_owned(), times(worst.value), point(grid, worst.index)],
    ];
    if let Some(fastest) = fastest {
        let rate = format!("{} tok/s", significant(fastest.value, 3));
        rows.push(vec!["Most tokens, either way".to_owned(), rate, point(grid, fastest.index)]);
    }
    vec![Block::Rows { aligns: vec![Align::Left, Align::Right, Align::Left], rows }]
}

fn marginal_table(grid: &Grid, number: usize, marginals: &[Marginal]) -> Block {
    let axis = &grid.dimensions()[number].axes[0];
    let heading = [axis.key.as_str(), "faster at", "speedup from", "mean", "to"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let skip = marginals.len().div_ceil(LISTED);
    let last = marginals.len() - 1;
    for (at, marginal) in
        marginals.iter().enumerate().filter(|(at, _)| at.is_multiple_of(skip) || *at == last)
    {
        let name = joined(grid, number, at);
        rows.push(match marginal.mean() {
            Some(mean) => {
                let share = 100.0 * marginal.faster as f64 / marginal.answered as f64;
                vec![name, format!("{share:.0} %"), times(marginal.least), times(mean), times(marginal.most)]
            }
            None => vec![name, "failed".to_owned(), "-".to_owned(), "-".to_owned(), "-".to_owned()],
        });
    }
    let aligns = vec![Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    Block::Rows { aligns, rows }
}

/// The values of all axes of a dimension.
fn joined(grid: &Grid, number: usize, at: usize) -> String {
    let axes = &grid.dimensions()[number].axes;
    axes.iter().map(|axis| axis_value(axis, at)).collect::<Vec<_>>().join(" & ")
}

/// Where the verdict turns along a dimension whose values have an order.
fn crossing_words(grid: &Grid, number: usize, found: &Crossings) -> Option<String> {
    let axis = &grid.dimensions()[number].axes[0];
    if !ordered(axis) {
        return None;
    }
    let key = &axis.key;
    let value = |index: u64| {
        let mut place = Vec::new();
        grid.place(index, &mut place);
        joined(grid, number, place[number])
    };
    if found.lines == 1 {
        let turns: Vec<String> = found
            .turns
            .iter()
            .take(TURNS)
            .map(|(before, after, pays)| {
                let what = if *pays { "starts to pay" } else { "stops paying" };
                format!("{what} between {} and {}", value(*before), value(*after))
            })
            .collect();
        return Some(match turns.as_slice() {
            [] => format!("\nOver {key} the speedup does not pass 1."),
            turns => format!("\nOver {key} speculation {}.", turns.join(", ")),
        });
    }
    let (crossed, lines) = (count(found.crossed), count(found.lines));
    let places: Vec<u64> = found.turns.iter().map(|turn| turn.1).collect();
    let ends = places
        .iter()
        .min_by_key(|index| at(grid, **index, number))
        .zip(places.iter().max_by_key(|index| at(grid, **index, number)));
    Some(match ends {
        None => format!("\nOver {key} the speedup passes 1 on none of {lines} lines."),
        Some((low, high)) if found.turns.len() < Crossings::SHOWN => {
            let (low, high) = (value(*low), value(*high));
            let ends = if low == high { format!("at {low}") } else { format!("from {low} to {high}") };
            format!("\nOver {key} the speedup passes 1 on {crossed} of {lines} lines, {ends}.")
        }
        Some(_) => format!("\nOver {key} the speedup passes 1 on {crossed} of {lines} lines."),
    })
}

fn at(grid: &Grid, index: u64, dimension: usize) -> usize {
    let mut place = Vec::new();
    grid.place(index, &mut place);
    place[dimension]
}

fn ordered(axis: &Points) -> bool {
    axis.count() > 1 && (0..axis.count()).all(|at| matches!(axis.shown(at), Shown::Number(_)))
}

fn failures(grid: &Grid, summary: &Summary) -> Vec<Block> {
    if summary.failed == 0 {
        return Vec::new();
    }
    let mut rows =
        vec![vec!["No answer at".to_owned(), "because, at the first of them".to_owned(), String::new()]];
    for (reason, first, points) in &summary.reasons {
        rows.push(vec![count(*points), point(grid, *first), reason.clone()]);
    }
    vec![Block::Rows { aligns: vec![Align::Right, Align::Left, Align::Left], rows }]
}
