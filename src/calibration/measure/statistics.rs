//! Median and percentiles of samples.

use serde::{Deserialize, Serialize};

/// What is kept of the samples of a task \[µs\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The 10th percentile.
    pub p10: f64,
    /// The middle.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// How many.
    pub samples: usize,
}

/// The quantiles of samples; none without a sample. Between two samples a straight line (type 7 of Hyndman and Fan).
pub fn quantiles(samples_us: &[f64]) -> Option<Quantiles> {
    let mut sorted = samples_us.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(last);
        sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
    };
    Some(Quantiles { p10: at(0.1), median: at(0.5), p90: at(0.9), samples: sorted.len() })
}

/// The median of values; none without one.
pub fn median(values: &[f64]) -> Option<f64> {
    quantiles(values).map(|q| q.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_on_the_line_between_samples() {
        let q = quantiles(&[5.0, 1.0, 3.0, 2.0, 4.0]).unwrap();
        assert!((q.p10 - 1.4).abs() < 1e-12 && (q.median - 3.0).abs() < 1e-12 && (q.p90 - 4.6).abs() < 1e-12);
        assert_eq!(q.samples, 5);
        assert_eq!(quantiles(&[]), None);
        let one = quantiles(&[7.0]).unwrap();
        assert!((one.p10 - 7.0).abs() < 1e-12 && (one.p90 - 7.0).abs() < 1e-12);
    }
}
