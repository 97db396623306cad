//! Copies and flags. Every pair of GPUs is measured with one size, and one pair with all sizes.

use super::Planner;
use super::variant::all_peers;
use crate::calibration::measure::task::{End, LinkKind, Task};

const SIZES_FULL: &[u64] = &[4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
const SIZES_QUICK: &[u64] = &[4 << 10, 256 << 10, 16 << 20];
/// A size at which a link shows its bandwidth \[B\].
const LARGE: u64 = 16 << 20;
/// A flag \[B\].
const FLAG: u64 = 4;

impl Planner<'_> {
    pub(super) fn links(&mut self) -> Vec<Task> {
        let sizes = if self.full() { SIZES_FULL } else { SIZES_QUICK };
        let link = |kind, from, to, bytes| Task::Link { kind, from, to, bytes };
        let mut tasks = Vec::new();
        for gpu in 0..self.gpus() {
            let sizes = if gpu == 0 { sizes } else { &[LARGE] };
            for bytes in sizes {
                tasks.push(link(LinkKind::HostCopy, End::Host, End::Gpu(gpu), *bytes));
                tasks.push(link(LinkKind::HostCopy, End::Gpu(gpu), End::Host, *bytes));
            }
        }
        if self.gpus() < 2 {
            self.leave_out("links between GPUs", "one GPU is visible");
            return tasks;
        }
        let mapped = |a: u32, b: u32| self.found.peers[a as usize][b as usize];
        for from in 0..self.gpus() {
            for to in (0..self.gpus()).filter(|to| *to != from) {
                let first = (from, to) == (0, 1);
                for bytes in if first { sizes } else { &[LARGE] } {
                    tasks.push(link(LinkKind::Copy, End::Gpu(from), End::Gpu(to), *bytes));
                }
                if from < to && mapped(from, to) && mapped(to, from) {
                    tasks.push(link(LinkKind::Flag, End::Gpu(from), End::Gpu(to), FLAG));
                }
            }
        }
        tasks.push(link(LinkKind::AllPairs, End::All, End::All, LARGE));
        if !all_peers(self.found) {
            self.leave_out(
                "flags between some GPUs",
                "they cannot map each other's memory (P2P is unavailable); copies between them go through the host",
            );
        }
        tasks
    }
}
