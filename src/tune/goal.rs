//! What is sought.

use crate::units::{Seconds, TokensPerSecond};

/// By what settings are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Tokens per second of the whole batch.
    Throughput,
    /// Mean time per token of one request. In one cell it ranks as throughput does; between batch sizes it does not.
    Latency,
    /// Throughput among the settings whose mean time per token keeps the limit.
    Goodput,
}

/// The objective with its limit and load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// By what settings are ranked.
    pub objective: Objective,
    /// Longest mean time per token of one request.
    pub slo: Option<Seconds>,
    /// Tokens per second that the fleet must deliver.
    pub load: Option<TokensPerSecond>,
}

impl Goal {
    /// Whether a mean time per token keeps the limit.
    pub fn keeps(&self, per_token: Seconds) -> bool {
        self.slo.is_none_or(|limit| per_token <= limit)
    }

    /// The rank of a setting: what keeps the limit comes first, and where nothing does, the fastest per request.
    pub(super) fn rank(&self, throughput: TokensPerSecond, per_token: Seconds) -> (bool, f64) {
        let keeps = self.objective != Objective::Goodput || self.keeps(per_token);
        let by_rate = keeps && self.objective != Objective::Latency;
        (keeps, if by_rate { throughput.get() } else { 1.0 / per_token.get() })
    }
}
