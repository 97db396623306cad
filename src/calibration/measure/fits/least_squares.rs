//! Least squares with coefficients that may not be negative.
//!
//! Lawson and Hanson's NNLS (Solving Least Squares Problems, 1974, ch. 23) on the normal equations: at most half a dozen
//! columns, scaled to unit length first, so that their condition does not matter.

use nalgebra::{DMatrix, DVector};

/// Smallest gradient that still counts as one, relative to that of the start.
const TOLERANCE: f64 = 1e-10;
/// Steps before it gives up, per column.
const MOST_STEPS: usize = 30;

/// The x ≥ 0 that minimises |A·x - b|²; none where the columns are not finite or there are none.
pub(super) fn nnls(columns: &[Vec<f64>], b: &[f64]) -> Option<Vec<f64>> {
    let n = columns.len();
    if n == 0 || columns.iter().any(|c| c.len() != b.len()) {
        return None;
    }
    let norms: Vec<f64> = columns.iter().map(|c| c.iter().map(|v| v * v).sum::<f64>().sqrt()).collect();
    if norms.iter().any(|norm| !norm.is_finite()) || b.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let a = DMatrix::from_fn(b.len(), n, |row, column| {
        if norms[column] > 0.0 { columns[column][row] / norms[column] } else { 0.0 }
    });
    let b = DVector::from_column_slice(b);
    let (gram, target) = (a.transpose() * &a, a.transpose() * b);
    let scaled = active_set(&gram, &target);
    Some((0..n).map(|i| if norms[i] > 0.0 { scaled[i] / norms[i] } else { 0.0 }).collect())
}

fn active_set(gram: &DMatrix<f64>, target: &DVector<f64>) -> DVector<f64> {
    let n = target.len();
    let mut x = DVector::zeros(n);
    let mut free = vec![false; n];
    let least = TOLERANCE * target.amax();
    for _ in 0..MOST_STEPS * n {
        let gradient = target - gram * &x;
        let next = (0..n)
            .filter(|i| !free[*i] && gradient[*i] > least)
            .max_by(|a, b| gradient[*a].total_cmp(&gradient[*b]));
        let Some(next) = next else { break };
        free[next] = true;
        // Step towards the free optimum until a coefficient would turn negative, and bind that one.
        while let Some(wanted) = solve_free(gram, target, &free) {
            let bound = (0..n).filter(|i| free[*i] && wanted[*i] <= 0.0);
            let step = bound.map(|i| x[i] / (x[i] - wanted[i])).fold(1.0, f64::min);
            let negative = (0..n).any(|i| free[i] && wanted[i] <= 0.0);
            x = &x + (&wanted - &x) * step;
            if !negative {
                break;
            }
            for i in 0..n {
                if free[i] && x[i] <= 1e-14 {
                    free[i] = false;
                    x[i] = 0.0;
                }
            }
        }
    }
    x
}

/// The optimum over the free columns, the others 0; none where none is free or they depend on one another.
fn solve_free(gram: &DMatrix<f64>, target: &DVector<f64>, free: &[bool]) -> Option<DVector<f64>> {
    let chosen: Vec<usize> = (0..free.len()).filter(|i| free[*i]).collect();
    if chosen.is_empty() {
        return None;
    }
    let part = DMatrix::from_fn(chosen.len(), chosen.len(), |r, c| gram[(chosen[r], chosen[c])]);
    let right = DVector::from_fn(chosen.len(), |r, _| target[chosen[r]]);
    let solved = part.clone().cholesky().map(|c| c.solve(&right)).or_else(|| part.lu().solve(&right))?;
    let mut whole = DVector::zeros(free.len());
    for (place, i) in chosen.iter().enumerate() {
        whole[*i] = solved[place];
    }
    whole.iter().all(|v: &f64| v.is_finite()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn residual(columns: &[Vec<f64>], x: &[f64], b: &[f64]) -> f64 {
        (0..b.len())
            .map(|row| columns.iter().zip(x).map(|(c, x)| c[row] * x).sum::<f64>() - b[row])
            .map(|e| e * e)
            .sum()
    }

    #[test]
    fn what_has_an_exact_answer_gets_it() {
        let columns = vec![vec![1.0; 4], vec![0.0, 1.0, 2.0, 3.0]];
        let x = nnls(&columns, &[5.0, 7.0, 9.0, 11.0]).unwrap();
        assert!((x[0] - 5.0).abs() < 1e-9 && (x[1] - 2.0).abs() < 1e-9, "{x:?}");
    }

    /// The free optimum has slope -1: the bound one is the mean.
    #[test]
    fn a_negative_slope_is_held_at_nothing() {
        let columns = vec![vec![1.0; 3], vec![0.0, 1.0, 2.0]];
        let x = nnls(&columns, &[3.0, 2.0, 1.0]).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-9 && x[1].abs() < 1e-12, "{x:?}");
    }

    proptest! {
        /// Kuhn and Tucker: no coefficient is negative, and no small change of one, up or down within x ≥ 0, is better.
        #[test]
        fn nothing_near_is_better(
            cells in proptest::collection::vec(-1.0..1.0f64, 18),
            b in proptest::collection::vec(-1.0..1.0f64, 6),
        ) {
            let columns: Vec<Vec<f64>> = cells.chunks(6).map(<[f64]>::to_vec).collect();
            let x = nnls(&columns, &b).unwrap();
            let best = residual(&columns, &x, &b);
            for i in 0..3 {
                prop_assert!(x[i] >= 0.0);
                for change in [1e-4, -1e-4] {
                    let mut other = x.clone();
                    other[i] = (other[i] + change).max(0.0);
                    prop_assert!(residual(&columns, &other, &b) >= best - 1e-9);
                }
            }
        }
    }
}
