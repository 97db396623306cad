//! The baseline, the verify pass, the draft passes.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ModelChoice;
use super::acceptance::AcceptanceKeys;
use super::quantity::{EnvironmentValue, Given};
use super::words::{AlgorithmWord, BackendWord, ExecutionWord, MethodWord, ProtocolWord, TransportWord};
use crate::units::{Seconds, TokensPerSecond};

/// Decoding without speculation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BaselineKeys {
    /// How the decode step is issued. Default: `graph`.
    pub execution: Option<ExecutionWord>,
    /// How its all-reduces run.
    pub allreduce: AllreduceKeys,
    /// NCCL variables of this pass alone, over those of the whole scenario. Default: none.
    #[schemars(extend("maxProperties" = 256))]
    pub environment: IndexMap<String, EnvironmentValue>,
    /// A supposed time of one decode step, which replaces the prediction. What was measured belongs under `observed`. Default:
    /// predicted.
    pub time: Option<Given<Seconds>>,
    /// What was measured for exactly this configuration.
    pub observed: BaselineObserved,
}

/// What was measured without speculation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BaselineObserved {
    /// Tokens per second over all requests. Default: not measured.
    pub throughput: Option<Given<TokensPerSecond>>,
    /// One decode step. Give this or the throughput. Default: batch / throughput.
    pub time: Option<Given<Seconds>>,
    /// Its all-reduces. Default: not measured.
    pub allreduce: Option<ObservedAllreduceKeys>,
}

/// All-reduces of a pass as a profiler books them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObservedAllreduceKeys {
    /// How many in one pass.
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Their total time in one pass.
    pub total: Given<Seconds>,
}

/// How the all-reduces of a pass run. What is left out is chosen as the server and NCCL would.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AllreduceKeys {
    /// The implementation, for every message. Default: `auto`.
    pub backend: BackendWord,
    /// Implementations that are switched on although the server leaves them off; each is taken where it applies. Default:
    /// none.
    pub opt_in: Vec<BackendWord>,
    /// The algorithm. Default: `auto`.
    pub algorithm: AlgorithmWord,
    /// The NCCL protocol. Default: `auto`.
    pub protocol: ProtocolWord,
    /// How bytes travel. Default: `auto`.
    pub transport: TransportWord,
    /// A supposed time of one all-reduce, which replaces the prediction. Default: predicted.
    pub time: Option<Given<Seconds>>,
}

/// Decoding with speculation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpeculationKeys {
    /// How tokens are drafted. Needed with a hardware model.
    pub method: Option<MethodWord>,
    /// The drafter of `eagle3` and `draft-model`: a preset (a head such as `eagle3-kimi-k2.5` for `eagle3`, any model such as
    /// `llama-3.1-8b` for `draft-model`), the path of its config.json, or a map with formats. Default: none.
    #[schemars(example = "eagle3-kimi-k2.5", example = "llama-3.1-8b")]
    pub draft: Option<ModelChoice>,
    /// Draft steps, as SGLang's `--speculative-num-steps`; vLLM's `num_speculative_tokens`. Default: draft_tokens - 1
    /// where topk is 1.
    #[schemars(range(min = 1, max = 64))]
    pub steps: Option<u32>,
    /// Branches per draft step, as SGLang's `--speculative-eagle-topk`; 1 is a chain. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub topk: Option<u32>,
    /// Rows verified per request, root included, as SGLang's `--speculative-num-draft-tokens`; vLLM's k + 1. Default: steps + 1
    /// where topk is 1; 12 for `ngram`.
    #[schemars(range(min = 2, max = 1024))]
    pub draft_tokens: Option<u32>,
    /// How many drafted tokens are accepted.
    pub acceptance: AcceptanceKeys,
    /// The server's scheduler.
    pub scheduler: SchedulerKeys,
    /// The draft passes of one cycle.
    pub draft_pass: DraftPassKeys,
    /// Host work of one cycle.
    pub host: HostKeys,
    /// The verify pass of one cycle.
    pub verify: VerifyKeys,
    /// What was measured for exactly this configuration.
    pub observed: SpeculationObserved,
}

/// The server's scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulerKeys {
    /// Whether it prepares the next cycle while the GPUs work (SGLang's overlap scheduler with speculation). Default: false.
    pub overlap: Option<bool>,
}

/// The draft passes of one cycle: steps - 1 decode passes of the drafter and one pass over the accepted tokens.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DraftPassKeys {
    /// How they are issued. Default: `graph`.
    pub execution: Option<ExecutionWord>,
    /// How their all-reduces run.
    pub allreduce: AllreduceKeys,
    /// NCCL variables of these passes alone. Default: none.
    #[schemars(extend("maxProperties" = 256))]
    pub environment: IndexMap<String, EnvironmentValue>,
    /// A supposed time of all draft passes of a cycle, which replaces the prediction. Default: predicted.
    pub time: Option<Given<Seconds>>,
    /// What was measured for exactly this configuration.
    pub observed: DraftPassObserved,
}

/// What was measured of the draft passes.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DraftPassObserved {
    /// All draft passes of one cycle. Default: not measured.
    pub time: Option<Given<Seconds>>,
}

/// Host work of one cycle.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostKeys {
    /// A supposed time of the host work per cycle, which replaces the prediction. Default: predicted.
    pub time: Option<Given<Seconds>>,
}

/// The verify pass.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyKeys {
    /// How it is issued. Default: `graph`.
    pub execution: Option<ExecutionWord>,
    /// How its all-reduces run.
    pub allreduce: AllreduceKeys,
    /// NCCL variables of this pass alone. Default: none.
    #[schemars(extend("maxProperties" = 256))]
    pub environment: IndexMap<String, EnvironmentValue>,
    /// A supposed time of the verify pass, which replaces the prediction. What was measured belongs under `observed`.
    /// Default: predicted.
    pub time: Option<Given<Seconds>>,
    /// What was measured for exactly this configuration.
    pub observed: VerifyObserved,
}

/// What was measured of the verify pass.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyObserved {
    /// One verify pass. Default: not measured.
    pub time: Option<Given<Seconds>>,
    /// Its all-reduces. Default: not measured.
    pub allreduce: Option<ObservedAllreduceKeys>,
}

/// What was measured with speculation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpeculationObserved {
    /// Tokens per second over all requests. Default: not measured.
    pub throughput: Option<Given<TokensPerSecond>>,
    /// Cycles over which the acceptance was counted; they give it a range. Default: a histogram of whole numbers counts its
    /// own, else not known.
    #[schemars(range(min = 1, max = 1e15))]
    pub cycles: Option<u64>,
    /// Independent cycles that those are worth: fewer, where cycles of one request resemble each other. Default: all.
    #[schemars(range(min = 1, max = 1e15))]
    pub effective_cycles: Option<f64>,
}
