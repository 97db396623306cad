//! The Beta-geometric law of greatest likelihood.
//!
//! With mean rate μ and dispersion φ = 1/(α + β) the conditional rate at position i = j + 1 is (μ + jφ)/(1 + jφ), so
//! ln likelihood = Σ_j accepted_j ln(μ + jφ) + rejected_j ln(1 - μ) - tried_j ln(1 + jφ). For given φ it is concave in μ
//! and solved by bisection of its falling slope; the profile over φ is searched on a logarithmic grid and refined by golden section.
//! φ = 0 is the geometric law: where the grid finds nothing better, there is no Beta fit.

use super::beta::BetaRate;
use super::fit::Counts;
use super::goodness::ChiSquare;
use super::interval::Interval;
use crate::sourced::SPREAD_DEVIATIONS;

/// Half of the squared deviations of a range that holds nine times in ten, by Wilks' theorem.
const WITHIN: f64 = 0.5 * SPREAD_DEVIATIONS * SPREAD_DEVIATIONS;

/// ln φ that are searched.
const EXPONENTS: (f64, f64) = (-12.0, 4.0);

/// A fitted Beta law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetaFit {
    /// The law, over cycles.
    pub law: BetaRate,
    /// Its mean rate, α / (α + β): where the profile likelihood stays within its 5 % and 95 % bound of the best.
    pub mean_rate: Interval,
    /// Its dispersion, 1 / (α + β), likewise; from 0 where one rate for all would do.
    pub dispersion: Interval,
    /// Gain in ln likelihood over the geometric law.
    pub gain: f64,
    /// Whether the counts bear it; none where they cannot tell.
    pub goodness: Option<ChiSquare>,
}

struct Profile {
    /// (j, tried, accepted) by position.
    trials: Vec<(f64, f64, f64)>,
    rejected: f64,
}

impl Profile {
    /// The best mean rate for a dispersion.
    fn mean_rate(&self, dispersion: f64) -> f64 {
        let slope = |mu: f64| {
            let gains: f64 =
                self.trials.iter().filter(|t| t.2 > 0.0).map(|(j, _, a)| a / (mu + j * dispersion)).sum();
            gains - self.rejected / (1.0 - mu)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    fn log_likelihood(&self, dispersion: f64) -> f64 {
        self.at(self.mean_rate(dispersion), dispersion)
    }

    fn at(&self, mu: f64, dispersion: f64) -> f64 {
        self.trials
            .iter()
            .map(|(j, tried, accepted)| {
                let up = if *accepted > 0.0 { accepted * (mu + j * dispersion).ln() } else { 0.0 };
                let down = if tried > accepted { (tried - accepted) * (1.0 - mu).ln() } else { 0.0 };
                up + down - tried * (j * dispersion).ln_1p()
            })
            .sum()
    }
}

/// Fits α and β; none where no dispersion is likelier than none.
pub(super) fn fit_beta(counts: &Counts) -> Option<BetaFit> {
    let trials: Vec<(f64, f64, f64)> = counts
        .trials()
        .zip(0_u32..)
        .map(|((tried, accepted), j)| (f64::from(j), tried as f64, accepted as f64))
        .collect();
    let rejected: f64 = trials.iter().map(|(_, tried, accepted)| tried - accepted).sum();
    let accepted: f64 = trials.iter().map(|t| t.2).sum();
    if trials.len() < 2 || rejected <= 0.0 || accepted <= 0.0 {
        return None;
    }
    let profile = Profile { trials, rejected };
    let at = |exponent: f64| profile.log_likelihood(exponent.exp());
    let grid = (-60..=20_i32).map(|i| f64::from(i) * 0.2);
    let start = grid.max_by(|a, b| at(*a).total_cmp(&at(*b)))?;
    let exponent = golden_section(start - 0.2, start + 0.2, at);
    let gain = at(exponent) - profile.log_likelihood(0.0);
    // Gains of rounding size mean that the best dispersion is zero.
    if gain < 1e-6 {
        return None;
    }
    let (mu, total) = (profile.mean_rate(exponent.exp()), (-exponent).exp());
    let best = at(exponent);
    let dispersion = Interval {
        low: if profile.log_likelihood(0.0) >= best - WITHIN {
            0.0
        } else {
            crossing(EXPONENTS.0, exponent, |x| at(x) - best + WITHIN).exp()
        },
        high: crossing(EXPONENTS.1, exponent, |x| at(x) - best + WITHIN).exp(),
    };
    // The likeliest dispersion for each mean rate.
    let of_mean = |mu: f64| {
        let law = |exponent: f64| profile.at(mu, exponent.exp());
        law(golden_section(EXPONENTS.0, EXPONENTS.1, law)) - best + WITHIN
    };
    let mean_rate = Interval { low: crossing(1e-9, mu, of_mean), high: crossing(1.0 - 1e-9, mu, of_mean) };
    let law = BetaRate::new(mu * total, (1.0 - mu) * total).ok()?;
    Some(BetaFit { law, mean_rate, dispersion, gain, goodness: None })
}

/// Where `f`, above 0 at `inside`, crosses 0 towards `outside`; `outside` where it does not.
fn crossing(mut outside: f64, mut inside: f64, f: impl Fn(f64) -> f64) -> f64 {
    if f(outside) >= 0.0 {
        return outside;
    }
    for _ in 0..50 {
        let middle = 0.5 * (outside + inside);
        if f(middle) >= 0.0 { inside = middle } else { outside = middle }
    }
    0.5 * (outside + inside)
}

/// The place of the maximum of a function with one hump on \[low, high\].
fn golden_section(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..40 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if f(left) > f(right) { high = right } else { low = left }
    }
    0.5 * (low + high)
}
