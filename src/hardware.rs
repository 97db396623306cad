//! GPUs and what joins them.
//!
//! A [`Hardware`] is one host: a kind of [`Gpu`], their number, and the [`Topology`] between them, from a preset
//! (data under `presets/hardware/`) or from a user's file in the same form. Peer-to-peer access, the path levels
//! and the graph file that the box runs NCCL with are facts of the box, because its measured figures hold with
//! them. The module knows no collective, no model and no time of one.

mod file;
mod gpu;
mod gpu_table;
mod preset;
mod route;
mod topology;

use serde::Serialize;

pub use file::{HardwareError, parse};
pub use gpu::{Gpu, Pcie};
pub use gpu_table::{gpu_entries, gpu_preset};
pub use preset::{PresetEntry, preset, preset_entries};
pub use route::{Hop, Ring};
pub use topology::{Cpu, Link, LinkKind, Node, NodeKind, Nvlink, PathKind, Topology};

use crate::units::Bandwidth;

/// A box: one kind of GPU, their number, and the fabric between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hardware {
    /// Preset name or path.
    pub name: String,
    /// The GPU.
    pub gpu: Gpu,
    /// Number of GPUs.
    pub count: u32,
    /// The fabric.
    pub topology: Topology,
    /// Whether PCIe peer-to-peer access works (stock or patched driver, IOMMU and ACS off).
    pub p2p: bool,
    /// The path level up to which this box lets NCCL use P2P, where it differs from NCCL's default.
    pub p2p_level: Option<PathKind>,
    /// The graph that this box hands to NCCL with NCCL_GRAPH_FILE.
    pub graph_file: Option<GraphFile>,
    /// The calibration that belongs to it.
    pub default_calibration: Option<String>,
    /// Where the description comes from.
    pub source: String,
    /// What a reader should know: unknown topology, assumed figures.
    pub notes: Vec<String>,
}

/// What an NCCL graph file fixes instead of the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GraphFile {
    /// Channels.
    pub channels: u32,
    /// Bandwidth of each channel (`speedintra`).
    pub speed: Bandwidth,
}

impl Hardware {
    /// Whether every pair of the first `ranks` GPUs is joined by NVLink.
    pub fn full_nvlink(&self, ranks: u32) -> bool {
        self.topology.ring(ranks).is_some_and(|ring| ring.nvlink)
    }

    /// Whether kernels on one GPU can read and write the memory of the others.
    pub fn peers_reach_each_other(&self, ranks: u32) -> bool {
        self.p2p || self.full_nvlink(ranks)
    }

    /// Whether NVLink multicast is there: NVSwitch, and a GPU that has it.
    pub fn has_multicast(&self) -> bool {
        self.gpu.multicast && self.topology.nvlink() == Nvlink::Switch
    }
}

#[cfg(test)]
mod tests;
