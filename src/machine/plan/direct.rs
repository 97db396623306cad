//! Direct exchanges: every rank sends to all others at once, sharing its port.

use super::{Plan, Transfer};
use crate::units::Bytes;

impl Plan {
    /// One-shot: everybody sends everything to everybody and sums n-1 vectors.
    pub fn one_shot(ranks: u32, bytes: Bytes) -> Self {
        let mut plan = Self::empty(ranks);
        plan.round(bytes, &vec![None; ranks as usize]);
        plan.sums(bytes * f64::from(ranks - 1));
        plan
    }

    /// Two-shot: everybody sums one part of the vector, then sends it to all.
    pub fn two_shot(ranks: u32, bytes: Bytes) -> Self {
        let mut plan = Self::empty(ranks);
        let part = bytes / f64::from(ranks);
        plan.round(part, &vec![None; ranks as usize]);
        let sums = plan.sums(part * f64::from(ranks - 1));
        plan.round(part, &sums);
        plan
    }

    /// Everybody sends `part` to everybody else.
    pub(super) fn spread(ranks: u32, part: Bytes) -> Self {
        let mut plan = Self::empty(ranks);
        plan.round(part, &vec![None; ranks as usize]);
        plan
    }

    /// One transfer from each rank to each other one, after what each sender waits for.
    fn round(&mut self, bytes: Bytes, after: &[Option<u32>]) {
        let ranks = self.ranks;
        for from in 0..ranks {
            for to in (0..ranks).filter(|&to| to != from) {
                let transfer = Transfer { from, to, bytes, sum: Bytes::ZERO, fan: ranks - 1 };
                self.push(transfer, after[from as usize]);
            }
        }
    }

    /// A sum on each rank once it has received the whole round before.
    fn sums(&mut self, bytes: Bytes) -> Vec<Option<u32>> {
        let received = self.transfers.len() as u32;
        let sum = |plan: &mut Self, rank: u32| {
            let transfer = Transfer { from: rank, to: rank, bytes: Bytes::ZERO, sum: bytes, fan: 1 };
            let waits: Vec<_> = (0..received).filter(|&t| plan.transfers[t as usize].to == rank).collect();
            plan.push(transfer, waits)
        };
        (0..self.ranks).map(|rank| Some(sum(self, rank))).collect()
    }
}
