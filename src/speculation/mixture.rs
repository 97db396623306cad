//! Mixtures: several kinds of request in one batch.

use std::sync::Arc;

use super::acceptance::Acceptance;
use super::error::{AcceptanceError, normalised};
use super::shape::DraftShape;

/// Plain laws with their shares of all *cycles*, which is what a server counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    parts: Arc<[(f64, Acceptance)]>,
}

impl Mixture {
    /// From shares of the cycles; they need not add up to 1.
    pub fn new(parts: Vec<(f64, Acceptance)>) -> Result<Self, AcceptanceError> {
        let weights: Vec<f64> = parts.iter().map(|part| part.0).collect();
        let shares = normalised(&weights)?;
        if let Some(i) = parts.iter().position(|(_, law)| !law.is_plain()) {
            return Err(AcceptanceError::Nested { position: i + 1 });
        }
        let parts = shares.into_iter().zip(parts).map(|(share, (_, law))| (share, law));
        Ok(Self { parts: parts.collect() })
    }

    /// From shares of the *requests*, each with the same number of output tokens. A request that accepts much needs
    /// fewer cycles, so its share of the cycles is its share of the requests divided by its accept length, and
    /// the mean over cycles is the harmonic mean over requests.
    pub fn of_requests(parts: Vec<(f64, Acceptance)>, shape: DraftShape) -> Result<Self, AcceptanceError> {
        Self::new(
            parts
                .into_iter()
                .map(|(share, law)| {
                    let length = law.mean(shape).get();
                    (share / length, law)
                })
                .collect(),
        )
    }

    /// The laws with their shares of the cycles, which add up to 1.
    pub fn parts(&self) -> &[(f64, Acceptance)] {
        &self.parts
    }

    /// With every part prepared for `shape`.
    pub(super) fn with_shape(self, shape: DraftShape) -> Self {
        Self { parts: self.parts.iter().map(|(w, law)| (*w, law.clone().with_shape(shape))).collect() }
    }

    /// P(at least `i` accepted in a cycle taken at random).
    pub(super) fn tail(&self, i: u32, shape: DraftShape) -> f64 {
        self.parts.iter().map(|(share, law)| share * law.tail(i, shape)).sum()
    }

    /// The part that a request with `u` uniform on \[0, 1) belongs to, by shares of requests with equal output.
    pub(super) fn choose(&self, u: f64, shape: DraftShape) -> usize {
        let weight = |part: &(f64, Acceptance)| part.0 * part.1.mean(shape).get();
        let total: f64 = self.parts.iter().map(weight).sum();
        pick(self.parts.iter().map(weight), u * total)
    }
}

/// Index of the first weight at which the running sum exceeds `target`; the last index if rounding hides it.
pub(super) fn pick(weights: impl Iterator<Item = f64>, target: f64) -> usize {
    let (mut sum, mut last) = (0.0, 0);
    for (i, weight) in weights.enumerate() {
        sum += weight;
        last = i;
        if target < sum {
            break;
        }
    }
    last
}
