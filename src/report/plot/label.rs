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
/// Cost of covering one square pixel of another label; markers and lines cost less.
const TEXT_WEIGHT: f64 = 40.0;
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
    /// Opacity of the white ground behind it.
    pub(super) ground: f64,
}

impl Label {
    /// One or more lines, separated by newlines, without a ground.
    pub(super) fn new(text: &str, font: Font) -> Self {
        Self { lines: text.lines().map(str::to_owned).collect(), font, ground: 0.0 }
    }

    /// The same on a white ground, for places that are coloured.
    pub(super) fn on_white(text: &str, font: Font) -> Self {
        Self { ground: 0.75, ..Self::new(text, font) }
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
        self.obstacles.push(Obstacle { rect, weight: TEXT_WEIGHT });
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
        self.avoid_text(Rect::new(rect.left - 8.0, rect.top - 2.0, rect.right + 8.0, rect.bottom + 2.0));
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
                    let cost = far + self.covered(&rect) + self.crossed(anchor, &rect);
                    if best.is_none_or(|(least, ..)| cost < least - 1e-9) {
                        best = Some((cost, rect, anchor));
                    }
                }
            }
        }
        best.map(|(_, rect, anchor)| (rect, anchor))
    }

    /// What a line from the anchor to its label would cross: other labels, above all.
    fn crossed(&self, anchor: Point, rect: &Rect) -> f64 {
        let end = rect.nearest(anchor);
        let steps = (distance(anchor, end) / 4.0).ceil().max(1.0);
        let dots = (1..=steps as u32).map(|i| between(anchor, end, f64::from(i) / steps));
        let texts = || self.obstacles.iter().filter(|o| o.weight >= TEXT_WEIGHT);
        dots.map(|dot| texts().filter(|o| o.rect.holds(dot)).count() as f64 * 80.0).sum()
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

/// Draws a label in its rectangle.
fn draw(canvas: &Canvas<'_>, rect: Rect, label: &Label) {
    canvas.fill(rect.grown(1.5), WHITE, label.ground);
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

/// Middles of labels along a line, moved apart so that none covers another by less than `gap`, and kept between
/// `low` and `high`. Each label is its wanted middle and its extent; their order along the line is kept.
pub(super) fn spread(labels: &[(f64, f64)], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[a].0.total_cmp(&labels[b].0));
    // Clusters of touching labels: sum of wanted starts (less what stands before them in the cluster), members,
    // extent. A cluster starts where its members are, on average, nearest to their wanted places.
    let mut clusters: Vec<(f64, Vec<usize>, f64)> = vec![];
    for &i in &order {
        let (middle, extent) = labels[i];
        let mut cluster = (middle - extent / 2.0, vec![i], extent + gap);
        while let Some((sum, members, room)) = clusters.pop() {
            let (last, first) = (start(sum, &members), start(cluster.0, &cluster.1));
            if last + room <= first {
                clusters.push((sum, members, room));
                break;
            }
            let shifted = cluster.0 - room * cluster.1.len() as f64;
            cluster = (sum + shifted, [members, cluster.1].concat(), room + cluster.2);
        }
        clusters.push(cluster);
    }
    let mut starts = vec![];
    for (sum, members, _) in clusters {
        let mut place = start(sum, &members);
        for i in members {
            starts.push((i, place));
            place += labels[i].1 + gap;
        }
    }
    keep_between(labels, starts, gap, (low, high))
}

/// Where a cluster starts.
fn start(sum: f64, members: &[usize]) -> f64 {
    sum / members.len() as f64
}

/// Starts in order along the line, pushed inside its ends; their middles in the order of `labels`.
fn keep_between(
    labels: &[(f64, f64)],
    mut starts: Vec<(usize, f64)>,
    gap: f64,
    (low, high): (f64, f64),
) -> Vec<f64> {
    let mut most = high;
    for (i, place) in starts.iter_mut().rev() {
        *place = place.min(most - labels[*i].1);
        most = *place - gap;
    }
    let mut least = low;
    for (i, place) in &mut starts {
        *place = place.max(least);
        least = *place + labels[*i].1 + gap;
    }
    let mut middles = vec![0.0; labels.len()];
    for (i, place) in starts {
        middles[i] = place + labels[i].1 / 2.0;
    }
    middles
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
    fn labels_on_a_line_are_moved_apart_within_its_ends() {
        let places = spread(&[(50.0, 8.0), (52.0, 8.0), (51.0, 8.0), (99.0, 8.0)], 2.0, 0.0, 100.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{places:?}");
        assert!(places[0] < places[2] && places[2] < places[1] && places[3] <= 96.0);
    }
}
