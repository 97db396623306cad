//! A forward pass with times.

use crate::collective::Choice;
use crate::forward::{Batch, Part, PassKind, Run};
use crate::runtime::{CollectiveOp, Execution};
use crate::sourced::{Source, Sourced};
use crate::units::{Bytes, Seconds};

/// What limits an operation on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// A measured table says so; no split is known.
    Table,
    /// Memory bandwidth.
    Memory,
    /// Arithmetic.
    Compute,
    /// The shortest time any kernel takes.
    Floor,
    /// The other ranks and the links.
    Communication,
}

/// One operation with its times. A module timed as a whole is one entry, with `kernels` larger than 1.
#[derive(Debug, Clone, PartialEq)]
pub struct PricedOp {
    /// Name of the operation or module.
    pub label: &'static str,
    /// Where it belongs.
    pub part: Part,
    /// Time on the GPU, rounded to picoseconds; for a collective from the arrival of its last rank.
    pub device: Seconds,
    /// Host time to issue it in eager mode, rounded to picoseconds.
    pub issue: Seconds,
    /// The measured host time of this operation, with its range; none: the runtime's figure for a kernel or collective.
    pub issue_measured: Option<Sourced<Seconds>>,
    /// Kernels it launches (for issue cost and graph nodes).
    pub kernels: u32,
    /// Where `device` came from.
    pub source: Source,
    /// Whether a table was left at its edge.
    pub extrapolated: bool,
    /// What limits it.
    pub bound: Bound,
    /// What it moves between the ranks and how, if it is a collective.
    pub exchange: Option<Exchange>,
}

/// What a collective moves, and what does it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// Which operation.
    pub op: CollectiveOp,
    /// Ranks that take part.
    pub ranks: u32,
    /// The message of one rank, as in [`crate::collective::Request`].
    pub bytes: Bytes,
    /// Backend, algorithm, protocol and transport.
    pub choice: Choice,
}

impl PricedOp {
    /// Whether it is a collective.
    pub fn is_collective(&self) -> bool {
        self.part == Part::Collective
    }
}

/// A block of operations with times.
#[derive(Debug, Clone, PartialEq)]
pub struct PricedBlock {
    /// Name, as in the forward pass.
    pub name: &'static str,
    /// The operations in order.
    pub ops: Vec<PricedOp>,
}

/// A forward pass with times. `time` follows from the rest by the race of host and GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct PricedPass {
    /// What it is for.
    pub kind: PassKind,
    /// Its shape.
    pub batch: Batch,
    /// How it is issued.
    pub execution: Execution,
    /// The distinct blocks.
    pub blocks: Vec<PricedBlock>,
    /// The order in which they run.
    pub sequence: Vec<Run>,
    /// Host time before the first operation can start: graph launch, or nothing in eager mode.
    pub launch: Seconds,
    /// Where the times of the host came from: issue in eager mode, the launch of a graph.
    pub host_source: Source,
    /// From the start of issue to the end of the last operation; the spread comes from the runtime profile.
    pub time: Sourced<Seconds>,
    /// Sum of all operations' GPU times: what the pass would take if the host were infinitely fast.
    pub device_time: Seconds,
    /// Sum of all issue times: what the pass would take if the GPU were infinitely fast.
    pub issue_time: Seconds,
    /// All-reduces: number and their true total on the GPU.
    pub allreduce: CollectiveTotal,
}

/// Number and total time of the collectives of one kind in a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollectiveTotal {
    /// How many.
    pub count: u32,
    /// Their total GPU time, without waiting.
    pub total: Seconds,
    /// Where the time came from.
    pub source: Source,
}

impl PricedPass {
    /// Time in which the GPU waits for the host (eager) or for the launch.
    pub fn waiting(&self) -> Seconds {
        (self.time.value - self.device_time).max(Seconds::ZERO)
    }

    /// Whether the host is the longer clock.
    pub fn host_bound(&self) -> bool {
        self.execution == Execution::Eager && self.issue_time > self.device_time
    }
}
