//! A drawing surface in fractional pixels over plotters' SVG backend.
//!
//! plotters places everything on whole units; drawing [`FINE`] times larger and letting the SVG header scale back
//! keeps curves smooth.

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle, TextStyle};

use super::geometry::{Point, Rect, dashes};
use super::palette::{Color, INK, WHITE};
use crate::report::png::FONT_FAMILY;

/// Units of the backend per pixel.
const FINE: f64 = 8.0;
/// plotters divides the size of a font by this for SVG.
const FONT_SIZE_FACTOR: f64 = 1.24;
/// Where plotters puts the baseline below the top of a text, and the middle of a capital above it \[em\].
const TOP_TO_BASELINE: f64 = 0.76;
const BASELINE_TO_MIDDLE: f64 = 0.364;

/// A line's look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: Color,
    /// \[px\]
    pub(super) width: f64,
    /// Drawn and left-out lengths \[px\].
    pub(super) dash: Option<(f64, f64)>,
}

impl Stroke {
    pub(super) const fn solid(color: Color, width: f64) -> Self {
        Self { color, width, dash: None }
    }

    pub(super) const fn dashed(color: Color, width: f64) -> Self {
        Self { color, width, dash: Some((6.0, 4.0)) }
    }
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text's look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Font {
    /// \[px\]
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) color: Color,
    pub(super) anchor: Anchor,
}

impl Font {
    pub(super) const fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, bold: false, color: INK, anchor }
    }

    pub(super) const fn color(self, color: Color) -> Self {
        Self { color, ..self }
    }

    pub(super) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// The surface.
pub(super) struct Canvas<'a> {
    root: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws a picture of `width` x `height` pixels on white.
pub(super) fn picture(width: u32, height: u32, draw: impl FnOnce(&Canvas<'_>)) -> String {
    let mut svg = String::new();
    let fine = (width * FINE as u32, height * FINE as u32);
    let canvas = Canvas { root: SVGBackend::with_string(&mut svg, fine).into_drawing_area() };
    canvas.fill(Rect::new(0.0, 0.0, f64::from(width), f64::from(height)), WHITE, 1.0);
    draw(&canvas);
    canvas.root.present().expect("an SVG in memory can be finished");
    drop(canvas);
    let size = |(w, h): (u32, u32)| format!("width=\"{w}\" height=\"{h}\"");
    svg.replacen(&size(fine), &size((width, height)), 1)
}

impl Canvas<'_> {
    fn draw<'b, E>(&self, element: &'b E)
    where
        &'b E: plotters::element::PointCollection<'b, (i32, i32)>,
        E: for<'c> Drawable<SVGBackend<'c>>,
    {
        self.root.draw(element).expect("an SVG in memory takes every element");
    }

    /// A line through points.
    pub(super) fn line(&self, points: &[Point], stroke: Stroke) {
        let pieces = match stroke.dash {
            Some(pattern) => dashes(points, pattern),
            None => vec![points.to_vec()],
        };
        let style = ShapeStyle {
            stroke_width: (stroke.width * FINE).round() as u32,
            ..fill_style(stroke.color, 1.0)
        };
        for piece in pieces.iter().filter(|piece| piece.len() > 1) {
            self.draw(&PathElement::new(piece.iter().map(|&p| unit(p)).collect::<Vec<_>>(), style));
        }
    }

    /// A filled rectangle; `opacity` from 0 to 1.
    pub(super) fn fill(&self, rect: Rect, color: Color, opacity: f64) {
        let corners = [unit((rect.left, rect.top)), unit((rect.right, rect.bottom))];
        self.draw(&Rectangle::new(corners, fill_style(color, opacity)));
    }

    /// A filled polygon; `opacity` from 0 to 1.
    pub(super) fn polygon(&self, points: &[Point], color: Color, opacity: f64) {
        self.draw(&Polygon::new(
            points.iter().map(|&p| unit(p)).collect::<Vec<_>>(),
            fill_style(color, opacity),
        ));
    }

    /// A filled circle of `radius` pixels.
    pub(super) fn disc(&self, center: Point, radius: f64, color: Color) {
        self.draw(&Circle::new(unit(center), (radius * FINE).round() as i32, fill_style(color, 1.0)));
    }

    /// A line of text whose capitals are centred on the height of `at`.
    pub(super) fn text(&self, at: Point, text: &str, font: Font) {
        let shift = (BASELINE_TO_MIDDLE - TOP_TO_BASELINE) * font.size;
        self.write((at.0, at.1 + shift), text, font, FontTransform::None);
    }

    /// The same, reading upwards.
    pub(super) fn text_upwards(&self, at: Point, text: &str, font: Font) {
        let shift = (BASELINE_TO_MIDDLE - TOP_TO_BASELINE) * font.size;
        self.write((at.0 + shift, at.1), text, font, FontTransform::Rotate270);
    }

    fn write(&self, at: Point, text: &str, font: Font, transform: FontTransform) {
        let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        let size = font.size * FINE * FONT_SIZE_FACTOR;
        let desc = FontDesc::new(FontFamily::Name(FONT_FAMILY), size, style).transform(transform);
        let horizontal = match font.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let color = rgb(font.color);
        let style = TextStyle::from(desc).color(&color).pos(Pos::new(horizontal, VPos::Top));
        self.draw(&Text::new(text.to_owned(), unit(at), style));
    }
}

fn rgb(color: Color) -> RGBColor {
    RGBColor(color.0, color.1, color.2)
}

fn fill_style(color: Color, opacity: f64) -> ShapeStyle {
    use plotters::style::Color as _;
    ShapeStyle { color: rgb(color).mix(opacity), filled: true, stroke_width: 0 }
}

fn unit(point: Point) -> (i32, i32) {
    ((point.0 * FINE).round() as i32, (point.1 * FINE).round() as i32)
}
