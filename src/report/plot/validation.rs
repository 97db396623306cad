//! Predicted against measured, with the band in which a prediction is within a tenth.

use indexmap::IndexSet;

use super::axis::{Axis, tick_text};
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::{Point, Rect, between};
use super::label::{Label, Placer};
use super::marker::{SHAPES, Shape, marker};
use super::metrics::text_width;
use super::page::{Frame, Tick, WIDTH, heading, plot_area};
use super::palette::{Color, INK, QUIET, SERIES, WHITE};

/// Height of the figure: nearly square, since both axes show the same \[px\].
const HEIGHT: u32 = 680;
/// Half-width of the band.
const BAND: f64 = 0.10;

/// One measurement and its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPoint {
    /// Short name; empty: the point stays unnamed.
    pub id: String,
    /// Level of validation; points of one level share colour and shape.
    pub level: String,
    /// What the tool said.
    pub predicted: f64,
    /// What was measured.
    pub measured: f64,
}

/// Predictions of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The finding, as the title: "Median error 4 % over 18 decode steps, worst −17 %".
    pub title: String,
    /// Which data.
    pub setup: String,
    /// The quantity: "decode step".
    pub quantity: String,
    /// Its unit: "ms".
    pub unit: String,
    /// The points.
    pub points: Vec<ComparedPoint>,
}

/// Predicted against measured, both logarithmic, as SVG.
pub fn predicted_against_measured(data: &Comparison) -> String {
    let usable = |v: f64| v.is_finite() && v > 0.0;
    let points: Vec<&ComparedPoint> =
        data.points.iter().filter(|p| usable(p.predicted) && usable(p.measured)).collect();
    let values = || points.iter().flat_map(|p| [p.predicted, p.measured]);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let (low, high) = if low <= high { (low / 1.3, high * 1.3) } else { (1.0, 10.0) };
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        let area = plot_area(top, HEIGHT, 28.0);
        let frame = Frame {
            area,
            x: Axis::log(low, high, area.left, area.right),
            y: Axis::log(low, high, area.bottom, area.top),
        };
        let ticks: Vec<Tick> = frame.x.ticks(9).into_iter().map(|v| (v, tick_text(v))).collect();
        frame.grid(canvas, &ticks, &ticks);
        let mut placer = Placer::new(area.grown(-4.0));
        let edge = band(canvas, &frame, &mut placer);
        let (x_title, y_title) = (
            format!("measured {} [{}]", data.quantity, data.unit),
            format!("predicted {} [{}]", data.quantity, data.unit),
        );
        frame.axes(canvas, (&ticks, &x_title), (&ticks, &y_title));
        let levels: IndexSet<&str> = points.iter().map(|p| p.level.as_str()).collect();
        legend(canvas, &area, &levels, &mut placer);
        draw_points(canvas, &frame, &points, &levels, &mut placer);
        let words = Label::new("band: ±10 %", Font::new(12.0, Anchor::Start).color(QUIET));
        placer.place(canvas, &edge, 4.0, &words);
    })
}

/// The diagonal, and the band around it; points along its lower edge, where its name may stand.
fn band(canvas: &Canvas<'_>, frame: &Frame, placer: &mut Placer) -> Vec<Point> {
    let (low, high) = (frame.x.low, frame.x.high);
    let edge = |factor: f64| {
        let (from, to) = ((low / factor).max(low), (high / factor).min(high));
        [frame.at(from, from * factor), frame.at(to, to * factor)]
    };
    let (upper, lower) = (edge(1.0 + BAND), edge(1.0 - BAND));
    let corners = [frame.at(low, low), upper[0], upper[1], frame.at(high, high), lower[1], lower[0]];
    canvas.polygon(&corners, SERIES[5], 0.22);
    let diagonal = [frame.at(low, low), frame.at(high, high)];
    canvas.line(&diagonal, Stroke::solid(QUIET, 1.2));
    placer.avoid_line(&diagonal);
    (1..10).map(|i| between(lower[1], lower[0], f64::from(i) * 0.1)).collect()
}

const fn look(index: usize) -> (Shape, Color) {
    (SHAPES[index % SHAPES.len()], SERIES[index % SERIES.len()])
}

fn legend(canvas: &Canvas<'_>, area: &Rect, levels: &IndexSet<&str>, placer: &mut Placer) {
    let font = Font::new(12.5, Anchor::Start);
    let widest = levels.iter().map(|level| text_width(level, font.size, false)).fold(0.0, f64::max);
    let rect = Rect::new(
        area.left + 10.0,
        area.top + 8.0,
        area.left + 42.0 + widest,
        area.top + 16.0 + 19.0 * levels.len() as f64,
    );
    canvas.fill(rect, WHITE, 0.9);
    placer.avoid_text(rect);
    for (i, level) in levels.iter().enumerate() {
        let y = rect.top + 14.0 + 19.0 * i as f64;
        let (shape, color) = look(i);
        marker(canvas, (rect.left + 14.0, y), shape, color, 5.0);
        canvas.text((rect.left + 28.0, y), level, font);
    }
}

fn draw_points(
    canvas: &Canvas<'_>,
    frame: &Frame,
    points: &[&ComparedPoint],
    levels: &IndexSet<&str>,
    placer: &mut Placer,
) {
    for point in points {
        placer.avoid_marker(frame.at(point.measured, point.predicted), 6.0);
    }
    for point in points {
        let (shape, color) = look(levels.get_index_of(point.level.as_str()).unwrap_or(0));
        marker(canvas, frame.at(point.measured, point.predicted), shape, color, 4.6);
    }
    for point in points.iter().filter(|point| !point.id.is_empty()) {
        let at = frame.at(point.measured, point.predicted);
        placer.place(canvas, &[at], 4.6, &Label::new(&point.id, Font::new(11.0, Anchor::Start).color(INK)));
    }
}
