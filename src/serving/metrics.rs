//! What a simulation counts while it runs. Parts of it add up exactly, in any order.

use super::batch_means::BatchMeans;
use super::config::{ServingConfig, Slo};
use super::latency::Latencies;
use super::request::{Request, RequestRecord};
use super::timeline::Timeline;
use crate::des::SimTime;
use crate::units::Seconds;

/// Limits of the SLO in picoseconds; [`SimTime::MAX`] is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct SloLimits {
    ttft: SimTime,
    tpot: SimTime,
    pub(super) itl: SimTime,
    e2e: SimTime,
}

impl SloLimits {
    fn new(slo: Slo) -> Self {
        let limit = |time: Option<Seconds>| time.map_or(SimTime::MAX, SimTime::from_seconds);
        Self { ttft: limit(slo.ttft), tpot: limit(slo.tpot), itl: limit(slo.itl), e2e: limit(slo.e2e) }
    }
}

/// Plain counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) arrived: u64,
    pub(super) completed: u64,
    pub(super) rejected: u64,
    /// Completed within the SLO, and their output tokens.
    pub(super) good: u64,
    pub(super) good_tokens: u64,
    pub(super) steps: u64,
    pub(super) preemptions: u64,
    /// Tokens delivered.
    pub(super) output: u64,
    /// Prompt tokens computed; of them again, after a preemption.
    pub(super) prefill: u64,
    pub(super) recomputed: u64,
    /// Rows decoded or verified, and the tokens delivered from them.
    pub(super) rows: u64,
    pub(super) decoded: u64,
    /// Decode steps of requests, speculative or not.
    pub(super) decodes: u64,
    pub(super) blocks_taken: u64,
    pub(super) blocks_returned: u64,
    /// Time in steps \[ps\], over all replicas.
    pub(super) busy: u128,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.completed += other.completed;
        self.rejected += other.rejected;
        self.good += other.good;
        self.good_tokens += other.good_tokens;
        self.steps += other.steps;
        self.preemptions += other.preemptions;
        self.output += other.output;
        self.prefill += other.prefill;
        self.recomputed += other.recomputed;
        self.rows += other.rows;
        self.decoded += other.decoded;
        self.decodes += other.decodes;
        self.blocks_taken += other.blocks_taken;
        self.blocks_returned += other.blocks_returned;
        self.busy += other.busy;
    }
}

/// All that is counted.
#[derive(Debug, Clone)]
pub(super) struct Metrics {
    pub(super) counts: Counts,
    pub(super) wait: Latencies,
    pub(super) wait_means: Vec<BatchMeans>,
    pub(super) ttft: Latencies,
    pub(super) tpot: Latencies,
    pub(super) itl: Latencies,
    pub(super) e2e: Latencies,
    /// Verify passes by accept length: entry L counts those that yield L, before the cut at the output's end.
    pub(super) accepted: Vec<u64>,
    pub(super) timeline: Timeline,
    /// Most KV blocks in use on one replica.
    pub(super) peak_blocks: u32,
    pub(super) slo: SloLimits,
    keep_records: bool,
    pub(super) records: Vec<RequestRecord>,
}

impl Metrics {
    /// For one lane; `most_accepted` is the longest accept length.
    pub(super) fn new(config: &ServingConfig, most_accepted: u32) -> Self {
        Self {
            counts: Counts::default(),
            wait: Latencies::new(),
            wait_means: vec![BatchMeans::new()],
            ttft: Latencies::new(),
            tpot: Latencies::new(),
            itl: Latencies::new(),
            e2e: Latencies::new(),
            accepted: vec![0; most_accepted as usize + 1],
            timeline: Timeline::new(),
            peak_blocks: 0,
            slo: SloLimits::new(config.slo),
            keep_records: config.keep_records,
            records: Vec::new(),
        }
    }

    /// A request's first step begins.
    pub(super) fn started(&mut self, request: &Request, now: SimTime) {
        let wait = now - request.arrived;
        self.wait.record(wait);
        self.wait_means[0].record(wait.ps());
    }

    /// A request has delivered its last token.
    pub(super) fn completed(&mut self, request: &Request, replica: u32, now: SimTime) {
        let (ttft, e2e) = (request.first - request.arrived, now - request.arrived);
        let after_first = u64::from(request.output - 1);
        let decode = now - request.first;
        self.counts.completed += 1;
        self.e2e.record(e2e);
        if let Some(tpot) = (decode.ps() + after_first / 2).checked_div(after_first) {
            self.tpot.record(SimTime::from_ps(tpot));
        }
        let slow = u128::from(decode.ps()) > u128::from(self.slo.tpot.ps()) * u128::from(after_first);
        if ttft <= self.slo.ttft && e2e <= self.slo.e2e && !slow && !request.late {
            self.counts.good += 1;
            self.counts.good_tokens += u64::from(request.output);
        }
        if self.keep_records {
            self.records.push(request.record(replica, now));
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.wait.merge(&other.wait);
        self.wait_means.extend(other.wait_means);
        self.ttft.merge(&other.ttft);
        self.tpot.merge(&other.tpot);
        self.itl.merge(&other.itl);
        self.e2e.merge(&other.e2e);
        self.accepted.iter_mut().zip(&other.accepted).for_each(|(mine, theirs)| *mine += theirs);
        self.timeline.merge(&other.timeline);
        self.peak_blocks = self.peak_blocks.max(other.peak_blocks);
        self.records.extend(other.records);
    }
}
