//! All-reduce and all-gather over several GPUs, a thread for each rank: through NCCL, or by own kernels.
//!
//! Communicators live as long as the process. The result of every size is checked before it is timed: inputs are whole
//! numbers, whose sums are exact in any order.

mod rank;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use half::bf16;

use super::super::ffi::{Comm, NcclId};
use super::super::{Check, CollectiveTask, Failure, Measured};
use super::all_reduce::{self, Peer, Shots};
use super::checked::wrong;
use super::device::Gpu;
use super::random::wholes;
use super::timing::{Asked, measured};
use super::{gate, unsupported};
use crate::calibration::Family;
use crate::runtime::CollectiveOp;

/// NCCL's communicators by the number of their ranks.
#[derive(Default)]
pub(super) struct Communicators(BTreeMap<u32, Group>);

/// The ranks of one communicator.
pub(super) struct Group(Vec<Mutex<Comm>>);

impl Group {
    /// One rank's, for the thread of that rank.
    pub(super) fn rank(&self, rank: u32) -> MutexGuard<'_, Comm> {
        self.0[rank as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Communicators {
    /// That of the first `ranks` GPUs.
    pub(super) fn of(&mut self, gpus: &[Gpu], ranks: u32) -> Result<&Group, Failure> {
        let place = match self.0.entry(ranks) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(place) => place,
        };
        let id = NcclId::new()?;
        let join =
            |rank, _: &gate::Gate| Comm::join(&gpus[rank as usize].context, id, rank, ranks).map(Mutex::new);
        Ok(place.insert(Group(gate::ranks(ranks, join)?)))
    }
}

/// Times one.
pub(super) fn measure(
    gpus: &[Gpu],
    communicators: &mut Communicators,
    asked: Asked,
    task: &CollectiveTask,
) -> Result<Measured, Failure> {
    if task.ranks == 0 || task.ranks as usize > gpus.len() {
        return Err(unsupported(format!("{} ranks on {} visible GPUs", task.ranks, gpus.len())));
    }
    let whole = CollectiveTask { bytes: task.bytes.next_multiple_of(16).max(16), ..task.clone() };
    let gpus = &gpus[..task.ranks as usize];
    let result = match (task.family, task.op) {
        (Family::Nccl, CollectiveOp::AllReduce | CollectiveOp::AllGather) => {
            let comms = communicators.of(gpus, task.ranks)?;
            rank::run(gpus, asked, &whole, &rank::Calls::Nccl(comms)).map(|samples| (samples, Vec::new()))
        }
        (Family::OneShot | Family::TwoShot, CollectiveOp::AllReduce) => {
            own(gpus, communicators, asked, &whole)
        }
        (family, op) => Err(unsupported(format!("{op:?} by {family:?} is not measured"))),
    };
    if result.is_err() {
        // Whoever failed inside NCCL leaves the others' communicators waiting.
        communicators.0.remove(&task.ranks);
    }
    let (samples, notes) = result?;
    Ok(measured(samples, Check::Exact, notes))
}

fn own(
    gpus: &[Gpu],
    communicators: &mut Communicators,
    asked: Asked,
    task: &CollectiveTask,
) -> Result<(Vec<f64>, Vec<String>), Failure> {
    let shots = if task.family == Family::OneShot { Shots::One } else { Shots::Two };
    let all: Vec<&Gpu> = gpus.iter().collect();
    let peers = all_reduce::group(&all, task.bytes)?;
    let samples = rank::run(gpus, asked, task, &rank::Calls::Own(&peers, shots))?;
    let same = match communicators.of(gpus, task.ranks) {
        Ok(comms) => {
            compare(gpus, comms, &peers, task.bytes)?;
            "bit for bit NCCL's result"
        }
        Err(_) => "compared with the host, since NCCL does not run",
    };
    Ok((samples, vec![same.to_owned()]))
}

/// Whether NCCL has the same result for the same inputs.
fn compare(gpus: &[Gpu], comms: &Group, peers: &[Peer], bytes: u64) -> Result<(), Failure> {
    gate::ranks(gpus.len() as u32, |rank, gate| {
        let (gpu, peer) = (&gpus[rank as usize], &peers[rank as usize]);
        gpu.context.bind()?;
        let out = gpu.buffer(bytes)?;
        gate.wait()?;
        comms.rank(rank).all_reduce(&gpu.stream, peer.input.at(), out.at(), bytes)?;
        gpu.stream.synchronise()?;
        let words = (bytes / 4) as usize;
        if out.read::<u32>(0, words)? == peer.out.read::<u32>(0, words)? {
            Ok(())
        } else {
            Err(wrong("the own all-reduce and NCCL's differ"))
        }
    })
    .map(|_| ())
}

/// The slowest rank's time of each sample.
pub(super) fn slowest(by_rank: &[Vec<f64>]) -> Vec<f64> {
    let count = by_rank.iter().map(Vec::len).min().unwrap_or(0);
    (0..count).map(|i| by_rank.iter().map(|samples| samples[i]).fold(0.0, f64::max)).collect()
}

/// What an all-reduce of inputs filled with `Wholes` and the rank as seed must give: its first values.
fn sum_of_wholes(ranks: u32, count: usize) -> Vec<bf16> {
    let mut sum = vec![0.0f32; count];
    for rank in 0..ranks {
        sum.iter_mut().zip(wholes(count, rank)).for_each(|(sum, x)| *sum += x.to_f32());
    }
    sum.into_iter().map(bf16::from_f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_rank_counts() {
        assert_eq!(slowest(&[vec![1.0, 5.0, 9.0], vec![2.0, 4.0]]), [2.0, 5.0]);
        assert!(slowest(&[]).is_empty());
    }

    #[test]
    fn sums_are_whole_numbers_below_what_bf16_counts() {
        let sum = sum_of_wholes(8, 1000);
        assert!(sum.iter().all(|x| x.to_f32().fract() == 0.0 && x.to_f32() <= 56.0));
        assert!(sum.iter().any(|x| x.to_f32() > 40.0));
    }
}
