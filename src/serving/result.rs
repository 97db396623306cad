//! What a simulation answers.

use super::batch_means::BatchMeans;
use super::latency::Latency;
use super::metrics::Metrics;
use super::request::RequestRecord;
use super::timeline::Load;
use crate::des::SimTime;
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// How a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every request was answered.
    Finished,
    /// The horizon was reached.
    Horizon,
    /// The caller stopped it: the result tells of what was done until then.
    Interrupted,
}

/// Where the requests are at the end: arrived = completed + rejected + running + waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCounts {
    /// Those that arrived.
    pub arrived: u64,
    /// Those that were answered.
    pub completed: u64,
    /// Those that the whole KV cache could not hold.
    pub rejected: u64,
    /// Those in a batch at the end.
    pub running: u64,
    /// Those in a queue at the end.
    pub waiting: u64,
}

/// Tokens in and out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Delivered.
    pub output: u64,
    /// Prompt tokens computed, again after preemptions too.
    pub prefill: u64,
    /// Of those, computed again.
    pub recomputed: u64,
    /// Rows decoded or verified.
    pub rows: u64,
}

/// What was served within the SLO.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Goodput {
    /// Requests completed within it.
    pub requests: u64,
    /// Their share of the completed ones, 0 to 1.
    pub share: f64,
    /// Such requests per second \[1/s\].
    pub request_rate: f64,
    /// Their output tokens per second.
    pub throughput: TokensPerSecond,
}

/// Use of the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KvUse {
    /// Blocks of all replicas.
    pub blocks: u64,
    /// Mean share in use over time, 0 to 1.
    pub mean_share: f64,
    /// Most blocks in use on one replica.
    pub peak: u32,
    /// Blocks given to requests.
    pub taken: u64,
    /// Blocks that came back: taken = returned + held.
    pub returned: u64,
    /// Blocks held at the end.
    pub held: u64,
}

/// Means over a span of time, over all replicas together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelinePoint {
    /// Start of the span.
    pub from: Seconds,
    /// End of the span.
    pub to: Seconds,
    /// Requests that wait.
    pub waiting: f64,
    /// Requests that run.
    pub running: f64,
    /// KV blocks in use.
    pub kv_blocks: f64,
}

/// The answer. Two runs with the same configuration and cost are equal, bit for bit.
#[derive(Debug, Clone, PartialEq)]
pub struct ServingResult {
    /// How it ended.
    pub end: End,
    /// Its seed.
    pub seed: u64,
    /// Simulated time, from 0 to the last event or the horizon.
    pub span: Seconds,
    /// Events handled: arrivals and ends of steps.
    pub events: u64,
    /// Steps of all replicas.
    pub steps: u64,
    /// Share of the replicas' time spent in steps, 0 to 1.
    pub busy_share: f64,
    /// Requests decoding in a step, averaged over all steps.
    pub mean_batch: f64,
    /// Where the requests are.
    pub requests: RequestCounts,
    /// Tokens in and out.
    pub tokens: TokenCounts,
    /// Output tokens delivered per second of the span.
    pub throughput: TokensPerSecond,
    /// Requests completed per second of the span \[1/s\].
    pub request_rate: f64,
    /// What was served within the SLO.
    pub goodput: Goodput,
    /// Arrival to the start of the first step.
    pub wait: Latency,
    /// Standard error of the mean wait, by batch means; none below 16 requests a lane.
    pub wait_error: Option<Seconds>,
    /// Arrival to the first token.
    pub ttft: Latency,
    /// Per request: time from the first to the last token over the tokens after the first. Outputs of one token have none.
    pub tpot: Latency,
    /// Time between two deliveries of a request: with speculation one delivery carries several tokens.
    pub itl: Latency,
    /// Arrival to the last token.
    pub e2e: Latency,
    /// Mean accept length of the verify passes, as drawn: not cut where an output ends. 1 without speculation.
    pub accept_length: AcceptLength,
    /// Verify passes by accept length: entry L counts those that yield L tokens; entry 0 is 0.
    pub accept_histogram: Vec<u64>,
    /// Tokens delivered per decode step and request, cut where outputs end. 1 without speculation.
    pub delivered_per_pass: f64,
    /// Use of the KV cache.
    pub kv: KvUse,
    /// How often a request lost its blocks and had to compute its tokens again.
    pub preemptions: u64,
    /// Mean requests in the system over time.
    pub mean_in_system: f64,
    /// Queue, running requests and KV use over time, at most 512 spans.
    pub timeline: Vec<TimelinePoint>,
    /// Completed requests in the order of arrival, if they were to be kept.
    pub records: Vec<RequestRecord>,
}

