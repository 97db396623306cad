//! How long tasks take, for the plan that is printed before and for the watchdog.
//!
//! Figures of the meter, not of the GPUs: loading code, filling buffers and warming up outweigh the measured loop. They
//! are round upper estimates; the remaining time that is shown while measuring is scaled by how well they held so far.

use super::{Depth, Group, Plan};
use crate::calibration::Mode;
use crate::calibration::measure::task::{LaunchKind, Task};
use crate::units::Seconds;

/// A child with its contexts: once, and per GPU.
const START: Seconds = Seconds::from_ms(900.0);
const START_PER_GPU: Seconds = Seconds::from_ms(350.0);
/// A child that did not answer by then will not: libraries on a network disk, eight contexts.
const START_LIMIT_MS: u64 = 60_000;
/// How fast operands are filled, and how fast a slow GPU reads \[B/s\].
const FILL: f64 = 4e11;
const READ: f64 = 8e11;
/// A chain of kernels.
const CHAIN: Seconds = Seconds::from_ms(2.2);
/// Samples before those that count.
const WARM_UP: u32 = 2;
/// Slowest link that is assumed \[B/s\].
const SLOW_LINK: f64 = 1e10;

/// Samples of a task.
pub(super) fn repeats(task: &Task, depth: Depth) -> u32 {
    let (quick, full) = match task {
        Task::Launch { kind: LaunchKind::Issue | LaunchKind::IssueCollective } => (500, 2000),
        Task::Launch { .. } => (100, 300),
        Task::Collective(c) if c.mode == Mode::Eager => (15, 30),
        Task::Collective(_) | Task::Small { .. } | Task::Link { .. } => (10, 20),
        _ => (7, 11),
    };
    if depth == Depth::Full { full } else { quick }
}

/// One task.
pub fn estimate_task(task: &Task, repeats: u32) -> Seconds {
    let wide = f64::from;
    // Operands are filled once, a chain is captured, and each sample replays it: about 2 ms, or one round of the operands.
    let filled = |bytes: f64| Seconds::from_ms(10.0) + Seconds::new(bytes / FILL);
    let (setup, sample) = match task {
        Task::Inspect => (Seconds::from_ms(50.0), Seconds::ZERO),
        Task::SelfTest => (Seconds::from_ms(10_000.0), Seconds::ZERO),
        Task::Stream { bytes } => (filled(*bytes as f64), CHAIN.max(Seconds::new(*bytes as f64 / READ))),
        Task::Gemm { n, k, .. } | Task::Dequant { n, k, .. } => {
            let matrix = 2.0 * wide(*n) * wide(*k);
            (filled(2.0 * matrix), CHAIN.max(Seconds::new(2.0 * matrix / READ)))
        }
        Task::Moe { weights, hidden, width, experts, shards, .. } => {
            let layer = 3.0 * wide(*hidden) * wide(*width) * wide(*experts) / wide((*shards).max(1));
            (filled(layer * weights.bits() / 8.0), CHAIN * 2.0)
        }
        Task::Attention { kv, head_dim, kv_heads, batch, context, .. } => {
            let cache = 2.0 * wide(*batch) * wide(*context) * wide(*kv_heads) * wide(*head_dim);
            (filled(cache * kv.bytes_per_number()), CHAIN)
        }
        Task::Mla { kv, batch, context, .. } => {
            (filled(576.0 * wide(*batch) * wide(*context) * kv.bytes_per_number()), CHAIN)
        }
        Task::Small { .. } => (filled(0.0), CHAIN),
        Task::Launch { .. } => (Seconds::from_ms(20.0), Seconds::from_us(60.0)),
        Task::Link { bytes, .. } => (filled(0.0), CHAIN.max(Seconds::new(*bytes as f64 / SLOW_LINK))),
        Task::Collective(c) => {
            let one = Seconds::from_us(35.0) + Seconds::new(2.0 * c.bytes as f64 / SLOW_LINK);
            // Between projections the chain without collectives is timed as well.
            let chains = if c.between_gemms.is_some() { 1.6 } else { 1.2 };
            (filled(2.0 * c.bytes as f64), one * wide(c.chain) * chains)
        }
    };
    setup + sample * wide(repeats + WARM_UP)
}

/// When the watchdog kills the child: twenty times the estimate, at least ten seconds, and thirty where NCCL may have to
/// connect the ranks first.
pub(super) fn limit_ms(task: &Task) -> u64 {
    let most = estimate_task(task, repeats(task, Depth::Full)) * 20.0;
    let connects = matches!(task, Task::Collective(_) | Task::Launch { kind: LaunchKind::IssueCollective });
    (most.ms() as u64).clamp(if connects { 30_000 } else { 10_000 }, 60_000)
}

/// The start of a child.
pub fn estimate_start(gpus: u32) -> Seconds {
    START + START_PER_GPU * f64::from(gpus)
}

/// What the watchdog allows for the start of a child \[ms\], over the limit of its first task.
pub const fn start_limit_ms() -> u64 {
    START_LIMIT_MS
}

/// The tasks of a group, without the start of its child.
pub fn estimate_group(group: &Group) -> Seconds {
    group.tasks.iter().map(|request| estimate_task(&request.task, request.repeats)).sum()
}

/// A whole plan. Groups that follow one another with the same environment share a child.
pub fn estimate_plan(plan: &Plan, gpus: u32) -> Seconds {
    let mut total = Seconds::ZERO;
    let mut running = None;
    for group in &plan.groups {
        if running != Some(&group.variant.environment) {
            total += estimate_start(gpus);
            running = Some(&group.variant.environment);
        }
        total += estimate_group(group);
    }
    total
}
