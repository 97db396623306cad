//! One stretch of decoding, in one vocabulary for all servers.

use serde::Serialize;

use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// Whose words a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// SGLang.
    Sglang,
    /// vLLM with its second engine, V1.
    Vllm,
    /// vLLM before it, V0: counters since the start of the server.
    VllmV0,
    /// TensorRT-LLM.
    TensorRt,
    /// llama.cpp.
    LlamaCpp,
}

impl Server {
    /// Its name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sglang => "SGLang",
            Self::Vllm => "vLLM",
            Self::VllmV0 => "vLLM (V0)",
            Self::TensorRt => "TensorRT-LLM",
            Self::LlamaCpp => "llama.cpp",
        }
    }
}

/// Counted drafts of an interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Counted {
    /// Draft and verify cycles, over all requests.
    pub drafts: u64,
    /// Drafted tokens; 0 where they are not told.
    pub drafted: u64,
    /// Accepted drafted tokens, without bonus tokens.
    pub accepted: u64,
    /// Accepted at positions 1 ... k: cycles that accepted at least so many. Empty where positions are not told.
    pub positions: Vec<u64>,
    /// Whether positions were printed as rounded rates, so that each count may be off by its rounding.
    pub rounded: bool,
}

impl Counted {
    /// What came on top of earlier counts; none where one of them fell.
    pub fn since(&self, before: &Self) -> Option<Self> {
        if self.positions.len() != before.positions.len() {
            return None;
        }
        let pairs = self.positions.iter().zip(&before.positions);
        Some(Self {
            drafts: self.drafts.checked_sub(before.drafts)?,
            drafted: self.drafted.checked_sub(before.drafted)?,
            accepted: self.accepted.checked_sub(before.accepted)?,
            positions: pairs.map(|(now, before)| now.checked_sub(*before)).collect::<Option<_>>()?,
            rounded: self.rounded || before.rounded,
        })
    }

    /// Earlier counts and these.
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        let mut sum = self.clone();
        sum.take(more);
        sum
    }

    /// Adds counts up. Positions that are not told for all drafts are told for none.
    pub(super) fn take(&mut self, more: &Self) {
        if more.positions.is_empty() && !self.positions.is_empty()
            || self.positions.is_empty() && self.drafts > 0
        {
            self.positions.clear();
        } else {
            self.positions.resize(self.positions.len().max(more.positions.len()), 0);
            for (sum, more) in self.positions.iter_mut().zip(&more.positions) {
                *sum = sum.saturating_add(*more);
            }
        }
        self.drafts = self.drafts.saturating_add(more.drafts);
        self.drafted = self.drafted.saturating_add(more.drafted);
        self.accepted = self.accepted.saturating_add(more.accepted);
        self.rounded |= more.rounded;
    }

    /// Mean accept length; none without drafts.
    pub fn accept_length(&self) -> Option<AcceptLength> {
        (self.drafts > 0).then(|| AcceptLength::new(1.0 + self.accepted as f64 / self.drafts as f64))
    }
}

/// From which printed figures a cycle time follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Basis {
    /// running / throughput: a step, since nothing is drafted.
    Step,
    /// running · accept length / throughput.
    Throughput,
    /// running · interval / drafts.
    Drafts,
    /// Printed by the server itself.
    Printed,
}

/// A stretch of decoding as a server tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecodeInterval {
    /// Line of the file, from 1; the last one where a record takes several.
    pub line: u64,
    /// Whose words.
    pub server: Server,
    /// How often the server had started before, as far as the file tells.
    pub run: u32,
    /// Data-parallel replica.
    pub replica: u32,
    /// The clock of the line; years are missing in some logs, so that only differences mean anything.
    pub clock: Option<Seconds>,
    /// Requests at the end of the interval.
    pub running: Option<u32>,
    /// Requests that waited then.
    pub queued: Option<u32>,
    /// Generated tokens per second over all requests of the replica.
    pub throughput: Option<TokensPerSecond>,
    /// Mean accept length, bonus token included; none without speculation.
    pub accept_length: Option<AcceptLength>,
    /// Half of the last printed place of the accept length.
    pub rounding: f64,
    /// Whether the pass ran in a CUDA graph.
    pub graph: Option<bool>,
    /// What was counted, where it was.
    pub counted: Option<Counted>,
    /// Drafted tokens per cycle k, where the line tells.
    pub drafted_tokens: Option<u32>,
    /// Decode passes in the interval; each is a cycle of every request that runs.
    pub passes: Option<u32>,
    /// How long the interval was.
    pub length: Option<Seconds>,
    /// A cycle as the server printed it.
    pub printed_cycle: Option<Seconds>,
    /// Whether prompts were prefilled inside.
    pub prefill: bool,
    /// Whether as many requests ran before.
    pub steady: bool,
    /// Whether it reaches back to the start of the server, warm-up and other workloads included.
    pub since_boot: bool,
}

