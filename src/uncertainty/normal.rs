//! The standard normal law.

use statrs::function::erf::{erfc, erfc_inv};

/// P(Z ≤ `score`).
pub fn normal_probability(score: f64) -> f64 {
    0.5 * erfc(-score / std::f64::consts::SQRT_2)
}

/// The score below which a standard normal variable stays with probability `p`, 0 < p < 1.
pub fn normal_score(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sourced::SPREAD_DEVIATIONS;

    #[test]
    fn tables_of_the_normal_law() {
        for (score, p) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-2.0, 0.022_750_131_948_179)] {
            assert!((normal_probability(score) - p).abs() < 1e-10, "{score}");
            assert!((normal_score(p) - score).abs() < 1e-9, "{p}: {}", normal_score(p));
        }
        assert!((normal_score(0.95) - SPREAD_DEVIATIONS).abs() < 1e-9);
        assert!((normal_score(1e-9) + 5.997_807).abs() < 1e-5, "far out: {}", normal_score(1e-9));
    }
}
