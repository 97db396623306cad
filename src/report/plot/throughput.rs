//! Throughput against one lever: verify time, or accept length.

use crate::units::{AcceptLength, Seconds, TokensPerSecond};

use super::axis::{Axis, nice_ceiling};
use super::canvas::{Anchor, Canvas, Font, Stroke, picture};
use super::geometry::{Point, Rect, clip};
use super::label::{Label, Placer};
use super::marker::{RADIUS, Shape, marker};
use super::metrics::text_width;
use super::page::{Frame, HEIGHT, NOTE, WIDTH, heading, number_ticks, plot_area};
use super::palette::{BASELINE, INK, MODEL, OBSERVED, QUIET};

/// Throughput against the time of the verify pass, the rest unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifyCurve {
    /// The set-up in words.
    pub setup: String,
    /// Throughput without speculation.
    pub baseline: TokensPerSecond,
    /// Accept length of the curve.
    pub accept_length: AcceptLength,
    /// Throughput with speculation, verify times rising.
    pub curve: Vec<(Seconds, TokensPerSecond)>,
    /// Verify time at which both are equal, where there is one.
    pub break_even: Option<Seconds>,
    /// The verify time that was used, and the throughput there.
    pub observed: Option<(Seconds, TokensPerSecond)>,
    /// The model's own verify time and throughput.
    pub model: Option<(Seconds, TokensPerSecond)>,
}

/// Throughput against the accept length, the rest unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptCurve {
    /// The set-up in words.
    pub setup: String,
    /// Throughput without speculation.
    pub baseline: TokensPerSecond,
    /// Largest accept length that one cycle can yield: the longest drafted chain and the bonus token.
    pub limit: AcceptLength,
    /// Throughput with speculation, accept lengths rising from 1 to the limit.
    pub curve: Vec<(AcceptLength, TokensPerSecond)>,
    /// Accept length at which both are equal, where there is one (also beyond the limit).
    pub break_even: Option<AcceptLength>,
    /// The accept length that was used, and the throughput there.
    pub observed: Option<(AcceptLength, TokensPerSecond)>,
    /// The model's throughput at that accept length.
    pub model: Option<(AcceptLength, TokensPerSecond)>,
}

/// Throughput against verify time, as SVG.
pub fn throughput_against_verify(data: &VerifyCurve) -> String {
    let baseline = data.baseline;
    let title = match (data.break_even, data.observed) {
        (None, _) => format!("No verify time beats {baseline}"),
        (Some(limit), Some((now, _))) if now > limit => {
            format!("Verify must fall below {limit} to beat {baseline}")
        }
        (Some(limit), _) => format!("Speculation beats {baseline} while verify takes less than {limit}"),
    };
    let point = |(time, throughput): (Seconds, TokensPerSecond)| (time.ms(), throughput.get());
    let words = |(time, throughput): (Seconds, TokensPerSecond)| format!("{time}, {throughput}");
    let last = data.curve.last().map_or(1.0, |(time, _)| time.ms());
    draw(&Panel {
        title,
        setup: &data.setup,
        x_title: "time of one verify pass [ms]",
        x_range: (0.0, last),
        baseline,
        curve: data.curve.iter().copied().map(point).collect(),
        curve_words: format!("with speculation,\n{} tokens a cycle", data.accept_length),
        break_even: data.break_even.map(|limit| (limit.ms(), format!("break-even\n{limit}"))),
        wins_below: true,
        headroom: 1.7,
        observed: data.observed.map(|p| (point(p), format!("used: {}", words(p)))),
        model: data.model.map(|p| (point(p), format!("model: {}", words(p)))),
    })
}

