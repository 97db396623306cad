//! Collectives: which sizes, modes and world sizes.
//!
//! Sizes are those of the scenario's rows (a row of an all-reduce is 2·hidden bytes) and powers of two around them. Graph
//! rows of all-reduces, NCCL's and the own ones', are chains as a pass issues them, with a projection before each call;
//! stream rows are back to back; eager rows are back to back too, on the host's clock. They differ, which is why all are
//! measured.

use std::collections::BTreeSet;

use super::variant::{Variant, all_peers};
use super::{Depth, Planner};
use crate::calibration::measure::task::{CollectiveTask, GemmShape, Task};
use crate::calibration::{Family, Mode};
use crate::collective::Transport;
use crate::runtime::CollectiveOp;

/// Rows whose messages are measured with a scenario.
const ROWS_FULL: &[u64] = &[1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64];
const ROWS_QUICK: &[u64] = &[1, 2, 4, 8, 16, 64];
/// The largest message of a general grid \[B\].
const MOST: u64 = 64 << 20;
/// The largest message of the own kernels \[B\]: beyond it NCCL wins everywhere.
const MOST_ONE_SHOT: u64 = 1 << 20;
const MOST_TWO_SHOT: u64 = 8 << 20;
/// Without a scenario a projection of this width stands before each call.
const GENERAL_HIDDEN: u32 = 4096;
/// The widest projection before a call: a chain should be about collectives.
const WIDEST: u32 = 8192;
/// The most rows of it.
const MOST_ROWS: u64 = 256;

impl Planner<'_> {
    pub(super) fn collectives(&mut self, transport: Transport) -> Vec<Task> {
        if self.gpus() < 2 {
            self.leave_out("collectives", "one GPU is visible, and a collective needs two");
            return Vec::new();
        }
        let mut tasks = Vec::new();
        if self.has_nccl("collectives of NCCL") {
            for ranks in self.worlds() {
                self.nccl(ranks, transport, &mut tasks);
            }
        }
        self.own_kernels(transport, &mut tasks);
        tasks
    }

    pub(super) fn has_nccl(&mut self, what: &str) -> bool {
        let there = self.found.nccl.is_some();
        if !there {
            self.leave_out(what, "the NCCL library (libnccl.so.2) is not there");
        }
        there
    }

    fn nccl(&self, ranks: u32, transport: Transport, tasks: &mut Vec<Task>) {
        let all_reduce =
            |bytes, mode| self.collective(CollectiveOp::AllReduce, ranks, transport, bytes, mode);
        let sizes = self.reduced_sizes();
        for mode in [Mode::Graph, Mode::Eager, Mode::Stream] {
            tasks.extend(sizes.iter().map(|bytes| Task::Collective(all_reduce(*bytes, mode))));
        }
        let modes: &[Mode] = if self.full() { &[Mode::Graph, Mode::Eager] } else { &[Mode::Graph] };
        for mode in modes {
            for bytes in self.gathered_sizes() {
                tasks.push(Task::Collective(self.collective(
                    CollectiveOp::AllGather,
                    ranks,
                    transport,
                    bytes,
                    *mode,
                )));
            }
        }
    }

    fn own_kernels(&mut self, transport: Transport, tasks: &mut Vec<Task>) {
        if !all_peers(self.found) {
            self.leave_out(
                "one-shot and two-shot all-reduce",
                "some GPUs cannot map each other's memory (P2P is unavailable)",
            );
            return;
        }
        // The own kernels ask CUDA for peer access; what NCCL may use does not bind them.
        let transport = match transport {
            Transport::Shm if self.found.nvlink => Transport::Nvlink,
            Transport::Shm => Transport::P2p,
            other => other,
        };
        for ranks in self.worlds() {
            for (family, most) in [(Family::OneShot, MOST_ONE_SHOT), (Family::TwoShot, MOST_TWO_SHOT)] {
                for bytes in self.reduced_sizes().into_iter().filter(|bytes| *bytes <= most) {
                    let base = self.collective(CollectiveOp::AllReduce, ranks, transport, bytes, Mode::Graph);
                    tasks.push(Task::Collective(CollectiveTask { family, ..base }));
                }
            }
        }
    }

    pub(super) fn forced_collectives(&mut self, variant: &Variant) -> Vec<Task> {
        let worlds = self.worlds();
        let forced = variant.algorithm.is_some();
        let modes: &[Mode] = if forced { &[Mode::Stream] } else { &[Mode::Graph, Mode::Stream] };
        let mut tasks = Vec::new();
        for ranks in worlds {
            for mode in modes {
                for bytes in self.sparse_sizes() {
                    tasks.push(Task::Collective(self.collective(
                        CollectiveOp::AllReduce,
                        ranks,
                        variant.transport,
                        bytes,
                        *mode,
                    )));
                }
            }
        }
        tasks
    }

    fn collective(
        &self,
        op: CollectiveOp,
        ranks: u32,
        transport: Transport,
        bytes: u64,
        mode: Mode,
    ) -> CollectiveTask {
        let cublas = !self.found.missing.iter().any(|library| library == "cublas");
        let in_a_pass = mode == Mode::Graph && op == CollectiveOp::AllReduce && cublas;
        let between_gemms = in_a_pass.then(|| self.between(ranks, bytes));
        CollectiveTask {
            op,
            ranks,
            family: Family::Nccl,
            mode,
            transport,
            bytes,
            chain: chain(bytes),
            between_gemms,
        }
    }

    /// The output projection of a layer of the scenario's width, split over the ranks, with as many rows as make the
    /// message.
    fn between(&self, ranks: u32, bytes: u64) -> GemmShape {
        let hidden = self.wish.shapes.as_ref().map_or(GENERAL_HIDDEN, |s| s.hidden.max(1));
        let rows = (bytes / (2 * u64::from(hidden))).clamp(1, MOST_ROWS) as u32;
        GemmShape { n: hidden.min(WIDEST), k: (hidden / ranks.max(1)).max(64), rows }
    }

    fn reduced_sizes(&self) -> BTreeSet<u64> {
        let rows = self.wish.shapes.as_ref().map(|s| s.row_bytes.clone()).unwrap_or_default();
        self.sizes(&rows, if self.full() { 2 } else { 4 }, MOST)
    }

    fn gathered_sizes(&self) -> BTreeSet<u64> {
        let rows = self.wish.shapes.as_ref().map(|s| s.gathered_row_bytes.clone()).unwrap_or_default();
        self.sizes(&rows, if self.full() { 4 } else { 16 }, MOST / 4)
    }

    fn sparse_sizes(&self) -> BTreeSet<u64> {
        self.sizes(&BTreeSet::new(), if self.full() { 4 } else { 16 }, MOST / 4)
    }

    /// Powers of `step` from 1 KiB, and the sizes of rows.
    fn sizes(&self, rows: &BTreeSet<u64>, step: u64, most: u64) -> BTreeSet<u64> {
        let powers = std::iter::successors(Some(1024), |bytes| Some(bytes * step)).take_while(|b| *b <= most);
        let counts = if self.wish.depth == Depth::Full { ROWS_FULL } else { ROWS_QUICK };
        let of_rows = rows.iter().flat_map(|row| counts.iter().map(move |count| row * count));
        powers.chain(of_rows.filter(|bytes| (4..=most).contains(bytes))).map(|bytes| bytes / 4 * 4).collect()
    }
}

/// Calls in one sample: enough to forget the ends, few enough for large messages.
fn chain(bytes: u64) -> u32 {
    match bytes {
        0..0x10_0000 => 20,
        0x10_0000..0x100_0000 => 10,
        _ => 4,
    }
}
