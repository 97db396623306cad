//! Gain over batch size and draft depth, and the best setting over batch size.

use crate::report::number::times;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::Rect;
use super::heat_map::{color, color_bar, reach, shade};
use super::marker::{Shape, marker};
use super::page::{Frame, HEIGHT, NOTE, Tick, WIDTH, heading, plot_area};
use super::palette::{BLACK, INK, MODEL, VERMILLION};

/// Gains of each draft depth at each batch size.
#[derive(Debug, Clone, PartialEq)]
pub struct GainMap {
    /// The set-up in words.
    pub setup: String,
    /// Batch sizes, rising: the columns.
    pub batches: Vec<u32>,
    /// Drafted tokens, rising: the rows.
    pub depths: Vec<u32>,
    /// Gain over no speculation, one row per depth; none where nothing was priced.
    pub gains: Vec<Vec<Option<f64>>>,
}

/// The best setting at one batch size.
#[derive(Debug, Clone, PartialEq)]
pub struct Stair {
    /// Requests.
    pub batch: u32,
    /// Drafted tokens; 0: off.
    pub depth: u32,
    /// The setting in words.
    pub words: String,
    /// Its gain.
    pub gain: f64,
}

/// The best setting over batch size.
#[derive(Debug, Clone, PartialEq)]
pub struct Staircase {
    /// The set-up in words.
    pub setup: String,
    /// Batch sizes, rising.
    pub stairs: Vec<Stair>,
}

/// Most cells in a row that still carry their number.
const NUMBERED: usize = 14;

/// Gain over batch size and draft depth, as SVG: equal cells, since batch sizes are a list.
pub fn gain_map(data: &GainMap) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &claim(data), &data.setup);
        let area = plot_area(top, HEIGHT, 104.0);
        let (columns, rows) = (data.batches.len(), data.depths.len());
        if columns == 0 || rows == 0 {
            return;
        }
        let frame = grid(area, columns, rows);
        let plain: Vec<Vec<f64>> =
            data.gains.iter().map(|row| row.iter().map(|gain| gain.unwrap_or(f64::NAN)).collect()).collect();
        let reach = reach(&plain);
        for (row, gains) in plain.iter().enumerate() {
            for (column, gain) in gains.iter().enumerate().filter(|(_, gain)| gain.is_finite()) {
                cell(canvas, &frame, (column, row), *gain, reach, columns <= NUMBERED);
            }
        }
        best(canvas, &frame, &plain);
        color_bar(canvas, &area, reach);
        let x_ticks = ticks(&data.batches);
        let y_ticks = ticks(&data.depths);
        frame.axes(canvas, (&x_ticks, "batch [running requests]"), (&y_ticks, "drafted tokens"));
    })
}

/// Where it pays most, in a sentence.
fn claim(data: &GainMap) -> String {
    let cells = data.gains.iter().zip(&data.depths).flat_map(|(row, depth)| {
        row.iter().zip(&data.batches).filter_map(move |(gain, batch)| Some((gain.as_ref()?, depth, batch)))
    });
    match cells.max_by(|a, b| a.0.total_cmp(b.0)) {
        Some((gain, depth, batch)) if *gain > 1.0 => {
            format!("Speculation pays most with {depth} drafted tokens at batch {batch}: {}", times(*gain))
        }
        _ => "Speculation pays nowhere here".to_owned(),
    }
}

fn grid(area: Rect, columns: usize, rows: usize) -> Frame {
    Frame {
        area,
        x: Axis::linear(-0.5, columns as f64 - 0.5, area.left, area.right),
        y: Axis::linear(-0.5, rows as f64 - 0.5, area.bottom, area.top),
    }
}

/// One tick per number of a list, thinned where there are many.
fn ticks(numbers: &[u32]) -> Vec<Tick> {
    let every = numbers.len().div_ceil(NUMBERED).max(1);
    numbers.iter().enumerate().step_by(every).map(|(at, n)| (at as f64, n.to_string())).collect()
}

