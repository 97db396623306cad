//! What a child answers.

use serde::{Deserialize, Serialize};

/// One line from a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The request that it answers.
    pub id: u32,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The box, for [`super::Task::Inspect`].
    Inspected(Inspection),
    /// Times.
    Measured(Measured),
    /// No times, and why.
    Failed(Failure),
}

/// Times of one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Samples as the task defines them, in the order in which they were taken \[µs\].
    pub samples_us: Vec<f64>,
    /// How the result was checked.
    pub check: Check,
    /// What a reader of the file should know, in sentences without names of hosts, users or paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How the result of a kernel or collective compared with the host's or NCCL's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Bit for bit.
    Exact,
    /// Within the rounding of the format.
    WithinTolerance,
    /// There is no result, as with an empty kernel.
    NotApplicable,
}

/// Why there are no times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which sort.
    pub kind: FailureKind,
    /// In a sentence, without names of hosts, users or paths.
    pub because: String,
}

impl Failure {
    /// A failure.
    pub fn new(kind: FailureKind, because: impl Into<String>) -> Self {
        Self { kind, because: because.into() }
    }
}

/// Sorts of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// This GPU, library or environment cannot do it.
    Unsupported,
    /// Not enough device memory.
    OutOfMemory,
    /// A library cannot be loaded.
    LibraryMissing,
    /// There is no GPU.
    NoDevice,
    /// A GPU stopped answering: sticky error, fallen off the bus. The process is of no further use.
    GpuLost,
    /// The result of the kernel or collective is not what the host computed.
    WrongResult,
    /// The watchdog killed the child. Found by the parent.
    Timeout,
    /// The child ended without an answer. Found by the parent.
    Crashed,
    /// The child's answer cannot be read. Found by the parent.
    Garbled,
}

/// The box. No host name, no serial number, no bus address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The visible GPUs, in CUDA's order.
    pub gpus: Vec<GpuInfo>,
    /// Version of the driver, e.g. `580.65.06`; empty where it cannot be told.
    pub driver: String,
    /// CUDA version that the driver supports, e.g. `13.0`.
    pub cuda: String,
    /// Version of NCCL, e.g. `2.28.3`; none: it cannot be loaded.
    pub nccl: Option<String>,
    /// Libraries that are missing, without which some tasks are left out: `nccl`, `cublas`, `nvrtc`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// `peers[a][b]`: whether GPU a may map the memory of GPU b. Of the size of [`Self::gpus`] in both directions.
    pub peers: Vec<Vec<bool>>,
    /// Whether every pair is joined by NVLink.
    pub nvlink: bool,
    /// What joins the GPUs, in words; empty where it cannot be told.
    #[serde(default)]
    pub topology: String,
    /// Whether the times are made up: only by the synthetic meter of the tests.
    #[serde(default)]
    pub synthetic: bool,
}

/// One GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuInfo {
    /// Its name as the driver says it, e.g. `NVIDIA H200`.
    pub name: String,
    /// Memory \[B\].
    pub memory: u64,
    /// Memory that is free \[B\].
    pub free: u64,
    /// L2 cache \[B\].
    pub l2: u64,
    /// Multiprocessors.
    pub sms: u32,
    /// Compute capability, e.g. `[9, 0]`.
    pub capability: [u32; 2],
    /// Clocks and power limit in words, e.g. `SM 1980 MHz of 1980, memory 3201 MHz, 700 W`; empty: cannot be told.
    #[serde(default)]
    pub clocks: String,
    /// PCIe generation in use; 0: cannot be told.
    #[serde(default)]
    pub pcie_generation: u32,
    /// PCIe lanes in use; 0: cannot be told.
    #[serde(default)]
    pub pcie_lanes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_lines_that_read_back() {
        for (outcome, line) in [
            (
                Outcome::Measured(Measured {
                    samples_us: vec![12.5, 13.0],
                    check: Check::WithinTolerance,
                    notes: Vec::new(),
                }),
                "{\"id\":3,\"outcome\":{\"measured\":{\"samples_us\":[12.5,13.0],\"check\":\"within-tolerance\"}}}",
            ),
            (
                Outcome::Failed(Failure::new(FailureKind::OutOfMemory, "8 GiB are needed")),
                "{\"id\":3,\"outcome\":{\"failed\":{\"kind\":\"out-of-memory\",\"because\":\"8 GiB are needed\"}}}",
            ),
        ] {
            let reply = Reply { id: 3, outcome };
            assert_eq!(serde_json::to_string(&reply).unwrap(), line);
            assert_eq!(serde_json::from_str::<Reply>(line).unwrap(), reply);
        }
    }
}
