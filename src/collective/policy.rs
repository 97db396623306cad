//! What the user lets the server decide, and what is forced.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Implementations that a server can dispatch a collective to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// NCCL through PyNccl (graph) or torch.distributed (eager).
    Nccl,
    /// NCCL's symmetric-memory kernels.
    NcclSymmetric,
    /// The servers' own custom all-reduce (one- and two-stage over NVLink, or 2 PCIe GPUs).
    CustomAllReduce,
    /// FlashInfer all-reduce fused with RMSNorm.
    FlashinferFused,
    /// FlashInfer `pcie_ipc` one-shot.
    FlashinferPcie,
    /// MSCCL++.
    Mscclpp,
    /// torch symmetric memory (multicast).
    TorchSymmMem,
    /// QuickReduce (ROCm).
    QuickReduce,
    /// One-shot over PCIe P2P (b12x, vLLM forks).
    OneShot,
    /// Two-shot over PCIe P2P.
    TwoShot,
}

impl Backend {
    /// All, in the order of declaration.
    pub const ALL: [Self; 10] = [
        Self::Nccl,
        Self::NcclSymmetric,
        Self::CustomAllReduce,
        Self::FlashinferFused,
        Self::FlashinferPcie,
        Self::Mscclpp,
        Self::TorchSymmMem,
        Self::QuickReduce,
        Self::OneShot,
        Self::TwoShot,
    ];

    /// The word in scenarios and JSON: `nccl`, `custom-all-reduce`, `one-shot`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nccl => "nccl",
            Self::NcclSymmetric => "nccl-symmetric",
            Self::CustomAllReduce => "custom-all-reduce",
            Self::FlashinferFused => "flashinfer-fused",
            Self::FlashinferPcie => "flashinfer-pcie",
            Self::Mscclpp => "mscclpp",
            Self::TorchSymmMem => "torch-symm-mem",
            Self::QuickReduce => "quick-reduce",
            Self::OneShot => "one-shot",
            Self::TwoShot => "two-shot",
        }
    }

    /// The name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Nccl => "NCCL",
            Self::NcclSymmetric => "NCCL's symmetric-memory kernel",
            Self::CustomAllReduce => "the server's custom all-reduce",
            Self::FlashinferFused => "FlashInfer's fused all-reduce",
            Self::FlashinferPcie => "FlashInfer's PCIe all-reduce",
            Self::Mscclpp => "MSCCL++",
            Self::TorchSymmMem => "torch symmetric memory",
            Self::QuickReduce => "QuickReduce",
            Self::OneShot => "the PCIe one-shot all-reduce",
            Self::TwoShot => "the PCIe two-shot all-reduce",
        }
    }
}

impl Algorithm {
    /// The word in scenarios and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::Nvls => "nvls",
            Self::OneShot => "one-shot",
            Self::TwoShot => "two-shot",
            Self::RecursiveDoubling => "recursive-doubling",
            Self::HalvingDoubling => "halving-doubling",
            Self::Binomial => "binomial",
        }
    }
}

impl Protocol {
    /// NCCL's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ll => "LL",
            Self::Ll128 => "LL128",
            Self::Simple => "Simple",
        }
    }
}

impl Transport {
    /// The word in scenarios and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nvlink => "nvlink",
            Self::P2p => "p2p",
            Self::Shm => "shm",
        }
    }
}

/// Algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Ring.
    Ring,
    /// Double binary tree (a chain inside one node).
    Tree,
    /// NVLink SHARP.
    Nvls,
    /// All-gather and local sum.
    OneShot,
    /// Direct reduce-scatter and all-gather.
    TwoShot,
    /// Recursive doubling.
    RecursiveDoubling,
    /// Recursive halving and doubling.
    HalvingDoubling,
    /// Binomial reduce and broadcast.
    Binomial,
}

/// NCCL protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// 4 bytes of data with 4 bytes of flag.
    #[serde(rename = "LL")]
    Ll,
    /// 120 bytes of data with 8 bytes of flag.
    #[serde(rename = "LL128")]
    Ll128,
    /// Bulk copies with fences.
    #[serde(rename = "Simple")]
    Simple,
}

/// How bytes travel between two GPUs of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// NVLink.
    Nvlink,
    /// PCIe peer to peer.
    P2p,
    /// Staged through host memory.
    Shm,
}

/// NCCL_* variables of the server, as given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NcclEnvironment {
    /// Name and value.
    pub variables: IndexMap<String, String>,
}

/// What is forced; what is `None` is chosen as the server and NCCL would.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// The backend.
    pub backend: Option<Backend>,
    /// Backends that the user has switched on although the server leaves them off by default.
    pub opt_in: Vec<Backend>,
    /// The algorithm.
    pub algorithm: Option<Algorithm>,
    /// The protocol.
    pub protocol: Option<Protocol>,
    /// The transport.
    pub transport: Option<Transport>,
    /// NCCL_* variables.
    pub environment: NcclEnvironment,
}
