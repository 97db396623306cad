//! GPU memory that a task needs, and the next smaller task where there is too little.

use crate::calibration::measure::task::Task;

/// Context, libraries and workspaces of a process \[B\].
const BASE: u64 = 600 << 20;

/// An upper estimate \[B\]; `l2` is the cache that rotated operands must exceed.
pub fn memory_of(task: &Task, l2: u64) -> u64 {
    let wide = u64::from;
    // Rotated: at least three times L2, and at least two copies.
    let rotated = |bytes: u64| (2 * bytes).max(3 * l2 + bytes);
    let cache = |batch: u32, context: u32, per_token: u64| wide(batch) * wide(context) * per_token;
    BASE + match *task {
        Task::Inspect | Task::SelfTest | Task::Launch { .. } => 0,
        Task::Stream { bytes } => bytes,
        Task::Gemm { weights, n, k, rows } => {
            let matrix = (wide(n) * wide(k)) as f64 * weights.bits() / 8.0;
            rotated(matrix as u64) + wide(rows) * (wide(n) + wide(k)) * 4
        }
        Task::Dequant { n, k, rows, .. } => {
            rotated(wide(n) * wide(k) * 5 / 8) + wide(rows) * (wide(n) + wide(k)) * 4
        }
        Task::Moe { weights, hidden, width, experts, shards, tokens, .. } => {
            let one = 3 * wide(hidden) * wide(width) / wide(shards.max(1));
            let all = (one * wide(experts)) as f64 * weights.bits() / 8.0;
            (all as u64).max(3 * l2) + wide(tokens) * wide(hidden) * 8
        }
        Task::Attention { kv, head_dim, kv_heads, batch, context, .. } => {
            let token = 2.0 * f64::from(kv_heads) * f64::from(head_dim) * kv.bytes_per_number();
            cache(batch, context, token as u64).max(3 * l2)
        }
        Task::Mla { kv, batch, context, .. } => {
            cache(batch, context, (576.0 * kv.bytes_per_number()) as u64).max(3 * l2)
        }
        Task::Small { rows, hidden, .. } => wide(rows) * wide(hidden) * 8,
        Task::Link { bytes, .. } => 2 * bytes,
        Task::Collective(ref c) => {
            let gathered = if c.op == crate::runtime::CollectiveOp::AllGather { wide(c.ranks) } else { 1 };
            let between = c.between_gemms.map_or(0, |g| rotated(wide(g.n) * wide(g.k) * 2));
            (2 + gathered) * c.bytes + between
        }
    }
}

/// The next smaller task of the same sort; none where a smaller one would say nothing about it.
pub fn smaller(task: &Task) -> Option<Task> {
    let mut less = task.clone();
    match &mut less {
        Task::Stream { bytes } if *bytes > 256 << 20 => *bytes /= 2,
        Task::Attention { context, .. } | Task::Mla { context, .. } if *context > 1024 => *context /= 2,
        Task::Attention { batch, .. } | Task::Mla { batch, .. } if *batch > 1 => *batch /= 2,
        Task::Link { bytes, .. } if *bytes > 1 << 20 => *bytes /= 4,
        Task::Collective(c) if c.bytes > 4 << 20 => c.bytes = c.bytes / 8 * 4,
        _ => return None,
    }
    Some(less)
}
