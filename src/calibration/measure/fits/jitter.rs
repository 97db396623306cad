//! Launch costs as lognormal distributions.
//!
//! σ = (ln p90 - ln p10) / 2.563, cv = √(exp(σ²) - 1). Every second sample is left out; the error is the larger relative
//! one of the 10th and 90th percentile that the other half's distribution predicts for them.

use super::super::statistics::quantiles;
use super::WORST;
use crate::calibration::JitterFit;
use crate::calibration::measure::journal::Record;
use crate::calibration::measure::plan::word;
use crate::calibration::measure::task::Task;

/// Standard deviations between the 10th and the 90th percentile of a normal distribution.
const P10_TO_P90: f64 = 2.0 * 1.281_551_565_544_600_4;
/// Fewer samples say nothing of a tail.
const FEWEST: usize = 20;

pub(super) fn fit(records: &[Record]) -> Vec<JitterFit> {
    let mut fits = Vec::new();
    for record in records {
        let (Task::Launch { kind }, Ok(measured)) = (record.task(), &record.result) else { continue };
        fits.extend(one(&word(kind), &measured.samples_us));
    }
    fits
}

fn one(of: &str, samples_us: &[f64]) -> Option<JitterFit> {
    if samples_us.len() < FEWEST {
        return None;
    }
    let whole = quantiles(samples_us)?;
    let (even, odd): (Vec<_>, Vec<_>) = samples_us.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let values = |half: Vec<(usize, &f64)>| half.into_iter().map(|(_, us)| *us).collect::<Vec<f64>>();
    let (seen, hidden) = (quantiles(&values(even))?, quantiles(&values(odd))?);
    let half_width = sigma(seen.p10, seen.p90) * P10_TO_P90 / 2.0;
    let error = |predicted: f64, found: f64| (predicted / found - 1.0).abs();
    let worst = error(seen.median * (-half_width).exp(), hidden.p10)
        .max(error(seen.median * half_width.exp(), hidden.p90));
    let spread = sigma(whole.p10, whole.p90);
    let cv_error = (worst.min(10.0) * 1e4).round() / 1e4;
    Some(JitterFit {
        of: of.to_owned(),
        median_us: ((whole.median * 1e3).round() / 1e3).max(1e-3),
        cv: ((spread * spread).exp_m1().sqrt() * 1e4).round() / 1e4,
        samples: whole.samples as u32,
        cv_error: Some(cv_error),
        flagged: cv_error > WORST,
    })
}

fn sigma(p10: f64, p90: f64) -> f64 {
    (p90 / p10).ln().max(0.0) / P10_TO_P90
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, LogNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_cv_of_a_lognormal_is_found() {
        let cv: f64 = 0.3;
        let sigma = (1.0 + cv * cv).ln().sqrt();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let law = LogNormal::new(5f64.ln(), sigma).unwrap();
        let samples: Vec<f64> = (0..4000).map(|_| law.sample(&mut rng)).collect();
        let fit = one("issue", &samples).unwrap();
        assert!((fit.cv / cv - 1.0).abs() < 0.05 && (fit.median_us / 5.0 - 1.0).abs() < 0.03, "{fit:?}");
        assert!(!fit.flagged, "{fit:?}");
    }

    /// Two values with nothing between them: no lognormal.
    #[test]
    fn two_modes_are_flagged() {
        let samples: Vec<f64> = (0..200).map(|i| if i % 10 < 6 { 2.0 } else { 20.0 }).collect();
        assert!(one("issue", &samples).unwrap().flagged);
        assert!(one("issue", &samples[..10]).is_none());
    }
}
