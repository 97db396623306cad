//! What a set of samples says about one output.

/// Percentiles and moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// 5th percentile.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub high: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, n - 1 in the denominator; 0 for one sample.
    pub deviation: f64,
    /// Share of the samples that had a value, 0 to 1.
    pub share: f64,
}

impl Summary {
    /// Of `values`; those that are no finite number only lower `share`. Without any all else is NaN.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut all, mut sorted) = (0_usize, Vec::new());
        for value in values {
            all += 1;
            if value.is_finite() {
                sorted.push(value);
            }
        }
        let n = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / n;
        let squares: f64 = sorted.iter().map(|x| (x - mean) * (x - mean)).sum();
        sorted.sort_by(f64::total_cmp);
        Self {
            low: quantile(&sorted, 0.05),
            median: quantile(&sorted, 0.5),
            high: quantile(&sorted, 0.95),
            mean,
            deviation: if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
            share: if all == 0 { 0.0 } else { n / all as f64 },
        }
    }
}

/// The quantile of sorted numbers, linear between neighbours at ranks (n - 1)·p (Hyndman and Fan's type 7); NaN of none.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let rank = last as f64 * p;
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_the_numbers_to_a_hundred() {
        let summary = Summary::of((0..=100_u32).map(f64::from));
        assert!((summary.low - 5.0).abs() < 1e-12 && (summary.high - 95.0).abs() < 1e-12);
        assert!((summary.median - 50.0).abs() < 1e-12 && (summary.mean - 50.0).abs() < 1e-12);
        assert!((summary.deviation - 858.5_f64.sqrt()).abs() < 1e-9, "n(n+1)/12 of 101 numbers");
    }

    #[test]
    fn what_is_no_number_is_counted_and_left_out() {
        let summary = Summary::of([1.0, f64::NAN, f64::INFINITY, 3.0].into_iter());
        assert!((summary.mean - 2.0).abs() < 1e-12 && (summary.share - 0.5).abs() < 1e-12);
        assert!(Summary::of(std::iter::empty()).median.is_nan());
    }
}
