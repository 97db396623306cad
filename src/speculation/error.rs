//! Why an acceptance law cannot be.

use thiserror::Error;

/// A mistake in the numbers of an acceptance law. Positions count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum AcceptanceError {
    /// No value at all.
    #[error("at least one value is needed")]
    Empty,
    /// A probability that is none.
    #[error("{value} at position {position} is no probability: it must lie between 0 and 1")]
    NotAProbability {
        /// Which one.
        position: usize,
        /// The value.
        value: f64,
    },
    /// Cumulative rates that rise.
    #[error("cumulative rates never rise, yet position {position} has {value} after {before}")]
    Rising {
        /// Which one.
        position: usize,
        /// The value.
        value: f64,
        /// The one before.
        before: f64,
    },
    /// A weight or count below zero or not finite.
    #[error("{value} at position {position} is no weight: it must be finite and at least 0")]
    NotAWeight {
        /// Which one.
        position: usize,
        /// The value.
        value: f64,
    },
    /// All weights are zero.
    #[error("the weights add up to zero")]
    NoWeight,
    /// An accept length that one cycle cannot yield.
    #[error("accept length {value} is impossible: one cycle yields 1 to {limit}, bonus token included")]
    AcceptLength {
        /// The value.
        value: f64,
        /// k + 1.
        limit: f64,
    },
    /// Children of one node that are accepted more often than always.
    #[error("the branches of one node are accepted with {sum} in all; at most 1 is possible")]
    BranchesAboveOne {
        /// Their sum.
        sum: f64,
    },
    /// A branch that is accepted more often than a better ranked one.
    #[error("branch {position} is accepted more often than the one ranked before it")]
    RanksRise {
        /// Which one.
        position: usize,
    },
    /// A tree node whose parent comes later.
    #[error("node {node} has parent {parent}, which does not come before it")]
    Parent {
        /// The node, the root being 0.
        node: usize,
        /// Its parent.
        parent: usize,
    },
    /// A shape parameter of a Beta law that is not positive.
    #[error("a Beta law needs finite parameters above 0, not {alpha} and {beta}")]
    BetaParameters {
        /// First.
        alpha: f64,
        /// Second.
        beta: f64,
    },
    /// Mixtures inside mixtures.
    #[error("the parts of a mixture must be plain laws: part {position} is a mixture itself")]
    Nested {
        /// Which one.
        position: usize,
    },
    /// A transition matrix of the wrong size.
    #[error("{states} states need {states} rows of {states} transition probabilities each")]
    MatrixSize {
        /// States.
        states: usize,
    },
    /// A row of a transition matrix that is no distribution.
    #[error("row {row} of the transition matrix adds up to {sum}, not 1")]
    MatrixRow {
        /// Which row, from 1.
        row: usize,
        /// Its sum.
        sum: f64,
    },
    /// More than one long-run distribution.
    #[error("the states fall into groups that never meet, so no long-run average exists")]
    NotErgodic,
    /// More accepted than tried.
    #[error("position {position} counts {accepted} acceptances after {tried} trials")]
    Counts {
        /// Which one.
        position: usize,
        /// Accepted there.
        accepted: u64,
        /// Accepted before, or cycles.
        tried: u64,
    },
    /// A count that no counter reaches.
    #[error("{count} cycles are more than any server counts: at most 2^53")]
    CountTooLarge {
        /// The count.
        count: u64,
    },
}

/// `value` if it is a probability.
pub(super) fn probability(position: usize, value: f64) -> Result<f64, AcceptanceError> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(AcceptanceError::NotAProbability { position, value })
    }
}

/// `weights` divided by their sum.
pub(super) fn normalised(weights: &[f64]) -> Result<Vec<f64>, AcceptanceError> {
    if weights.is_empty() {
        return Err(AcceptanceError::Empty);
    }
    if let Some(i) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(AcceptanceError::NotAWeight { position: i + 1, value: weights[i] });
    }
    let sum: f64 = weights.iter().sum();
    if sum.is_infinite() {
        return normalised(&weights.iter().map(|w| w / f64::MAX).collect::<Vec<_>>());
    }
    if sum > 0.0 { Ok(weights.iter().map(|w| w / sum).collect()) } else { Err(AcceptanceError::NoWeight) }
}