fn cell(
    canvas: &Canvas<'_>,
    frame: &Frame,
    (column, row): (usize, usize),
    gain: f64,
    reach: f64,
    numbered: bool,
) {
    let rect = around(frame, column, row);
    let ground = color(shade(gain, reach));
    canvas.fill(rect, ground, 1.0);
    if numbered {
        let font = Font::new(11.5, Anchor::Middle).color(ground.ink_on());
        canvas.text(frame.at(column as f64, row as f64), &times(gain), font);
    }
}

fn around(frame: &Frame, column: usize, row: usize) -> Rect {
    let (x, y) = (column as f64, row as f64);
    Rect::new(frame.x.at(x - 0.5), frame.y.at(y + 0.5), frame.x.at(x + 0.5), frame.y.at(y - 0.5))
}

/// A frame around the best depth of each batch size that beats no speculation.
fn best(canvas: &Canvas<'_>, frame: &Frame, gains: &[Vec<f64>]) {
    let columns = gains.first().map_or(0, Vec::len);
    for column in 0..columns {
        let of = |row: &usize| gains[*row][column];
        let rows = (0..gains.len()).filter(|row| of(row).is_finite());
        let Some(row) = rows.max_by(|a, b| of(a).total_cmp(&of(b))).filter(|row| of(row) > 1.0) else {
            continue;
        };
        let r = around(frame, column, row);
        let (left, right, top, bottom) = (r.left + 1.0, r.right - 1.0, r.top + 1.0, r.bottom - 1.0);
        let outline = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        canvas.line(&outline, Stroke::solid(BLACK, 2.0));
    }
}

/// The best number of drafted tokens over batch size, as SVG; 0 is off.
pub fn best_setting(data: &Staircase) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &title(&data.stairs), &data.setup);
        let area = plot_area(top, HEIGHT, 28.0);
        let deepest = data.stairs.iter().map(|stair| stair.depth).max().unwrap_or(0).max(1);
        let frame = grid(area, data.stairs.len().max(1), deepest as usize + 1);
        let batches: Vec<u32> = data.stairs.iter().map(|stair| stair.batch).collect();
        let depths: Vec<u32> = (0..=deepest).collect();
        let (x_ticks, mut y_ticks) = (ticks(&batches), ticks(&depths));
        if let Some(first) = y_ticks.first_mut() {
            "off".clone_into(&mut first.1);
        }
        frame.grid(canvas, &x_ticks, &y_ticks);
        let place = |(at, stair): (usize, &Stair)| frame.at(at as f64, f64::from(stair.depth));
        let places: Vec<_> = data.stairs.iter().enumerate().map(place).collect();
        // Each setting holds until the next batch size that was priced.
        let corners: Vec<_> = places.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]).collect();
        let path: Vec<_> = corners.into_iter().chain(places.last().copied()).collect();
        canvas.line(&path, Stroke::solid(INK, 2.0));
        for (number, (at, stair)) in places.iter().zip(&data.stairs).enumerate() {
            let (shape, color) =
                if stair.depth > 0 { (Shape::Triangle, MODEL) } else { (Shape::Square, VERMILLION) };
            marker(canvas, *at, shape, color, 5.0);
            if data.stairs.len() <= NUMBERED {
                let font = Font { anchor: Anchor::Middle, ..NOTE.color(color) };
                let falls =
                    number.checked_sub(1).is_some_and(|before| data.stairs[before].depth > stair.depth);
                let above = if falls || stair.depth == deepest { 18.0 } else { -14.0 };
                canvas.text((at.0, at.1 + above), &times(stair.gain), font);
            }
        }
        frame.axes(
            canvas,
            (&x_ticks, "batch [running requests]"),
            (&y_ticks, "best number of drafted tokens"),
        );
    })
}

fn title(stairs: &[Stair]) -> String {
    let mut turns: Vec<&Stair> = Vec::new();
    for stair in stairs {
        if turns.last().is_none_or(|last| last.words != stair.words) {
            turns.push(stair);
        }
    }
    if turns.len() > 3 {
        return format!("The best setting changes {} times over the batch size", turns.len() - 1);
    }
    let words: Vec<String> = turns.iter().map(|t| format!("{} from batch {}", t.words, t.batch)).collect();
    format!("Best: {}", words.join(", "))
}
