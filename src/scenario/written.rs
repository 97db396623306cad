//! A scenario as it is written: one struct per map of the file.
//!
//! The doc comments are the hover text of editors and the reference of the keys; the JSON Schema made from these
//! structs is also what the tree is checked against, so the three cannot drift apart. Values carry no places: an error
//! about `speculation.verify.time` looks the place up in the tree.

mod acceptance;
mod passes;
mod quantity;
mod simulation;
mod words;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

pub use acceptance::{AcceptanceKeys, TreeKeys};
pub use passes::{
    AllreduceKeys, BaselineKeys, BaselineObserved, DraftPassKeys, DraftPassObserved, HostKeys,
    ObservedAllreduceKeys, SchedulerKeys, SpeculationKeys, SpeculationObserved, VerifyKeys, VerifyObserved,
};
pub(in crate::scenario) use quantity::unit_named;
pub use quantity::{EnvironmentValue, Given, Ratio};
pub use simulation::{
    ArrivalKeys, ArrivalWord, FabricWord, LengthKeys, LengthWord, RouterWord, ServingKeys, SimulationKeys,
    SimulationMode, SloKeys,
};
pub use words::{
    AlgorithmWord, BackendWord, ExecutionWord, KvWord, MethodWord, ProtocolWord, RuntimeWord, TransportWord,
    WeightWord,
};

/// What-ifs that a scenario may list: each is answered in full.
pub const MOST_WHAT_IFS: usize = 64;

/// A scenario: a box, a model, how it is served, how it speculates, and what was measured.
///
/// Quantities are written with their unit (`30 ms`, `82 tok/s`), with a spread where one is known (`"30 ms +- 1 ms"`,
/// one standard deviation).
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "specplan scenario")]
pub struct Written {
    /// A title for reports. Default: the name of the file.
    pub name: Option<String>,
    /// Another scenario, relative to this file, whose keys hold where this one says nothing. A key left empty here
    /// (`draft: null`) removes the one there. Default: none.
    pub extends: Option<String>,
    /// The GPUs and what joins them: a preset (`rtx-pro-6000-x8`) or a file. Default: none; then the observed numbers alone
    /// must answer.
    #[schemars(example = "rtx-pro-6000-x8", example = "./my-box.yaml")]
    pub hardware: Option<String>,
    /// Measured tables: a preset, a file, or `none` for the roofline alone. Default: the one that belongs to the
    /// hardware.
    #[schemars(example = "rtx-pro-6000-x8", example = &"none")]
    pub calibration: Option<String>,
    /// The target model: a preset (`kimi-k2.5`), the path of a Hugging Face config.json, or a map with formats. Default: none; then the
    /// observed numbers alone must answer.
    pub model: Option<ModelChoice>,
    /// The server whose kernels, collectives and host work are priced. Default: `sglang`.
    pub runtime: Option<RuntimeWord>,
    /// How the model is split over the GPUs.
    pub parallel: ParallelKeys,
    /// How much runs at once.
    pub workload: WorkloadKeys,
    /// NCCL variables of the server, for all passes. Default: none set.
    #[schemars(example = serde_json::json!({"NCCL_PROTO": "LL"}))]
    #[schemars(extend("maxProperties" = 256))]
    pub environment: IndexMap<String, EnvironmentValue>,
    /// Decoding without speculation.
    pub baseline: BaselineKeys,
    /// Decoding with speculation.
    pub speculation: SpeculationKeys,
    /// Variations to answer beside the scenario itself, at most 64. Default: none.
    #[schemars(length(max = MOST_WHAT_IFS))]
    pub what_if: Vec<WhatIfKeys>,
    /// Settings of `specplan simulate`; `run` does not use them.
    pub simulation: SimulationKeys,
    /// Axes of `specplan sweep`, each `key=a,b,c`, `key=lo..hi:n` or `key=lo..hi:n:log`. Several axes are crossed; axes in one
    /// text, joined by ` & `, go value by value. `run` does not use them. Default: none.
    #[schemars(example = ["speculation.verify.time=10 ms..40 ms:31"])]
    pub sweep: Vec<String>,
}

/// A model or drafter by name or with formats.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ModelChoice {
    /// A preset or the path of a config.json.
    Name(String),
    /// A preset or config.json with other storage formats.
    Keys(ModelKeys),
}

/// A model or drafter with storage formats other than those of its checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelKeys {
    /// A preset. Exactly one of `preset` and `config`.
    pub preset: Option<String>,
    /// The path of a Hugging Face config.json, relative to the scenario. Exactly one of `preset` and `config`.
    pub config: Option<String>,
    /// Storage of the linear layers. Default: as the config says.
    pub weights: Option<WeightWord>,
    /// Storage of the KV cache. Default: `bf16`.
    pub kv: Option<KvWord>,
}

/// How the model is split over the GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParallelKeys {
    /// Tensor-parallel size. Default: all GPUs of the hardware.
    #[schemars(range(min = 1, max = 1024))]
    pub tensor: Option<u32>,
    /// Expert-parallel size: GPUs among which whole experts are divided; 1 divides every expert by its width. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub expert: Option<u32>,
    /// Replicas of the attention (data-parallel attention). Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub data_attention: Option<u32>,
    /// GPUs that share one KV cache by position (decode-context parallelism). Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub decode_context: Option<u32>,
}

/// How much runs at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadKeys {
    /// Requests that decode together. Default: 1.
    #[schemars(range(min = 1, max = 65536))]
    pub batch: Option<u32>,
    /// Tokens of context per request, prompt and output so far. Default: 1024.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub context: Option<u32>,
}

/// A variation of the scenario.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WhatIfKeys {
    /// What it is called in the report. Default: the keys it sets.
    pub name: Option<String>,
    /// Keys with dots, as in the scenario, and their values. Observed totals are first turned into parts; a part whose
    /// inputs change is predicted.
    #[schemars(example = serde_json::json!({"speculation.verify.time": "15 ms"}))]
    pub set: IndexMap<String, serde_json::Value>,
}
