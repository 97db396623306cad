//! Times over a grid of whole numbers whose lines need not be complete: multilinear interpolation.
//!
//! A grid of D axes is a tree of depth D: each node holds the sorted positions of one axis, each leaf a time.
//! Between two positions a < x < b of an axis the time is `t(a) + (x - a) / (b - a) · (t(b) - t(a))`, t(a) and
//! t(b) being looked up in the same way along the remaining axes. So a knot is returned as it is, and inside a
//! cell the result lies between the cell's corners. Linear, since kernel times are sums of terms in bytes and
//! operations; leave-one-out on the shipped tables prefers it to log-log on every axis but one (shards of an
//! expert, where times are proportional to 1/x: [`Scale::Log`]).
//!
//! Beyond the last position the slope of the last interval continues (never downwards), before the first one the
//! first time holds; both are marked extrapolated.

use crate::units::Seconds;

/// How the times between two positions of an axis are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// A straight line.
    Linear,
    /// A straight line through the logarithms of both.
    Log,
}

/// A tree of times; see the module.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid<const D: usize> {
    scales: [Scale; D],
    levels: [Level; D],
    /// Seconds, one for each position of the last level.
    times: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Level {
    positions: Vec<f64>,
    /// Where the children of each position start in the next level; one more entry than positions.
    children: Vec<u32>,
}

/// A time between knots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Seconds.
    pub(super) time: f64,
    /// Whether an axis was left.
    pub(super) extrapolated: bool,
}

impl Point {
    /// Of a kernel like the measured one whose time is taken to be `factor` of it; another factor than 1 is a guess.
    pub(super) fn scaled(self, factor: f64) -> Self {
        let same = factor.total_cmp(&1.0).is_eq();
        Self { time: self.time * factor, extrapolated: self.extrapolated || !same }
    }
}

impl<const D: usize> Grid<D> {
    /// From knots sorted by position, without duplicates and not empty.
    pub(super) fn from_sorted(scales: [Scale; D], knots: &[([u32; D], Seconds)]) -> Self {
        let mut levels = std::array::from_fn(|_| Level { positions: Vec::new(), children: Vec::new() });
        let mut times = Vec::with_capacity(knots.len());
        let mut previous: Option<&[u32; D]> = None;
        for (at, time) in knots {
            // The first axis on which this knot leaves the path of the one before.
            let branch = previous.map_or(0, |p| (0..D).find(|&axis| p[axis] != at[axis]).unwrap_or(D - 1));
            for axis in branch..D {
                let next = if axis + 1 < D { level_len(&levels, axis + 1) } else { times.len() };
                let level: &mut Level = &mut levels[axis];
                level.positions.push(f64::from(at[axis]));
                level.children.push(next as u32);
            }
            times.push(time.get());
            previous = Some(at);
        }
        for axis in 0..D {
            let end = if axis + 1 < D { level_len(&levels, axis + 1) } else { times.len() };
            levels[axis].children.push(end as u32);
        }
        Self { scales, levels, times }
    }

    /// Positions of the first axis.
    pub(super) fn first_axis(&self) -> &[f64] {
        &self.levels[0].positions
    }

    /// The time at a point.
    pub(super) fn at(&self, point: [f64; D]) -> Point {
        self.along(0, 0, self.levels[0].positions.len(), &point)
    }

    /// The time at a point below the node whose positions are `start..end` of an axis.
    fn along(&self, axis: usize, start: usize, end: usize, point: &[f64; D]) -> Point {
        let positions = &self.levels[axis].positions[start..end];
        let x = point[axis];
        let above = positions.partition_point(|p| *p < x);
        if above < positions.len() && positions[above] <= x {
            return self.child(axis, start + above, point);
        }
        if above == 0 {
            return Point { extrapolated: true, ..self.child(axis, start, point) };
        }
        if above == positions.len() {
            return self.beyond(axis, start, end, point);
        }
        let (a, b) = (positions[above - 1], positions[above]);
        let low = self.child(axis, start + above - 1, point);
        let high = self.child(axis, start + above, point);
        let time = match self.scales[axis] {
            Scale::Linear => low.time + (x - a) / (b - a) * (high.time - low.time),
            Scale::Log => low.time * (high.time / low.time).powf((x / a).ln() / (b / a).ln()),
        };
        Point { time, extrapolated: low.extrapolated || high.extrapolated }
    }

    fn beyond(&self, axis: usize, start: usize, end: usize, point: &[f64; D]) -> Point {
        let last = self.child(axis, end - 1, point);
        let slope = if end - start > 1 {
            let before = self.child(axis, end - 2, point);
            let positions = &self.levels[axis].positions;
            (last.time - before.time) / (positions[end - 1] - positions[end - 2])
        } else {
            0.0
        };
        let distance = point[axis] - self.levels[axis].positions[end - 1];
        Point { time: last.time + slope.max(0.0) * distance, extrapolated: true }
    }

