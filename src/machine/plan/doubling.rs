//! Recursive doubling, and recursive halving with doubling. Ranks beyond the largest power of two hand their vector
//! to a partner first and get the result from it last: two rounds more than the textbook's power of two.

use super::{Plan, Transfer};
use crate::units::Bytes;

/// A plan being built with the last transfers that each rank took part in.
struct Rounds {
    plan: Plan,
    last: Vec<Vec<u32>>,
}

impl Rounds {
    fn new(ranks: u32) -> Self {
        Self { plan: Plan::empty(ranks), last: vec![Vec::new(); ranks as usize] }
    }

    /// One round of simultaneous transfers (from, to), each after all that its two ends did before.
    fn round(&mut self, pairs: &[(u32, u32)], bytes: Bytes, sum: Bytes) {
        let mut next = vec![Vec::new(); self.last.len()];
        for &(from, to) in pairs {
            let transfer = Transfer { from, to, bytes, sum, fan: 1 };
            let waits = [from, to].map(|end| self.last[end as usize].clone()).concat();
            let sent = self.plan.push(transfer, waits);
            next[from as usize].push(sent);
            next[to as usize].push(sent);
        }
        for (last, next) in self.last.iter_mut().zip(next) {
            if !next.is_empty() {
                *last = next;
            }
        }
    }
}

/// Every rank of the first `core` with the one at that distance.
fn partners(core: u32, distance: u32) -> Vec<(u32, u32)> {
    (0..core).map(|rank| (rank, rank ^ distance)).collect()
}

/// Runs `inner` over the largest power of two ranks.
fn folded(ranks: u32, bytes: Bytes, inner: impl FnOnce(&mut Rounds, u32)) -> Plan {
    let core = if ranks.is_power_of_two() { ranks } else { ranks.next_power_of_two() / 2 };
    let mut rounds = Rounds::new(ranks);
    let extra: Vec<_> = (core..ranks).map(|rank| (rank, rank - core)).collect();
    rounds.round(&extra, bytes, bytes);
    inner(&mut rounds, core);
    let back: Vec<_> = extra.iter().map(|&(rank, partner)| (partner, rank)).collect();
    rounds.round(&back, bytes, Bytes::ZERO);
    rounds.plan
}

impl Plan {
    /// In round i everybody exchanges the whole vector with the rank at distance 2^i and sums.
    pub fn recursive_doubling(ranks: u32, bytes: Bytes) -> Self {
        folded(ranks, bytes, |rounds, core| {
            for round in 0..core.ilog2() {
                rounds.round(&partners(core, 1 << round), bytes, bytes);
            }
        })
    }

    /// Halves are exchanged and summed down to S/n, then doubled again.
    pub fn halving_doubling(ranks: u32, bytes: Bytes) -> Self {
        folded(ranks, bytes, |rounds, core| {
            let share = |round: u32| bytes / f64::from(2_u32 << round);
            for round in 0..core.ilog2() {
                rounds.round(&partners(core, core >> (round + 1)), share(round), share(round));
            }
            for round in (0..core.ilog2()).rev() {
                rounds.round(&partners(core, core >> (round + 1)), share(round), Bytes::ZERO);
            }
        })
    }
}
