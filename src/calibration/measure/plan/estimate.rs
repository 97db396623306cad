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
/// Fastest filling and reading that is assumed \[B/s\].
const FILL: f64 = 4e11;
/// Slowest link that is assumed \[B/s\].
const SLOW_LINK: f64 = 1e10;

/// Samples of a task.
pub(super) fn repeats(task: &Task, depth: Depth) -> u32 {
    let (quick, full) = match task {
        Task::Launch { kind: LaunchKind::Issue | LaunchKind::IssueCollective } => (500, 2000),
        Task::Launch { .. } => (100, 300),
        Task::Collective(c) if c.mode == Mode::Eager => (30, 60),
        Task::Collective(_) => (10, 20),
        Task::Small { .. } | Task::Link { .. } => (10, 20),
        _ => (7, 11),
    };
    if depth == Depth::Full { full } else { quick }
}

/// One task.
pub fn estimate_task(task: &Task, repeats: u32) -> Seconds {
    let samples = f64::from(repeats);
    let (setup_ms, sample_us) = match task {
        Task::Inspect => (50.0, 0.0),
        Task::SelfTest => (10_000.0, 0.0),
        Task::Stream { bytes } => (10.0, 4.0 * *bytes as f64 / FILL * 1e6),
        Task::Gemm { n, k, rows, .. } | Task::Dequant { n, k, rows, .. } => {
            let one = f64::from(*n) * f64::from(*k) * 2.0 / FILL * 1e6 + 3.0 + f64::from(*rows) * 0.02;
            (4.0 + one * 1e-2, 20.0 * one.min(200.0))
        }
        Task::Moe { .. } => (30.0, 800.0),
        Task::Attention { batch, context, .. } | Task::Mla { batch, context, .. } => {
            (8.0, 200.0 + f64::from(*batch) * f64::from(*context) * 2e-3)
        }
        Task::Small { .. } => (5.0, 150.0),
        Task::Launch { .. } => (20.0, 60.0),
        Task::Link { bytes, .. } => (5.0, 300.0 + *bytes as f64 / SLOW_LINK * 1e6),
        Task::Collective(c) => {
            let one = 25.0 + 2.0 * c.bytes as f64 / SLOW_LINK * 1e6;
            (8.0, one * f64::from(c.chain) * 1.3)
        }
    };
    Seconds::from_ms(setup_ms) + Seconds::from_us(sample_us) * samples
}

/// When the watchdog kills the child: twenty times the estimate, at least ten seconds.
pub(super) fn limit_ms(task: &Task) -> u64 {
    let most = estimate_task(task, repeats(task, Depth::Full)) * 20.0;
    (most.ms() as u64).clamp(10_000, 60_000)
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
