//! What is simulated.

use std::sync::Arc;

use super::arrivals::Arrivals;
use super::drafting::{Drafting, Plan};
use super::error::ServingError;
use super::lengths::{Length, Lengths};
use super::router::Routing;
use super::trace::Trace;
use crate::units::Seconds;

/// The KV cache of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kv {
    /// Blocks in all.
    pub blocks: u32,
    /// Tokens of a block.
    pub block_size: u32,
}

/// Times within which a request counts as served; none is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Slo {
    /// To the first token.
    pub ttft: Option<Seconds>,
    /// Per output token after the first, averaged over the request.
    pub tpot: Option<Seconds>,
    /// Between any two deliveries of the request.
    pub itl: Option<Seconds>,
    /// From arrival to the last token.
    pub e2e: Option<Seconds>,
}

/// A serving simulation. Names follow `simulation.serving` of the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ServingConfig {
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// How long prompts and outputs are.
    pub lengths: Lengths,
    /// Requests in all; a shorter trace starts again.
    pub requests: u64,
    /// Recorded requests, for arrivals or lengths that come from a trace.
    pub trace: Option<Arc<Trace>>,
    /// Most requests that run together on a replica.
    pub max_requests: u32,
    /// Tokens of one step, prompts and verified rows together.
    pub token_budget: u32,
    /// The KV cache of a replica.
    pub kv: Kv,
    /// Replicas of the server.
    pub replicas: u32,
    /// Which replica takes a request.
    pub router: Routing,
    /// Speculation; none decodes one token a step.
    pub drafting: Option<Drafting>,
    /// Limits for goodput.
    pub slo: Slo,
    /// Simulated time at which to stop; none runs until every request is answered.
    pub horizon: Option<Seconds>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Whether to keep a record of every completed request; memory then grows with their number.
    pub keep_records: bool,
}

impl Default for ServingConfig {
    /// The defaults of the scenario: 1,000 requests of 2,048 and 256 tokens, one a second, 8,192 tokens a step, 48
    /// requests together; 65,536 KV blocks of 16 tokens (assumed: the scenario takes what the memory holds).
    fn default() -> Self {
        Self {
            arrivals: Arrivals::Poisson { interval: Seconds::new(1.0) },
            lengths: Lengths::Drawn { prompt: Length::Fixed(2048), output: Length::Fixed(256) },
            requests: 1000,
            trace: None,
            max_requests: 48,
            token_budget: 8192,
            kv: Kv { blocks: 65_536, block_size: 16 },
            replicas: 1,
            router: Routing::RoundRobin,
            drafting: None,
            slo: Slo::default(),
            horizon: None,
            seed: 0,
            keep_records: false,
        }
    }
}

impl ServingConfig {
    /// Refuses what cannot be simulated.
    pub fn check(&self) -> Result<(), ServingError> {
        self.arrivals.check()?;
        match self.lengths {
            Lengths::Drawn { prompt, output } => {
                prompt.check("the length of a prompt")?;
                output.check("the length of an output")?;
            }
            Lengths::Trace => {}
        }
        let traced = self.arrivals == Arrivals::Trace || self.lengths == Lengths::Trace;
        if traced && self.trace.is_none() {
            return Err(ServingError::NoTrace);
        }
        for (what, value) in [
            ("max_requests", self.max_requests),
            ("token_budget", self.token_budget),
            ("kv_blocks", self.kv.blocks),
            ("block_size", self.kv.block_size),
            ("replicas", self.replicas),
        ] {
            if value == 0 {
                return Err(ServingError::Zero { what });
            }
        }
        let rows = Plan::new(self.drafting.as_ref()).most_rows();
        if rows > self.token_budget {
            return Err(ServingError::Budget { rows, budget: self.token_budget });
        }
        let Slo { ttft, tpot, itl, e2e } = self.slo;
        for (what, time) in [("slo.ttft", ttft), ("slo.tpot", tpot), ("slo.itl", itl), ("slo.e2e", e2e)] {
            if let Some(time) = time {
                super::error::positive(what, time.get())?;
            }
        }
        if let Some(horizon) = self.horizon {
            super::error::positive("horizon", horizon.get())?;
        }
        self.check_span()
    }

    /// Simulated time ends after 213 days; a run must have room within.
    fn check_span(&self) -> Result<(), ServingError> {
        let (interval, requests) = match (self.arrivals, &self.trace) {
            (
                Arrivals::Poisson { interval }
                | Arrivals::Gamma { interval, .. }
                | Arrivals::Constant { interval },
                _,
            ) => (interval, self.requests),
            (Arrivals::Trace, Some(trace)) => {
                let rounds = self.requests / trace.requests().len() as u64;
                (trace.period().seconds(), rounds + 1)
            }
            _ => (Seconds::ZERO, 0),
        };
        let span = interval * requests as f64;
        if span.get() > LONGEST { Err(ServingError::Span { days: span.get() / 86_400.0 }) } else { Ok(()) }
    }
}

/// Longest span of arrivals \[s\]: 100 days, half of what picoseconds in 64 bits can hold.
const LONGEST: f64 = 100.0 * 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speculation::{Acceptance, DraftShape};

    #[test]
    fn impossible_settings_are_errors() {
        let with = |change: &dyn Fn(&mut ServingConfig)| {
            let mut config = ServingConfig::default();
            change(&mut config);
            config.check().map_err(|e| e.to_string())
        };
        assert_eq!(with(&|_| {}), Ok(()));
        let error = |change: &dyn Fn(&mut ServingConfig)| with(change).expect_err("impossible");
        assert_eq!(error(&|c| c.max_requests = 0), "max_requests must be at least 1");
        assert!(error(&|c| c.lengths = Lengths::Trace).contains("no trace is given"));
        assert!(error(&|c| c.arrivals = Arrivals::Closed { users: 0 }).contains("users"));
        assert!(error(&|c| c.slo.itl = Some(Seconds::new(-1.0))).contains("slo.itl"));
        let law = Acceptance::geometric(0.5).expect("valid");
        assert_eq!(
            error(&|c| {
                c.token_budget = 3;
                c.drafting = Some(Drafting::fixed(law.clone(), DraftShape::chain(3)));
            }),
            "the 4 rows that one request verifies do not fit the token budget of 3"
        );
        let slow = Arrivals::Constant { interval: Seconds::new(86_400.0) };
        assert!(error(&|c| c.arrivals = slow).contains("1000 days"));
    }
}
