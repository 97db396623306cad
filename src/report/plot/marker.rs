//! Marks for single points. Shape tells them apart as well as colour.

use super::canvas::Canvas;
use super::geometry::Point;
use super::palette::{Color, WHITE};

/// Radius that keeps labels off a marker \[px\].
pub(super) const RADIUS: f64 = 6.0;

/// Shapes, in order of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Disc,
    Diamond,
    Square,
    Triangle,
    Ring,
}

/// Shapes for series, in order of use.
pub(super) const SHAPES: [Shape; 5] =
    [Shape::Disc, Shape::Diamond, Shape::Square, Shape::Triangle, Shape::Ring];

/// Draws a marker with a white rim, so that it stays visible on lines.
pub(super) fn marker(canvas: &Canvas<'_>, at: Point, shape: Shape, color: Color, radius: f64) {
    outline(canvas, at, shape, WHITE, radius + 1.4);
    outline(canvas, at, shape, color, radius);
    if shape == Shape::Ring {
        canvas.disc(at, radius * 0.5, WHITE);
    }
}

fn outline(canvas: &Canvas<'_>, (x, y): Point, shape: Shape, color: Color, r: f64) {
    let s = r * 0.88;
    match shape {
        Shape::Disc | Shape::Ring => canvas.disc((x, y), r, color),
        Shape::Diamond => {
            let d = r * 1.22;
            canvas.polygon(&[(x, y - d), (x + d, y), (x, y + d), (x - d, y)], color, 1.0);
        }
        Shape::Square => {
            canvas.polygon(&[(x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)], color, 1.0);
        }
        Shape::Triangle => {
            let h = r * 1.15;
            canvas.polygon(&[(x, y - h), (x + h, y + h * 0.8), (x - h, y + h * 0.8)], color, 1.0);
        }
    }
}
