//! Sobol indices: shares of the variance of an output that inputs explain.
//!
//! First-order index: the share that an input explains alone. Total index: the share that is left when all others
//! are known, interactions included. With two independent matrices of scores A and B and A with column i of B:
//!
//! ```text
//! V_i  = 1/N Σ f(B) (f(A_Bi) - f(A))              A. Saltelli et al., Comput. Phys. Commun. 181 (2010) 259, table 2 (b)
//! VT_i = 1/2N Σ (f(A) - f(A_Bi))²                 M. J. W. Jansen, Comput. Phys. Commun. 117 (1999) 35, same table (f)
//! ```
//!
//! N·(inputs + 2) evaluations. Estimates carry the sampling error that is given beside them; a first-order index may
//! come out slightly negative. The output is centred first, which lessens the error of V_i and changes no index.

use rayon::prelude::*;

use super::monte_carlo::scores;

/// The indices of one input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Indices {
    /// Alone.
    pub first: f64,
    /// With all its interactions.
    pub total: f64,
    /// One standard error of `first`.
    pub first_error: f64,
    /// One standard error of `total`.
    pub total_error: f64,
}

/// The indices of each of `factors` inputs for one output; all zero where the output does not vary. `samples` is N.
pub fn sobol(
    factors: usize,
    samples: u32,
    seed: u64,
    function: impl Fn(&[f64]) -> f64 + Sync,
) -> Vec<Indices> {
    // One stream holds the rows of both matrices, so that they are as independent as its numbers.
    let one = |sample: u32| {
        let both = scores(seed ^ SOBOL, u64::from(sample), 2 * factors);
        let (a, b) = both.split_at(factors);
        let mut row = Vec::with_capacity(factors + 2);
        row.push(function(a));
        row.push(function(b));
        let mut mixed = a.to_vec();
        for i in 0..factors {
            mixed[i] = b[i];
            row.push(function(&mixed));
            mixed[i] = a[i];
        }
        row
    };
    let rows: Vec<Vec<f64>> = (0..samples).into_par_iter().with_min_len(16).map(one).collect();
    let rows: Vec<&[f64]> =
        rows.iter().map(Vec::as_slice).filter(|row| row.iter().all(|f| f.is_finite())).collect();
    let both = || rows.iter().flat_map(|row| [row[0], row[1]]);
    let n = (2 * rows.len()).max(1) as f64;
    let mean = both().sum::<f64>() / n;
    let variance = both().map(|f| (f - mean) * (f - mean)).sum::<f64>() / n;
    (0..factors).map(|i| indices(&rows, i, mean, variance)).collect()
}

/// Tells the streams of this method from those of Monte Carlo.
const SOBOL: u64 = 0x536f_626f_6c00_0000;

fn indices(rows: &[&[f64]], input: usize, mean: f64, variance: f64) -> Indices {
    // What only rounds is no variance.
    if variance <= 1e-24 * mean * mean || rows.is_empty() {
        return Indices { first: 0.0, total: 0.0, first_error: 0.0, total_error: 0.0 };
    }
    let estimate = |term: &dyn Fn(f64, f64, f64) -> f64| {
        let terms =
            rows.iter().map(|row| term(row[0] - mean, row[1] - mean, row[2 + input] - mean) / variance);
        let (sum, squares) = terms.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let n = rows.len() as f64;
        (sum / n, ((squares / n - (sum / n) * (sum / n)).max(0.0) / n).sqrt())
    };
    let (first, first_error) = estimate(&|a, b, mixed| b * (mixed - a));
    let (total, total_error) = estimate(&|a, _, mixed| 0.5 * (a - mixed) * (a - mixed));
    Indices { first, total, first_error, total_error }
}
