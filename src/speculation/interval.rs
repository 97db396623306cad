//! Intervals for a rate estimated from accepted and tried tokens.
//!
//! All hold the true rate nine times in ten, as every range of this crate does
//! ([`SPREAD_DEVIATIONS`](crate::sourced::SPREAD_DEVIATIONS)). Trials count as independent; tokens of one request
//! are not quite, so that the intervals are somewhat too narrow for a handful of long requests.

use super::beta_quantile::beta_quantile;
use crate::sourced::SPREAD_DEVIATIONS;

/// Probability in each tail.
const TAIL: f64 = 0.05;

/// The ends of an interval for a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// 5th percentile.
    pub low: f64,
    /// 95th percentile.
    pub high: f64,
}

/// Wilson's score interval (E. B. Wilson, JASA 22, 1927): close to its nominal coverage also for few trials and
/// rates near 0 or 1. Without trials it is all of \[0, 1\].
pub fn wilson_interval(accepted: u64, tried: u64) -> Interval {
    if tried == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (n, z) = (tried as f64, SPREAD_DEVIATIONS);
    let rate = accepted as f64 / n;
    let shrink = 1.0 + z * z / n;
    let middle = (rate + z * z / (2.0 * n)) / shrink;
    let half = z / shrink * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    // Rounding may leave an end of a certain outcome just inside.
    Interval {
        low: if accepted == 0 { 0.0 } else { (middle - half).max(0.0) },
        high: if accepted >= tried { 1.0 } else { (middle + half).min(1.0) },
    }
}

/// Clopper and Pearson's exact interval (Biometrika 26, 1934): never covers less often than stated, so it is wider.
pub fn exact_interval(accepted: u64, tried: u64) -> Interval {
    let accepted = accepted.min(tried);
    let quantile = |a: u64, b: u64, p: f64| beta_quantile(a as f64, b as f64, p);
    let rejected = tried - accepted;
    Interval {
        low: if accepted == 0 { 0.0 } else { quantile(accepted, rejected.saturating_add(1), TAIL) },
        high: if rejected == 0 { 1.0 } else { quantile(accepted.saturating_add(1), rejected, 1.0 - TAIL) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_by_hand() {
        // 8 of 10: middle (0.8 + z²/20)/(1 + z²/10), half z/(1 + z²/10)·√(0.016 + z²/400), z = 1.6448536.
        let interval = wilson_interval(8, 10);
        assert!((interval.low - 0.541_1).abs() < 5e-4, "{interval:?}");
        assert!((interval.high - 0.931_4).abs() < 5e-4, "{interval:?}");
    }

    #[test]
    fn exact_ends_have_five_per_cent_beyond_them() {
        // All of n accepted: the lower end solves rateⁿ = 0.05.
        let interval = exact_interval(20, 20);
        assert!((interval.low.powi(20) - 0.05).abs() < 1e-6);
        assert!((interval.high - 1.0).abs() < 1e-15);
        let none = exact_interval(0, 20);
        assert!(((1.0 - none.high).powi(20) - 0.05).abs() < 1e-6);
        assert!(exact_interval(0, 0).low.abs() < 1e-15);
    }

    #[test]
    fn counts_of_any_size_have_an_interval() {
        for (accepted, tried) in
            [(3, u64::MAX), (u64::MAX / 2, u64::MAX), (u64::MAX - 1, u64::MAX), (1 << 52, 1 << 53)]
        {
            let interval = exact_interval(accepted, tried);
            let rate = accepted as f64 / tried as f64;
            assert!((0.0..=rate * (1.0 + 1e-9)).contains(&interval.low), "{accepted} {tried} {interval:?}");
            assert!(
                interval.high >= rate * (1.0 - 1e-9) && interval.high <= 1.0,
                "{accepted} {tried} {interval:?}"
            );
        }
    }

    #[test]
    fn the_exact_interval_is_the_wider_one() {
        for (accepted, tried) in [(1, 10), (5, 10), (30, 40), (400, 1000)] {
            let (w, e) = (wilson_interval(accepted, tried), exact_interval(accepted, tried));
            assert!(e.high - e.low > w.high - w.low);
            let rate = accepted as f64 / tried as f64;
            assert!(w.low < rate && rate < w.high);
        }
    }
}
