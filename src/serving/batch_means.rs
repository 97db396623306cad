//! The standard error of a mean of correlated values, by batch means.
//!
//! Values in the order of their making are cut into batches; with batches much longer than the correlation, their
//! means are nearly independent and se = sd(batch means) / √batches. Batches double in size when there are
//! too many of them, so that memory stays constant and batches are as long as the run allows.

/// Batches at most; at the end there are 32 to 64 full ones.
const MOST: usize = 64;

/// Sums of batches \[ps\].
#[derive(Debug, Clone)]
pub(super) struct BatchMeans {
    size: u64,
    open: u128,
    in_open: u64,
    sums: Vec<u128>,
}

impl BatchMeans {
    pub(super) fn new() -> Self {
        Self { size: 1, open: 0, in_open: 0, sums: Vec::with_capacity(MOST) }
    }

    #[inline]
    pub(super) fn record(&mut self, value: u64) {
        self.open += u128::from(value);
        self.in_open += 1;
        if self.in_open == self.size {
            self.close();
        }
    }

    fn close(&mut self) {
        self.sums.push(self.open);
        (self.open, self.in_open) = (0, 0);
        if self.sums.len() == MOST {
            for i in 0..MOST / 2 {
                self.sums[i] = self.sums[2 * i] + self.sums[2 * i + 1];
            }
            self.sums.truncate(MOST / 2);
            self.size *= 2;
        }
    }

    /// Values counted, and the variance of their mean \[ps²\]; none with fewer than 16 batches.
    pub(super) fn variance(&self) -> Option<(u64, f64)> {
        let n = self.sums.len();
        if n < 16 {
            return None;
        }
        let means: Vec<f64> = self.sums.iter().map(|sum| *sum as f64 / self.size as f64).collect();
        let mean = means.iter().sum::<f64>() / n as f64;
        let spread = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        Some((self.size * n as u64, spread / n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::des::Streams;

    #[test]
    fn the_error_of_an_autoregressive_mean_is_found() {
        // x' = a·x + e: the variance of the mean of n is var(e) / (n (1 - a)²).
        let (a, n) = (0.9, 200_000);
        let mut stream = Streams::new(1, 0).stream("batch means", 0);
        let (mut means, mut x) = (BatchMeans::new(), 0.0);
        for _ in 0..n {
            x = a * x + stream.uniform() - 0.5;
            means.record(((x + 10.0) * 1e6) as u64);
        }
        let (counted, variance) = means.variance().expect("enough batches");
        let expected = 1e12 / 12.0 / (f64::from(n) * (1.0 - a) * (1.0 - a));
        assert!(counted > 190_000);
        // 32 to 64 batches: the standard deviation of the estimate is a fifth.
        assert!((variance / expected - 1.0).abs() < 0.6, "{variance} against {expected}");
    }

    #[test]
    fn few_values_have_no_error() {
        let mut means = BatchMeans::new();
        (0..15).for_each(|i| means.record(i));
        assert!(means.variance().is_none());
    }
}
