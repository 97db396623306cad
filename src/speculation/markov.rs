//! Acceptance that is correlated in time: a request walks through states (prose, code, a copied passage), each
//! with its own law, from cycle to cycle.
//!
//! A single cycle taken at random follows the mixture of the states by their long-run shares π = πP; what the walk
//! adds is the covariance between cycles, Cov(L_0, L_h) = Σ_s π_s m_s (P^h m)_s - (Σ π m)², m_s the mean in state s.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::acceptance::Acceptance;
use super::error::{AcceptanceError, probability};
use super::shape::DraftShape;

/// States, transitions and long-run shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Markov {
    states: Arc<[Acceptance]>,
    transitions: Arc<[f64]>,
    stationary: Arc<[f64]>,
}

impl Markov {
    /// States with plain laws, and `transitions[from][to]` per cycle. Every row adds up to 1, and one group of
    /// states must absorb the walk, whatever the start.
    pub fn new(states: Vec<Acceptance>, transitions: &[Vec<f64>]) -> Result<Self, AcceptanceError> {
        let n = states.len();
        if n == 0 {
            return Err(AcceptanceError::Empty);
        }
        if let Some(i) = states.iter().position(|law| !law.is_plain()) {
            return Err(AcceptanceError::Nested { position: i + 1 });
        }
        if transitions.len() != n || transitions.iter().any(|row| row.len() != n) {
            return Err(AcceptanceError::MatrixSize { states: n });
        }
        for (r, row) in transitions.iter().enumerate() {
            for (c, value) in row.iter().enumerate() {
                probability(c + 1, *value)?;
            }
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > 1e-9 {
                return Err(AcceptanceError::MatrixRow { row: r + 1, sum });
            }
        }
        let flat: Vec<f64> = transitions.iter().flatten().copied().collect();
        if !has_one_recurrent_class(&flat, n) {
            return Err(AcceptanceError::NotErgodic);
        }
        let stationary = long_run_shares(&flat, n).ok_or(AcceptanceError::NotErgodic)?;
        Ok(Self { states: states.into(), transitions: flat.into(), stationary: stationary.into() })
    }

    /// Two states with geometric or other laws, of which the first holds `share` of the cycles and a visit lasts
    /// so long that the correlation between neighbouring cycles' states is `persistence` (0: independent).
    pub fn two_states(
        first: Acceptance,
        second: Acceptance,
        share: f64,
        persistence: f64,
    ) -> Result<Self, AcceptanceError> {
        let (share, persistence) = (probability(1, share)?, probability(2, persistence)?);
        let leave = 1.0 - persistence;
        let (away, back) = (leave * (1.0 - share), leave * share);
        Self::new(vec![first, second], &[vec![1.0 - away, away], vec![back, 1.0 - back]])
    }

    /// The laws of the states.
    pub fn states(&self) -> &[Acceptance] {
        &self.states
    }

    /// Long-run share of the cycles spent in each state.
    pub fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// With every state's law prepared for `shape`.
    pub(super) fn with_shape(self, shape: DraftShape) -> Self {
        Self { states: self.states.iter().map(|law| law.clone().with_shape(shape)).collect(), ..self }
    }

    /// Transition probabilities out of state `from`.
    pub(super) fn row(&self, from: usize) -> &[f64] {
        let n = self.states.len();
        &self.transitions[from * n..(from + 1) * n]
    }

    /// P(at least `i` accepted in a cycle taken at random).
    pub(super) fn tail(&self, i: u32, shape: DraftShape) -> f64 {
        self.stationary.iter().zip(&*self.states).map(|(share, law)| share * law.tail(i, shape)).sum()
    }

    /// Covariance of the accept lengths of two cycles of one request, `lag` ≥ 1 cycles apart.
    pub fn autocovariance(&self, shape: DraftShape, lag: u32) -> f64 {
        let means: Vec<f64> = self.states.iter().map(|law| law.mean(shape).get()).collect();
        let mut ahead = means.clone();
        for _ in 0..lag {
            ahead =
                (0..means.len()).map(|s| self.row(s).iter().zip(&ahead).map(|(p, m)| p * m).sum()).collect();
        }
        let mean: f64 = self.stationary.iter().zip(&means).map(|(share, m)| share * m).sum();
        let product: f64 = (0..means.len()).map(|s| self.stationary[s] * means[s] * ahead[s]).sum();
        product - mean * mean
    }
}

fn has_one_recurrent_class(transitions: &[f64], n: usize) -> bool {
    let mut reach: Vec<bool> = (0..n * n).map(|i| transitions[i] > 0.0 || i / n == i % n).collect();
    for via in 0..n {
        for from in 0..n {
            if reach[from * n + via] {
                for to in 0..n {
                    reach[from * n + to] |= reach[via * n + to];
                }
            }
        }
    }
    (0..n).any(|to| (0..n).all(|from| reach[from * n + to]))
}

fn long_run_shares(transitions: &[f64], n: usize) -> Option<Vec<f64>> {
    // πP = π with Σπ = 1 in place of the redundant last equation.
    let matrix = DMatrix::from_fn(n, n, |r, c| {
        if r == n - 1 { 1.0 } else { transitions[c * n + r] - f64::from(u8::from(r == c)) }
    });
    let right = DVector::from_fn(n, |r, _| f64::from(u8::from(r == n - 1)));
    let shares = matrix.lu().solve(&right)?;
    let sum: f64 = shares.iter().map(|s| s.max(0.0)).sum();
    Some(shares.iter().map(|s| s.max(0.0) / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(rate: f64) -> Acceptance {
        Acceptance::geometric(rate).expect("valid")
    }

    #[test]
    fn two_states_have_the_share_and_the_correlation_asked_for() {
        let shape = DraftShape::chain(3);
        let walk = Markov::two_states(law(0.9), law(0.3), 0.25, 0.8).expect("valid");
        assert!((walk.stationary()[0] - 0.25).abs() < 1e-12);
        let between = 0.25 * 0.75 * (law(0.9).mean(shape).get() - law(0.3).mean(shape).get()).powi(2);
        for lag in 1..5 {
            let expected = between * 0.8_f64.powi(i32::try_from(lag).expect("small"));
            assert!((walk.autocovariance(shape, lag) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn matrices_that_are_none_are_errors() {
        let two = || vec![law(0.5), law(0.6)];
        let error = |m: &[Vec<f64>]| Markov::new(two(), m).expect_err("invalid");
        assert_eq!(error(&[vec![1.0]]), AcceptanceError::MatrixSize { states: 2 });
        assert!(matches!(
            error(&[vec![0.5, 0.6], vec![0.5, 0.5]]),
            AcceptanceError::MatrixRow { row: 1, .. }
        ));
        assert_eq!(error(&[vec![1.0, 0.0], vec![0.0, 1.0]]), AcceptanceError::NotErgodic);
        let absorbing = Markov::new(two(), &[vec![0.5, 0.5], vec![0.0, 1.0]]).expect("one class absorbs");
        assert!((absorbing.stationary()[1] - 1.0).abs() < 1e-12);
        let swapping =
            Markov::new(two(), &[vec![0.0, 1.0], vec![1.0, 0.0]]).expect("periodic has shares too");
        assert!((swapping.stationary()[0] - 0.5).abs() < 1e-12);
    }
}
