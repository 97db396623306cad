//! The transfers of a collective and what each must wait for.
//!
//! A [`Plan`] is a directed acyclic graph in topological order. A transfer starts when its sender has arrived and all
//! that it waits for is done; it takes α (latency), then its bytes over the links, then the receiver's sum. A
//! transfer from a rank to itself is a sum alone. Uncontended, with ranks that arrive together, the plans take the
//! textbook times of [`crate::collective::allreduce`], and a chain of C chunks (2(n-1) + C - 1)(α + Sβ/C).

mod direct;
mod doubling;
mod ring;
mod tree;

use crate::collective::Algorithm;
use crate::cost::Exchange;
use crate::runtime::CollectiveOp;
use crate::units::Bytes;

/// One transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Payload.
    pub bytes: Bytes,
    /// Payload that the receiver sums once it is there.
    pub sum: Bytes,
    /// Transfers that the sender sends at the same time through the same port, this one included.
    pub fan: u32,
}

/// A collective as transfers.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Ranks of the group.
    pub ranks: u32,
    transfers: Vec<Transfer>,
    waits: Vec<u32>,
    ends: Vec<u32>,
}

impl Plan {
    /// The plan of an exchange; none for algorithms that the links alone do not describe (NVLink SHARP).
    pub fn of(exchange: &Exchange) -> Option<Self> {
        let (n, bytes) = (exchange.ranks, exchange.bytes);
        match exchange.op {
            CollectiveOp::AllReduce => Self::allreduce(exchange.choice.algorithm, n, bytes),
            CollectiveOp::AllGather => Some(Self::ring_rounds(n, bytes, n - 1, 0)),
            CollectiveOp::ReduceScatter => Some(Self::ring_rounds(n, bytes, n - 1, n - 1)),
            CollectiveOp::AllToAll => Some(Self::spread(n, bytes / f64::from(n))),
        }
    }

    /// The plan of an all-reduce of `bytes` over `ranks`.
    pub fn allreduce(algorithm: Algorithm, ranks: u32, bytes: Bytes) -> Option<Self> {
        match algorithm {
            Algorithm::Ring => Some(Self::ring(ranks, bytes)),
            Algorithm::Tree => Some(Self::chain(ranks, bytes, tree::CHUNKS)),
            Algorithm::OneShot => Some(Self::one_shot(ranks, bytes)),
            Algorithm::TwoShot => Some(Self::two_shot(ranks, bytes)),
            Algorithm::RecursiveDoubling => Some(Self::recursive_doubling(ranks, bytes)),
            Algorithm::HalvingDoubling => Some(Self::halving_doubling(ranks, bytes)),
            Algorithm::Binomial => Some(Self::binomial(ranks, bytes)),
            Algorithm::Nvls => None,
        }
    }

    fn empty(ranks: u32) -> Self {
        Self { ranks, transfers: Vec::new(), waits: Vec::new(), ends: Vec::new() }
    }

    /// Adds a transfer that waits for earlier ones; its number.
    fn push(&mut self, transfer: Transfer, waits: impl IntoIterator<Item = u32>) -> u32 {
        let number = self.transfers.len() as u32;
        self.waits.extend(waits.into_iter().inspect(|&w| debug_assert!(w < number, "plans are in order")));
        self.ends.push(self.waits.len() as u32);
        self.transfers.push(transfer);
        number
    }

    /// The transfers in topological order.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// What a transfer waits for.
    pub fn waits(&self, transfer: usize) -> &[u32] {
        let first = transfer.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.waits[first..self.ends[transfer] as usize]
    }

    /// Bytes that a rank sends.
    pub fn sent(&self, rank: u32) -> Bytes {
        self.transfers.iter().filter(|t| t.from == rank && t.to != rank).map(|t| t.bytes).sum()
    }
}

#[cfg(test)]
mod tests;
