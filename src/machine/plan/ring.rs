//! Rings: in each round every rank sends one part to its right neighbour, once it has what it passes on.

use super::{Plan, Transfer};
use crate::units::Bytes;

impl Plan {
    /// Ring all-reduce: n-1 rounds that sum, n-1 that hand out, each of S/n.
    pub fn ring(ranks: u32, bytes: Bytes) -> Self {
        Self::ring_rounds(ranks, bytes / f64::from(ranks), 2 * (ranks - 1), ranks - 1)
    }

    /// `rounds` rounds of `part` bytes, the first `summing` of which end in a sum.
    pub(super) fn ring_rounds(ranks: u32, part: Bytes, rounds: u32, summing: u32) -> Self {
        let mut plan = Self::empty(ranks);
        for round in 0..rounds {
            for from in 0..ranks {
                let sum = if round < summing { part } else { Bytes::ZERO };
                let transfer = Transfer { from, to: (from + 1) % ranks, bytes: part, sum, fan: 1 };
                // What it received in the round before, and its own sends in order.
                let before = round.checked_sub(1).map(|r| r * ranks);
                let left = (from + ranks - 1) % ranks;
                plan.push(transfer, before.into_iter().flat_map(|b| [b + left, b + from]));
            }
        }
        plan
    }
}
