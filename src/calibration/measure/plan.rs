//! What is to be measured on a box: tasks in groups, each group with the environment of its child.
//!
//! A plan follows from the wish (which parts, how thoroughly, for which shapes), from the box as a child found it, and
//! from the NCCL_* variables that are set; it is the same whenever these are. Numbers of tasks are its own, so that a
//! journal and a fault of a test can name them.

mod collectives;
mod estimate;
mod general;
mod kernels;
mod links;
mod memory;
#[cfg(test)]
mod tests;
mod variant;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::reply::Inspection;
use super::task::{LaunchKind, LinkKind, Request, Task};
use crate::calibration::Family;
use crate::model::{KvFormat, WeightFormat};
use crate::units::Seconds;

pub use estimate::{estimate_group, estimate_plan, estimate_start, estimate_task, start_limit_ms};
pub use memory::{memory_of, smaller};
pub use variant::{Variant, is_ours, transport_of};

/// How thorough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Under a minute on two GPUs.
    Quick,
    /// Under four minutes on two GPUs.
    Full,
}

/// Parts of a calibration, in the order in which they are measured: what matters most comes first, so that a run that
/// is cut short has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Issue, graphs, synchronisation, small kernels.
    Launch,
    /// Collectives as NCCL chooses them, and own kernels.
    Collectives,
    /// Dense projections.
    Gemm,
    /// Routed experts.
    Moe,
    /// Decode attention, grouped-query and latent.
    Attention,
    /// Streaming reads.
    Memory,
    /// Copies and flags between GPUs and the host.
    Links,
    /// Collectives with a forced algorithm, protocol or transport.
    Variants,
}

impl Part {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Launch,
        Self::Collectives,
        Self::Gemm,
        Self::Moe,
        Self::Attention,
        Self::Memory,
        Self::Links,
        Self::Variants,
    ];

    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Collectives => "collectives",
            Self::Gemm => "gemm",
            Self::Moe => "moe",
            Self::Attention => "attention",
            Self::Memory => "memory",
            Self::Links => "links",
            Self::Variants => "variants",
        }
    }

    /// The part of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word() == word)
    }
}

/// Routed experts of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MoeShape {
    /// Storage of the experts.
    pub weights: WeightFormat,
    /// Hidden size.
    pub hidden: u32,
    /// Whole width of an expert.
    pub width: u32,
    /// Experts of a token.
    pub per_token: u32,
    /// Experts of the layer on this GPU.
    pub experts: u32,
    /// GPUs that share the width.
    pub shards: u32,
}

/// Attention of one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttentionShape {
    /// Storage of the cache.
    pub kv: KvFormat,
    /// Width of a head.
    pub head_dim: u32,
    /// Query heads.
    pub heads: u32,
    /// KV heads.
    pub kv_heads: u32,
}

/// Shapes that a scenario needs, per GPU after sharding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shapes {
    /// Storage, n, k of projections.
    pub gemms: BTreeSet<(WeightFormat, u32, u32)>,
    /// Expert layers.
    pub experts: BTreeSet<MoeShape>,
    /// Grouped-query attention.
    pub attention: BTreeSet<AttentionShape>,
    /// Latent attention: storage of the cache and query heads.
    pub latent: BTreeSet<(KvFormat, u32)>,
    /// All-reduced bytes of one row.
    pub row_bytes: BTreeSet<u64>,
    /// All-gathered bytes of one row, this rank's part.
    pub gathered_row_bytes: BTreeSet<u64>,
    /// Hidden size of the target; 0: none.
    pub hidden: u32,
    /// Vocabulary of the target; 0: none.
    pub vocabulary: u32,
    /// Context per request \[tokens\].
    pub context: u32,
    /// Requests that run together.
    pub batch: u32,
    /// Tensor-parallel size.
    pub ranks: u32,
}

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// How thorough.
    pub depth: Depth,
    /// Which parts; [`Part::Variants`] belongs to the full depth alone unless it was asked for.
    pub parts: BTreeSet<Part>,
    /// Shapes of a scenario; none: a general grid.
    pub shapes: Option<Shapes>,
    /// NCCL_* variables that are set.
    pub environment: Vec<(String, String)>,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Groups in the order in which they run.
    pub groups: Vec<Group>,
    /// What is not measured, and why.
    pub left_out: Vec<LeftOut>,
}

