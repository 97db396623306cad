//! Labels that stand beside what they name and on nothing else.
//!
//! Each label tries eight directions at growing distances around each of its possible anchors and takes the place
//! with the least sum of: what it would cover (other labels weigh most, then markers, then lines) and its
//! distance. Greedy and deterministic: labels placed first have the best choice.

use super::canvas::{Anchor, Canvas, Font, Stroke};
use super::geometry::{Point, Rect, between, distance};
use super::metrics::text_width;
use super::palette::{QUIET, WHITE};

/// Line height of a label in font sizes.
const LEADING: f64 = 1.28;
/// Distances tried between an anchor and its label \[px\].
const DISTANCES: [f64; 7] = [7.0, 12.0, 20.0, 32.0, 48.0, 68.0, 92.0];
/// Directions tried, right first: unit vectors.
const DIRECTIONS: [Point; 8] =
    [(1.0, 0.0), (0.7, -0.7), (0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (-0.7, 0.7), (0.0, -1.0), (0.0, 1.0)];
/// A label farther than this from its anchor gets a leader line \[px\].
const LEADER_FROM: f64 = 16.0;

/// Something not to cover, and how bad covering it is.
struct Obstacle {
    rect: Rect,
    weight: f64,
}

/// Finds places for labels.
pub(super) struct Placer {
    area: Rect,
    obstacles: Vec<Obstacle>,
}

/// Lines of text with a look.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) lines: Vec<String>,
    pub(super) font: Font,
}

impl Label {
    /// One or more lines, separated by newlines.
    pub(super) fn new(text: &str, font: Font) -> Self {
        Self { lines: text.lines().map(str::to_owned).collect(), font }
    }

    fn size(&self) -> (f64, f64) {
        let width = |line: &String| text_width(line, self.font.size, self.font.bold);
        let widest = self.lines.iter().map(width).fold(0.0, f64::max);
        (widest, self.lines.len() as f64 * LEADING * self.font.size)
    }
}

impl Placer {
    /// Labels stay within `area`.
    pub(super) const fn new(area: Rect) -> Self {
        Self { area, obstacles: vec![] }
    }

    /// Keeps labels off a rectangle with text.
    pub(super) fn avoid_text(&mut self, rect: Rect) {
        self.obstacles.push(Obstacle { rect, weight: 40.0 });
    }

    /// Keeps labels off a marker of `radius` pixels.
    pub(super) fn avoid_marker(&mut self, at: Point, radius: f64) {
        let rect = Rect::new(at.0, at.1, at.0, at.1).grown(radius);
        self.obstacles.push(Obstacle { rect, weight: 30.0 });
    }

    /// Keeps labels off a line where they can.
    pub(super) fn avoid_line(&mut self, points: &[Point]) {
        for pair in points.windows(2) {
            let steps = (distance(pair[0], pair[1]) / 4.0).ceil().max(1.0);
            for i in 0..=steps as u32 {
                let (x, y) = between(pair[0], pair[1], f64::from(i) / steps);
                self.obstacles.push(Obstacle { rect: Rect::new(x, y, x, y).grown(2.5), weight: 6.0 });
            }
        }
    }

    /// Draws a label at the best place around one of its anchors; `clearance` is the radius of the marker there.
    pub(super) fn place(&mut self, canvas: &Canvas<'_>, anchors: &[Point], clearance: f64, label: &Label) {
        let Some((rect, anchor)) = self.best(anchors, clearance, label) else { return };
        let nearest = rect.nearest(anchor);
        if distance(nearest, anchor) > LEADER_FROM + clearance {
            let length = distance(nearest, anchor);
            let start = between(anchor, nearest, (clearance + 2.0) / length);
            canvas.line(&[start, nearest], Stroke::solid(QUIET, 0.8));
        }
        draw(canvas, rect, label);
        self.avoid_text(rect.grown(2.0));
    }

    fn best(&self, anchors: &[Point], clearance: f64, label: &Label) -> Option<(Rect, Point)> {
        let size = label.size();
        let mut best: Option<(f64, Rect, Point)> = None;
        for &anchor in anchors {
            for (i, gap) in DISTANCES.iter().enumerate() {
                for direction in DIRECTIONS {
                    let rect = beside(anchor, direction, gap + clearance, size);
                    // Straight right at the smallest distance costs nothing.
                    let far = i as f64 * 14.0;
                    let cost = far + self.covered(&rect);
                    if best.is_none_or(|(least, ..)| cost < least - 1e-9) {
                        best = Some((cost, rect, anchor));
                    }
                }
            }
        }
        best.map(|(_, rect, anchor)| (rect, anchor))
    }

    fn covered(&self, rect: &Rect) -> f64 {
        let outside = if self.area.contains(rect) { 0.0 } else { 1e6 };
        outside + self.obstacles.iter().map(|o| o.rect.overlap(rect) * o.weight).sum::<f64>()
    }
}

/// A rectangle of `size` whose nearest edge lies `gap` pixels from `anchor` in a direction.
fn beside(anchor: Point, (dx, dy): Point, gap: f64, (width, height): (f64, f64)) -> Rect {
    let center = (
        anchor.0 + dx * gap + dx.signum() * width / 2.0 * f64::from(u8::from(dx != 0.0)),
        anchor.1 + dy * gap + dy.signum() * height / 2.0 * f64::from(u8::from(dy != 0.0)),
    );
    Rect::new(
        center.0 - width / 2.0,
        center.1 - height / 2.0,
        center.0 + width / 2.0,
        center.1 + height / 2.0,
    )
}

/// Draws a label in its rectangle, on a white ground that lets grid lines fade.
pub(super) fn draw(canvas: &Canvas<'_>, rect: Rect, label: &Label) {
    canvas.fill(rect.grown(1.5), WHITE, 0.8);
    let height = label.font.size * LEADING;
    for (i, line) in label.lines.iter().enumerate() {
        let y = rect.top + (i as f64 + 0.5) * height;
        let x = match label.font.anchor {
            Anchor::Start => rect.left,
            Anchor::Middle => rect.center().0,
            Anchor::End => rect.right,
        };
        canvas.text((x, y), line, label.font);
    }
}

/// Heights of labels in a column, moved apart to at least `gap` and kept between `top` and `bottom`, in the order
/// of `wanted`.
pub(super) fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let mut least = top;
    for &i in &order {
        places[i] = places[i].max(least);
        least = places[i] + gap;
    }
    let mut most = bottom;
    for &i in order.iter().rev() {
        places[i] = places[i].min(most);
        most = places[i] - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_off_each_other_and_inside() {
        let area = Rect::new(0.0, 0.0, 400.0, 300.0);
        let mut placer = Placer::new(area);
        let label = Label::new("kimi-b8", Font::new(12.0, Anchor::Start));
        let mut placed: Vec<Rect> = vec![];
        for i in 0..12 {
            let anchor = (380.0 - f64::from(i % 4) * 3.0, 150.0 + f64::from(i) * 2.0);
            let (rect, _) = placer.best(&[anchor], 4.0, &label).expect("there is an anchor");
            assert!(area.contains(&rect), "{rect:?}");
            assert!(placed.iter().all(|other| other.overlap(&rect) < 1e-9), "label {i} covers another");
            placer.avoid_text(rect);
            placed.push(rect);
        }
    }

    #[test]
    fn a_column_of_labels_is_moved_apart_within_its_bounds() {
        let places = spread(&[50.0, 52.0, 51.0, 99.0], 10.0, 0.0, 100.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{places:?}");
        assert!(places[0] < places[2] && places[2] < places[1] && places[3] <= 100.0);
    }
}
