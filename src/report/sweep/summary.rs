//! A sweep for reading: every row where they are few, then what they come to.

use super::super::Style;
use super::super::number::times;
use super::super::table::{Align, Cell, Overflow, Table};
use super::super::wrap::{paragraph, wrap};
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
            Block::Lines(lines) => out.push_str(&["\n", &lines.join("\n"), "\n"].concat()),
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
            Block::Words(words) => out.push_str(&(words.trim().replace('\n', " ") + "\n\n")),
            Block::Lines(lines) => {
                let item = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
                let items: Vec<String> = lines.iter().map(|line| format!("* {}\n", item(line))).collect();
                out.push_str(&(items.concat() + "\n"));
            }
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

/// A sentence, lines, or a table whose first row is the heading.
enum Block {
    Words(String),
    Lines(Vec<String>),
    Rows { aligns: Vec<Align>, rows: Vec<Vec<String>> },
}

fn blocks(grid: &Grid, metrics: &[&Metric], rows: &[Kept], summary: &Summary, setup: &str) -> Vec<Block> {
    let lines = |words: &str| Block::Words(wrap(words, WIDTH).join("\n"));
    let mut all = vec![lines(&verdict(summary)), lines(setup)];
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
            let words = crossing_words(grid, number, &turns);
            all.extend(words.map(|words| Block::Words(format!("\n{}", wrap(&words, WIDTH).join("\n")))));
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
    significant(number as f64, number.max(1).ilog10() as usize + 1)
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
    let told = |what: &str, value: String, index: u64| {
        let first = format!("{what:<24}{value:>12}   at ");
        paragraph(&point(grid, index), &first, &" ".repeat(42), WIDTH).trim_end().to_owned()
    };
    let mut lines = vec![
        told("Highest speedup", times(best.value), best.index),
        told("Lowest speedup", times(worst.value), worst.index),
    ];
    if let Some(fastest) = fastest {
        let rate = format!("{} tok/s", significant(fastest.value, 3));
        lines.push(told("Most tokens, either way", rate, fastest.index));
    }
    vec![Block::Lines(lines)]
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
        let turn = |(before, after, pays): &(u64, u64, bool)| {
            let what = if *pays { "starts to pay" } else { "stops paying" };
            format!("{what} between {} and {}", value(*before), value(*after))
        };
        let turns: Vec<String> = found.turns.iter().take(TURNS).map(turn).collect();
        return Some(match turns.as_slice() {
            [] => format!("Over {key} the speedup does not pass 1."),
            turns => format!("Over {key} speculation {}.", turns.join(", ")),
        });
    }
    let (crossed, lines) = (count(found.crossed), count(found.lines));
    Some(match found.ends {
        None => format!("Over {key} the speedup passes 1 for none of {lines} values of the rest."),
        Some((low, high)) => {
            let (low, high) = (joined(grid, number, low), joined(grid, number, high));
            let ends = if low == high { format!("at {low}") } else { format!("from {low} to {high}") };
            format!("Over {key} the speedup passes 1 for {crossed} of {lines} values of the rest, {ends}.")
        }
    })
}

fn ordered(axis: &Points) -> bool {
    axis.count() > 1 && (0..axis.count()).all(|at| matches!(axis.shown(at), Shown::Number(_)))
}

fn failures(grid: &Grid, summary: &Summary) -> Option<Block> {
    let told = |(reason, first, points): &(String, u64, u64)| {
        let points = if *points == 1 { "1 point".to_owned() } else { format!("{} points", count(*points)) };
        let whole = format!("No answer at {points}, the first at {}: {reason}", point(grid, *first));
        paragraph(&whole, "", "  ", WIDTH).trim_end().to_owned()
    };
    (summary.failed > 0).then(|| Block::Lines(summary.reasons.iter().map(told).collect()))
}
