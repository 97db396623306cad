//! The tornado: the speedup with each input at either end of its range, the widest on top.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::Rect;
use super::page::{Frame, WIDTH, fit, heading, number_ticks};
use super::palette::{BASELINE, BLUE, INK, ORANGE, QUIET};
use crate::report::number::times;
use crate::uncertainty::Uncertainty;

/// Distance between bars \[px\].
const PITCH: f64 = 46.0;
/// Height of a bar \[px\].
const BAR: f64 = 22.0;
/// Room for the names \[px\].
const NAMES: f64 = 236.0;

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoBar {
    /// Its name.
    pub name: String,
    /// Its range in words: `3.00 to 5.00 µs`.
    pub range: String,
    /// Speedup at its 5th percentile.
    pub at_low: f64,
    /// Speedup at its 95th percentile.
    pub at_high: f64,
}

/// What the speedup hangs on.
#[derive(Debug, Clone, PartialEq)]
pub struct Tornado {
    /// Which setup.
    pub setup: String,
    /// The finding, as the title.
    pub title: String,
    /// The speedup with all inputs at their middle.
    pub speedup: f64,
    /// The inputs.
    pub bars: Vec<TornadoBar>,
}

impl Tornado {
    /// What a study found; none where no input moves the speedup.
    pub fn new(found: &Uncertainty, setup: &str) -> Option<Self> {
        crate::report::surely::tornado(found, setup)
    }
}

/// Bars around the speedup, the widest on top, as SVG.
pub fn tornado(data: &Tornado) -> String {
    let mut bars: Vec<&TornadoBar> =
        data.bars.iter().filter(|bar| bar.at_low.is_finite() && bar.at_high.is_finite()).collect();
    let reach = |bar: &TornadoBar| (bar.at_high - bar.at_low).abs();
    bars.sort_by(|a, b| reach(b).total_cmp(&reach(a)));
    let body = PITCH * bars.len().max(1) as f64;
    picture(WIDTH, (140.0 + body) as u32, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        let area = Rect::new(NAMES, top + 14.0, f64::from(WIDTH) - 70.0, top + 14.0 + body);
        let ends = || bars.iter().flat_map(|bar| [bar.at_low, bar.at_high]).chain([data.speedup]);
        let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
        let slack = (0.24 * (high - low)).max(0.01);
        let frame = Frame {
            area,
            x: Axis::linear(low - slack, high + slack, area.left, area.right),
            y: Axis::linear(0.0, 1.0, area.bottom, area.top),
        };
        let ticks = number_ticks(&frame.x, 7);
        frame.grid(canvas, &ticks, &[]);
        for (i, bar) in bars.iter().enumerate() {
            draw(canvas, &frame, bar, data.speedup, area.top + PITCH * i as f64 + (PITCH - BAR) / 2.0);
        }
        let upright = |value: f64, stroke: Stroke, words: &str| {
            let x = frame.x.at(value);
            canvas.line(&[(x, area.top), (x, area.bottom)], stroke);
            canvas.text((x, area.top - 9.0), words, Font::new(12.0, Anchor::Middle).color(stroke.color));
        };
        upright(data.speedup, Stroke::solid(INK, 1.4), &times(data.speedup));
        // The names of two lines that nearly meet would lie on each other.
        if frame.x.holds(1.0) && (frame.x.at(1.0) - frame.x.at(data.speedup)).abs() > 90.0 {
            upright(1.0, Stroke::dashed(BASELINE, 1.6), "no speculation");
        }
        frame.axes(canvas, (&ticks, "speedup"), (&[], ""));
    })
}

fn draw(canvas: &Canvas<'_>, frame: &Frame, bar: &TornadoBar, speedup: f64, top: f64) {
    let middle = top + BAR / 2.0;
    let name = Font::new(12.5, Anchor::End).bold();
    let words = fit(&bar.name, frame.area.left - 34.0, name);
    canvas.text((frame.area.left - 12.0, middle - 8.0), &words.join(" "), name);
    let range = Font::new(11.5, Anchor::End).color(QUIET);
    canvas.text((frame.area.left - 12.0, middle + 8.0), &bar.range, range);
    let zero = frame.x.at(speedup);
    let half = |end: f64, fill, words: &str| {
        let x = frame.x.at(end);
        canvas.fill(Rect::new(zero.min(x), top, zero.max(x), top + BAR), fill, 0.9);
        let (anchor, shift) = if end < speedup { (Anchor::End, -6.0) } else { (Anchor::Start, 6.0) };
        canvas.text((x + shift, middle), &format!("{} {words}", times(end)), Font::new(11.5, anchor));
    };
    half(bar.at_low, BLUE, "low");
    half(bar.at_high, ORANGE, "high");
}
