//! Quantiles of Beta and Student laws, whatever the parameters.
//!
//! Algorithm AS 109, which statrs uses, searches without end where rounding makes its step no number: Beta(3e18, 7e18) of a
//! counter that counts nonsense is enough. Here the logit u = ln(x / (1 - x)) is searched between bounds, so that every
//! search ends:
//!
//! ```text
//! both parameters ≤ 10⁸, one ≤ 10⁴   Newton's method on I_x(a, b) = p, bisection where it leaves the bounds
//! one above 10⁸, the other ≤ 10⁴     x ∝ 1/b for b ≫ a: the quantile at 10⁸, scaled; error a/10⁸
//! both above 10⁴                     Carter's approximation (A. H. Carter, Biometrika 34 (1947) 352), as AS 109 starts with
//! ```

use std::f64::consts::SQRT_2;

use statrs::function::beta::{beta_reg, ln_beta};
use statrs::function::erf::erfc_inv;

/// Above it for both parameters, Carter's approximation holds to a millionth.
const LARGE: f64 = 1e4;
/// Above it, ln Γ has too few digits for the law itself.
const HUGE: f64 = 1e8;
/// Logits beyond which a share is 0 or 1.
const FURTHEST: f64 = 745.0;
/// Steps of a search; bisection alone needs 60.
const MOST_STEPS: u32 = 200;

/// The value that Beta(a, b) stays below with probability `p`. Parameters above 0, `p` in \[0, 1\].
///
/// ```
/// # use specplan::speculation::beta_quantile;
/// // Beta(20, 1) has the law x²⁰.
/// assert!((beta_quantile(20.0, 1.0, 0.05) - 0.05_f64.powf(0.05)).abs() < 1e-12);
/// ```
pub fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    match p {
        p if p <= 0.0 => 0.0,
        p if p >= 1.0 => 1.0,
        p => share(beta_logit(a, b, p)),
    }
}

/// The value that Student's law with so many degrees of freedom stays below with probability `p`, in (½, 1).
///
/// ```
/// # use specplan::speculation::student_quantile;
/// assert!((student_quantile(1.0, 0.95) - 6.313_752).abs() < 1e-5);
/// ```
pub fn student_quantile(freedom: f64, p: f64) -> f64 {
    // x = ν / (ν + t²) is Beta(ν/2, ½), so that t² = ν (1 - x) / x.
    (freedom * (-beta_logit(0.5 * freedom, 0.5, 2.0 * (1.0 - p))).exp()).sqrt()
}

fn share(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

fn beta_logit(a: f64, b: f64, p: f64) -> f64 {
    if p > 0.5 {
        return -beta_logit(b, a, 1.0 - p);
    }
    match (a > LARGE, b > LARGE) {
        (true, true) => carter(a, b, p),
        (true, false) if a > HUGE => searched(HUGE, b, p) + (a / HUGE).ln(),
        (false, true) if b > HUGE => searched(a, HUGE, p) - (b / HUGE).ln(),
        _ => searched(a, b, p),
    }
}

fn carter(a: f64, b: f64, p: f64) -> f64 {
    let z = SQRT_2 * erfc_inv(2.0 * p);
    let (s, t) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let (r, h) = ((z * z - 3.0) / 6.0, 2.0 / (s + t));
    let w = z * (h + r).max(0.0).sqrt() / h - (t - s) * (r + 5.0 / 6.0 - 2.0 / (3.0 * h));
    (a / b).ln() - 2.0 * w
}

fn searched(a: f64, b: f64, p: f64) -> f64 {
    let scale = ln_beta(a, b);
    let (mut low, mut high) = (-FURTHEST, FURTHEST);
    let mut at = (a / b).ln().clamp(low, high);
    for _ in 0..MOST_STEPS {
        let miss = beta_reg(a, b, share(at)) - p;
        if miss > 0.0 {
            high = at;
        } else {
            low = at;
        }
        // dI/du = x^a (1 - x)^b / B(a, b)
        let slope = (-a * (-at).exp().ln_1p() - b * at.exp().ln_1p() - scale).exp();
        let newton = at - miss / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - at).abs() <= 1e-15 * at.abs().max(1.0) {
            return next;
        }
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Beta, ContinuousCDF as _, StudentsT};

    use super::*;

    #[test]
    fn where_as_109_ends_the_two_agree() {
        for (a, b) in [(0.5, 0.5), (0.5, 1000.5), (1.0, 20.0), (9.0, 3.0), (401.0, 600.0), (7000.0, 0.3)] {
            for p in [1e-4, 0.05, 0.3, 0.5, 0.7, 0.95, 0.9999] {
                let (ours, theirs) = (beta_quantile(a, b, p), Beta::new(a, b).expect("a law").inverse_cdf(p));
                assert!(
                    (ours - theirs).abs() <= 1e-9 * theirs.max(1e-300) + 1e-14,
                    "{a} {b} {p}: {ours} {theirs}"
                );
            }
        }
        for (freedom, p) in [(1.0, 0.95), (2.0, 0.975), (7.0, 0.95), (30.0, 0.9), (500.0, 0.95)] {
            let theirs = StudentsT::new(0.0, 1.0, freedom).expect("a law").inverse_cdf(p);
            assert!((student_quantile(freedom, p) / theirs - 1.0).abs() < 1e-8, "{freedom} {p}");
        }
    }

    #[test]
    fn the_three_ways_meet() {
        let near = |a: f64, b: f64, within: f64| {
            for p in [0.001, 0.05, 0.5, 0.95] {
                let (below, above) = (beta_quantile(a * 0.999_999, b, p), beta_quantile(a * 1.000_001, b, p));
                assert!((above / below - 1.0).abs() < within, "{a} {b} {p}: {below} {above}");
                let (below, above) = (beta_quantile(b, a * 0.999_999, p), beta_quantile(b, a * 1.000_001, p));
                assert!((above / below - 1.0).abs() < within, "{b} {a} {p}: {below} {above}");
            }
        };
        near(LARGE, 2.0 * LARGE, 1e-5);
        near(HUGE, 3.0, 1e-5);
        near(HUGE, 0.5 * LARGE, 1e-3);
        assert!((student_quantile(1e12, 0.95) - 1.644_854).abs() < 1e-4);
    }

    #[test]
    fn every_search_ends_in_the_unit_interval() {
        let sizes = [1e-300, 1e-9, 0.01, 0.5, 1.0, 3.0, 1e3, 1e4, 1e6, 1e9, 3e18, 1.8e19, 1e300];
        for a in sizes {
            for b in sizes {
                let quantiles = [0.0, 1e-12, 0.05, 0.5, 0.95, 1.0].map(|p| beta_quantile(a, b, p));
                assert!(quantiles.iter().all(|x| (0.0..=1.0).contains(x)), "{a} {b}: {quantiles:?}");
                assert!(quantiles.is_sorted_by(|x, y| *x <= y + 1e-6), "{a} {b}: {quantiles:?}");
            }
        }
    }
}
