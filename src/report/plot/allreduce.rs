//! Time of one all-reduce against its size, per backend.

use crate::units::{Bytes, Seconds};

use super::axis::{Axis, powers, tick_text};
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::{Rect, clip};
use super::label::spread;
use super::marker::{SHAPES, marker};
use super::page::{Frame, HEIGHT, Tick, WIDTH, fit, heading, number_ticks, plot_area};
use super::palette::{INK, QUIET, SERIES, WHITE};

/// Room for the names of the curves \[px\].
const NAMES: f64 = 158.0;

/// One backend.
#[derive(Debug, Clone, PartialEq)]
pub struct AllreduceSeries {
    /// Its name.
    pub name: String,
    /// What the cost model says, sizes rising.
    pub curve: Vec<(Bytes, Seconds)>,
    /// What was measured.
    pub measured: Vec<(Bytes, Seconds)>,
}

/// A message size of the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageSize {
    /// Which message: "decode", "verify".
    pub name: String,
    /// Its size.
    pub bytes: Bytes,
    /// What it takes with the backend that the server would use.
    pub time: Option<Seconds>,
}

/// The backends of one box.
#[derive(Debug, Clone, PartialEq)]
pub struct AllreduceCurves {
    /// The set-up in words.
    pub setup: String,
    /// The backends.
    pub series: Vec<AllreduceSeries>,
    /// Sizes to mark.
    pub marks: Vec<MessageSize>,
}

/// Time against size, both logarithmic, as SVG.
pub fn allreduce_against_bytes(data: &AllreduceCurves) -> String {
    let points = || data.series.iter().flat_map(|s| s.curve.iter().chain(&s.measured)).filter(|p| shown(p));
    let (low_x, high_x) = range(points().map(|p| p.0.get()), 1024.0);
    let (low_y, high_y) = range(points().map(|p| p.1.us()), 10.0);
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &title(data), &data.setup);
        let mark_names = 15.0 * data.marks.len().div_ceil(2) as f64;
        let area = Rect { top: top + mark_names + 1.0, ..plot_area(top, HEIGHT, NAMES) };
        let frame = Frame {
            area,
            x: Axis::log(low_x / 1.1, high_x * 1.1, area.left, area.right),
            y: Axis::log(low_y / 1.25, high_y * 1.25, area.bottom, area.top),
        };
        let x_ticks: Vec<Tick> =
            powers(2.0, frame.x.low, frame.x.high, 8).into_iter().map(|v| (v, size_text(v))).collect();
        let y_ticks: Vec<Tick> = frame.y.ticks(9).into_iter().map(|v| (v, tick_text(v))).collect();
        let y_ticks = if y_ticks.len() < 2 { number_ticks(&frame.y, 12) } else { y_ticks };
        frame.grid(canvas, &x_ticks, &y_ticks);
        marks(canvas, &frame, &data.marks);
        curves(canvas, &frame, &data.series);
        frame.axes(canvas, (&x_ticks, "message size [bytes]"), (&y_ticks, "time of one all-reduce [µs]"));
        names(canvas, &frame, &data.series);
    })
}

fn title(data: &AllreduceCurves) -> String {
    let timed = data.marks.iter().filter_map(|mark| mark.time.map(|time| (mark, time)));
    let words: Vec<String> =
        timed.map(|(mark, time)| format!("{time} for {} ({})", mark.name, mark.bytes)).collect();
    if words.is_empty() {
        "Time of one all-reduce".to_owned()
    } else {
        format!("One all-reduce: {}", words.join(", "))
    }
}

fn shown(point: &(Bytes, Seconds)) -> bool {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    positive(point.0.get()) && positive(point.1.get())
}

/// Least and largest of `values`, or a decade around `default` without any.
fn range(values: impl Iterator<Item = f64>, default: f64) -> (f64, f64) {
    let ends = values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if ends.0 <= ends.1 { ends } else { (default, default * 10.0) }
}

/// `64 KiB`: sizes on this axis are powers of two.
fn size_text(bytes: f64) -> String {
    match bytes {
        b if b >= 1_048_576.0 => format!("{} MiB", b / 1_048_576.0),
        b if b >= 1024.0 => format!("{} KiB", b / 1024.0),
        b => format!("{b} B"),
    }
}

/// The sizes of the scenario as dashed lines, named above the area on two heights.
fn marks(canvas: &Canvas<'_>, frame: &Frame, marks: &[MessageSize]) {
    let area = frame.area;
    let inside: Vec<&MessageSize> = marks.iter().filter(|mark| frame.x.holds(mark.bytes.get())).collect();
    for (i, mark) in inside.iter().enumerate() {
        let x = frame.x.at(mark.bytes.get());
        canvas.line(&[(x, area.top), (x, area.bottom)], Stroke::dashed(INK, 1.2));
        let text = format!("{}, {}", mark.name, mark.bytes);
        // Two names side by side run away from each other; a single one stands in the middle.
        let anchor = match (inside.len(), i) {
            (1, _) => Anchor::Middle,
            (_, 0) => Anchor::End,
            _ => Anchor::Start,
        };
        let shift = match anchor {
            Anchor::Start => -3.0,
            Anchor::Middle => 0.0,
            Anchor::End => 3.0,
        };
        canvas.text((x + shift, area.top - 9.0 - 15.0 * (i / 2) as f64), &text, Font::new(12.0, anchor));
    }
}

fn curves(canvas: &Canvas<'_>, frame: &Frame, series: &[AllreduceSeries]) {
    for (i, one) in series.iter().enumerate() {
        let color = SERIES[i % SERIES.len()];
        let values = |points: &[(Bytes, Seconds)]| -> Vec<(f64, f64)> {
            points.iter().filter(|p| shown(p)).map(|p| (p.0.get(), p.1.us())).collect()
        };
        for piece in clip(&frame.path(&values(&one.curve)), &frame.area) {
            canvas.line(&piece, Stroke::solid(color, 2.0));
        }
        for at in frame.path(&values(&one.measured)) {
            marker(canvas, at, SHAPES[i % SHAPES.len()], color, 3.6);
        }
    }
}

/// The names beside the ends of the curves, moved apart.
fn names(canvas: &Canvas<'_>, frame: &Frame, series: &[AllreduceSeries]) {
    let font = Font::new(12.5, Anchor::Start).bold();
    let ends: Vec<_> = series
        .iter()
        .map(|s| {
            s.curve
                .iter()
                .chain(&s.measured)
                .filter(|p| shown(p))
                .max_by(|a, b| a.0.get().total_cmp(&b.0.get()))
        })
        .map(|end| end.map_or((frame.area.right, frame.area.bottom), |p| frame.at(p.0.get(), p.1.us())))
        .collect();
    let wanted: Vec<(f64, f64)> = ends.iter().map(|end| (end.1, 32.0)).collect();
    let places = spread(&wanted, 4.0, frame.area.top - 8.0, frame.area.bottom);
    for (i, (one, y)) in series.iter().zip(places).enumerate() {
        let x = frame.area.right + 22.0;
        let color = SERIES[i % SERIES.len()];
        canvas.line(&[ends[i], (x - 4.0, y)], Stroke::solid(QUIET, 0.8));
        canvas.fill(Rect::new(x - 2.0, y - 8.0, f64::from(WIDTH), y + 8.0), WHITE, 0.8);
        let lines = fit(&one.name, NAMES - 26.0, font);
        for (row, line) in lines.iter().enumerate() {
            canvas.text((x, y + 15.0 * row as f64), line, font.color(color.mix(INK, 0.25)));
        }
    }
}
