//! Points, rectangles and lines on the page \[px\].

/// Right and down from the upper left corner \[px\].
pub(super) type Point = (f64, f64);

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) const fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(super) fn center(&self) -> Point {
        (f64::midpoint(self.left, self.right), f64::midpoint(self.top, self.bottom))
    }

    /// With a border of `by` pixels added.
    pub(super) fn grown(&self, by: f64) -> Self {
        Self::new(self.left - by, self.top - by, self.right + by, self.bottom + by)
    }

    /// Area that two rectangles share \[px²\].
    pub(super) fn overlap(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    pub(super) fn contains(&self, other: &Self) -> bool {
        other.left >= self.left
            && other.right <= self.right
            && other.top >= self.top
            && other.bottom <= self.bottom
    }

    pub(super) fn holds(&self, point: Point) -> bool {
        (self.left..=self.right).contains(&point.0) && (self.top..=self.bottom).contains(&point.1)
    }

    /// The point of the rectangle that is nearest to `point`.
    pub(super) fn nearest(&self, point: Point) -> Point {
        (point.0.clamp(self.left, self.right), point.1.clamp(self.top, self.bottom))
    }
}

/// Distance between two points.
pub(super) fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// The point `share` of the way from `a` to `b`.
pub(super) fn between(a: Point, b: Point, share: f64) -> Point {
    (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share)
}

/// A line cut into dashes of `drawn` pixels with `left_out` pixels between them.
pub(super) fn dashes(points: &[Point], (drawn, left_out): (f64, f64)) -> Vec<Vec<Point>> {
    let mut pieces = vec![];
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    let (mut on, mut left) = (true, drawn);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = distance(from, to);
        while length > left {
            from = between(from, to, left / length);
            length -= left;
            if on {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            on = !on;
            left = if on { drawn } else { left_out };
        }
        left -= length;
        if on {
            piece.push(to);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

/// The parts of a line inside `area`; each piece runs from where it enters to where it leaves.
pub(super) fn clip(points: &[Point], area: &Rect) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = vec![];
    for pair in points.windows(2) {
        let Some((a, b)) = clip_segment(pair[0], pair[1], area) else { continue };
        match pieces.last_mut() {
            Some(piece) if piece.last().is_some_and(|&end| distance(end, a) < 1e-9) => piece.push(b),
            _ => pieces.push(vec![a, b]),
        }
    }
    pieces
}

/// Liang-Barsky: the part of a segment inside a rectangle.
fn clip_segment(a: Point, b: Point, area: &Rect) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    let sides =
        [(-dx, a.0 - area.left), (dx, area.right - a.0), (-dy, a.1 - area.top), (dy, area.bottom - a.1)];
    for (step, room) in sides {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    (enter < leave).then(|| (between(a, b, enter), between(a, b, leave)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share_of_a_line_with_corners() {
        let pieces = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], (4.0, 2.0));
        let drawn: f64 = pieces.iter().flat_map(|p| p.windows(2)).map(|w| distance(w[0], w[1])).sum();
        assert!((drawn - 14.0).abs() < 1e-9, "{drawn}");
        assert_eq!(pieces.len(), 4);
    }

    #[test]
    fn lines_end_at_the_edge_of_the_area() {
        let area = Rect::new(0.0, 0.0, 10.0, 10.0);
        assert_eq!(clip(&[(-5.0, 5.0), (15.0, 5.0)], &area), [[(0.0, 5.0), (10.0, 5.0)]]);
        assert!(clip(&[(-5.0, -5.0), (15.0, -5.0)], &area).is_empty());
        assert_eq!(clip(&[(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)], &area)[0].len(), 3);
    }
}
