//! Keys that take one of a few words.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::collective::{Algorithm, Backend, Protocol, Transport};
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::{Execution, RuntimeKind};
use crate::scenario::Method;

/// A server or framework.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeWord {
    /// SGLang: PyNccl in graphs, torch.distributed in eager mode, replicated MLA down-projections.
    #[default]
    Sglang,
    /// vLLM.
    Vllm,
    /// PyTorch without a server: no fusion, no graph unless asked for.
    Pytorch,
    /// Kernels launched straight from CUDA, as a lower bound of the host's work.
    Cuda,
}

impl From<RuntimeWord> for RuntimeKind {
    fn from(word: RuntimeWord) -> Self {
        match word {
            RuntimeWord::Sglang => Self::Sglang,
            RuntimeWord::Vllm => Self::Vllm,
            RuntimeWord::Pytorch => Self::Pytorch,
            RuntimeWord::Cuda => Self::Cuda,
        }
    }
}

/// How a pass is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionWord {
    /// Replayed from a CUDA graph: the GPUs set the time.
    #[default]
    Graph,
    /// Issued operation by operation: host and GPUs race.
    Eager,
}

impl From<ExecutionWord> for Execution {
    fn from(word: ExecutionWord) -> Self {
        match word {
            ExecutionWord::Graph => Self::Graph,
            ExecutionWord::Eager => Self::Eager,
        }
    }
}

/// A drafting method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MethodWord {
    /// EAGLE-3: a one-layer head that reads hidden states of the target.
    Eagle3,
    /// The multi-token-prediction module that the target's checkpoint brings.
    Mtp,
    /// A separate small model.
    DraftModel,
    /// Lookup in the text so far; no draft weights.
    Ngram,
}

impl From<MethodWord> for Method {
    fn from(word: MethodWord) -> Self {
        match word {
            MethodWord::Eagle3 => Self::Eagle3,
            MethodWord::Mtp => Self::Mtp,
            MethodWord::DraftModel => Self::DraftModel,
            MethodWord::Ngram => Self::Ngram,
        }
    }
}

/// Storage of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WeightWord {
    /// 16 bit.
    Bf16,
    /// 8 bit floats, one scale per tensor or channel.
    Fp8,
    /// 8 bit floats, one scale per 128x128 block.
    Fp8Block,
    /// 8 bit integers.
    Int8,
    /// 4 bit integers, one scale per 32 weights: 4.5 bit.
    Int4G32,
    /// 4 bit integers, one scale per 128 weights: 4.125 bit.
    Int4G128,
    /// 4 bit floats, one scale per 32: 4.25 bit.
    Mxfp4,
    /// 4 bit floats, one scale per 16: 4.5 bit.
    Nvfp4,
}

impl From<WeightWord> for WeightFormat {
    fn from(word: WeightWord) -> Self {
        match word {
            WeightWord::Bf16 => Self::Bf16,
            WeightWord::Fp8 => Self::Fp8,
            WeightWord::Fp8Block => Self::Fp8Block,
            WeightWord::Int8 => Self::Int8,
            WeightWord::Int4G32 => Self::Int4 { group: 32 },
            WeightWord::Int4G128 => Self::Int4 { group: 128 },
            WeightWord::Mxfp4 => Self::Mxfp4,
            WeightWord::Nvfp4 => Self::Nvfp4,
        }
    }
}

/// Storage of the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KvWord {
    /// 2 bytes a number.
    Bf16,
    /// 1 byte a number.
    Fp8,
}

impl From<KvWord> for KvFormat {
    fn from(word: KvWord) -> Self {
        match word {
            KvWord::Bf16 => Self::Bf16,
            KvWord::Fp8 => Self::Fp8,
        }
    }
}

/// Declares a word list with `auto`, which leaves the choice to the server and NCCL.
macro_rules! words_or_auto {
    ($(#[$doc:meta])* $name:ident => $target:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal => $to:ident,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
        pub enum $name {
            /// As the server and NCCL choose.
            #[default]
            #[serde(rename = "auto")]
            Auto,
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// What is forced; none for `auto`.
            pub const fn forced(self) -> Option<$target> {
                match self {
                    Self::Auto => None,
                    $(Self::$variant => Some($target::$to),)*
                }
            }
        }
    };
}

words_or_auto! {
    /// An implementation of collectives.
    BackendWord => Backend {
        /// NCCL.
        Nccl = "nccl" => Nccl,
        /// NCCL's kernels for symmetric memory.
        NcclSymmetric = "nccl-symmetric" => NcclSymmetric,
        /// The servers' own all-reduce for NVLink, or two PCIe GPUs.
        CustomAllReduce = "custom-all-reduce" => CustomAllReduce,
        /// FlashInfer, fused with RMSNorm.
        FlashinferFused = "flashinfer-fused" => FlashinferFused,
        /// FlashInfer's one-shot over PCIe.
        FlashinferPcie = "flashinfer-pcie" => FlashinferPcie,
        /// MSCCL++.
        Mscclpp = "mscclpp" => Mscclpp,
        /// torch symmetric memory, over NVLink multicast.
        TorchSymmMem = "torch-symm-mem" => TorchSymmMem,
        /// QuickReduce, for ROCm.
        QuickReduce = "quick-reduce" => QuickReduce,
        /// One-shot over PCIe peer to peer: every rank reads all others and sums.
        OneShot = "one-shot" => OneShot,
        /// Two-shot over PCIe peer to peer: reduce-scatter, then all-gather.
        TwoShot = "two-shot" => TwoShot,
    }
}

words_or_auto! {
    /// An algorithm.
    AlgorithmWord => Algorithm {
        /// Ring.
        Ring = "ring" => Ring,
        /// Double binary tree; a chain inside one host.
        Tree = "tree" => Tree,
        /// NVLink SHARP.
        Nvls = "nvls" => Nvls,
        /// All-gather and local sum.
        OneShot = "one-shot" => OneShot,
        /// Reduce-scatter and all-gather.
        TwoShot = "two-shot" => TwoShot,
        /// Recursive doubling.
        RecursiveDoubling = "recursive-doubling" => RecursiveDoubling,
        /// Recursive halving and doubling.
        HalvingDoubling = "halving-doubling" => HalvingDoubling,
        /// Binomial reduce and broadcast.
        Binomial = "binomial" => Binomial,
    }
}

words_or_auto! {
    /// An NCCL protocol.
    ProtocolWord => Protocol {
        /// 4 bytes of data with 4 bytes of flag: low latency.
        Ll = "LL" => Ll,
        /// 120 bytes of data with 8 bytes of flag.
        Ll128 = "LL128" => Ll128,
        /// Bulk copies with fences.
        Simple = "Simple" => Simple,
    }
}

words_or_auto! {
    /// How bytes travel between two GPUs.
    TransportWord => Transport {
        /// NVLink.
        Nvlink = "nvlink" => Nvlink,
        /// PCIe peer to peer.
        P2p = "p2p" => P2p,
        /// Staged through host memory.
        Shm = "shm" => Shm,
    }
}
