//! Made-up times: latency plus work over rate, with a lognormal jitter seeded by the number of the task.

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::calibration::measure::Check;
use crate::calibration::measure::task::{CollectiveTask, LaunchKind, Request, Task};
use crate::calibration::{Family, Mode};

/// Bytes that a microsecond moves in memory, and over a link.
const MEMORY: f64 = 3.0e6;
const LINK: f64 = 4.0e4;

/// Samples of one task \[µs\].
pub(super) fn samples(request: &Request, cv: f64) -> Vec<f64> {
    let median = time(&request.task);
    let sigma = (1.0 + cv * cv).ln().sqrt();
    let Ok(jitter) = LogNormal::new(0.0, sigma) else { return vec![median] };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from(request.id));
    (0..request.repeats.max(1)).map(|_| median * jitter.sample(&mut rng)).collect()
}

/// As a real meter checks.
pub(super) const fn check(task: &Task) -> Check {
    match task {
        Task::Collective(_) | Task::Link { .. } => Check::Exact,
        Task::Launch { .. } | Task::Inspect | Task::SelfTest => Check::NotApplicable,
        _ => Check::WithinTolerance,
    }
}

/// The median \[µs\].
fn time(task: &Task) -> f64 {
    let wide = f64::from;
    match task {
        Task::Inspect | Task::SelfTest => 1.0,
        Task::Stream { bytes } => 4.0 + *bytes as f64 / MEMORY,
        Task::Gemm { weights, n, k, rows } => {
            3.0 + wide(*n) * wide(*k) * weights.bits() / 8.0 / MEMORY
                + 1e-9 * wide(*n) * wide(*k) * wide(*rows)
        }
        Task::Dequant { n, k, rows, .. } => {
            3.5 + wide(*n) * wide(*k) * 0.53 / MEMORY + 2e-9 * wide(*n) * wide(*k) * wide(*rows)
        }
        Task::Moe { weights, hidden, width, per_token, experts, shards, tokens } => {
            let touched = (wide(*tokens) * wide(*per_token)).min(wide(*experts));
            let one = 3.0 * wide(*hidden) * wide(*width) / wide(*shards) * weights.bits() / 8.0;
            12.0 + touched * one / MEMORY
        }
        Task::Attention { kv_heads, head_dim, batch, context, .. } => {
            6.0 + wide(*batch) * wide(*context) * wide(*kv_heads) * wide(*head_dim) * 4.0 / MEMORY
        }
        Task::Mla { batch, context, .. } => 9.0 + wide(*batch) * wide(*context) * 1152.0 / MEMORY,
        Task::Small { rows, hidden, .. } => 2.0 + wide(*rows) * wide(*hidden) * 4.0 / MEMORY,
        Task::Launch { kind } => match kind {
            LaunchKind::Issue => 2.2,
            LaunchKind::IssueCollective => 9.0,
            LaunchKind::GraphNode => 1.1,
            LaunchKind::GraphLaunch => 7.0,
            LaunchKind::Synchronise => 5.0,
            LaunchKind::ReadBack => 11.0,
        },
        Task::Link { bytes, .. } => 1.5 + *bytes as f64 / LINK,
        Task::Collective(task) => collective(task),
    }
}

/// A ring with a change of protocol at 256 KiB; the own kernels without one.
fn collective(task: &CollectiveTask) -> f64 {
    let (n, bytes) = (f64::from(task.ranks), task.bytes as f64);
    let ring = 2.0 * (n - 1.0) / n;
    let small = bytes.min(262_144.0);
    let device = match task.family {
        Family::OneShot => 5.0 + (n - 1.0) * bytes / LINK,
        Family::TwoShot => 9.0 + ring * bytes / LINK,
        _ => 6.0 + 2.0 * n + ring * (2.0 * small + (bytes - small)) / LINK,
    };
    match task.mode {
        Mode::Eager => device.max(18.0) + 6.0,
        Mode::Graph => device * 1.05,
        Mode::Stream => device,
    }
}
