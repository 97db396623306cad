//! Where the milliseconds go: the baseline step against the cycle, as used and as the model has it.

use indexmap::IndexSet;

use crate::analytic::{Prediction, Row};
use crate::report::number::TimeScale;
use crate::sourced::Sourced;
use crate::units::Seconds;

use super::axis::{Axis, nice_ceiling};
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::Rect;
use super::label::spread;
use super::metrics::text_width;
use super::page::{Frame, WIDTH, fit, heading, number_ticks};
use super::palette::{Color, FILLS, ORANGE, PURPLE, QUIET, VERMILLION, WHITE};

/// Height of a bar, and from one bar to the next \[px\].
const BAR: f64 = 46.0;
const PITCH: f64 = 96.0;
/// Room for the names of the bars \[px\].
const NAMES: f64 = 138.0;

/// One part of a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The part; the same part has the same colour in every bar.
    pub part: String,
    /// Its time.
    pub time: Seconds,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it shows: "cycle, as observed".
    pub name: String,
    /// The whole, as it is reported.
    pub total: Seconds,
    /// Its parts in order.
    pub segments: Vec<Segment>,
}

/// The bars of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The set-up in words.
    pub setup: String,
    /// The finding, as the title.
    pub title: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

impl Bars {
    /// Baseline step and cycle of an answer: as used, and as the model has them where there is a model.
    pub fn new(prediction: &Prediction, setup: &str) -> Self {
        let (baseline, speculation) = (&prediction.baseline, &prediction.speculation);
        let (step, cycle) = (&baseline.step, &speculation.cycle);
        let (base, tree) = (&baseline.breakdown, &speculation.cycle_breakdown);
        let used = |row: &Row| row.time;
        let model = |row: &Row| row.predicted;
        let mut bars = vec![
            bar("baseline step,\nas used", "step", step.used.value, base, used),
            bar("cycle,\nas used", "cycle", cycle.used.value, tree, used),
        ];
        if let Some(predicted) = step.predicted {
            bars.insert(1, bar("baseline step,\nmodel", "step", predicted.value, base, model));
        }
        if let Some(predicted) = cycle.predicted {
            bars.push(bar("cycle,\nmodel", "cycle", predicted.value, tree, model));
        }
        let gained = speculation.accept_length.used.value;
        let title = format!(
            "A cycle takes {} for {gained} tokens; a step takes {} for one",
            cycle.used.value, step.used.value
        );
        Self { setup: setup.to_owned(), title, bars }
    }
}

/// The leaves of a tree of rows; without any, the whole as one part.
fn bar(
    name: &str,
    whole: &str,
    total: Seconds,
    rows: &[Row],
    time: impl Fn(&Row) -> Option<Sourced<Seconds>>,
) -> Bar {
    let shown: Vec<(&Row, Seconds)> =
        rows.iter().filter_map(|row| time(row).map(|t| (row, t.value))).collect();
    let is_leaf = |i: usize| shown.get(i + 1).is_none_or(|(next, _)| next.depth <= shown[i].0.depth);
    let leaves = (0..shown.len()).filter(|&i| is_leaf(i));
    let mut segments: Vec<Segment> =
        leaves.map(|i| Segment { part: shown[i].0.part.clone(), time: shown[i].1 }).collect();
    if segments.is_empty() {
        segments.push(Segment { part: whole.to_owned(), time: total });
    }
    Bar { name: name.to_owned(), total, segments }
}

/// Bars of stacked parts, as SVG.
pub fn time_breakdown(data: &Bars) -> String {
    let height = 122.0 + PITCH * data.bars.len() as f64;
    picture(WIDTH, height as u32, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        let area = Rect::new(NAMES, top, f64::from(WIDTH) - 84.0, top + PITCH * data.bars.len() as f64);
        let longest = data.bars.iter().map(|bar| bar.total.ms()).fold(0.1, f64::max);
        let frame = Frame {
            area,
            x: Axis::linear(0.0, nice_ceiling(longest, 8), area.left, area.right),
            y: Axis::linear(0.0, 1.0, area.bottom, area.top),
        };
        let ticks = number_ticks(&frame.x, 9);
        frame.grid(canvas, &ticks, &[]);
        let parts = data.bars.iter().flat_map(|b| &b.segments).map(|s| s.part.as_str());
        let others: IndexSet<&str> = parts.filter(|part| usual_fill(part).is_none()).collect();
        for (i, bar) in data.bars.iter().enumerate() {
            let y = area.top + PITCH * i as f64 + 14.0;
            draw_bar(canvas, &frame, bar, y, &others);
        }
        frame.axes(canvas, (&ticks, "time [ms]"), (&[], ""));
    })
}

