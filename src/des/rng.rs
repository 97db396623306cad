//! Named random streams: every purpose draws from its own, so that one more draw here changes nothing there.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Makes the streams of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
    replica: u64,
}

impl Streams {
    /// All streams of one run: `replica` tells repetitions of the same seed apart.
    pub const fn new(seed: u64, replica: u64) -> Self {
        Self { seed, replica }
    }

    /// The stream of one purpose, for example `host jitter` of rank 3.
    pub fn stream(&self, purpose: &str, index: u64) -> Stream {
        // FNV-1a over everything that names the stream, then xoshiro's own seeding by SplitMix64.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut feed = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        for number in [self.seed, self.replica, index] {
            number.to_le_bytes().into_iter().for_each(&mut feed);
        }
        purpose.bytes().for_each(&mut feed);
        Stream { rng: Xoshiro256PlusPlus::seed_from_u64(hash) }
    }
}

/// One stream of random numbers: xoshiro256++, the same on every machine and for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    rng: Xoshiro256PlusPlus,
}

impl Stream {
    /// Uniform in \[0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.rng.random::<f64>()
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// The generator itself, for other distributions.
    pub const fn rng(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.rng
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_replica_purpose_and_index() {
        let draw =
            |seed, replica, purpose, index| Streams::new(seed, replica).stream(purpose, index).uniform();
        let first = draw(1, 0, "arrivals", 0);
        assert_eq!(first.to_bits(), draw(1, 0, "arrivals", 0).to_bits());
        for other in [
            draw(2, 0, "arrivals", 0),
            draw(1, 1, "arrivals", 0),
            draw(1, 0, "jitter", 0),
            draw(1, 0, "arrivals", 1),
        ] {
            assert_ne!(first.to_bits(), other.to_bits());
        }
    }
}
