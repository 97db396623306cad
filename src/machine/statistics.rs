//! Distributions of what many runs gave.

/// A sample in ascending order with its mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    mean: f64,
    values: Vec<f64>,
}

impl Distribution {
    /// Of a sample.
    ///
    /// # Panics
    /// If the sample is empty or holds no number.
    pub fn of(values: Vec<f64>) -> Self {
        assert!(!values.is_empty(), "a distribution needs at least one value");
        // Added in the order of runs, so that the sum does not depend on how they were sorted.
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut values = values;
        values.sort_unstable_by(f64::total_cmp);
        Self { mean, values }
    }

    /// The mean.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The quantile `q` in \[0, 1\], straight between neighbours of rank q(n - 1).
    pub fn quantile(&self, q: f64) -> f64 {
        let at = q.clamp(0.0, 1.0) * (self.values.len() - 1) as f64;
        let (low, high) = (self.values[at.floor() as usize], self.values[at.ceil() as usize]);
        low + (high - low) * at.fract()
    }

    /// The 10 % quantile.
    pub fn p10(&self) -> f64 {
        self.quantile(0.1)
    }

    /// The median.
    pub fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The 90 % quantile.
    pub fn p90(&self) -> f64 {
        self.quantile(0.9)
    }

    /// The 99 % quantile.
    pub fn p99(&self) -> f64 {
        self.quantile(0.99)
    }

    /// All values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let sample = Distribution::of(vec![4.0, 1.0, 3.0, 2.0]);
        for (q, value) in [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.9, 3.7)] {
            assert!((sample.quantile(q) - value).abs() < 1e-12);
        }
        assert!((sample.mean() - 2.5).abs() < 1e-12);
        assert!((Distribution::of(vec![7.0]).p99() - 7.0).abs() < 1e-12);
    }
}
