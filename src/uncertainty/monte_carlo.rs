//! Monte Carlo: the function at many random scores.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::normal::normal_score;
use super::summary::Summary;

/// Outputs of all samples, in the order of the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// `rows[sample][output]`.
    rows: Vec<Vec<f64>>,
}

/// Draws `samples` times the scores of `factors` inputs and evaluates `function` at them, on all threads of the
/// current rayon pool. Sample i depends on `seed` and i alone.
pub fn monte_carlo(
    factors: usize,
    samples: u32,
    seed: u64,
    function: impl Fn(&[f64]) -> Vec<f64> + Sync,
) -> Samples {
    let one = |sample: u32| function(&scores(seed, u64::from(sample), factors));
    Samples { rows: (0..samples).into_par_iter().with_min_len(16).map(one).collect() }
}

/// Independent standard normal scores of one sample, by inversion of uniform numbers.
pub(super) fn scores(seed: u64, sample: u64, factors: usize) -> Vec<f64> {
    let mut rng = stream(seed, sample);
    // A uniform number is a multiple of 2^-53, and 0 has no score: take the middle of its cell.
    let half = 0.5_f64.powi(54);
    (0..factors).map(|_| normal_score(rng.random::<f64>() + half)).collect()
}

/// The stream of one sample: FNV-1a over seed and number, then xoshiro's own seeding by SplitMix64.
fn stream(seed: u64, sample: u64) -> Xoshiro256PlusPlus {
    let bytes = seed.to_le_bytes().into_iter().chain(sample.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Xoshiro256PlusPlus::seed_from_u64(hash)
}

impl Samples {
    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All outputs of one sample.
    pub fn row(&self, sample: usize) -> &[f64] {
        &self.rows[sample]
    }

    /// One output of every sample, in the order of the samples.
    pub fn output(&self, output: usize) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(move |row| row[output])
    }

    /// Percentiles and moments of one output; samples at which it is no number are left out.
    pub fn summary(&self, output: usize) -> Summary {
        Summary::of(self.output(output))
    }

    /// Share of the samples in which an output exceeds `limit`; 0 without samples.
    pub fn share_above(&self, output: usize, limit: f64) -> f64 {
        self.share_where(output, |value| value > limit)
    }

    /// Share of the samples in which an output fulfils a condition; 0 without samples.
    pub fn share_where(&self, output: usize, condition: impl Fn(f64) -> bool) -> f64 {
        let fulfilled = self.output(output).filter(|value| condition(*value)).count();
        fulfilled as f64 / self.rows.len().max(1) as f64
    }
}
