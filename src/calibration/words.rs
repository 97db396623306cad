//! The words that stand in the tables for servers, formats, collectives.

use serde::{Deserialize, Serialize};

use crate::collective::{Algorithm, Backend, Protocol, Transport};
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::{CollectiveOp, Execution, RuntimeKind};
use crate::sourced::Source;

/// Implementations whose times a table may hold. Servers can reach the same one on several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// NCCL, however it is called.
    Nccl,
    /// NCCL's symmetric-memory kernels.
    NcclSymmetric,
    /// The servers' own custom all-reduce.
    CustomAllReduce,
    /// FlashInfer all-reduce fused with RMSNorm.
    FlashinferFused,
    /// MSCCL++.
    Mscclpp,
    /// torch symmetric memory.
    TorchSymmMem,
    /// QuickReduce.
    QuickReduce,
    /// One-shot over PCIe P2P.
    OneShot,
    /// Two-shot over PCIe P2P.
    TwoShot,
}

impl From<Backend> for Family {
    /// FlashInfer's `pcie_ipc` counts as one-shot: its staged ring for larger messages has no table of its own.
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Nccl => Self::Nccl,
            Backend::NcclSymmetric => Self::NcclSymmetric,
            Backend::CustomAllReduce => Self::CustomAllReduce,
            Backend::FlashinferFused => Self::FlashinferFused,
            Backend::Mscclpp => Self::Mscclpp,
            Backend::TorchSymmMem => Self::TorchSymmMem,
            Backend::QuickReduce => Self::QuickReduce,
            Backend::OneShot | Backend::FlashinferPcie => Self::OneShot,
            Backend::TwoShot => Self::TwoShot,
        }
    }
}

/// How the collectives of a row were issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Back to back in a stream, as nccl-tests does: the device's time.
    Stream,
    /// Replayed from a CUDA graph: the device's time.
    Graph,
    /// One framework call each: the larger of the host's issue time and the device's time.
    Eager,
}

impl From<Execution> for Mode {
    fn from(execution: Execution) -> Self {
        match execution {
            Execution::Graph => Self::Graph,
            Execution::Eager => Self::Eager,
        }
    }
}

/// A type that the tables write as one of a few words.
pub(super) trait Word: Copy + 'static {
    /// The words, for messages.
    const EXPECTED: &'static str;
    /// Each word with its value.
    const WORDS: &'static [(&'static str, Self)];
    /// The value of a word.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(w, _)| *w == word).map(|(_, value)| *value)
    }
}

macro_rules! words {
    ($type:ty, $expected:literal, $($word:literal => $value:expr),+ $(,)?) => {
        impl Word for $type {
            const EXPECTED: &'static str = $expected;
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        }
    };
}

words!(RuntimeKind, "sglang, vllm, pytorch or cuda",
    "sglang" => Self::Sglang, "vllm" => Self::Vllm, "pytorch" => Self::Pytorch, "cuda" => Self::Cuda);

words!(KvFormat, "bf16 or fp8", "bf16" => Self::Bf16, "fp8" => Self::Fp8);

words!(WeightFormat, "bf16, fp8, fp8-block, int8, int4, int4-g32, int4-g128, mxfp4, nvfp4 or fp32",
    "bf16" => Self::Bf16, "fp8" => Self::Fp8, "fp8-block" => Self::Fp8Block, "int8" => Self::Int8,
    "int4" => ANY_INT4, "int4-g32" => Self::Int4 { group: 32 }, "int4-g128" => Self::Int4 { group: 128 },
    "mxfp4" => Self::Mxfp4, "nvfp4" => Self::Nvfp4, "fp32" => Self::Fp32);

words!(CollectiveOp, "all-reduce, all-gather, reduce-scatter or all-to-all",
    "all-reduce" => Self::AllReduce, "all-gather" => Self::AllGather,
    "reduce-scatter" => Self::ReduceScatter, "all-to-all" => Self::AllToAll);

