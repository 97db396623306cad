//! What a child is asked to measure: one small task at a time, in the words of the calibration tables.
//!
//! A sample is the time of one execution in microseconds. Where one execution is too short for the clock, the meter
//! times a chain (or a loop) of them and divides; weights and caches are rotated through buffers larger than L2, so
//! that no run finds its operands there.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::calibration::{Family, Mode};
use crate::collective::Transport;
use crate::model::{KvFormat, WeightFormat, parse_weight_format};
use crate::runtime::CollectiveOp;

/// One line to a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Names the answer.
    pub id: u32,
    /// What to measure.
    pub task: Task,
    /// After this long without an answer the parent kills the child \[ms\].
    pub limit_ms: u64,
    /// Samples wanted.
    pub repeats: u32,
}

/// One measurement. Shapes are those of one GPU unless said otherwise; single-GPU tasks run on the first visible one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Task {
    /// The box: answered by [`super::Outcome::Inspected`].
    Inspect,
    /// Every own kernel against the host, and the all-reduce kernels with streams of one GPU for ranks. Sample: how long
    /// that took; a note for each comparison.
    SelfTest,
    /// Streaming read. Sample: device time to read this much once.
    Stream {
        /// How much \[B\]; more than L2 holds.
        bytes: u64,
    },
    /// Dense projection by cuBLAS, `rows` x k by k x n. Sample: device time of one.
    Gemm {
        /// Storage of the weights: `bf16`, `fp8`.
        #[serde(with = "weights_word")]
        weights: WeightFormat,
        /// Columns of the weight matrix.
        n: u32,
        /// Its rows.
        k: u32,
        /// Rows of the activation.
        rows: u32,
    },
    /// Own dequantising GEMV or small GEMM. Sample: device time of one. Its rows go to the table `gemm`.
    Dequant {
        /// Bits of a weight: 4.
        bits: u32,
        /// Weights that share a scale.
        group: u32,
        /// Columns of the weight matrix.
        n: u32,
        /// Its rows.
        k: u32,
        /// Rows of the activation.
        rows: u32,
    },
    /// Routed experts of one layer, both projections; tokens go round robin and touch min(`tokens` · `per_token`, `experts`)
    /// of them. Sample: device time of one layer.
    Moe {
        /// Storage of the experts.
        #[serde(with = "weights_word")]
        weights: WeightFormat,
        /// Hidden size.
        hidden: u32,
        /// Whole width of an expert, before sharding.
        width: u32,
        /// Experts of a token.
        per_token: u32,
        /// Routed experts of the layer.
        experts: u32,
        /// GPUs that share the width.
        shards: u32,
        /// Tokens.
        tokens: u32,
    },
    /// Grouped-query decode attention. Sample: device time of one call over `batch` x `rows` queries.
    Attention {
        /// Storage of the cache.
        #[serde(with = "kv_word")]
        kv: KvFormat,
        /// Width of a head.
        head_dim: u32,
        /// Query heads.
        heads: u32,
        /// KV heads.
        kv_heads: u32,
        /// Requests.
        batch: u32,
        /// Verified rows of a request; they share its cache.
        rows: u32,
        /// Tokens in the cache of each.
        context: u32,
    },
    /// Absorbed latent attention, rank 512 and 64 rotary. Sample: device time of one call.
    Mla {
        /// Storage of the cache.
        #[serde(with = "kv_word")]
        kv: KvFormat,
        /// Query heads.
        heads: u32,
        /// Requests.
        batch: u32,
        /// Verified rows of a request; they share its cache.
        rows: u32,
        /// Tokens in the cache of each.
        context: u32,
    },
    /// A small kernel inside a graph. Sample: device time of one, the gap to its neighbour included.
    Small {
        /// Which.
        kind: SmallKind,
        /// Rows.
        rows: u32,
        /// Columns: hidden size, or vocabulary for `sampling`.
        hidden: u32,
    },
    /// A cost of launching.
    Launch {
        /// Which.
        kind: LaunchKind,
    },
    /// A copy or a flag between two ends.
    Link {
        /// What is timed.
        kind: LinkKind,
        /// Where from.
        from: End,
        /// Where to.
        to: End,
        /// How much \[B\].
        bytes: u64,
    },
    /// A collective over the first `ranks` visible GPUs.
    Collective(CollectiveTask),
}

/// A collective. Sample: the slowest rank's time of the chain, divided by its length; with [`Self::between_gemms`] less
/// the time of the same chain without collectives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectiveTask {
    /// The operation.
    pub op: CollectiveOp,
    /// Ranks that take part.
    pub ranks: u32,
    /// `nccl`, `one-shot` or `two-shot`.
    pub family: Family,
    /// How it is issued: `stream` back to back; `graph` captured once, replayed; `eager` call by
    /// call without a graph, on the host's clock from one synchronisation to the next: the larger of issue and device time.
    pub mode: Mode,
    /// How the bytes travel, as the parent expects of this child's environment.
    pub transport: Transport,
    /// Message of one rank, as in the table `collectives` \[B\].
    pub bytes: u64,
    /// Calls in one sample.
    pub chain: u32,
    /// The projection that stands before each call, as in a pass; none: back to back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_gemms: Option<GemmShape>,
}

/// A bf16 projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GemmShape {
    /// Columns of the weight matrix.
    pub n: u32,
    /// Its rows.
    pub k: u32,
    /// Rows of the activation.
    pub rows: u32,
}

