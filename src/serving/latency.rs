//! Latencies as a streamed histogram: three significant figures, whatever their number.

use hdrhistogram::Histogram;

use crate::des::SimTime;
use crate::units::Seconds;

/// Most points of a distribution function.
const POINTS: usize = 200;

/// What is told of a latency. Zero everywhere if nothing was counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Latency {
    /// How many were counted.
    pub count: u64,
    /// Exact mean.
    pub mean: Seconds,
    /// Exact minimum.
    pub min: Seconds,
    /// Median; percentiles are within 0.1 %.
    pub p50: Seconds,
    /// 90th percentile.
    pub p90: Seconds,
    /// 99th percentile.
    pub p99: Seconds,
    /// Exact maximum.
    pub max: Seconds,
    /// The distribution function at up to 200 values, rising.
    pub cdf: Vec<CdfPoint>,
}

/// A point of a distribution function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CdfPoint {
    /// A latency.
    pub value: Seconds,
    /// Share of those counted that are no longer, 0 to 1.
    pub share: f64,
}

/// Counts latencies: nanoseconds in the histogram, picoseconds in the sums.
#[derive(Debug, Clone)]
pub(super) struct Latencies {
    histogram: Histogram<u64>,
    sum: u128,
    min: SimTime,
    max: SimTime,
}

impl Latencies {
    pub(super) fn new() -> Self {
        let histogram = Histogram::new(3).expect("three significant figures are allowed");
        Self { histogram, sum: 0, min: SimTime::MAX, max: SimTime::ZERO }
    }

    #[inline]
    pub(super) fn record(&mut self, latency: SimTime) {
        self.record_n(latency, 1);
    }

    /// Counts `n` equal ones.
    #[inline]
    pub(super) fn record_n(&mut self, latency: SimTime, n: u64) {
        if n == 0 {
            return;
        }
        let nanoseconds = (latency.ps() + 500) / 1000;
        self.histogram.record_n(nanoseconds, n).expect("the histogram grows as needed");
        self.sum += u128::from(latency.ps()) * u128::from(n);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("the histogram grows as needed");
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub(super) fn summary(&self) -> Latency {
        let count = self.histogram.len();
        if count == 0 {
            return Latency::default();
        }
        Latency {
            count,
            mean: Seconds::new(self.sum as f64 / count as f64 * 1e-12),
            min: self.min.seconds(),
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            max: self.max.seconds(),
            cdf: self.cdf(),
        }
    }

    fn quantile(&self, q: f64) -> Seconds {
        self.middle(self.histogram.value_at_quantile(q))
    }

    /// The middle of a histogram cell, inside what was seen.
    fn middle(&self, nanoseconds: u64) -> Seconds {
        let middle = self.histogram.median_equivalent(nanoseconds).saturating_mul(1000);
        SimTime::from_ps(middle.clamp(self.min.ps(), self.max.ps())).seconds()
    }

    fn cdf(&self) -> Vec<CdfPoint> {
        let count = self.histogram.len();
        let step = 1.0 / POINTS as f64;
        let mut points = Vec::new();
        let mut seen = 0;
        let mut next = 0.0;
        for cell in self.histogram.iter_recorded() {
            seen += cell.count_since_last_iteration();
            let share = seen as f64 / count as f64;
            if share >= next {
                points.push(CdfPoint { value: self.middle(cell.value_iterated_to()), share });
                next = (share / step).floor() * step + step;
                // The last step is reached exactly, whatever the rounding above.
                next = next.min(1.0);
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_tenth_of_a_percent() {
        let mut latencies = Latencies::new();
        for i in 1..=10_000_u64 {
            latencies.record(SimTime::from_ps(i * 1_000_003));
        }
        let told = latencies.summary();
        for (got, exact) in [(told.p50, 5000.0), (told.p90, 9000.0), (told.p99, 9900.0)] {
            assert!((got.get() / (exact * 1.000_003e-6) - 1.0).abs() < 1.1e-3, "{got:?}");
        }
        assert!((told.mean.get() - 5000.5 * 1.000_003e-6).abs() < 1e-12);
        assert!((told.max.get() - 10_000.0 * 1.000_003e-6).abs() < 1e-15);
        assert!(told.cdf.len() <= POINTS + 1);
        assert!(told.cdf.windows(2).all(|p| p[0].share < p[1].share && p[0].value <= p[1].value));
        assert!((told.cdf.last().expect("some").share - 1.0).abs() < 1e-15);
    }

    #[test]
    fn equal_latencies_are_told_exactly_and_parts_add_up() {
        let at = |ms| SimTime::from_seconds(Seconds::from_ms(ms));
        let mut a = Latencies::new();
        a.record_n(at(12.345), 3);
        let told = a.summary();
        assert_eq!((told.p50, told.p99, told.mean), (told.min, told.max, told.min));
        let mut b = Latencies::new();
        b.record_n(at(50.0), 3);
        b.merge(&a);
        let mut c = Latencies::new();
        for ms in [12.345, 50.0] {
            c.record_n(at(ms), 3);
        }
        assert_eq!(b.summary(), c.summary());
        assert_eq!(Latencies::new().summary(), Latency::default());
    }
}
