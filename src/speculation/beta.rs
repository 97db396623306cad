//! Heterogeneous requests: each has its own i.i.d. rate, spread by a Beta law.
//!
//! With a ~ Beta(α, β) the tails are the moments of a: S_i = E[aⁱ] = Π_{j<i} (α + j) / (α + β + j). The law is one
//! over *cycles*, which is what servers count. A request with a high rate needs fewer cycles for the same text, so
//! over *requests of equal output* the density is that of the cycles times the request's accept length Σ aⁱ:
//! a mixture of Beta(α + i, β) with weights S_i, from which requests are drawn exactly.

use super::error::AcceptanceError;

/// A rate that differs from request to request as Beta(α, β).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetaRate {
    alpha: f64,
    beta: f64,
}

impl BetaRate {
    /// With the two parameters, both above 0.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, AcceptanceError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if positive(alpha) && positive(beta) {
            Ok(Self { alpha, beta })
        } else {
            Err(AcceptanceError::BetaParameters { alpha, beta })
        }
    }

    /// With the mean rate and its standard deviation over cycles; α + β = mean(1 - mean)/sd² - 1.
    pub fn from_mean_and_deviation(mean: f64, deviation: f64) -> Result<Self, AcceptanceError> {
        let total = mean * (1.0 - mean) / (deviation * deviation) - 1.0;
        Self::new(mean * total, (1.0 - mean) * total)
    }

    /// α.
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// β.
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// The mean rate α / (α + β): acceptance of the first drafted token.
    pub const fn mean_rate(&self) -> f64 {
        self.alpha / (self.alpha + self.beta)
    }

    /// The conditional rate at position `i` ≥ 1: (α + i - 1) / (α + β + i - 1). It rises with the position, since
    /// deep positions are reached by the good requests.
    pub const fn conditional(&self, i: u32) -> f64 {
        let j = i as f64 - 1.0;
        (self.alpha + j) / (self.alpha + self.beta + j)
    }

    /// P(at least `i` accepted).
    pub fn tail(&self, i: u32) -> f64 {
        (1..=i).map(|position| self.conditional(position)).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uniform_law_has_harmonic_tails() {
        let uniform = BetaRate::new(1.0, 1.0).expect("valid");
        for i in 0..8 {
            assert!((uniform.tail(i) - 1.0 / f64::from(i + 1)).abs() < 1e-14);
        }
    }

    #[test]
    fn mean_and_deviation_are_met() {
        let law = BetaRate::from_mean_and_deviation(0.7, 0.1).expect("valid");
        assert!((law.mean_rate() - 0.7).abs() < 1e-12);
        let variance = law.tail(2) - law.tail(1).powi(2);
        assert!((variance.sqrt() - 0.1).abs() < 1e-12);
        assert!(BetaRate::from_mean_and_deviation(0.7, 0.6).is_err(), "wider than any law on [0, 1]");
        assert!(BetaRate::new(0.0, 1.0).is_err());
    }
}
