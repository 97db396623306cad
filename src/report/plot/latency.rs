//! Latencies of requests as cumulative distributions, with speculation and without.

use crate::units::Seconds;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::{Point, Rect, clip};
use super::page::{Frame, NOTE, Tick, WIDTH, heading};
use super::palette::{BASELINE, Color, MODEL, QUIET};

/// One kind of latency.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyCurves {
    /// Its name.
    pub name: String,
    /// Value and share at or below it \[0 to 1\], rising, with speculation.
    pub with: Vec<(Seconds, f64)>,
    /// The same without.
    pub without: Vec<(Seconds, f64)>,
    /// The limit of the SLO.
    pub limit: Option<Seconds>,
}

/// Up to four of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    /// The set-up in words.
    pub setup: String,
    /// The finding.
    pub title: String,
    /// The panels.
    pub panels: Vec<LatencyCurves>,
}

const HEIGHT: u32 = 640;
const PANEL_TITLE: Font = Font::new(13.5, Anchor::Start).bold();

/// Cumulative distributions, as SVG.
pub fn latency_distributions(data: &Latencies) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        legend(canvas, top + 4.0);
        let top = top + 22.0;
        let rows = data.panels.len().div_ceil(2).max(1) as f64;
        let height = (f64::from(HEIGHT) - top - 8.0) / rows;
        let width = (f64::from(WIDTH) - 22.0) / 2.0;
        for (i, panel) in data.panels.iter().enumerate() {
            let (column, row) = ((i % 2) as f64, (i / 2) as f64);
            let (left, top) = (column.mul_add(width, 66.0), row.mul_add(height, top + 24.0));
            draw(canvas, panel, Rect::new(left, top, left + width - 74.0, top + height - 78.0));
        }
    })
}

fn legend(canvas: &Canvas<'_>, y: f64) {
    let mut x = 66.0;
    for (words, color, dash) in
        [("with speculation", MODEL, false), ("without", BASELINE, true), ("limit of the SLO", QUIET, true)]
    {
        let width = if color == QUIET { 1.2 } else { 2.4 };
        let stroke = if dash { Stroke::dashed(color, width) } else { Stroke::solid(color, width) };
        canvas.line(&[(x, y), (x + 26.0, y)], stroke);
        canvas.text((x + 33.0, y), words, NOTE.color(color));
        x += 33.0 + super::metrics::text_width(words, NOTE.size, false) + 24.0;
    }
}

fn draw(canvas: &Canvas<'_>, panel: &LatencyCurves, area: Rect) {
    canvas.text((area.left, area.top - 14.0), &panel.name, PANEL_TITLE);
    let all = || panel.with.iter().chain(&panel.without).map(|point| point.0.get()).filter(|t| *t > 0.0);
    let low = all().fold(f64::INFINITY, f64::min);
    let high = all().fold(0.0, f64::max);
    if !low.is_finite() {
        canvas.text(area.center(), "no such latency", Font::new(12.0, Anchor::Middle).color(QUIET));
        return;
    }
    // In the unit of the larger values.
    let (per_second, unit) = if high >= 1.0 { (1.0, "s") } else { (1e3, "ms") };
    // A limit close by is worth showing.
    let near = panel.limit.map(Seconds::get).filter(|limit| *limit > low / 4.0 && *limit < high * 4.0);
    let ends = near.map_or((low, high), |limit| (low.min(limit), high.max(limit)));
    let (low, high) = (ends.0 * per_second, ends.1 * per_second);
    let frame = Frame {
        area,
        x: Axis::log(low / 1.1, (high * 1.1).max(low * 1.5), area.left, area.right),
        y: Axis::linear(0.0, 100.0, area.bottom, area.top),
    };
    let x_ticks: Vec<Tick> =
        frame.x.ticks(7).into_iter().map(|value| (value, super::axis::tick_text(value))).collect();
    let y_ticks: Vec<Tick> = [0.0, 50.0, 90.0, 100.0].map(|v| (v, format!("{v:.0}"))).to_vec();
    frame.grid(canvas, &x_ticks, &y_ticks);
    if let Some(limit) = panel.limit {
        let x = frame.x.at(limit.get() * per_second);
        if (area.left..=area.right).contains(&x) {
            canvas.line(&[(x, area.top), (x, area.bottom)], Stroke::dashed(QUIET, 1.2));
        }
    }
    curve(canvas, &frame, &panel.without, per_second, BASELINE, true);
    curve(canvas, &frame, &panel.with, per_second, MODEL, false);
    frame.axes(canvas, (&x_ticks, &format!("[{unit}]")), (&y_ticks, "share [%]"));
}

/// A staircase through the points of a distribution.
fn curve(
    canvas: &Canvas<'_>,
    frame: &Frame,
    points: &[(Seconds, f64)],
    per_second: f64,
    color: Color,
    dashed: bool,
) {
    let Some(first) = points.first() else { return };
    let at = |time: Seconds, share: f64| frame.at(time.get() * per_second, share * 100.0);
    let mut path: Vec<Point> = vec![at(first.0, 0.0)];
    path.extend(
        points.iter().filter(|(time, _)| *time > Seconds::ZERO).map(|&(time, share)| at(time, share)),
    );
    let stroke = if dashed { Stroke::dashed(color, 2.4) } else { Stroke::solid(color, 2.4) };
    for piece in clip(&path, &frame.area.grown(1.0)) {
        canvas.line(&piece, stroke);
    }
}