/// Throughput against accept length, as SVG.
pub fn throughput_against_accept_length(data: &AcceptCurve) -> String {
    let baseline = data.baseline;
    let title = match (data.break_even, data.observed) {
        (Some(least), _) if least > data.limit => {
            format!("No accept length up to {} beats {baseline}: it would take {least}", data.limit)
        }
        (None, _) => format!("No accept length beats {baseline}"),
        (Some(least), Some((now, _))) if now < least => {
            format!("Accept length must rise from {now} to {least} to reach {baseline}")
        }
        (Some(least), _) => format!("Speculation beats {baseline} from an accept length of {least} on"),
    };
    let point = |(length, throughput): (AcceptLength, TokensPerSecond)| (length.get(), throughput.get());
    let words = |(length, throughput): (AcceptLength, TokensPerSecond)| format!("{length}, {throughput}");
    let shown = data.break_even.filter(|&least| least <= data.limit);
    draw(&Panel {
        title,
        setup: &data.setup,
        x_title: "accept length [tokens per cycle, bonus token included]",
        x_range: (1.0, data.limit.get()),
        baseline,
        curve: data.curve.iter().copied().map(point).collect(),
        curve_words: "with speculation".to_owned(),
        break_even: shown.map(|least| (least.get(), format!("break-even\n{least}"))),
        wins_below: false,
        headroom: 2.2,
        observed: data.observed.map(|p| (point(p), format!("used: {}", words(p)))),
        model: data.model.map(|p| (point(p), format!("model: {}", words(p)))),
    })
}

/// What both figures have in common.
struct Panel<'a> {
    title: String,
    setup: &'a str,
    x_title: &'a str,
    x_range: (f64, f64),
    baseline: TokensPerSecond,
    curve: Vec<(f64, f64)>,
    curve_words: String,
    break_even: Option<(f64, String)>,
    /// Whether speculation wins below the break-even (else above it).
    wins_below: bool,
    /// Most that the curve alone may stretch the figure, in heights of the baseline.
    headroom: f64,
    observed: Option<((f64, f64), String)>,
    model: Option<((f64, f64), String)>,
}

fn draw(data: &Panel<'_>) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, data.setup);
        let area = plot_area(top, HEIGHT, 28.0);
        let baseline = data.baseline.get();
        let marked = [&data.observed, &data.model].into_iter().flatten().map(|((_, y), _)| y * 1.15);
        let curve = data.curve.iter().map(|p| p.1).filter(|y| y.is_finite()).fold(0.0, f64::max);
        let tallest = marked.fold(curve.clamp(baseline * 1.25, baseline * data.headroom), f64::max);
        let frame = Frame {
            area,
            x: Axis::linear(data.x_range.0, data.x_range.1, area.left, area.right),
            y: Axis::linear(0.0, nice_ceiling(tallest, 6), area.bottom, area.top),
        };
        let (x_ticks, y_ticks) = (number_ticks(&frame.x, 9), number_ticks(&frame.y, 7));
        let mut placer = Placer::new(area.grown(-4.0));
        shade_win(canvas, &frame, data);
        frame.grid(canvas, &x_ticks, &y_ticks);
        let curve = lines(canvas, &frame, data, &mut placer);
        frame.axes(canvas, (&x_ticks, data.x_title), (&y_ticks, "throughput [tok/s]"));
        marks(canvas, &frame, data, &mut placer);
        line_labels(canvas, &frame, data, &curve, &mut placer);
    })
}

/// The side of the break-even on which speculation wins.
fn shade_win(canvas: &Canvas<'_>, frame: &Frame, data: &Panel<'_>) {
    let Some((at, _)) = &data.break_even else { return };
    let at = frame.x.at(*at).clamp(frame.area.left, frame.area.right);
    let area = frame.area;
    let side = if data.wins_below { Rect { right: at, ..area } } else { Rect { left: at, ..area } };
    canvas.fill(side, BASELINE, 0.09);
}