    fn child(&self, axis: usize, index: usize, point: &[f64; D]) -> Point {
        if axis + 1 == D {
            return Point { time: self.times[index], extrapolated: false };
        }
        let children = &self.levels[axis].children;
        self.along(axis + 1, children[index] as usize, children[index + 1] as usize, point)
    }
}

fn level_len<const D: usize>(levels: &[Level; D], axis: usize) -> usize {
    levels[axis].positions.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(knots: &[([u32; 2], f64)]) -> Grid<2> {
        let knots: Vec<_> = knots.iter().map(|(at, t)| (*at, Seconds::new(*t))).collect();
        Grid::from_sorted([Scale::Linear; 2], &knots)
    }

    fn same(point: Point, time: f64, extrapolated: bool) {
        assert!((point.time - time).abs() < 1e-12, "{point:?} is not {time}");
        assert_eq!(point.extrapolated, extrapolated, "{point:?}");
    }

    #[test]
    fn bilinear_inside_a_cell_even_where_lines_have_other_knots() {
        let g = grid(&[([1, 10], 1.0), ([1, 30], 3.0), ([3, 10], 5.0), ([3, 20], 6.0), ([3, 30], 9.0)]);
        same(g.at([1.0, 30.0]), 3.0, false);
        same(g.at([1.0, 20.0]), 2.0, false);
        same(g.at([2.0, 20.0]), 4.0, false);
        same(g.at([2.0, 25.0]), 0.5 * (2.5 + 7.5), false);
    }

    #[test]
    fn outside_the_last_slope_goes_on_and_the_first_time_holds() {
        let g = grid(&[([1, 10], 1.0), ([1, 30], 3.0), ([3, 10], 5.0), ([3, 20], 6.0), ([3, 30], 4.0)]);
        same(g.at([1.0, 50.0]), 5.0, true);
        same(g.at([1.0, 1.0]), 1.0, true);
        // Falling at its end: it stays, it does not become negative.
        same(g.at([3.0, 1e6]), 4.0, true);
        same(g.at([5.0, 10.0]), 9.0, true);
    }

    #[test]
    fn a_line_of_one_knot_is_constant() {
        let g = grid(&[([4, 8], 2.0)]);
        same(g.at([4.0, 8.0]), 2.0, false);
        same(g.at([9.0, 9.0]), 2.0, true);
    }

    #[test]
    fn proportional_to_one_over_x_is_exact_on_the_log_scale() {
        let knots: Vec<_> = [1u32, 4, 16].iter().map(|&x| ([x], Seconds::new(8.0 / f64::from(x)))).collect();
        let g = Grid::from_sorted([Scale::Log], &knots);
        assert!((g.at([2.0]).time - 4.0).abs() < 1e-12);
        assert!((g.at([8.0]).time - 1.0).abs() < 1e-12);
    }

    /// Ragged grids: one to five lines of one to six knots.
    fn any_grid() -> impl Strategy<Value = Vec<([u32; 2], f64)>> {
        let line = prop::collection::btree_map(1u32..500, 1e-6..1e-2f64, 1..6);
        prop::collection::btree_map(1u32..300, line, 1..5).prop_map(|lines| {
            lines.into_iter().flat_map(|(a, l)| l.into_iter().map(move |(b, t)| ([a, b], t))).collect()
        })
    }

    proptest! {
        #[test]
        fn exact_at_knots_and_positive_everywhere(knots in any_grid(), a in 0.5..1000.0f64, b in 0.5..1000.0f64) {
            let g = grid(&knots);
            for (at, time) in &knots {
                let point = g.at([f64::from(at[0]), f64::from(at[1])]);
                prop_assert_eq!(point.time.to_bits(), time.to_bits());
                prop_assert!(!point.extrapolated);
            }
            let point = g.at([a, b]);
            prop_assert!(point.time.is_finite() && point.time > 0.0);
        }

        #[test]
        fn inside_it_stays_within_the_extremes(knots in any_grid(), a in 0.5..1000.0f64, b in 0.5..1000.0f64) {
            let point = grid(&knots).at([a, b]);
            let times = || knots.iter().map(|k| k.1);
            let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
            if !point.extrapolated {
                prop_assert!(point.time >= low * (1.0 - 1e-12) && point.time <= high * (1.0 + 1e-12));
            }
        }

        #[test]
        fn rising_lines_give_rising_times(steps in prop::collection::vec((1u32..50, 0.0..1e-3f64), 2..8),
                                          x in 0.5..400.0f64, dx in 0.0..100.0f64) {
            let mut knots = Vec::new();
            let (mut at, mut time) = (0, 1e-6);
            for (gap, rise) in steps {
                at += gap;
                time += rise;
                knots.push(([1, at], time));
            }
            let g = grid(&knots);
            prop_assert!(g.at([1.0, x + dx]).time >= g.at([1.0, x]).time * (1.0 - 1e-12));
        }
    }
}
