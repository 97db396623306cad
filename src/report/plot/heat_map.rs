//! Speedup over verify time and accept length, with the line where speculation stops paying.

use crate::report::number::times;
use crate::units::{AcceptLength, Seconds};

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::contour::contour;
use super::geometry::{Point, Rect};
use super::label::{Label, Placer};
use super::marker::{RADIUS, Shape, marker};
use super::page::{Frame, HEIGHT, NOTE, WIDTH, heading, number_ticks, plot_area};
use super::palette::{AXIS, BLACK, BLUE, Color, GRID, MODEL, OBSERVED, ORANGE, QUIET, WHITE};

/// Steps of colour between break-even and the end of the scale.
const SHADES: f64 = 28.0;
/// Width of the colour bar \[px\].
const BAR: f64 = 16.0;

/// Speedup on a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The set-up in words.
    pub setup: String,
    /// Verify times, rising: the columns.
    pub verify: Vec<Seconds>,
    /// Accept lengths, rising: the rows.
    pub accept_length: Vec<AcceptLength>,
    /// Speedup, one row per accept length.
    pub speedup: Vec<Vec<f64>>,
    /// Longest verify time that pays at the accept length used, for the title.
    pub break_even: Option<Seconds>,
    /// What was used: verify time, accept length, speedup.
    pub observed: Option<(Seconds, AcceptLength, f64)>,
    /// The model's own.
    pub model: Option<(Seconds, AcceptLength, f64)>,
}

/// Speedup over verify time and accept length, as SVG.
pub fn speedup_map(data: &HeatMap) -> String {
    let title = match (data.break_even, data.observed) {
        (Some(limit), Some((_, length, _))) => {
            format!("At accept length {length}, speculation pays while verify takes less than {limit}")
        }
        _ => "Where speculation pays: verify time and accept length".to_owned(),
    };
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &title, &data.setup);
        let area = plot_area(top, HEIGHT, 104.0);
        let (Some(v0), Some(v1)) = (data.verify.first(), data.verify.last()) else { return };
        let (Some(l0), Some(l1)) = (data.accept_length.first(), data.accept_length.last()) else { return };
        let frame = Frame {
            area,
            x: Axis::linear(v0.ms(), v1.ms(), area.left, area.right),
            y: Axis::linear(l0.get(), l1.get(), area.bottom, area.top),
        };
        let reach = reach(&data.speedup);
        let xs: Vec<f64> = data.verify.iter().map(|v| frame.x.at(v.ms())).collect();
        let ys: Vec<f64> = data.accept_length.iter().map(|l| frame.y.at(l.get())).collect();
        cells(canvas, &area, (&xs, &ys), &data.speedup, reach);
        color_bar(canvas, &area, reach);
        let mut placer = Placer::new(area.grown(-4.0));
        let line = draw_contour(canvas, (&xs, &ys), &data.speedup, &mut placer);
        let (x_ticks, y_ticks) = (number_ticks(&frame.x, 9), number_ticks(&frame.y, 7));
        let x_title = "time of one verify pass [ms]";
        frame.axes(canvas, (&x_ticks, x_title), (&y_ticks, "accept length [tokens per cycle]"));
        marks(canvas, &frame, data, &mut placer);
        if !line.is_empty() {
            placer.place(canvas, &line, 2.0, &Label::on_white("break-even, 1.00x", NOTE.bold()));
        }
        regions(canvas, &frame, data, &mut placer);
    })
}

/// Largest distance from break-even on the colour scale, in doublings: covers the grid, from 1/2 to 2.
pub(super) fn reach(speedup: &[Vec<f64>]) -> f64 {
    let farthest = speedup.iter().flatten().filter(|s| s.is_finite() && **s > 0.0).map(|s| s.log2().abs());
    (farthest.fold(0.0, f64::max) * 2.0).ceil().clamp(2.0, 4.0) / 2.0
}

/// White at break-even, blue where speculation wins, orange where it loses.
pub(super) fn shade(speedup: f64, reach: f64) -> i32 {
    ((speedup.max(1e-9).log2() / reach).clamp(-1.0, 1.0) * SHADES).round() as i32
}

pub(super) fn color(shade: i32) -> Color {
    let end = if shade >= 0 { BLUE } else { ORANGE };
    WHITE.mix(end, 0.85 * f64::from(shade.abs()) / SHADES)
}

/// Each node of the grid, at its pixels, colours the area around it; neighbours of one shade are drawn together. Grey is
/// where there is no speedup.
pub(super) fn cells(
    canvas: &Canvas<'_>,
    area: &Rect,
    (xs, ys): (&[f64], &[f64]),
    speedup: &[Vec<f64>],
    reach: f64,
) {
    let (x_edges, y_edges) = (edges(xs), edges(ys));
    for (row, values) in speedup.iter().enumerate().take(ys.len()) {
        let shades: Vec<Option<i32>> =
            values.iter().take(xs.len()).map(|&s| s.is_finite().then(|| shade(s, reach))).collect();
        let mut start = 0;
        while start < shades.len() {
            let run = shades[start..].iter().take_while(|s| **s == shades[start]).count();
            // Half a pixel over the next row and column, so that no hairline shows between cells.
            let right = (x_edges[start + run] + 0.5).min(area.right);
            let rect = Rect::new(x_edges[start], (y_edges[row + 1] - 0.5).max(area.top), right, y_edges[row]);
            canvas.fill(rect, shades[start].map_or(GRID, color), 1.0);
            start += run;
        }
    }
}