/// Tasks of one part with one environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The part.
    pub part: Part,
    /// The environment of the child.
    pub variant: Variant,
    /// Its tasks.
    pub tasks: Vec<Request>,
}

/// Something that is not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What.
    pub what: String,
    /// Why, in a sentence.
    pub because: String,
}

/// What the parts of the planner share.
struct Planner<'a> {
    wish: &'a Wish,
    found: &'a Inspection,
    left_out: Vec<LeftOut>,
    next: u32,
}

/// Makes the plan of a wish for a box.
pub fn plan(wish: &Wish, found: &Inspection) -> Plan {
    let mut planner = Planner { wish, found, left_out: Vec::new(), next: 1 };
    let mut groups = Vec::new();
    for part in Part::ALL.into_iter().filter(|part| wish.parts.contains(part)) {
        match part {
            Part::Variants => groups.extend(planner.variants()),
            _ => groups.extend(planner.group(part)),
        }
    }
    Plan { groups, left_out: planner.left_out }
}

impl Plan {
    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = (&Group, &Request)> {
        self.groups.iter().flat_map(|group| group.tasks.iter().map(move |task| (group, task)))
    }

    /// How long it will take, starts of children included; an estimate.
    pub fn duration(&self, gpus: u32) -> Seconds {
        estimate_plan(self, gpus)
    }
}

impl Planner<'_> {
    fn full(&self) -> bool {
        self.wish.depth == Depth::Full
    }

    fn gpus(&self) -> u32 {
        self.found.gpus.len() as u32
    }

    /// World sizes: the powers of two up to the visible GPUs, and all of them.
    fn worlds(&self) -> Vec<u32> {
        let all = self.gpus();
        let mut worlds: Vec<u32> = [2, 4, 8, 16].into_iter().filter(|n| *n < all).collect();
        if all >= 2 {
            worlds.push(all);
        }
        worlds
    }

    fn group(&mut self, part: Part) -> Option<Group> {
        let variant = Variant::default_of(self.wish, self.found);
        let tasks = match part {
            Part::Launch => self.launch(),
            Part::Collectives => self.collectives(variant.transport),
            Part::Gemm => self.gemms(),
            Part::Moe => self.experts(),
            Part::Attention => self.attention(),
            Part::Memory => self.memory(),
            Part::Links => self.links(),
            Part::Variants => Vec::new(),
        };
        let tasks = self.numbered(tasks);
        (!tasks.is_empty()).then_some(Group { part, variant, tasks })
    }

    /// Tasks that fit, with numbers and limits.
    fn numbered(&mut self, tasks: Vec<Task>) -> Vec<Request> {
        let mut requests: Vec<Request> = Vec::new();
        for task in tasks {
            if let Some(library) = needs(&task).filter(|name| self.found.missing.iter().any(|m| m == name)) {
                self.leave_out(&format!("what needs {library}"), "that library cannot be loaded");
                continue;
            }
            let Some(task) = self.fitting(&task) else { continue };
            if requests.iter().any(|earlier| earlier.task == task) {
                continue;
            }
            let repeats = estimate::repeats(&task, self.wish.depth);
            requests.push(Request { id: self.next, limit_ms: estimate::limit_ms(&task), task, repeats });
            self.next += 1;
        }
        requests
    }

    /// The task, or a smaller one that fits in the memory of the fullest GPU; none where none does.
    fn fitting(&mut self, task: &Task) -> Option<Task> {
        let free = self.found.gpus.iter().map(|gpu| gpu.free).min().unwrap_or(0);
        let l2 = self.found.gpus.iter().map(|gpu| gpu.l2).max().unwrap_or(0);
        let fits = |task: &Task| memory_of(task, l2) <= free / 10 * 9;
        let mut candidate = task.clone();
        while !fits(&candidate) {
            if let Some(less) = smaller(&candidate) {
                candidate = less;
            } else {
                self.leave_out(
                    &describe(task),
                    format!("it needs {} of GPU memory, {} are free", gib(memory_of(task, l2)), gib(free)),
                );
                return None;
            }
        }
        if candidate != *task {
            self.leave_out(
                &describe(task),
                format!("{} of GPU memory are free: measured as {}", gib(free), describe(&candidate)),
            );
        }
        Some(candidate)
    }

    fn leave_out(&mut self, what: &str, because: impl Into<String>) {
        let left = LeftOut { what: what.to_owned(), because: because.into() };
        if !self.left_out.contains(&left) {
            self.left_out.push(left);
        }
    }
}

