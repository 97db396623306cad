//! A scenario with every name looked up and every default filled in.

use std::sync::Arc;

use crate::calibration::Calibration;
use crate::collective::Policy;
use crate::forward::Parallelism;
use crate::hardware::Hardware;
use crate::model::{Draft, Model};
use crate::runtime::{Execution, Runtime};
use crate::sourced::Sourced;
use crate::speculation::Acceptance;
use crate::units::{Seconds, TokensPerSecond};

/// What a solver needs.
#[allow(clippy::large_enum_variant, reason = "there are a handful of setups, and most are modelled")]
#[derive(Debug, Clone, PartialEq)]
pub enum Setup {
    /// The observed numbers alone answer the question: no hardware or model was given.
    Observed(ObservedSetup),
    /// Hardware, model and runtime are known, so every part can be predicted.
    Modelled(Box<ModelledSetup>),
}

/// A setup without a hardware model.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedSetup {
    /// What is common to both kinds.
    pub common: Common,
}

/// A setup with a hardware model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelledSetup {
    /// What is common to both kinds.
    pub common: Common,
    /// GPUs and links.
    pub hardware: Arc<Hardware>,
    /// Measured tables and fits; without tables the roofline answers.
    pub calibration: Arc<Calibration>,
    /// The target.
    pub model: Arc<Model>,
    /// The drafter; none for n-gram lookup.
    pub draft: Option<Arc<Draft>>,
    /// The server.
    pub runtime: Runtime,
    /// How the model is split.
    pub parallel: Parallelism,
    /// Context per request \[tokens\].
    pub context: u32,
    /// The baseline pass.
    pub baseline: PassSettings,
    /// The verify pass.
    pub verify: PassSettings,
    /// The draft passes.
    pub draft_pass: PassSettings,
    /// Whether the scheduler overlaps host work with the GPU.
    pub overlap: bool,
}

/// How one kind of pass is issued and communicates.
#[derive(Debug, Clone, PartialEq)]
pub struct PassSettings {
    /// Graph or eager.
    pub execution: Execution,
    /// How collectives are chosen.
    pub policy: Policy,
}

/// What both kinds of setup have.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    /// The scenario's name.
    pub name: String,
    /// Where it was read from.
    pub path: String,
    /// Requests that run together.
    pub batch: u32,
    /// The drafting method.
    pub method: Method,
    /// Draft steps S (k for a chain); 0: not stated, which only observed numbers allow.
    pub steps: u32,
    /// Branches per step; 1 is a chain.
    pub topk: u32,
    /// Rows verified per request, root included; 0: not stated, which only observed numbers allow.
    pub draft_tokens: u32,
    /// Distribution of accepted tokens.
    pub acceptance: Acceptance,
    /// The cycles that the acceptance was counted over, where it says.
    pub evidence: Option<Evidence>,
    /// Steps and cycles that the acceptance file measured at batch sizes, by `import` from server logs.
    pub measured: Vec<MeasuredBatch>,
    /// What the user says about times.
    pub stated: Stated,
}

/// What a server's log says of one batch size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredBatch {
    /// Requests that ran together.
    pub batch: u32,
    /// Drafted tokens per cycle; none: as the scenario drafts.
    pub drafted: Option<u32>,
    /// Output without speculation.
    pub without: Option<Sourced<TokensPerSecond>>,
    /// Output with speculation.
    pub with: Option<Sourced<TokensPerSecond>>,
}

/// Cycles behind an acceptance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Cycles that were counted, above 0.
    pub cycles: f64,
    /// Independent cycles that they are worth: fewer where cycles of one request resemble each other.
    pub independent: f64,
}

/// Drafting methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// EAGLE-3 head.
    Eagle3,
    /// Multi-token-prediction module of the target.
    Mtp,
    /// Separate draft model.
    DraftModel,
    /// Lookup in the text so far.
    Ngram,
    /// Not stated, which only observed numbers allow.
    Unstated,
}

impl Method {
    /// Its word in scenarios: `eagle3`, `draft-model`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Eagle3 => "eagle3",
            Self::Mtp => "mtp",
            Self::DraftModel => "draft-model",
            Self::Ngram => "ngram",
            Self::Unstated => "speculation",
        }
    }
}

impl Setup {
    /// What both kinds have.
    pub fn common(&self) -> &Common {
        match self {
            Self::Observed(setup) => &setup.common,
            Self::Modelled(setup) => &setup.common,
        }
    }
}

impl Common {
    /// The most tokens one verify pass can yield per request: the longest drafted chain and the bonus token, and no
    /// more than the rows verified; infinite where the shape is not stated.
    pub fn accept_limit(&self) -> f64 {
        match (self.steps, self.draft_tokens) {
            (0, 0) => f64::INFINITY,
            (0, rows) => f64::from(rows),
            (steps, 0) => f64::from(steps + 1),
            (steps, rows) => f64::from((steps + 1).min(rows)),
        }
    }
}

/// Times that the user states. `time` is a hypothesis and sets a part outright; `observed` was measured for
/// exactly this configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stated {
    /// The baseline step.
    pub baseline: StatedPass,
    /// The verify pass.
    pub verify: StatedPass,
    /// Hypothesis: all draft passes of a cycle.
    pub draft: Option<Sourced<Seconds>>,
    /// Hypothesis: host work of a cycle.
    pub host: Option<Sourced<Seconds>>,
    /// Observed: all draft passes of a cycle.
    pub observed_draft: Option<Sourced<Seconds>>,
    /// Observed throughput with speculation, over all requests.
    pub observed_throughput: Option<Sourced<TokensPerSecond>>,
}

/// What the user states about one pass.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatedPass {
    /// Hypothesis: the whole pass.
    pub time: Option<Sourced<Seconds>>,
    /// Hypothesis: one all-reduce of it.
    pub allreduce_each: Option<Sourced<Seconds>>,
    /// Observed: the whole pass (for the baseline from its throughput).
    pub observed: Option<Sourced<Seconds>>,
    /// Observed: the throughput that `observed` was derived from, as written; of the baseline alone.
    pub observed_throughput: Option<Sourced<TokensPerSecond>>,
    /// Observed: its all-reduces.
    pub observed_allreduce: Option<ObservedAllreduce>,
}

/// All-reduces of a pass as a profiler books them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedAllreduce {
    /// How many.
    pub count: u32,
    /// Their total.
    pub total: Sourced<Seconds>,
}

/// A named variation of the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Its name.
    pub name: String,
    /// The keys it sets, as written.
    pub set: Vec<(String, String)>,
    /// The setup with those keys set and all observed totals dropped.
    pub setup: Setup,
}