/// Baseline, break-even and curve; the visible pixels of the curve.
fn lines(canvas: &Canvas<'_>, frame: &Frame, data: &Panel<'_>, placer: &mut Placer) -> Vec<Point> {
    let area = frame.area;
    let y = frame.y.at(data.baseline.get());
    let baseline = [(area.left, y), (area.right, y)];
    canvas.line(&baseline, Stroke::solid(BASELINE, 2.0));
    placer.avoid_line(&baseline);
    if let Some((at, _)) = &data.break_even {
        let x = frame.x.at(*at);
        let line = [(x, area.top), (x, area.bottom)];
        canvas.line(&line, Stroke::dashed(INK, 1.3));
        placer.avoid_line(&line);
    }
    let pieces = clip(&frame.path(&data.curve), &area);
    for piece in &pieces {
        canvas.line(piece, Stroke::solid(INK, 2.2));
        placer.avoid_line(piece);
    }
    pieces.concat()
}

fn marks(canvas: &Canvas<'_>, frame: &Frame, data: &Panel<'_>, placer: &mut Placer) {
    let both = [(&data.observed, Shape::Disc, OBSERVED), (&data.model, Shape::Diamond, MODEL)];
    let shown = both.into_iter().filter_map(|(mark, shape, color)| mark.as_ref().map(|m| (m, shape, color)));
    let shown: Vec<_> = shown.filter(|(((x, y), _), ..)| frame.area.holds(frame.at(*x, *y))).collect();
    for (((x, y), _), ..) in &shown {
        placer.avoid_marker(frame.at(*x, *y), RADIUS + 2.0);
    }
    for (((x, y), text), shape, color) in shown {
        let at = frame.at(*x, *y);
        marker(canvas, at, shape, color, RADIUS);
        placer.place(canvas, &[at], RADIUS, &Label::new(text, NOTE.color(color).bold()));
    }
}

fn line_labels(canvas: &Canvas<'_>, frame: &Frame, data: &Panel<'_>, curve: &[Point], placer: &mut Placer) {
    let area = frame.area;
    let along = |share: f64| area.left + area.width() * share;
    if let Some((at, text)) = &data.break_even {
        let x = frame.x.at(*at);
        let anchors = [0.04, 0.12, 0.93].map(|share| (x, area.top + area.height() * share));
        placer.place(canvas, &anchors, 0.0, &Label::new(text, NOTE));
        region_words(canvas, frame, data, x, placer);
    }
    let baseline = format!("without speculation: {}", data.baseline);
    let y = frame.y.at(data.baseline.get());
    let anchors = [0.98, 0.85, 0.7, 0.5, 0.3, 0.02].map(|share| (along(share), y));
    placer.place(canvas, &anchors, 0.0, &Label::new(&baseline, NOTE.color(BASELINE).bold()));
    let anchors: Vec<Point> = (1..8).filter_map(|i| curve.get(i * curve.len() / 8).copied()).collect();
    placer.place(canvas, &anchors, 1.0, &Label::new(&data.curve_words, NOTE));
}

/// "wins" and "loses" at the foot of each side, where they fit.
fn region_words(canvas: &Canvas<'_>, frame: &Frame, data: &Panel<'_>, x: f64, placer: &mut Placer) {
    let area = frame.area;
    let y = area.bottom - 14.0;
    let sides = [(area.left, x, data.wins_below), (x, area.right, !data.wins_below)];
    for (left, right, wins) in sides {
        let color = if wins { BASELINE } else { QUIET };
        let font = Font { color, ..Font::new(12.5, Anchor::Middle) };
        let half = |words: &str| text_width(words, font.size, false) / 2.0;
        let fits = |words: &&str| right - left > 2.0 * half(words) + 16.0;
        let choices = if wins { ["speculation wins", "wins"] } else { ["speculation loses", "loses"] };
        let middle = f64::midpoint(left, right);
        if let Some(words) = choices.into_iter().find(fits) {
            let half = half(words);
            canvas.text((middle, y), words, font);
            placer.avoid_text(Rect::new(middle - half, y - 8.0, middle + half, y + 8.0));
        }
    }
}
