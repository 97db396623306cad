//! Projections measured at a few shapes that form no grid: those of one model, and a coarse net around them.
//!
//! A measured shape is a line over rows. Any other shape takes the times of its nearest neighbours in (ln n, ln k),
//! each scaled by what a roofline through the table itself says of the two matrices:
//!
//! `t(n,k) = exp Σ w_i · ln( t_i · f(n·k) / f(n_i·k_i) )`, `w_i ∝ 1/distance²`, `f(s) = t0 + s/R`
//!
//! t0 is the smallest time of the table and R the median of weights per second over the matrices that take twice as long.
//! So a table of one matrix still gives times that grow with the matrix, and a neighbour gives its own time. Outside the
//! measured widths the result counts as extrapolated. cuBLAS changes kernels with the shape: expect some 10 %.

use crate::calibration::grid::{Grid, Point};

/// Neighbours that are asked.
const NEIGHBOURS: usize = 4;

/// Lines over rows by shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shapes {
    lines: Vec<Line>,
    /// Smallest time of the table \[s\].
    floor: f64,
    /// Weights per second of large matrices.
    rate: f64,
    /// Smallest and largest n and k.
    within: [[f64; 2]; 2],
}

#[derive(Debug, Clone, PartialEq)]
struct Line {
    n: u32,
    k: u32,
    /// ln n, ln k.
    at: [f64; 2],
    over_rows: Grid<1>,
}

impl Shapes {
    /// From lines over rows; none without lines.
    pub(super) fn new(shapes: impl IntoIterator<Item = ([u32; 2], Grid<1>)>) -> Option<Self> {
        let ln = |width: u32| f64::from(width).ln();
        let lines: Vec<Line> = shapes
            .into_iter()
            .map(|([n, k], over_rows)| Line { n, k, at: [ln(n), ln(k)], over_rows })
            .collect();
        let first = |line: &Line| line.over_rows.at([0.0]).time;
        let floor = lines.iter().map(first).reduce(f64::min)?;
        let size = |line: &Line| f64::from(line.n) * f64::from(line.k);
        let mut rates: Vec<f64> = lines
            .iter()
            .filter(|line| first(line) >= 2.0 * floor)
            .map(|line| size(line) / (first(line) - floor))
            .collect();
        rates.sort_by(f64::total_cmp);
        let rate = rates.get(rates.len() / 2).copied();
        // Without a large matrix, all of the largest one's time counts as reading.
        let largest = lines.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let rate = rate.unwrap_or_else(|| size(largest) / first(largest));
        let bounds = |width: fn(&Line) -> u32| {
            let widths = || lines.iter().map(|line| f64::from(width(line)));
            [widths().fold(f64::INFINITY, f64::min), widths().fold(0.0, f64::max)]
        };
        let within = [bounds(|line| line.n), bounds(|line| line.k)];
        Some(Self { lines, floor, rate, within })
    }

    /// The time of `rows` rows through k x n.
    pub(super) fn at(&self, [rows, n, k]: [u32; 3]) -> Point {
        if let Some(line) = self.lines.iter().find(|line| (line.n, line.k) == (n, k)) {
            return line.over_rows.at([f64::from(rows)]);
        }
        let size = |n: u32, k: u32| f64::from(n) * f64::from(k);
        let roofline = |size: f64| self.floor + size / self.rate;
        let (mut sum, mut weights, mut extrapolated) = (0.0, 0.0, self.is_outside(n, k));
        for (distance, line) in self.nearest([f64::from(n).ln(), f64::from(k).ln()]) {
            let point = line.over_rows.at([f64::from(rows)]);
            let scaled = point.time * roofline(size(n, k)) / roofline(size(line.n, line.k));
            let weight = 1.0 / distance;
            sum += weight * scaled.ln();
            weights += weight;
            extrapolated |= point.extrapolated;
        }
        Point { time: (sum / weights).exp(), extrapolated }
    }

    fn is_outside(&self, n: u32, k: u32) -> bool {
        let outside = |[low, high]: [f64; 2], x: u32| f64::from(x) < low || f64::from(x) > high;
        outside(self.within[0], n) || outside(self.within[1], k)
    }

    /// The nearest lines with their squared distances, which are not zero.
    fn nearest(&self, at: [f64; 2]) -> impl Iterator<Item = (f64, &Line)> {
        let mut near: [Option<(f64, &Line)>; NEIGHBOURS] = [None; NEIGHBOURS];
        for line in &self.lines {
            let distance = (line.at[0] - at[0]).powi(2) + (line.at[1] - at[1]).powi(2);
            let mut candidate = Some((distance, line));
            for slot in &mut near {
                let closer = match (&candidate, &*slot) {
                    (Some((a, _)), Some((b, _))) => a < b,
                    (candidate, _) => candidate.is_some(),
                };
                if closer {
                    std::mem::swap(slot, &mut candidate);
                }
            }
        }
        near.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::grid::Scale;
    use crate::units::Seconds;

    /// A GPU of 2 µs a kernel and 1e12 weights a second, measured at shapes that are no grid.
    fn shapes(list: &[[u32; 2]]) -> Shapes {
        let time = |n: u32, k: u32| 2e-6 + f64::from(n) * f64::from(k) / 1e12;
        let line = |&[n, k]: &[u32; 2]| {
            let knots = [([1], Seconds::new(time(n, k))), ([64], Seconds::new(1.5 * time(n, k)))];
            ([n, k], Grid::from_sorted([Scale::Linear], &knots))
        };
        Shapes::new(list.iter().map(line)).expect("lines")
    }

    const LIST: [[u32; 2]; 6] =
        [[32, 32], [4608, 7168], [7168, 3584], [8192, 2048], [1024, 8192], [4096, 4096]];

    #[test]
    fn a_measured_shape_is_itself() {
        let point = shapes(&LIST).at([1, 7168, 3584]);
        assert!((point.time - (2e-6 + 7168.0 * 3584.0 / 1e12)).abs() < 1e-15 && !point.extrapolated);
    }

    #[test]
    fn other_shapes_follow_the_roofline_that_the_table_shows() {
        for [n, k] in [[5120, 5120], [6000, 2500], [2048, 2048]] {
            let point = shapes(&LIST).at([1, n, k]);
            let exact = 2e-6 + f64::from(n) * f64::from(k) / 1e12;
            assert!((point.time / exact - 1.0).abs() < 0.03, "{n} x {k}: {} against {exact}", point.time);
            assert!(!point.extrapolated);
        }
        assert!(shapes(&LIST).at([1, 16384, 4096]).extrapolated);
        assert!(shapes(&LIST).at([128, 4096, 2048]).extrapolated);
    }

    #[test]
    fn one_matrix_alone_still_grows_with_the_matrix() {
        let one = shapes(&[[4096, 4096]]);
        assert!(one.at([1, 8192, 8192]).time > 2.0 * one.at([1, 4096, 4096]).time);
    }
}
