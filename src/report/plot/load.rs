//! What a server gets through against the load on it, with speculation and without, and how long a request takes.

use crate::units::{Seconds, TokensPerSecond};

use super::axis::{Axis, nice_ceiling};
use super::canvas::{Canvas, Stroke, picture};
use super::geometry::{Rect, clip};
use super::label::{Label, Placer};
use super::marker::{Shape, marker};
use super::page::{Frame, NOTE, WIDTH, heading, number_ticks};
use super::palette::{BASELINE, Color, INK, MODEL};

/// One side under one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadSide {
    /// Output tokens per second.
    pub throughput: TokensPerSecond,
    /// Those of requests answered within the SLO, where there is one.
    pub goodput: Option<TokensPerSecond>,
    /// Mean time from arrival to the last token.
    pub latency: Seconds,
}

/// Both sides over the load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCurves {
    /// The set-up in words.
    pub setup: String,
    /// The finding.
    pub title: String,
    /// The axis: "load \[requests/s\]".
    pub axis: String,
    /// Load, with speculation, without; loads rising.
    pub points: Vec<(f64, LoadSide, LoadSide)>,
    /// The load of the scenario.
    pub here: Option<f64>,
}

const HEIGHT: u32 = 720;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 28.0;

/// Throughput above, latency below, as SVG.
pub fn throughput_against_load(data: &LoadCurves) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        let right = f64::from(WIDTH) - RIGHT;
        let middle = top + (f64::from(HEIGHT) - top) * 0.52;
        throughput(canvas, data, Rect::new(LEFT, top, right, middle - 30.0));
        latency(canvas, data, Rect::new(LEFT, middle, right, f64::from(HEIGHT) - 58.0));
    })
}

fn x_axis(data: &LoadCurves, area: &Rect) -> Axis {
    let last = data.points.iter().map(|point| point.0).chain(data.here).fold(0.0, f64::max);
    Axis::linear(0.0, last * 1.04, area.left, area.right)
}

fn here(canvas: &Canvas<'_>, frame: &Frame, data: &LoadCurves, placer: &mut Placer, named: bool) {
    let Some(load) = data.here else { return };
    let x = frame.x.at(load);
    let line = [(x, frame.area.top), (x, frame.area.bottom)];
    canvas.line(&line, Stroke::dashed(INK, 1.2));
    placer.avoid_line(&line);
    if named {
        let anchors = [0.94, 0.85, 0.1].map(|share| (x, frame.area.top + frame.area.height() * share));
        placer.place(canvas, &anchors, 0.0, &Label::new("the scenario", NOTE));
    }
}

fn series(
    canvas: &Canvas<'_>,
    frame: &Frame,
    points: &[(f64, f64)],
    (color, shape, dashed): (Color, Shape, bool),
    placer: &mut Placer,
) {
    let path = frame.path(points);
    let stroke = if dashed { Stroke::dashed(color, 1.8) } else { Stroke::solid(color, 2.2) };
    for piece in clip(&path, &frame.area) {
        canvas.line(&piece, stroke);
        placer.avoid_line(&piece);
    }
    for &at in path.iter().filter(|at| frame.area.grown(1.0).holds(**at)) {
        marker(canvas, at, shape, color, if dashed { 3.0 } else { 4.2 });
        placer.avoid_marker(at, 5.0);
    }
}

fn throughput(canvas: &Canvas<'_>, data: &LoadCurves, area: Rect) {
    let sides = || data.points.iter().flat_map(|point| [&point.1, &point.2]);
    let tallest = sides().map(|side| side.throughput.get()).fold(1.0, f64::max);
    let frame = Frame {
        area,
        x: x_axis(data, &area),
        y: Axis::linear(0.0, nice_ceiling(tallest * 1.15, 5), area.bottom, area.top),
    };
    let (x_ticks, y_ticks) = (number_ticks(&frame.x, 9), number_ticks(&frame.y, 6));
    let bare: Vec<_> = x_ticks.iter().map(|(value, _)| (*value, String::new())).collect();
    frame.grid(canvas, &x_ticks, &y_ticks);
    let mut placer = Placer::new(area.grown(-4.0));
    here(canvas, &frame, data, &mut placer, true);
    let mut labels = Vec::new();
    for (with, color, shape, words) in [
        (false, BASELINE, Shape::Square, "without speculation"),
        (true, MODEL, Shape::Disc, "with speculation"),
    ] {
        let side = |point: &(f64, LoadSide, LoadSide)| if with { point.1 } else { point.2 };
        let good: Vec<_> =
            data.points.iter().filter_map(|point| Some((point.0, side(point).goodput?.get()))).collect();
        if !good.is_empty() {
            series(canvas, &frame, &good, (color, shape, true), &mut placer);
            if with {
                labels.push((good, "within the SLO".to_owned(), color, false));
            }
        }
        let all: Vec<_> = data.points.iter().map(|point| (point.0, side(point).throughput.get())).collect();
        series(canvas, &frame, &all, (color, shape, false), &mut placer);
        labels.push((all, words.to_owned(), color, true));
    }
    frame.axes(canvas, (&bare, ""), (&y_ticks, "throughput [tok/s]"));
    // What is served within the SLO is told apart where it has left the rest.
    for (points, words, color, bold) in labels.into_iter().rev() {
        let mut path = frame.path(&points);
        path.reverse();
        let (font, shown) = if bold {
            (NOTE.color(color).bold(), 0..path.len().min(3))
        } else {
            (NOTE.color(color), path.len() / 3..path.len().min(path.len() / 3 + 2))
        };
        placer.place(canvas, &path[shown], 4.0, &Label::new(&words, font));
    }
}

fn latency(canvas: &Canvas<'_>, data: &LoadCurves, area: Rect) {
    let all = || data.points.iter().flat_map(|p| [p.1.latency.get(), p.2.latency.get()]).filter(|t| *t > 0.0);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let (low, high) = if low.is_finite() { (low, high) } else { (1.0, 10.0) };
    let frame = Frame {
        area,
        x: x_axis(data, &area),
        y: Axis::log(low / 1.3, (high * 1.3).max(low * 3.0), area.bottom, area.top),
    };
    let (x_ticks, y_ticks) = (number_ticks(&frame.x, 9), number_ticks(&frame.y, 8));
    frame.grid(canvas, &x_ticks, &y_ticks);
    let mut placer = Placer::new(area.grown(-4.0));
    here(canvas, &frame, data, &mut placer, false);
    let mut labels = Vec::new();
    for (with, color, shape, words) in [
        (false, BASELINE, Shape::Square, "without speculation"),
        (true, MODEL, Shape::Disc, "with speculation"),
    ] {
        let points: Vec<_> = data
            .points
            .iter()
            .map(|point| (point.0, if with { point.1.latency.get() } else { point.2.latency.get() }))
            .collect();
        series(canvas, &frame, &points, (color, shape, false), &mut placer);
        labels.push((points, words, color));
    }
    frame.axes(canvas, (&x_ticks, &data.axis), (&y_ticks, "mean time of a request [s]"));
    for (points, words, color) in labels {
        let mut path = frame.path(&points);
        path.reverse();
        placer.place(canvas, &path, 4.0, &Label::new(words, NOTE.color(color).bold()));
    }
}
