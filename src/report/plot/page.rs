//! What every figure shares: a title that states the finding, the set-up below it, axes with units.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, Stroke};
use super::geometry::{Point, Rect};
use super::metrics::text_width;
use super::palette::{AXIS, GRID, QUIET};

/// Width of a figure \[px\].
pub(super) const WIDTH: u32 = 800;
/// Height of most figures \[px\].
pub(super) const HEIGHT: u32 = 500;

const MARGIN: f64 = 22.0;
const TITLE: Font = Font::new(17.0, Anchor::Start).bold();
const SUBTITLE: Font = Font::new(12.0, Anchor::Start).color(QUIET);
/// Words beside data.
pub(super) const NOTE: Font = Font::new(12.5, Anchor::Start);
const TICK: Font = Font::new(12.0, Anchor::Middle).color(QUIET);
const AXIS_TITLE: Font = Font::new(13.0, Anchor::Middle);

/// Draws title and set-up; the height at which the figure may begin \[px\].
pub(super) fn heading(canvas: &Canvas<'_>, title: &str, setup: &str) -> f64 {
    let room = f64::from(WIDTH) - 2.0 * MARGIN;
    let mut y = 26.0;
    for line in fit(title, room, TITLE) {
        canvas.text((MARGIN, y), &line, TITLE);
        y += 23.0;
    }
    for line in fit(setup, room, SUBTITLE) {
        canvas.text((MARGIN, y), &line, SUBTITLE);
        y += 16.0;
    }
    y + 8.0
}

/// `text` as lines that fit into `room` pixels.
pub(super) fn fit(text: &str, room: f64, font: Font) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if text_width(&longer, font.size, font.bold) > room && !line.is_empty() {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        } else {
            line = longer;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The area between the axes, `right` pixels from the right edge of a figure of height `height`.
pub(super) fn plot_area(top: f64, height: u32, right: f64) -> Rect {
    Rect::new(76.0, top, f64::from(WIDTH) - right, f64::from(height) - 58.0)
}

/// A tick: its value and its text; an empty text draws the grid line alone.
pub(super) type Tick = (f64, String);

/// Two axes around an area.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) area: Rect,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Frame {
    /// The pixel of a pair of values.
    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (self.x.at(x), self.y.at(y))
    }

    /// Pixels of the finite pairs among `values`.
    pub(super) fn path(&self, values: &[(f64, f64)]) -> Vec<Point> {
        values.iter().filter(|(x, y)| x.is_finite() && y.is_finite()).map(|&(x, y)| self.at(x, y)).collect()
    }

    /// Grid lines.
    pub(super) fn grid(&self, canvas: &Canvas<'_>, x_ticks: &[Tick], y_ticks: &[Tick]) {
        for (value, _) in x_ticks {
            let x = self.x.at(*value);
            canvas.line(&[(x, self.area.top), (x, self.area.bottom)], Stroke::solid(GRID, 1.0));
        }
        for (value, _) in y_ticks {
            let y = self.y.at(*value);
            canvas.line(&[(self.area.left, y), (self.area.right, y)], Stroke::solid(GRID, 1.0));
        }
    }

    /// Axis lines, ticks with their texts, and axis titles; to be drawn after what lies in the area.
    pub(super) fn axes(
        &self,
        canvas: &Canvas<'_>,
        (x_ticks, x_title): (&[Tick], &str),
        (y_ticks, y_title): (&[Tick], &str),
    ) {
        let Rect { left, top, right, bottom } = self.area;
        let stroke = Stroke::solid(AXIS, 1.0);
        canvas.line(&[(left, top), (left, bottom), (right, bottom)], stroke);
        for (value, text) in x_ticks {
            let x = self.x.at(*value);
            canvas.line(&[(x, bottom), (x, bottom + 4.0)], stroke);
            canvas.text((x, bottom + 14.0), text, TICK);
        }
        let mut widest: f64 = 0.0;
        for (value, text) in y_ticks {
            let y = self.y.at(*value);
            canvas.line(&[(left - 4.0, y), (left, y)], stroke);
            canvas.text((left - 8.0, y), text, Font { anchor: Anchor::End, ..TICK });
            widest = widest.max(text_width(text, TICK.size, false));
        }
        canvas.text((f64::midpoint(left, right), bottom + 38.0), x_title, AXIS_TITLE);
        let x = (left - 8.0 - widest - 18.0).max(14.0);
        canvas.text_upwards((x, f64::midpoint(top, bottom)), y_title, AXIS_TITLE);
    }
}

/// Ticks with plain numbers.
pub(super) fn number_ticks(axis: &Axis, wanted: usize) -> Vec<Tick> {
    axis.ticks(wanted).into_iter().map(|value| (value, super::axis::tick_text(value))).collect()
}