/// What the metrics do not know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline {
    pub(super) end: End,
    pub(super) seed: u64,
    pub(super) span: SimTime,
    pub(super) events: u64,
    pub(super) replicas: u32,
    pub(super) blocks: u32,
    pub(super) running: u64,
    pub(super) waiting: u64,
    pub(super) held: u64,
}

impl ServingResult {
    pub(super) fn new(outline: Outline, metrics: Metrics) -> Self {
        let counts = metrics.counts;
        let span = outline.span;
        let per_second = |n: u64| if span == SimTime::ZERO { 0.0 } else { n as f64 / span.seconds().get() };
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let whole = span.ps() as f64;
        let total = metrics.timeline.total();
        let blocks = u64::from(outline.blocks) * u64::from(outline.replicas);
        let passes: u64 = metrics.accepted.iter().sum();
        let accepted: u64 = metrics.accepted.iter().zip(0_u64..).map(|(n, length)| n * length).sum();
        let mut records = metrics.records;
        records.sort_unstable_by_key(|record| record.id);
        Self {
            end: outline.end,
            seed: outline.seed,
            span: span.seconds(),
            events: outline.events,
            steps: counts.steps,
            busy_share: share(counts.busy as f64, whole * f64::from(outline.replicas)),
            mean_batch: share(counts.decodes as f64, counts.steps as f64),
            requests: RequestCounts {
                arrived: counts.arrived,
                completed: counts.completed,
                rejected: counts.rejected,
                running: outline.running,
                waiting: outline.waiting,
            },
            tokens: TokenCounts {
                output: counts.output,
                prefill: counts.prefill,
                recomputed: counts.recomputed,
                rows: counts.rows,
            },
            throughput: TokensPerSecond::new(per_second(counts.output)),
            request_rate: per_second(counts.completed),
            goodput: Goodput {
                requests: counts.good,
                share: share(counts.good as f64, counts.completed as f64),
                request_rate: per_second(counts.good),
                throughput: TokensPerSecond::new(per_second(counts.good_tokens)),
            },
            wait: metrics.wait.summary(),
            wait_error: standard_error(&metrics.wait_means),
            ttft: metrics.ttft.summary(),
            tpot: metrics.tpot.summary(),
            itl: metrics.itl.summary(),
            e2e: metrics.e2e.summary(),
            accept_length: AcceptLength::new(if passes == 0 { 1.0 } else { accepted as f64 / passes as f64 }),
            accept_histogram: metrics.accepted,
            delivered_per_pass: if counts.decodes == 0 {
                1.0
            } else {
                counts.decoded as f64 / counts.decodes as f64
            },
            kv: KvUse {
                blocks,
                mean_share: share(total.blocks as f64, whole * blocks as f64),
                peak: metrics.peak_blocks,
                taken: counts.blocks_taken,
                returned: counts.blocks_returned,
                held: outline.held,
            },
            preemptions: counts.preemptions,
            mean_in_system: share((total.waiting + total.running) as f64, whole),
            timeline: metrics.timeline.spans(span).map(point).collect(),
            records,
        }
    }
}

fn point((from, to, load): (SimTime, SimTime, Load)) -> TimelinePoint {
    let length = to.since(from).ps().max(1) as f64;
    TimelinePoint {
        from: from.seconds(),
        to: to.seconds(),
        waiting: load.waiting as f64 / length,
        running: load.running as f64 / length,
        kv_blocks: load.blocks as f64 / length,
    }
}

/// Of the mean over all lanes, weighted by their values; the lanes are independent.
fn standard_error(lanes: &[BatchMeans]) -> Option<Seconds> {
    let (mut counted, mut variance) = (0, 0.0);
    for lane in lanes {
        let (n, of_mean) = lane.variance()?;
        counted += n;
        variance += (n as f64).powi(2) * of_mean;
    }
    Some(Seconds::new(variance.sqrt() / counted as f64 * 1e-12))
}
