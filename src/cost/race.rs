//! The race between the host that issues operations and the GPU that runs them.
//!
//! Eager: operation i is issued at `h_i = h_(i-1) + issue_i` and ends at
//! `g_i = max(h_i, g_(i-1)) + device_i`; a pass takes `g_last`. Without jitter all ranks issue alike, so a
//! collective's last rank arrives when every rank does. Graph: `g = launch + Σ device`.
//!
//! The recurrence is linear in the max-plus algebra. A stretch of operations maps (h, g) to
//! `(h + I, max(h + X, g + D))` with I the sum of issue times, D the sum of GPU times and X the longest path
//! that starts on the host and changes over to the GPU once. Two stretches in a row are
//! `(I + I', max(I + X', X + D'), D + D')`; n equal ones are `(n·I, X + (n-1)·max(I, D), n·D)`, exactly, so a
//! model of 61 equal layers costs as much as one layer.
//!
//! Left out: jitter and ranks of different speed (`machine`), and limits of the launch queue (1,024 kernels).

use super::pass::{PricedBlock, PricedOp};
use crate::forward::Run;
use crate::runtime::Execution;
use crate::units::Seconds;

/// A stretch of operations as a max-plus map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stretch {
    /// Sum of issue times I.
    pub issue: Seconds,
    /// Longest path from the first issue to the end of the last operation, the GPU being free: X.
    pub crossing: Seconds,
    /// Sum of GPU times D.
    pub device: Seconds,
}

impl Stretch {
    /// One operation.
    #[must_use]
    pub fn operation(issue: Seconds, device: Seconds) -> Self {
        Self { issue, crossing: issue + device, device }
    }

    /// This stretch, then another.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            issue: self.issue + next.issue,
            crossing: (self.issue + next.crossing).max(self.crossing + next.device),
            device: self.device + next.device,
        }
    }

    /// This stretch `count` times in a row.
    #[must_use]
    pub fn repeated(self, count: u32) -> Self {
        if count == 0 {
            return Self::default();
        }
        let n = f64::from(count);
        Self {
            issue: n * self.issue,
            crossing: self.crossing + (n - 1.0) * self.issue.max(self.device),
            device: n * self.device,
        }
    }
}

/// What the race of a pass gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Race {
    /// From the start of issue to the end of the last operation.
    pub total: Seconds,
    /// Sum of the GPU times.
    pub device: Seconds,
    /// Sum of the issue times.
    pub issue: Seconds,
}

impl Race {
    /// Time in which the GPU has nothing to run.
    pub fn waiting(&self) -> Seconds {
        (self.total - self.device).max(Seconds::ZERO)
    }
}

/// Runs the race. `launch` is the time until a graph starts (unused in eager mode); `times` gives the host time and
/// the GPU time of an operation, so that the same pass can be raced with another host or GPU.
pub fn race(
    blocks: &[PricedBlock],
    sequence: &[Run],
    execution: Execution,
    launch: Seconds,
    times: impl Fn(&PricedOp) -> (Seconds, Seconds),
) -> Race {
    let mut pass = Stretch::default();
    for run in sequence {
        let block = stretch(&blocks[run.block].ops, &times);
        pass = pass.then(block.repeated(run.count));
    }
    let total = match execution {
        Execution::Eager => pass.crossing,
        Execution::Graph => launch + pass.device,
    };
    Race { total, device: pass.device, issue: pass.issue }
}

/// The map of a list of operations.
fn stretch(ops: &[PricedOp], times: &impl Fn(&PricedOp) -> (Seconds, Seconds)) -> Stretch {
    ops.iter().fold(Stretch::default(), |sum, op| {
        let (issue, device) = times(op);
        sum.then(Stretch::operation(issue, device))
    })
}

#[cfg(test)]
mod tests;
