//! Many values in little memory: exact while they are few, then counted in bins of 0.1 %.

use std::collections::BTreeMap;

/// Values kept exactly.
const EXACT: usize = 256;

/// Bins per factor of e.
const BINS: f64 = 1000.0;

/// A distribution of positive values. Up to 256 of them its quantiles are exact, linear between order statistics; then
/// values are rounded to bins of 0.1 %.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    exact: Vec<f64>,
    bins: BTreeMap<i32, u64>,
    count: u64,
    sum: f64,
}

impl Distribution {
    /// Takes one value in; values that are not positive and finite are no values.
    pub fn add(&mut self, value: f64) {
        if !(value.is_finite() && value > 0.0) {
            return;
        }
        self.count += 1;
        self.sum += value;
        if self.bins.is_empty() {
            self.exact.push(value);
            if self.exact.len() > EXACT {
                for value in std::mem::take(&mut self.exact) {
                    *self.bins.entry(bin(value)).or_default() += 1;
                }
            }
        } else {
            *self.bins.entry(bin(value)).or_default() += 1;
        }
    }

    /// Takes all values of another in.
    pub(super) fn merge(&mut self, other: Self) {
        for value in other.exact {
            self.add(value);
        }
        if !other.bins.is_empty() {
            for value in std::mem::take(&mut self.exact) {
                *self.bins.entry(bin(value)).or_default() += 1;
            }
            self.count += other.count;
            self.sum += other.sum;
            for (bin, count) in other.bins {
                *self.bins.entry(bin).or_default() += count;
            }
        }
    }

    /// How many values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; none without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The value below which a share `q` lies; none without values.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let place = q.clamp(0.0, 1.0) * (self.count - 1) as f64;
        if self.bins.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_by(f64::total_cmp);
            let low = place.floor() as usize;
            let high = (low + 1).min(sorted.len() - 1);
            return Some(sorted[low] + (sorted[high] - sorted[low]) * (place - place.floor()));
        }
        let mut below = 0;
        for (bin, count) in &self.bins {
            below += count;
            if below as f64 > place {
                return Some((f64::from(*bin) / BINS).exp());
            }
        }
        self.bins.keys().next_back().map(|bin| (f64::from(*bin) / BINS).exp())
    }
}

fn bin(value: f64) -> i32 {
    (value.ln() * BINS).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact() {
        let mut values = Distribution::default();
        for value in [4.0, 1.0, 3.0, 2.0, f64::NAN, 0.0, -1.0] {
            values.add(value);
        }
        assert_eq!(values.count(), 4);
        assert_eq!(values.quantile(0.5), Some(2.5));
        assert_eq!(values.quantile(0.0), Some(1.0));
        assert_eq!(values.mean(), Some(2.5));
        assert_eq!(Distribution::default().quantile(0.5), None);
    }

    #[test]
    fn many_values_are_right_to_a_thousandth_and_few_bins() {
        let mut values = Distribution::default();
        for i in 1..=100_000 {
            values.add(f64::from(i) / 1000.0);
        }
        for q in [0.05, 0.5, 0.95] {
            let quantile = values.quantile(q).expect("values");
            assert!((quantile / (q * 100.0) - 1.0).abs() < 1e-3, "{q}: {quantile}");
        }
        assert!(values.bins.len() < 12_000 && values.exact.is_empty());
    }
}
