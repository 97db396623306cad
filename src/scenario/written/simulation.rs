//! Settings of the simulators.

use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::Given;
use crate::units::Seconds;

/// Settings of a simulation. They are checked and not used yet: no verb simulates.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulationKeys {
    /// What is simulated. Default: `machine`.
    pub mode: Option<SimulationMode>,
    /// Cycles to simulate in `machine` mode. Default: 1000.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub runs: Option<u32>,
    /// Spread of one host operation, as standard deviation over mean (lognormal). Default: 0.3.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub host_jitter: Option<f64>,
    /// Spread of the ranks' host speed, as standard deviation over mean. Default: 0.05.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rank_speed: Option<f64>,
    /// Seed of all random streams. Default: 0.
    pub seed: Option<u64>,
    /// Requests over time.
    pub serving: ServingKeys,
}

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SimulationMode {
    /// One cycle on the ranks of a box, many times.
    Machine,
    /// Requests that arrive, wait and are served.
    Serving,
}

/// Requests over time.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServingKeys {
    /// When requests arrive.
    pub arrivals: ArrivalKeys,
    /// How long prompts and outputs are.
    pub lengths: LengthKeys,
    /// Requests that may run together. Default: the server's limit (48 in SGLang with speculation).
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_requests: Option<u32>,
    /// Tokens of one step, prompts and verify rows together. Default: 8192.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub token_budget: Option<u32>,
    /// Blocks of the KV cache. Default: what the memory holds.
    #[schemars(range(min = 1))]
    pub kv_blocks: Option<u32>,
    /// Tokens of one KV block. Default: 16.
    #[schemars(range(min = 1, max = 65536))]
    pub block_size: Option<u32>,
    /// Replicas of the server. Default: 1.
    #[schemars(range(min = 1, max = 10_000))]
    pub replicas: Option<u32>,
    /// Which replica takes a request. Default: `round-robin`.
    pub router: Option<RouterWord>,
    /// Times within which a request counts as served.
    pub slo: SloKeys,
}

/// When requests arrive.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArrivalKeys {
    /// The kind of process. Default: `poisson`.
    pub process: Option<ArrivalWord>,
    /// Mean time between two arrivals. Default: none; needed unless `closed` or `trace`.
    pub interval: Option<Given<Seconds>>,
    /// Standard deviation over mean of the time between arrivals, for `gamma`. Default: 1.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub variation: Option<f64>,
    /// Users of a closed loop, each with one request at a time. Default: 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: Option<u32>,
    /// Requests in all. Default: 1000.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub requests: Option<u32>,
    /// CSV with the columns `arrival_s`, `prompt_tokens`, `output_tokens`, for `trace`. Default: none.
    pub file: Option<String>,
}

/// Arrival processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalWord {
    /// Independent arrivals.
    Poisson,
    /// Burstier or more even than Poisson, by `variation`.
    Gamma,
    /// Equal times between arrivals.
    Constant,
    /// As a file says.
    Trace,
    /// A fixed number of users, who wait for their answers.
    Closed,
}

/// How long prompts and outputs are.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LengthKeys {
    /// The kind of distribution. Default: `fixed`.
    pub distribution: Option<LengthWord>,
    /// Mean tokens of a prompt. Default: the context of the workload.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub prompt: Option<u32>,
    /// Mean tokens of an output. Default: 256.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub output: Option<u32>,
    /// Standard deviation over mean, for `lognormal`. Default: 0.5.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub variation: Option<f64>,
}

/// Length distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LengthWord {
    /// Always the mean.
    Fixed,
    /// Lognormal.
    Lognormal,
    /// As the arrival file says.
    Trace,
}

/// Routers in front of replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouterWord {
    /// In turn.
    RoundRobin,
    /// The one with the fewest requests.
    LeastRequests,
    /// At random.
    Random,
}

/// Times within which a request counts as served.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SloKeys {
    /// To the first token. Default: no limit.
    pub ttft: Option<Given<Seconds>>,
    /// Per output token, averaged over a request. Default: no limit.
    pub tpot: Option<Given<Seconds>>,
    /// Between two outputs. Default: no limit.
    pub itl: Option<Given<Seconds>>,
    /// From arrival to the last token. Default: no limit.
    pub e2e: Option<Given<Seconds>>,
}
