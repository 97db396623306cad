//! The one vocabulary that every importer converts to.

use serde::Serialize;

use super::serving::{DecodeInterval, RateSegment, ServerFlags};
use super::{Benchmark, PeerMatrix, ServerCommand, TraceEvent};
use crate::units::{Bytes, Seconds};

/// Something that a file says, and where.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observation {
    /// Line, counted from 1; 0 where the format has no lines.
    pub line: u64,
    /// What it says.
    pub what: What,
}

impl Observation {
    /// Of a line.
    pub fn at(line: u64, what: What) -> Self {
        Self { line, what }
    }
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Something that holds for what follows: a version, a setting.
    Fact {
        /// Word for it, as `nccl` or `transport`.
        name: &'static str,
        /// As the file has it, scrubbed of hosts and paths.
        value: String,
    },
    /// What holds for the rows of collectives that follow.
    CollectiveRun(CollectiveRun),
    /// The time of one collective at one size.
    Collective(Collective),
    /// How a command line sets a server up.
    Server(Box<ServerCommand>),
    /// A GPU of the box, as the driver names it.
    Gpu(String),
    /// How the GPUs of a box are joined.
    Peers(Box<PeerMatrix>),
    /// An event of a profiler's trace.
    Trace(TraceEvent),
    /// The text of a config.json.
    ModelConfig(String),
    /// The result of a benchmark of a server.
    Benchmark(Box<Benchmark>),
    /// A stretch of decoding out of a server's log, statistics or answers.
    Decode(Box<DecodeInterval>),
    /// What a server's accept rate means over some lines.
    Rate(RateSegment),
    /// Flags that a server printed when it started.
    Flags(ServerFlags),
}

/// What holds for one table of a collective benchmark: hosts, addresses and paths are not kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CollectiveRun {
    /// Table of the file, counted from 0: several runs may stand in one file.
    pub table: u32,
    /// `all-reduce`, `all-gather`, `reduce-scatter`, `all-to-all`, or another operation's own word; none: not told, and
    /// not to be had from reduction, root and bus bandwidth.
    pub op: Option<&'static str>,
    /// Ranks that took part; none: not told.
    pub ranks: Option<u32>,
    /// Processes that held them, and hosts; 0: not told. One process for many GPUs adds launch skew.
    pub processes: u32,
    /// Hosts; 0: not told.
    pub hosts: u32,
    /// The GPU, as the driver names it.
    pub gpu: Option<String>,
    /// Other GPUs that held ranks, as the driver names them: a run on cards of several kinds is of no one box.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_gpus: Vec<String>,
    /// Version of NCCL.
    pub nccl: Option<String>,
    /// Whether it was replayed from a CUDA graph.
    pub graph: bool,
    /// Whether times are those of the CPU.
    pub cpu_time: bool,
    /// `p2p`, `shm`, `nvlink` or `net`, where interleaved lines tell.
    pub transport: Option<&'static str>,
    /// Channels, where interleaved lines tell.
    pub channels: Option<u32>,
    /// Settings of the run, as the benchmark printed them.
    pub command: Option<String>,
    /// NCCL_* variables, where the file has them.
    pub environment: Vec<(String, String)>,
}

impl CollectiveRun {
    /// Takes note of a GPU that held a rank.
    pub(super) fn take_gpu(&mut self, name: &str) {
        match &self.gpu {
            _ if name.is_empty() => {}
            None => self.gpu = Some(name.to_owned()),
            Some(first) if first == name || self.other_gpus.iter().any(|other| other == name) => {}
            Some(_) if self.other_gpus.len() < MOST_NAMES => self.other_gpus.push(name.to_owned()),
            Some(_) => {}
        }
    }
}

/// Names of GPUs that are kept beside the first.
const MOST_NAMES: usize = 8;

/// A row of a collective benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collective {
    /// Table of the file, as in its [`CollectiveRun`], which comes before.
    pub table: u32,
    /// Size as the benchmark counts it: for an all-gather that of all parts together.
    pub bytes: Bytes,
    /// Type of the elements, as `float`.
    pub dtype: String,
    /// Time out of place; none where it was not measured.
    pub out_of_place: Option<Seconds>,
    /// Time in place.
    pub in_place: Option<Seconds>,
}
