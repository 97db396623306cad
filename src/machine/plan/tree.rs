//! Trees: NCCL's, which inside one node is a chain, and the binomial tree of the textbooks.

use super::{Plan, Transfer};
use crate::units::Bytes;

/// Chunks of NCCL's chain: the slots of its buffer (`NCCL_STEPS`).
pub(super) const CHUNKS: u32 = 8;

impl Plan {
    /// A chain of ranks n-1 → 0 that sums, then 0 → n-1 that hands out, pipelined in `chunks`.
    pub fn chain(ranks: u32, bytes: Bytes, chunks: u32) -> Self {
        let mut plan = Self::empty(ranks);
        let part = bytes / f64::from(chunks);
        let mut up: Vec<Option<u32>> = vec![None; ranks as usize];
        let mut down = up.clone();
        for _ in 0..chunks {
            // Arrived with the chunk at hand.
            let mut arrived: Option<u32> = None;
            for from in (1..ranks).rev() {
                let transfer = Transfer { from, to: from - 1, bytes: part, sum: part, fan: 1 };
                let sent = plan.push(transfer, arrived.into_iter().chain(up[from as usize]));
                up[from as usize] = Some(sent);
                arrived = Some(sent);
            }
            for from in 0..ranks.saturating_sub(1) {
                let transfer = Transfer { from, to: from + 1, bytes: part, sum: Bytes::ZERO, fan: 1 };
                let sent = plan.push(transfer, arrived.into_iter().chain(down[from as usize]));
                down[from as usize] = Some(sent);
                arrived = Some(sent);
            }
        }
        plan
    }

    /// Binomial reduce to rank 0, then binomial broadcast.
    pub fn binomial(ranks: u32, bytes: Bytes) -> Self {
        let mut plan = Self::empty(ranks);
        let mut last: Vec<Option<u32>> = vec![None; ranks as usize];
        let rounds = ranks.next_power_of_two().ilog2();
        let pairs = |round: u32| {
            let (near, far) = (1 << round, 2 << round);
            (0..ranks).step_by(far).filter_map(move |low| (low + near < ranks).then_some((low, low + near)))
        };
        for round in 0..rounds {
            for (low, high) in pairs(round) {
                let transfer = Transfer { from: high, to: low, bytes, sum: bytes, fan: 1 };
                let waits = last[low as usize].into_iter().chain(last[high as usize]);
                let sent = plan.push(transfer, waits);
                last[low as usize] = Some(sent);
                last[high as usize] = Some(sent);
            }
        }
        for round in (0..rounds).rev() {
            for (low, high) in pairs(round) {
                let transfer = Transfer { from: low, to: high, bytes, sum: Bytes::ZERO, fan: 1 };
                let waits = last[low as usize].into_iter().chain(last[high as usize]);
                let sent = plan.push(transfer, waits);
                last[low as usize] = Some(sent);
                last[high as usize] = Some(sent);
            }
        }
        plan
    }
}
