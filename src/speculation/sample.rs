//! Drawing the accepted tokens of cycles.
//!
//! One uniform number u per cycle, inverted over the tails: the cycle accepts n = max{i : u < S_i} drafted tokens.
//! A request keeps what belongs to it (its kind, its rate, its state) in a [`RequestState`], so that cycles of one
//! request are as correlated as its law says, while over all cycles the marginal law is met.

use rand::{Rng, RngExt};

use super::acceptance::Acceptance;
use super::beta_quantile::beta_quantile;
use super::mixture::pick;
use super::positions::power;
use super::shape::DraftShape;

/// What one request keeps from cycle to cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestState(Kept);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    Nothing,
    Part(usize),
    Rate(f64),
    State(usize),
}

impl Acceptance {
    /// The accept length, 1 ... k + 1, of a cycle taken at random, independent of all others.
    pub fn sample<R: Rng + ?Sized>(&self, shape: DraftShape, rng: &mut R) -> u32 {
        let u: f64 = rng.random();
        count(shape, u, |i| self.tail(i, shape))
    }

    /// Starts a request: draws its kind, rate or state, as requests of equal output are spread.
    pub fn start_request<R: Rng + ?Sized>(&self, shape: DraftShape, rng: &mut R) -> RequestState {
        RequestState(match self {
            Self::Mixture(law) => Kept::Part(law.choose(rng.random(), shape)),
            Self::Beta(law) => {
                // The request's share of cycles is weighted with its accept length: see the module on Beta.
                let weights = (0..=shape.depth()).map(|i| law.tail(i));
                let total: f64 = weights.clone().sum();
                let extra = pick(weights, rng.random::<f64>() * total);
                Kept::Rate(beta_quantile(law.alpha() + extra as f64, law.beta(), rng.random()))
            }
            Self::Markov(law) => Kept::State(pick(law.stationary().iter().copied(), rng.random::<f64>())),
            _ => Kept::Nothing,
        })
    }

    /// The accept length, 1 ... k + 1, of the next cycle of a request that this law started.
    pub fn sample_next<R: Rng + ?Sized>(
        &self,
        request: &mut RequestState,
        shape: DraftShape,
        rng: &mut R,
    ) -> u32 {
        match (self, request.0) {
            (Self::Mixture(law), Kept::Part(part)) => law.parts()[part].1.sample(shape, rng),
            (Self::Beta(_), Kept::Rate(rate)) => {
                let u: f64 = rng.random();
                count(shape, u, |i| power(rate, i))
            }
            (Self::Markov(law), Kept::State(state)) => {
                let length = law.states()[state].sample(shape, rng);
                let next = pick(law.row(state).iter().copied(), rng.random::<f64>());
                request.0 = Kept::State(next);
                length
            }
            _ => self.sample(shape, rng),
        }
    }
}

/// 1 + the number of tails above `u`.
fn count(shape: DraftShape, u: f64, tail: impl Fn(u32) -> f64) -> u32 {
    1 + (1..=shape.depth()).take_while(|i| u < tail(*i)).count() as u32
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