/// The ends and the midpoints between neighbours.
fn edges(places: &[f64]) -> Vec<f64> {
    let middles = places.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
    let (first, last) = (places.first().copied(), places.last().copied());
    first.into_iter().chain(middles).chain(last).collect()
}

pub(super) fn color_bar(canvas: &Canvas<'_>, area: &Rect, reach: f64) {
    let (left, right) = (area.right + 22.0, area.right + 22.0 + BAR);
    let y = |doublings: f64| f64::midpoint(area.top, area.bottom) - doublings / reach * area.height() / 2.0;
    let font = Font::new(12.0, Anchor::Start).color(QUIET);
    for shade in -(SHADES as i32)..=SHADES as i32 {
        // A little over the next shade below, so that no hairline shows.
        let at = |half: f64| y((f64::from(shade) + half) / SHADES * reach).clamp(area.top, area.bottom);
        canvas.fill(Rect::new(left, at(0.6), right, at(-0.5)), color(shade), 1.0);
    }
    let frame =
        [(left, area.top), (right, area.top), (right, area.bottom), (left, area.bottom), (left, area.top)];
    canvas.line(&frame, Stroke::solid(AXIS, 1.0));
    for speedup in [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0_f64] {
        let doublings = speedup.log2();
        if doublings.abs() <= reach + 0.05 {
            let y = y(doublings).clamp(area.top, area.bottom);
            canvas.line(&[(right, y), (right + 4.0, y)], Stroke::solid(AXIS, 1.0));
            canvas.text((right + 7.0, y), &format!("{speedup}x"), font);
        }
    }
    canvas.text((left - 6.0, area.bottom + 14.0), "speedup", font);
}

/// The line of speedup 1 through a grid with these pixels; the pixels along it.
pub(super) fn draw_contour(
    canvas: &Canvas<'_>,
    (xs, ys): (&[f64], &[f64]),
    speedup: &[Vec<f64>],
    placer: &mut Placer,
) -> Vec<Point> {
    let pixel = |(column, row): Point| (within(xs, column), within(ys, row));
    let segments = contour(speedup, 1.0);
    for &[a, b] in &segments {
        let piece = [pixel(a), pixel(b)];
        canvas.line(&piece, Stroke::solid(BLACK, 2.4));
        placer.avoid_line(&piece);
    }
    segments.into_iter().step_by(4).map(|[a, _]| pixel(a)).collect()
}

/// The value at a fractional index.
fn within(values: &[f64], at: f64) -> f64 {
    let below = (at.floor() as usize).min(values.len() - 1);
    let above = (below + 1).min(values.len() - 1);
    values[below] + (values[above] - values[below]) * (at - below as f64)
}

fn marks(canvas: &Canvas<'_>, frame: &Frame, data: &HeatMap, placer: &mut Placer) {
    let both =
        [("used", &data.observed, Shape::Disc, OBSERVED), ("model", &data.model, Shape::Diamond, MODEL)];
    let shown = both.into_iter().filter_map(|(who, mark, shape, color)| mark.map(|m| (who, m, shape, color)));
    let shown: Vec<_> = shown
        .map(|(who, (v, l, s), shape, color)| (who, frame.at(v.ms(), l.get()), s, shape, color))
        .filter(|(_, at, ..)| frame.area.holds(*at))
        .collect();
    for (_, at, ..) in &shown {
        placer.avoid_marker(*at, RADIUS + 2.0);
    }
    for (who, at, speedup, shape, color) in shown {
        marker(canvas, at, shape, color, RADIUS);
        let label = Label::on_white(&format!("{who}: {}", times(speedup)), NOTE.color(color).bold());
        placer.place(canvas, &[at], RADIUS, &label);
    }
}

/// Names the two sides at their corners, where the grid has both.
fn regions(canvas: &Canvas<'_>, frame: &Frame, data: &HeatMap, placer: &mut Placer) {
    let area = frame.area;
    let corner = |row: Option<&Vec<f64>>, last: bool| {
        row.and_then(|r| if last { r.last() } else { r.first() }).copied().unwrap_or(1.0)
    };
    let wins = corner(data.speedup.last(), false) > 1.0;
    let loses = corner(data.speedup.first(), true) < 1.0;
    let sides = [
        (wins, "speculation wins", (area.left + 10.0, area.top + 26.0)),
        (loses, "speculation loses", (area.right - 150.0, area.bottom - 26.0)),
    ];
    for (_, words, at) in sides.into_iter().filter(|side| side.0) {
        placer.place(canvas, &[at], 0.0, &Label::on_white(words, NOTE));
    }
}
