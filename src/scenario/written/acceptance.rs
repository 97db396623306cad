//! How many drafted tokens are accepted.

use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::{Given, Ratio};
use crate::units::AcceptLength;

/// How many drafted tokens are accepted. Exactly one key.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("maxProperties" = 1))]
pub struct AcceptanceKeys {
    /// Tokens gained per verify pass and request, bonus token included (SGLang's `accept len`, vLLM's mean acceptance
    /// length). Taken as geometric with that mean. At most steps + 1.
    pub accept_length: Option<Given<AcceptLength>>,
    /// Probability that a drafted token is accepted, given that those before it were; the same at every position.
    pub rate: Option<Given<Ratio>>,
    /// Accepted over drafted tokens, without the bonus token (vLLM's draft acceptance rate).
    pub mean_rate: Option<Given<Ratio>>,
    /// Probability per position that the token is accepted, given that those before it were.
    #[schemars(inner(range(min = 0.0, max = 1.0)), length(min = 1, max = 64))]
    pub conditional: Option<Vec<f64>>,
    /// Probability per position that the token and all before it are accepted (vLLM's per-position rates). Never
    /// rises.
    #[schemars(inner(range(min = 0.0, max = 1.0)), length(min = 1, max = 64))]
    pub cumulative: Option<Vec<f64>>,
    /// Cycles counted by the number of accepted drafted tokens: 0, 1, 2, ...; counts or shares.
    #[schemars(inner(range(min = 0.0, max = 1e15)), length(min = 1, max = 65))]
    pub histogram: Option<Vec<f64>>,
    /// A tree of drafted tokens.
    pub tree: Option<TreeKeys>,
    /// A file with one of the other keys, at its top or under `acceptance`, relative to the scenario.
    pub file: Option<String>,
}

/// Acceptance in a tree of drafted tokens.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeKeys {
    /// Probability that the accepted child is the one ranked first, second, ... Their sum is at most 1.
    #[schemars(inner(range(min = 0.0, max = 1.0)), length(min = 1, max = 64))]
    pub ranks: Vec<f64>,
    /// Nodes of the tree, root included: the rows that are verified. Default: draft_tokens.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1024))]
    pub nodes: Option<u32>,
    /// Levels of the tree, root included. Default: steps + 1.
    #[serde(default)]
    #[schemars(range(min = 1, max = 65))]
    pub levels: Option<u32>,
}