impl DecodeInterval {
    /// An interval of which nothing is known yet.
    pub fn new(server: Server, line: u64) -> Self {
        Self {
            line,
            server,
            run: 0,
            replica: 0,
            clock: None,
            running: None,
            queued: None,
            throughput: None,
            accept_length: None,
            rounding: 0.0,
            graph: None,
            counted: None,
            drafted_tokens: None,
            passes: None,
            length: None,
            printed_cycle: None,
            prefill: false,
            steady: false,
            since_boot: false,
        }
    }

    /// One draft/verify cycle, or one decode step where nothing is drafted, and from which figures it follows.
    pub fn cycle(&self) -> Option<(Seconds, Basis)> {
        if let Some(cycle) = self.printed_cycle {
            return Some((cycle, Basis::Printed));
        }
        let running = self.running.filter(|r| *r > 0).map(f64::from)?;
        if let (Some(counted), Some(length)) = (&self.counted, self.length)
            && counted.drafts > 0
        {
            return usable(length * running / counted.drafts as f64, Basis::Drafts);
        }
        let throughput = self.throughput.filter(|t| t.get() > 0.0)?;
        match self.accept_length {
            Some(length) => {
                usable(Seconds::new(running * length.get() / throughput.get()), Basis::Throughput)
            }
            None => usable(Seconds::new(running / throughput.get()), Basis::Step),
        }
    }

    /// Draft/verify cycles in it, over all requests: as counted, else passes times requests.
    pub fn cycles(&self) -> Option<f64> {
        match &self.counted {
            Some(counted) => Some(counted.drafts as f64),
            None => Some(f64::from(self.passes?) * f64::from(self.running?)),
        }
    }

    /// Whether its cycle time is one of undisturbed decoding, as far as the file tells.
    pub fn is_undisturbed(&self) -> bool {
        self.steady && !self.prefill
    }
}

fn usable(cycle: Seconds, basis: Basis) -> Option<(Seconds, Basis)> {
    (cycle.is_finite() && cycle.get() > 0.0).then_some((cycle, basis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(running: u32, length: Option<f64>, throughput: f64) -> f64 {
        let mut interval = DecodeInterval::new(Server::Sglang, 1);
        interval.running = Some(running);
        interval.accept_length = length.map(AcceptLength::new);
        interval.throughput = Some(TokensPerSecond::new(throughput));
        interval.cycle().expect("all known").0.ms()
    }

    /// sglang#11948, tokenspeed#1305, sglang PR#23803, and a line without speculation.
    #[test]
    fn published_lines_give_their_cycle_times() {
        let four = [(1.95, 178.86), (1.80, 165.41), (2.05, 188.68), (1.80, 165.59)];
        for ((length, throughput), expected) in four.into_iter().zip([10.90, 10.88, 10.86, 10.87]) {
            assert!((cycle(1, Some(length), throughput) - expected).abs() < 0.005);
        }
        assert!((cycle(1, Some(3.93), 149.37) - 26.3).abs() < 0.05);
        assert!((cycle(1, Some(1.94), 74.74) - 26.0).abs() < 0.05);
        assert!((cycle(48, Some(2.94), 2849.4) - 49.5).abs() < 0.05);
        assert!((cycle(48, Some(2.80), 2780.0) - 48.3).abs() < 0.05);
        assert!((cycle(1, None, 97.52) - 10.25).abs() < 0.005);
    }

    #[test]
    fn drafts_in_a_known_time_decide_over_throughput() {
        let mut interval = DecodeInterval::new(Server::Vllm, 1);
        interval.running = Some(1);
        interval.throughput = Some(TokensPerSecond::new(1.0));
        interval.accept_length = Some(AcceptLength::new(2.56));
        interval.length = Some(Seconds::new(10.0));
        interval.counted = Some(Counted { drafts: 297, ..Counted::default() });
        let (cycle, basis) = interval.cycle().expect("known");
        assert!((cycle.ms() - 33.7).abs() < 0.05);
        assert_eq!(basis, Basis::Drafts);
        interval.running = Some(0);
        assert_eq!(interval.cycle(), None);
    }
}