words!(Family, "nccl, custom-all-reduce, one-shot, two-shot, nccl-symmetric, flashinfer-fused, mscclpp, \
        torch-symm-mem or quick-reduce",
    "nccl" => Self::Nccl, "nccl-symmetric" => Self::NcclSymmetric,
    "custom-all-reduce" => Self::CustomAllReduce, "flashinfer-fused" => Self::FlashinferFused,
    "mscclpp" => Self::Mscclpp, "torch-symm-mem" => Self::TorchSymmMem,
    "quick-reduce" => Self::QuickReduce, "one-shot" => Self::OneShot, "two-shot" => Self::TwoShot);

words!(Mode, "stream, graph or eager",
    "stream" => Self::Stream, "graph" => Self::Graph, "eager" => Self::Eager);

words!(Transport, "nvlink, p2p or shm",
    "nvlink" => Self::Nvlink, "p2p" => Self::P2p, "shm" => Self::Shm);

words!(Algorithm, "ring, tree, nvls, one-shot, two-shot, recursive-doubling, halving-doubling or binomial",
    "ring" => Self::Ring, "tree" => Self::Tree, "nvls" => Self::Nvls, "one-shot" => Self::OneShot,
    "two-shot" => Self::TwoShot, "recursive-doubling" => Self::RecursiveDoubling,
    "halving-doubling" => Self::HalvingDoubling, "binomial" => Self::Binomial);

words!(Protocol, "LL, LL128 or Simple",
    "LL" => Self::Ll, "LL128" => Self::Ll128, "Simple" => Self::Simple);

words!(Source, "measured, fitted or assumed",
    "measured" => Self::Measured, "fitted" => Self::Fitted, "assumed" => Self::Assumed);

/// 4-bit integers of a source that does not state how many weights share a scale: `int4`.
const ANY_INT4: WeightFormat = WeightFormat::Int4 { group: 0 };

/// The formats whose rows answer for weights, best first, with the factor on their times: the format itself; 4-bit integers
/// of no stated group, as they are; those of another group, by their bytes.
pub(super) fn keys_of(weights: WeightFormat) -> impl Iterator<Item = (WeightFormat, f64)> {
    let others = match weights {
        WeightFormat::Int4 { .. } => {
            &[ANY_INT4, WeightFormat::Int4 { group: 32 }, WeightFormat::Int4 { group: 128 }][..]
        }
        _ => &[],
    };
    let by_bytes = move |other: &WeightFormat| {
        let stated = *other != ANY_INT4 && weights != ANY_INT4;
        (*other, if stated { weights.bits() / other.bits() } else { 1.0 })
    };
    let others = others.iter().filter(move |other| **other != weights).map(by_bytes);
    std::iter::once((weights, 1.0)).chain(others)
}

/// Whose rows to look at, in order: the server's own, then those of the servers, then of bare frameworks. Plain CUDA
/// calls the same libraries as PyTorch and vLLM.
pub(super) fn in_order_of_preference(server: RuntimeKind) -> [RuntimeKind; 4] {
    use RuntimeKind::{Cuda, Pytorch, Sglang, Vllm};
    match server {
        Sglang => [Sglang, Vllm, Pytorch, Cuda],
        Vllm => [Vllm, Sglang, Pytorch, Cuda],
        Pytorch => [Pytorch, Vllm, Sglang, Cuda],
        Cuda => [Cuda, Pytorch, Vllm, Sglang],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_4_bit_integers_answer_for_one_another_by_their_bytes() {
        let [of_32, of_64, of_128] = [32, 64, 128].map(|group| WeightFormat::Int4 { group });
        let keys = |weights| keys_of(weights).collect::<Vec<_>>();
        assert_eq!(keys(of_32), [(of_32, 1.0), (ANY_INT4, 1.0), (of_128, 4.5 / 4.125)]);
        assert_eq!(keys(of_64)[1..], [(ANY_INT4, 1.0), (of_32, 4.25 / 4.5), (of_128, 4.25 / 4.125)]);
        assert_eq!(keys(WeightFormat::Fp8), [(WeightFormat::Fp8, 1.0)]);
    }
}
