//! What hosts and streams of all ranks do in a short window: who waits, and for whom.

use crate::units::Seconds;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::Rect;
use super::metrics::text_width;
use super::page::{WIDTH, heading};
use super::palette::{AXIS, Color, GRID, INK, ORANGE, QUIET, SKY, VERMILLION};

/// What a host or a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// A host issues.
    Issue,
    /// A kernel runs.
    Kernel,
    /// A collective waits for its last rank.
    Waiting,
    /// A collective moves bytes.
    Collective,
}

/// One rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankLane {
    /// Its number.
    pub rank: u32,
    /// Its host: begin, end, what.
    pub host: Vec<(Seconds, Seconds, Doing)>,
    /// Its stream.
    pub stream: Vec<(Seconds, Seconds, Doing)>,
}

/// A window of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The set-up in words.
    pub setup: String,
    /// The finding.
    pub title: String,
    /// Begin and end of the window since the run began.
    pub window: (Seconds, Seconds),
    /// The ranks.
    pub lanes: Vec<RankLane>,
}

const HOST: f64 = 11.0;
const STREAM: f64 = 17.0;
const GAP: f64 = 9.0;
const LEFT: f64 = 132.0;
const RIGHT: f64 = 24.0;
const LABEL: Font = Font::new(12.5, Anchor::Start);
const SMALL: Font = Font::new(11.0, Anchor::End).color(QUIET);

const fn color(doing: Doing) -> Color {
    match doing {
        Doing::Issue => Color(196, 196, 196),
        Doing::Kernel => SKY,
        Doing::Waiting => ORANGE,
        Doing::Collective => VERMILLION,
    }
}

/// A timeline, as SVG.
pub fn timeline(data: &Timeline) -> String {
    let rows = data.lanes.len() as f64;
    let height = 92.0 + rows * (HOST + STREAM + 2.0 + GAP) + 56.0;
    picture(WIDTH, height.ceil() as u32, |canvas| {
        let top = heading(canvas, &data.title, &data.setup) + 2.0;
        legend(canvas, top + 2.0);
        let top = top + 22.0;
        let bottom = rows.mul_add(HOST + STREAM + 2.0 + GAP, top);
        let axis = Axis::linear(data.window.0.ms(), data.window.1.ms(), LEFT, f64::from(WIDTH) - RIGHT);
        for value in axis.ticks(8) {
            let x = axis.at(value);
            canvas.line(&[(x, top), (x, bottom)], Stroke::solid(GRID, 1.0));
        }
        let mut y = top + GAP / 2.0;
        for lane in &data.lanes {
            canvas.text((22.0, y + f64::midpoint(0.0, HOST + STREAM)), &format!("rank {}", lane.rank), LABEL);
            canvas.text((LEFT - 8.0, y + HOST / 2.0), "host", SMALL);
            canvas.text((LEFT - 8.0, y + HOST + 2.0 + STREAM / 2.0), "stream", SMALL);
            slices(canvas, &axis, &lane.host, y, HOST);
            slices(canvas, &axis, &lane.stream, y + HOST + 2.0, STREAM);
            y += HOST + STREAM + 2.0 + GAP;
        }
        time_axis(canvas, &axis, bottom);
    })
}

/// Slices in the order given: what lies inside another comes after it.
fn slices(canvas: &Canvas<'_>, axis: &Axis, all: &[(Seconds, Seconds, Doing)], top: f64, height: f64) {
    for (from, to, doing) in all {
        let (left, right) = (axis.at(from.ms()), axis.at(to.ms()));
        // A hairline between neighbours, where there is room for one.
        let seam = if right - left > 3.0 { 0.6 } else { 0.0 };
        let rect = Rect::new(left, top, (right - seam).max(left + 0.4), top + height);
        canvas.fill(rect, color(*doing), 1.0);
    }
}

fn legend(canvas: &Canvas<'_>, y: f64) {
    let mut x = LEFT;
    for (doing, words) in [
        (Doing::Issue, "host issues"),
        (Doing::Kernel, "kernel"),
        (Doing::Waiting, "all-reduce waits for the last rank"),
        (Doing::Collective, "all-reduce moves bytes"),
    ] {
        canvas.fill(Rect::new(x, y - 5.5, x + 14.0, y + 5.5), color(doing), 1.0);
        canvas.text((x + 20.0, y), words, LABEL.color(INK));
        x += 20.0 + text_width(words, LABEL.size, false) + 22.0;
    }
}

fn time_axis(canvas: &Canvas<'_>, axis: &Axis, bottom: f64) {
    let stroke = Stroke::solid(AXIS, 1.0);
    canvas.line(&[(LEFT, bottom), (f64::from(WIDTH) - RIGHT, bottom)], stroke);
    for value in axis.ticks(8) {
        let x = axis.at(value);
        canvas.line(&[(x, bottom), (x, bottom + 4.0)], stroke);
        let text = super::axis::tick_text(value);
        canvas.text((x, bottom + 14.0), &text, Font::new(12.0, Anchor::Middle).color(QUIET));
    }
    let middle = f64::midpoint(LEFT, f64::from(WIDTH) - RIGHT);
    canvas.text((middle, bottom + 36.0), "time since the cycle began [ms]", Font::new(13.0, Anchor::Middle));
}
