//! Draws of host and kernel times.
//!
//! A factor is lognormal with mean 1: exp(σz − σ²/2), σ² = ln(1 + cv²). An entry of k kernels stands for k host
//! operations; their sum is taken as lognormal with cv/√k, which keeps mean and variance. Longer host work (scheduler,
//! sampling, lookups) is a sum of operations of about [`GRAIN`] each: assumed, since nobody published its parts.

use rand_distr::{Distribution as _, StandardNormal};

use crate::des::Stream;

/// Length of one operation of the work around a pass \[ps\]: 50 µs, a Python call with a copy or a collective.
pub(super) const GRAIN: f64 = 50.0e6;

/// A lognormal factor of mean 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Factor {
    sigma: f64,
    shift: f64,
}

impl Factor {
    /// With this standard deviation over mean.
    pub(super) fn new(cv: f64) -> Self {
        let variance = (cv * cv).ln_1p();
        Self { sigma: variance.sqrt(), shift: -0.5 * variance }
    }

    /// Whether it is always 1.
    pub(super) fn is_one(self) -> bool {
        self.sigma <= 0.0
    }

    /// A draw; without spread it takes none from the stream.
    #[inline]
    pub(super) fn draw(self, stream: &mut Stream) -> f64 {
        if self.is_one() {
            return 1.0;
        }
        let z: f64 = StandardNormal.sample(stream.rng());
        (self.sigma * z + self.shift).exp()
    }
}

/// Factors for entries of 1, 2, ... kernels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Jitter {
    by_kernels: Vec<Factor>,
    cv: f64,
}

/// Entries of more kernels than this share one factor.
const MOST_KERNELS: usize = 64;

impl Jitter {
    pub(super) fn new(cv: f64) -> Self {
        let by_kernels = (0..=MOST_KERNELS).map(|k| Factor::new(cv / (k.max(1) as f64).sqrt())).collect();
        Self { by_kernels, cv }
    }

    pub(super) fn is_one(&self) -> bool {
        self.by_kernels[1].is_one()
    }

    /// The factor of an entry of so many kernels.
    #[inline]
    pub(super) fn of(&self, kernels: u32) -> Factor {
        self.by_kernels[(kernels as usize).min(MOST_KERNELS)]
    }

    /// Host work of `ps` in grains.
    pub(super) fn work(&self, ps: f64, stream: &mut Stream) -> f64 {
        let grains = (ps / GRAIN).round().max(1.0);
        ps * Factor::new(self.cv / grains.sqrt()).draw(stream)
    }
}

/// A duration in whole picoseconds.
#[inline]
pub(super) fn whole(ps: f64) -> u64 {
    (ps + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::des::Streams;

    #[test]
    fn factors_have_the_mean_and_spread_that_they_state() {
        let n = 200_000;
        for (kernels, cv) in [(1, 0.3), (4, 0.15), (9, 0.1)] {
            let factor = Jitter::new(0.3).of(kernels);
            let mut stream = Streams::new(1, 2).stream("test", u64::from(kernels));
            let draws: Vec<f64> = (0..n).map(|_| factor.draw(&mut stream)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean - 1.0).abs() < 4.0 * cv / f64::from(n).sqrt(), "{kernels}: mean {mean}");
            assert!((variance.sqrt() / cv - 1.0).abs() < 0.02, "{kernels}: cv {}", variance.sqrt());
        }
    }

    #[test]
    fn no_spread_draws_nothing() {
        let mut stream = Streams::new(1, 2).stream("test", 0);
        let before = stream.clone();
        assert!((Factor::new(0.0).draw(&mut stream) - 1.0).abs() < 1e-15);
        assert_eq!(stream, before);
    }
}