fn draw_bar(canvas: &Canvas<'_>, frame: &Frame, bar: &Bar, top: f64, others: &IndexSet<&str>) {
    let middle = top + BAR / 2.0;
    for (i, line) in bar.name.lines().enumerate() {
        let font = Font { bold: i == 0, ..Font::new(12.5, Anchor::End) };
        canvas.text((frame.area.left - 12.0, middle - 8.0 + 17.0 * i as f64), line, font);
    }
    let scale = TimeScale::for_largest([bar.total]);
    let mut start = 0.0;
    let mut outside = vec![];
    for segment in &bar.segments {
        let end = start + segment.time.ms();
        let rect = Rect::new(frame.x.at(start), top, frame.x.at(end), top + BAR);
        let fill = fill(&segment.part, others);
        canvas.fill(rect, fill, 1.0);
        canvas.line(&[(rect.right, rect.top), (rect.right, rect.bottom)], Stroke::solid(WHITE, 1.5));
        let time = scale.text(segment.time);
        if !words_inside(
            canvas,
            rect,
            &segment.part,
            &time,
            Font::new(12.0, Anchor::Middle).color(fill.ink_on()),
        ) {
            outside.push((rect, [segment.part.clone(), time]));
        }
        start = end;
    }
    words_below(canvas, frame, &outside);
    let total = format!("{}", bar.total);
    canvas.text(
        (frame.x.at(start.max(bar.total.ms())) + 8.0, middle),
        &total,
        Font::new(13.0, Anchor::Start).bold(),
    );
}

/// The colour of a part that most figures have.
fn usual_fill(part: &str) -> Option<Color> {
    match part {
        "allreduce" => Some(ORANGE),
        "all else" | "step" | "cycle" => Some(Color(190, 190, 190)),
        "waiting for the hosts" => Some(VERMILLION.mix(WHITE, 0.35)),
        "draft and host" | "draft" => Some(PURPLE),
        _ => None,
    }
}

/// Its usual colour, else the next free one in order of appearance.
fn fill(part: &str, others: &IndexSet<&str>) -> Color {
    let next = || FILLS[others.get_index_of(part).unwrap_or(0) % FILLS.len()];
    usual_fill(part).unwrap_or_else(next)
}

/// Names and times that do not fit into their parts, side by side below the bar, with lines to where they belong.
fn words_below(canvas: &Canvas<'_>, frame: &Frame, outside: &[(Rect, [String; 2])]) {
    let font = Font::new(11.0, Anchor::Middle);
    let width =
        |words: &[String; 2]| words.iter().map(|w| text_width(w, font.size, false)).fold(0.0, f64::max);
    let wanted: Vec<(f64, f64)> =
        outside.iter().map(|(rect, words)| (rect.center().0, width(words))).collect();
    let middles = spread(&wanted, 8.0, frame.area.left + 2.0, f64::from(WIDTH) - 8.0);
    for ((rect, words), x) in outside.iter().zip(middles) {
        let (from, y) = ((rect.center().0, rect.bottom + 1.0), rect.bottom + 8.0);
        canvas.line(&[from, (x, y)], Stroke::solid(QUIET, 0.8));
        for (row, line) in words.iter().enumerate() {
            canvas.text((x, y + 7.0 + 13.5 * row as f64), line, font);
        }
    }
}

/// Name and time of a part inside its rectangle; false where they do not fit.
fn words_inside(canvas: &Canvas<'_>, rect: Rect, part: &str, time: &str, font: Font) -> bool {
    let room = rect.width() - 8.0;
    let mut lines = fit(part, room, font);
    lines.push(time.to_owned());
    let fits = |line: &String| text_width(line, font.size, font.bold) <= room;
    if lines.len() > 3 || !lines.iter().all(fits) {
        return false;
    }
    let (x, y) = rect.center();
    for (i, line) in lines.iter().enumerate() {
        canvas.text((x, y + 14.5 * (i as f64 - (lines.len() as f64 - 1.0) / 2.0)), line, font);
    }
    true
}
