//! What one run gives.

use super::pass::PassOutcome;

/// A baseline step and a cycle.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// The step, host work included \[ps\].
    pub(super) decode: u64,
    /// The cycle, host work included \[ps\].
    pub(super) cycle: u64,
    pub(super) decode_pass: PassOutcome,
    pub(super) verify_pass: PassOutcome,
    pub(super) events: u64,
}
