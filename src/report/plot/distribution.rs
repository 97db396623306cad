//! The distribution of a simulated time, with the closed form and the observed value on it.

use crate::units::Seconds;

use super::axis::{Axis, nice_ceiling};
use super::canvas::{Canvas, Stroke, picture};
use super::geometry::Rect;
use super::label::{Label, Placer};
use super::page::{Frame, HEIGHT, NOTE, WIDTH, heading, number_ticks, plot_area};
use super::palette::{BASELINE, INK, MODEL, OBSERVED, SKY};

/// A histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeDistribution {
    /// The set-up in words.
    pub setup: String,
    /// The finding.
    pub title: String,
    /// What is counted, for the axis: "verify pass".
    pub what: String,
    /// Begin, end and share of each cell \[%\], rising.
    pub cells: Vec<(Seconds, Seconds, f64)>,
    /// The 10 and the 90 % quantile.
    pub range: (Seconds, Seconds),
    /// The mean.
    pub mean: Seconds,
    /// The closed form.
    pub closed: Seconds,
    /// What was observed.
    pub observed: Option<Seconds>,
}

/// A distribution, as SVG.
pub fn time_distribution(data: &TimeDistribution) -> String {
    let marks = [Some(data.closed), data.observed, Some(data.mean)].into_iter().flatten().map(Seconds::ms);
    let ends = data.cells.iter().flat_map(|cell| [cell.0.ms(), cell.1.ms()]).chain(marks);
    let (low, high) = ends.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let room = ((high - low) * 0.06).max(high * 0.002);
    let tallest = data.cells.iter().map(|cell| cell.2).fold(1.0, f64::max);
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, &format!("{}; shaded: 10 to 90 % of the runs", data.setup));
        let area = plot_area(top, HEIGHT, 28.0);
        let frame = Frame {
            area,
            x: Axis::linear((low - room).max(0.0), high + room, area.left, area.right),
            y: Axis::linear(0.0, nice_ceiling(tallest * 1.3, 6), area.bottom, area.top),
        };
        let (x_ticks, y_ticks) = (number_ticks(&frame.x, 10), number_ticks(&frame.y, 6));
        let (left, right) = (frame.x.at(data.range.0.ms()), frame.x.at(data.range.1.ms()));
        canvas.fill(Rect { left, right, ..area }, BASELINE, 0.09);
        frame.grid(canvas, &x_ticks, &y_ticks);
        let mut placer = Placer::new(area.grown(-4.0));
        bars(canvas, &frame, data, &mut placer);
        frame.axes(canvas, (&x_ticks, &format!("{} [ms]", data.what)), (&y_ticks, "share of the runs [%]"));
        let lines = [
            (Some(data.closed), format!("closed form\n{}", data.closed), MODEL, true),
            (
                data.observed,
                data.observed.map_or(String::new(), |t| format!("observed\n{t}")),
                OBSERVED,
                false,
            ),
            (Some(data.mean), format!("mean\n{}", data.mean), INK, false),
        ];
        let shown: Vec<_> =
            lines.into_iter().filter_map(|(at, text, color, dash)| Some((at?, text, color, dash))).collect();
        for (at, _, color, dashed) in &shown {
            let x = frame.x.at(at.ms());
            let line = [(x, area.top), (x, area.bottom)];
            let stroke = if *dashed { Stroke::dashed(*color, 2.0) } else { Stroke::solid(*color, 2.0) };
            canvas.line(&line, stroke);
            placer.avoid_line(&line);
        }
        for (at, text, color, _) in shown {
            let x = frame.x.at(at.ms());
            let anchors = [0.06, 0.15, 0.24, 0.33].map(|share| (x, area.top + area.height() * share));
            placer.place(canvas, &anchors, 0.0, &Label::new(&text, NOTE.color(color).bold()));
        }
    })
}

fn bars(canvas: &Canvas<'_>, frame: &Frame, data: &TimeDistribution, placer: &mut Placer) {
    for (from, to, share) in &data.cells {
        let bar = Rect::new(
            frame.x.at(from.ms()) + 0.5,
            frame.y.at(*share),
            frame.x.at(to.ms()) - 0.5,
            frame.area.bottom,
        );
        if *share > 0.0 {
            canvas.fill(bar, SKY, 0.75);
            placer.avoid_line(&[(bar.left, bar.top), (bar.right, bar.top)]);
        }
    }
}
