//! Speedup over one axis of a sweep: a curve, or one for each value of another axis.

use crate::report::number::times;

use super::axis::{Axis, nice_ceiling};
use super::canvas::{Canvas, Stroke, picture};
use super::geometry::Rect;
use super::label::{Label, Placer};
use super::marker::{Shape, marker};
use super::page::{Frame, HEIGHT, NOTE, Tick, WIDTH, heading, number_ticks, plot_area};
use super::palette::{BASELINE, Color, SERIES};
use super::sweep_axis::SweepAxis;

/// Most points that are drawn as dots.
const DOTTED: usize = 30;

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepCurve {
    /// The value of the other axis; empty for a single curve.
    pub name: String,
    /// The speedup at each value of the axis; not finite where there is none.
    pub speedup: Vec<f64>,
}

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepCurves {
    /// The set-up in words.
    pub setup: String,
    /// The finding.
    pub title: String,
    /// The axis.
    pub axis: SweepAxis,
    /// The curves, at most as many as there are colours: 6.
    pub curves: Vec<SweepCurve>,
    /// Values of the axis next to which the speedup passes 1, of a single curve.
    pub crossings: Vec<f64>,
}

/// Speedup over one axis, as SVG.
pub fn speedup_curves(data: &SweepCurves) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        let area = plot_area(top, HEIGHT, if data.curves.len() > 1 { 96.0 } else { 28.0 });
        let all = data.curves.iter().flat_map(|curve| &curve.speedup).copied().filter(|s| s.is_finite());
        let tallest = nice_ceiling(all.fold(1.2, f64::max) * 1.08, 6);
        let frame = Frame {
            area,
            x: data.axis.scale(area.left, area.right),
            y: Axis::linear(0.0, tallest, area.bottom, area.top),
        };
        let x_ticks = data.axis.ticks(&frame.x, 9);
        let y_ticks: Vec<Tick> =
            number_ticks(&frame.y, 7).into_iter().map(|(v, text)| (v, format!("{text}x"))).collect();
        let one = frame.y.at(1.0);
        canvas.fill(Rect { bottom: one, ..area }, BASELINE, 0.09);
        frame.grid(canvas, &x_ticks, &y_ticks);
        let mut placer = Placer::new(Rect { right: f64::from(WIDTH) - 8.0, ..area }.grown(-2.0));
        let line = [(area.left, one), (area.right, one)];
        canvas.line(&line, Stroke::solid(BASELINE, 2.0));
        placer.avoid_line(&line);
        let colors = SERIES.iter().copied().cycle();
        for (curve, color) in data.curves.iter().zip(colors.clone()) {
            draw(canvas, &frame, data, curve, color, &mut placer);
        }
        frame.axes(canvas, (&x_ticks, &data.axis.name), (&y_ticks, "speedup"));
        crossings(canvas, &frame, data, &mut placer);
        for (curve, color) in data.curves.iter().zip(colors) {
            name(canvas, &frame, data, curve, color, &mut placer);
        }
        let anchors = [0.02, 0.3, 0.6, 0.9].map(|share| (area.left + area.width() * share, one));
        placer.place(canvas, &anchors, 0.0, &Label::new("without speculation", NOTE.color(BASELINE).bold()));
    })
}

/// The pieces between points without a speedup.
fn draw(
    canvas: &Canvas<'_>,
    frame: &Frame,
    data: &SweepCurves,
    curve: &SweepCurve,
    color: Color,
    placer: &mut Placer,
) {
    let order = data.axis.rising();
    let pieces = order.split(|at| !curve.speedup[*at].is_finite()).filter(|piece| !piece.is_empty());
    for piece in pieces {
        let path: Vec<_> =
            piece.iter().map(|at| frame.at(data.axis.values[*at], curve.speedup[*at])).collect();
        // Words have no order to draw a line along.
        if data.axis.words.is_none() {
            canvas.line(&path, Stroke::solid(color, 2.2));
            placer.avoid_line(&path);
        }
        for at in path.iter().filter(|_| order.len() <= DOTTED) {
            marker(canvas, *at, Shape::Disc, color, if data.axis.words.is_some() { 5.0 } else { 3.2 });
            placer.avoid_marker(*at, 5.0);
        }
    }
}

fn name(
    canvas: &Canvas<'_>,
    frame: &Frame,
    data: &SweepCurves,
    curve: &SweepCurve,
    color: Color,
    placer: &mut Placer,
) {
    let mut order = data.axis.rising();
    order.reverse();
    let known = order.into_iter().filter(|at| curve.speedup[*at].is_finite());
    let anchors: Vec<_> = known.map(|at| frame.at(data.axis.values[at], curve.speedup[at])).collect();
    if !curve.name.is_empty() && !anchors.is_empty() {
        placer.place(canvas, &anchors, 3.0, &Label::on_white(&curve.name, NOTE.color(color).bold()));
    }
}

fn crossings(canvas: &Canvas<'_>, frame: &Frame, data: &SweepCurves, placer: &mut Placer) {
    let [curve] = data.curves.as_slice() else { return };
    for value in data.crossings.iter().take(6) {
        let Some(at) = data.axis.values.iter().position(|other| other.total_cmp(value).is_eq()) else {
            continue;
        };
        let place = frame.at(*value, curve.speedup[at]);
        marker(canvas, place, Shape::Ring, SERIES[0], 6.0);
        placer.avoid_marker(place, 8.0);
        let text = format!("{}: {}", super::axis::tick_text(*value), times(curve.speedup[at]));
        placer.place(canvas, &[place], 6.0, &Label::new(&text, NOTE.color(SERIES[0]).bold()));
    }
}
