//! Speedup against batch size, every crossing of 1 marked.

use crate::analytic::{Crossing, Verdict};
use crate::report::number::times;

use super::axis::{Axis, nice_ceiling, powers};
use super::canvas::{Canvas, Stroke, picture};
use super::geometry::Rect;
use super::label::{Label, Placer};
use super::marker::{Shape, marker};
use super::page::{Frame, HEIGHT, NOTE, Tick, WIDTH, heading, number_ticks, plot_area};
use super::palette::{BASELINE, INK, MODEL, VERMILLION};

/// Speedup at each batch size scanned.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchCurve {
    /// The set-up in words.
    pub setup: String,
    /// Batch size and speedup, batch sizes rising.
    pub points: Vec<(u32, f64)>,
    /// Batch sizes from which a verdict holds.
    pub crossings: Vec<Crossing>,
}

/// Speedup against batch size, as SVG.
pub fn speedup_against_batch(data: &BatchCurve) -> String {
    let points: Vec<(f64, f64)> = data.points.iter().map(|&(b, s)| (f64::from(b), s)).collect();
    let (first, last) = (points.first().map_or(1.0, |p| p.0), points.last().map_or(2.0, |p| p.0));
    let tallest = points.iter().map(|p| p.1).filter(|s| s.is_finite()).fold(1.2, f64::max);
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &title(&data.crossings), &data.setup);
        let area = plot_area(top, HEIGHT, 28.0);
        let frame = Frame {
            area,
            // A little room beside the outermost points.
            x: Axis::log(first / 1.15, last.max(first * 2.0) * 1.15, area.left, area.right),
            y: Axis::linear(0.0, nice_ceiling(tallest * 1.12, 6), area.bottom, area.top),
        };
        let x_ticks: Vec<Tick> =
            powers(2.0, first, last, 12).into_iter().map(|v| (v, format!("{v}"))).collect();
        let y_ticks: Vec<Tick> =
            number_ticks(&frame.y, 7).into_iter().map(|(v, t)| (v, format!("{t}x"))).collect();
        let one = frame.y.at(1.0);
        canvas.fill(Rect { bottom: one, ..area }, BASELINE, 0.09);
        frame.grid(canvas, &x_ticks, &y_ticks);
        let mut placer = Placer::new(area.grown(-4.0));
        let line = [(area.left, one), (area.right, one)];
        canvas.line(&line, Stroke::solid(BASELINE, 2.0));
        placer.avoid_line(&line);
        let path = frame.path(&points);
        canvas.line(&path, Stroke::solid(INK, 2.0));
        placer.avoid_line(&path);
        frame.axes(canvas, (&x_ticks, "batch [running requests]"), (&y_ticks, "speedup"));
        for &at in &path {
            marker(canvas, at, Shape::Disc, INK, 3.2);
            placer.avoid_marker(at, 5.0);
        }
        crossings(canvas, &frame, &data.crossings, &mut placer);
        let anchors = [0.98, 0.75, 0.5, 0.25].map(|share| (area.left + area.width() * share, one));
        let words = Label::new("without speculation", NOTE.color(BASELINE).bold());
        placer.place(canvas, &anchors, 0.0, &words);
    })
}

fn title(crossings: &[Crossing]) -> String {
    let turns: Vec<String> =
        crossings.iter().map(|c| format!("{} from {}", words(c.verdict), c.at)).collect();
    if turns.is_empty() {
        "Speedup against batch size".to_owned()
    } else if turns.len() > 3 {
        format!("The verdict turns {} times over the batch size", turns.len())
    } else {
        format!("Speculation {} requests", turns.join(", "))
    }
}

const fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Wins => "wins",
        Verdict::Loses => "loses",
        Verdict::Ties => "ties",
    }
}

fn crossings(canvas: &Canvas<'_>, frame: &Frame, all: &[Crossing], placer: &mut Placer) {
    let numbered = all.iter().filter_map(|c| c.at.parse::<f64>().ok().map(|batch| (batch, c)));
    let shown: Vec<_> = numbered.filter(|(batch, c)| *batch > 0.0 && c.speedup.is_finite()).collect();
    for (batch, crossing) in &shown {
        let at = frame.at(*batch, crossing.speedup);
        let (shape, color) = look(crossing.verdict);
        marker(canvas, at, shape, color, 6.0);
        placer.avoid_marker(at, 8.0);
    }
    let many = shown.len() > 3;
    for (batch, crossing) in shown {
        let at = frame.at(batch, crossing.speedup);
        // With many turns near 1 only the numbers find room; shape and colour say which way it goes.
        let text = if many {
            format!("{}: {}", crossing.at, times(crossing.speedup))
        } else {
            format!("{} from {}: {}", words(crossing.verdict), crossing.at, times(crossing.speedup))
        };
        let font = NOTE.color(look(crossing.verdict).1).bold();
        placer.place(canvas, &[at], 6.0, &Label::new(&text, font));
    }
}

const fn look(verdict: Verdict) -> (Shape, super::palette::Color) {
    match verdict {
        Verdict::Wins => (Shape::Triangle, MODEL),
        Verdict::Loses => (Shape::Square, VERMILLION),
        Verdict::Ties => (Shape::Ring, INK),
    }
}
