//! How many more cycles must be observed until it is sure on which side of the break-even the accept length lies.
//!
//! Wald's sequential probability ratio test (A. Wald, Ann. Math. Stat. 16 (1945) 117) of mean R - δ against R + δ, each
//! error at most `error`: the sum of log likelihood ratios of normal increments,
//!
//! ```text
//! S = Σ 2δ (L - R) / σ²          stop at ±ln((1 - error) / error), 2.94 for 5 %
//! ```
//!
//! walks like a Brownian motion with drift 2δ(μ - R)/σ² and variance 4δ²/σ² per cycle, whose mean exit time is known in
//! closed form from any place, so that cycles already seen count. δ is the smallest difference that matters: inside
//! ±δ either verdict counts as right, outside the errors hold whatever the true mean is.
//!
//! σ is the deviation of one cycle's accept length. Cycles of one request resemble each other: n of them are worth
//! n / (1 + (m - 1)ρ) independent ones ([`effective_cycles`]). Left out: the overshoot of the last cycle, by which
//! the true number is a little larger (a few cycles where δ is small beside σ), and errors of R itself.

/// Two means to tell apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialTest {
    /// R: the accept length at which speculation equals the baseline.
    pub break_even: f64,
    /// δ: half the distance of the two hypotheses \[tokens\], above 0.
    pub margin: f64,
    /// Probability of the wrong verdict at R ± δ, between 0 and ½.
    pub error: f64,
}

/// Accept lengths seen so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Independent cycles, see [`effective_cycles`].
    pub cycles: f64,
    /// Their mean accept length.
    pub mean: f64,
    /// Standard deviation of the accept length of one cycle, above 0.
    pub deviation: f64,
}

impl SequentialTest {
    /// Where the sum of log likelihood ratios ends the test.
    pub fn bound(&self) -> f64 {
        ((1.0 - self.error) / self.error).ln()
    }

    /// The sum of log likelihood ratios after what was seen.
    pub fn sum(&self, seen: Seen) -> f64 {
        seen.cycles * self.drift(seen)
    }

    /// The side that is sure: true above the break-even, none while the test goes on.
    pub fn decided(&self, seen: Seen) -> Option<bool> {
        let sum = self.sum(seen);
        (sum.abs() >= self.bound()).then_some(sum > 0.0)
    }

    /// Expected number of further independent cycles if the true mean is the one seen; 0 where it is decided.
    pub fn expected_more(&self, seen: Seen) -> f64 {
        let (start, bound) = (self.sum(seen), self.bound());
        if start.abs() >= bound {
            return 0.0;
        }
        let drift = self.drift(seen);
        let step = 2.0 * self.margin / seen.deviation;
        let variance = step * step;
        // Without drift the exit time is the product of the distances to both bounds.
        let pull = 2.0 * drift / variance;
        if (pull * bound).abs() < 1e-6 {
            return (bound - start) * (bound + start) / variance;
        }
        let up = (1.0 - (-pull * (start + bound)).exp()) / (1.0 - (-2.0 * pull * bound).exp());
        let end = up * bound - (1.0 - up) * bound;
        (end - start) / drift
    }

    fn drift(&self, seen: Seen) -> f64 {
        2.0 * self.margin * (seen.mean - self.break_even) / (seen.deviation * seen.deviation)
    }
}

/// Independent cycles that `cycles` are worth when each request contributes `per_request` of them with correlation
/// `correlation` between two of one request: cycles / (1 + (m - 1)ρ), the design effect of L. Kish, Survey Sampling (1965).
pub fn effective_cycles(cycles: f64, per_request: f64, correlation: f64) -> f64 {
    cycles / (1.0 + (per_request - 1.0).max(0.0) * correlation.clamp(0.0, 1.0))
}

#[cfg(test)]
#[path = "sequential_tests.rs"]
mod tests;