/// The library, beside the driver's, without which a task cannot be measured.
fn needs(task: &Task) -> Option<&'static str> {
    match task {
        Task::Gemm { .. } => Some("cublas"),
        Task::Collective(c) if c.family == Family::Nccl => Some("nccl"),
        Task::Launch { kind: LaunchKind::IssueCollective } => Some("nccl"),
        Task::Link { kind: LinkKind::Flag, .. } => Some("nvrtc"),
        Task::Inspect | Task::Launch { .. } | Task::Link { .. } => None,
        _ => Some("nvrtc"),
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// A task in a few words.
pub fn describe(task: &Task) -> String {
    use crate::calibration::measure::task::word_of_weights;
    match task {
        Task::Inspect => "the box".to_owned(),
        Task::SelfTest => "test of the kernels".to_owned(),
        Task::Stream { bytes } => format!("read of {}", size(*bytes)),
        Task::Gemm { weights, n, k, rows } => {
            format!("gemm {} {rows} x {k} x {n}", word_of_weights(*weights))
        }
        Task::Dequant { bits, group, n, k, rows } => format!("gemm int{bits}-g{group} {rows} x {k} x {n}"),
        Task::Moe { weights, hidden, width, per_token, experts, shards, tokens } => format!(
            "experts {} {hidden} x {width}/{shards}, {per_token} of {experts}, {tokens} tokens",
            word_of_weights(*weights)
        ),
        Task::Attention { head_dim, heads, kv_heads, batch, rows, context, .. } => {
            format!("attention {heads}/{kv_heads} x {head_dim}, batch {batch} x {rows}, context {context}")
        }
        Task::Mla { heads, batch, rows, context, .. } => {
            format!("latent attention {heads} heads, batch {batch} x {rows}, context {context}")
        }
        Task::Small { kind, rows, hidden } => format!("{} {rows} x {hidden}", word(kind)),
        Task::Launch { kind } => word(kind),
        Task::Link { kind, from, to, bytes } => {
            format!("{} {from} to {to}, {}", word(kind), size(*bytes))
        }
        Task::Collective(c) => format!(
            "{} of {} over {} GPUs, {}{}, {}",
            word(&c.op),
            size(c.bytes),
            c.ranks,
            word(&c.family),
            if c.between_gemms.is_some() { " between gemms" } else { "" },
            word(&c.mode)
        ),
    }
}

/// The word of a task: `gemm`, `collective`.
pub(super) fn what(task: &Task) -> String {
    let value = serde_json::to_value(task).unwrap_or_default();
    value.get("what").and_then(|what| what.as_str()).unwrap_or_default().to_owned()
}

/// The word that stands for a value in JSON.
pub fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A size in binary units.
pub(in crate::calibration) fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    for (unit, name) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit {
            return format!("{:.1} {name}", bytes as f64 / unit as f64);
        }
    }
    format!("{bytes} B")
}