/// Small kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallKind {
    /// Addition and RMS norm.
    Norm,
    /// One read, one write.
    Elementwise,
    /// SiLU times up.
    Activation,
    /// Arg-max over a vocabulary.
    Sampling,
}

/// Costs of launching; the words of the table `launch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchKind {
    /// Host time to issue one empty kernel. Samples are single launches, for their jitter.
    Issue,
    /// Host time to issue one NCCL all-reduce, on all visible GPUs at once.
    IssueCollective,
    /// Device time that one more dependent empty node takes in a graph.
    GraphNode,
    /// Host time of one graph launch.
    GraphLaunch,
    /// From the end on the GPU to the host going on.
    Synchronise,
    /// A small copy to the host, with synchronisation.
    ReadBack,
}

/// Links; the words of the table `links`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// A copy from GPU to GPU.
    Copy,
    /// A copy between pinned host memory and a GPU.
    HostCopy,
    /// One way of a flag, half a ping-pong, bytes 4.
    Flag,
    /// Every GPU copies to its neighbour at once; ends are `all`.
    AllPairs,
}

/// An end of a link: `host`, `all`, or the number of a visible GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Pinned host memory.
    Host,
    /// Every GPU.
    All,
    /// A visible GPU, counted from 0.
    Gpu(u32),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::All => f.write_str("all"),
            Self::Gpu(number) => write!(f, "{number}"),
        }
    }
}

impl Serialize for End {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "host" => Ok(Self::Host),
            "all" => Ok(Self::All),
            number => number.parse().map(Self::Gpu).map_err(de::Error::custom),
        }
    }
}

/// The word of a weight format, group included.
pub(in crate::calibration) fn word_of_weights(weights: WeightFormat) -> String {
    match weights {
        WeightFormat::Fp32 => "fp32".to_owned(),
        WeightFormat::Bf16 => "bf16".to_owned(),
        WeightFormat::Fp8 => "fp8".to_owned(),
        WeightFormat::Fp8Block => "fp8-block".to_owned(),
        WeightFormat::Int8 => "int8".to_owned(),
        WeightFormat::Int4 { group } => format!("int4-g{group}"),
        WeightFormat::Mxfp4 => "mxfp4".to_owned(),
        WeightFormat::Nvfp4 => "nvfp4".to_owned(),
    }
}

mod weights_word {
    use super::{
        Deserialize, Deserializer, Serializer, WeightFormat, de, parse_weight_format, word_of_weights,
    };

    #[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde wants.
    pub(super) fn serialize<S: Serializer>(weights: &WeightFormat, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&word_of_weights(*weights))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<WeightFormat, D::Error> {
        let word = String::deserialize(from)?;
        parse_weight_format(&word).ok_or_else(|| de::Error::custom(format!("no weight format `{word}`")))
    }
}

mod kv_word {
    use super::{Deserialize, Deserializer, KvFormat, Serializer, de};

    #[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde wants.
    pub(super) fn serialize<S: Serializer>(kv: &KvFormat, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match kv {
            KvFormat::Bf16 => "bf16",
            KvFormat::Fp8 => "fp8",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<KvFormat, D::Error> {
        match String::deserialize(from)?.as_str() {
            "bf16" => Ok(KvFormat::Bf16),
            "fp8" => Ok(KvFormat::Fp8),
            word => Err(de::Error::custom(format!("no cache format `{word}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_one_flat_line() {
        let request = Request {
            id: 7,
            task: Task::Collective(CollectiveTask {
                op: CollectiveOp::AllReduce,
                ranks: 8,
                family: Family::Nccl,
                mode: Mode::Graph,
                transport: Transport::P2p,
                bytes: 65536,
                chain: 20,
                between_gemms: Some(GemmShape { n: 7168, k: 2048, rows: 4 }),
            }),
            limit_ms: 2000,
            repeats: 25,
        };
        let line = serde_json::to_string(&request).unwrap();
        assert_eq!(
            line,
            "{\"id\":7,\"task\":{\"what\":\"collective\",\"op\":\"all-reduce\",\"ranks\":8,\"family\":\"nccl\",\
             \"mode\":\"graph\",\"transport\":\"p2p\",\"bytes\":65536,\"chain\":20,\
             \"between_gemms\":{\"n\":7168,\"k\":2048,\"rows\":4}},\"limit_ms\":2000,\"repeats\":25}"
        );
        assert_eq!(serde_json::from_str::<Request>(&line).unwrap(), request);
    }

    #[test]
    fn formats_and_ends_are_words() {
        let moe = Task::Moe {
            weights: WeightFormat::Int4 { group: 32 },
            hidden: 7168,
            width: 2048,
            per_token: 8,
            experts: 384,
            shards: 8,
            tokens: 4,
        };
        let line = serde_json::to_string(&moe).unwrap();
        assert!(line.starts_with("{\"what\":\"moe\",\"weights\":\"int4-g32\",\"hidden\":7168"), "{line}");
        assert_eq!(serde_json::from_str::<Task>(&line).unwrap(), moe);
        let link = Task::Link { kind: LinkKind::HostCopy, from: End::Host, to: End::Gpu(1), bytes: 4096 };
        let line = serde_json::to_string(&link).unwrap();
        assert_eq!(
            line,
            "{\"what\":\"link\",\"kind\":\"host-copy\",\"from\":\"host\",\"to\":\"1\",\"bytes\":4096}"
        );
        assert_eq!(serde_json::from_str::<Task>(&line).unwrap(), link);
    }
}
