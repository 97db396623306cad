//! Requests served with speculation and without, and whether it pays under their load.

use std::ops::ControlFlow;

use super::load::{LoadPoint, loads};
use super::prices::StepPrices;
use super::watch::{Stage, Watch};
use crate::scenario::ModelledSetup;
use crate::serving::{
    Arrivals, End, Length, Lengths, Progress, ServingConfig, ServingResult, Slo, StepCost, simulate,
};
use crate::units::Seconds;

/// What decides whether speculation pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Requests per second answered within the SLO, where there is one, a side answers at least 5 % of them in time, and
    /// the sides differ by more than 1 %.
    Goodput,
    /// Output tokens per second, else, where the sides differ by more than 2 %: the load is more than one can serve.
    Throughput,
    /// Mean time from arrival to the last token, else: both serve the load.
    Latency,
}

/// How the two sides compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Speculation is better by more than 1 %.
    Wins,
    /// It is worse by more than 1 %.
    Loses,
    /// Neither.
    Ties,
}

/// The verdict under a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// What was compared.
    pub by: Measure,
    /// With speculation over without, for latencies the other way round: above 1 speculation is better. Infinite where
    /// nothing is answered in time without.
    pub ratio: f64,
    /// Which is better.
    pub outcome: Outcome,
}

/// Throughputs closer than this are equal.
const SAME_THROUGHPUT: f64 = 0.02;
/// Where neither side answers this share of the requests in time, its SLO says nothing about the load.
const FEW: f64 = 0.05;
/// Sides closer than this tie, as in `run`.
const TIE: f64 = 0.01;

impl Comparison {
    /// Compares two results under one configuration.
    pub fn of(with: &ServingResult, without: &ServingResult, slo: &Slo) -> Self {
        let throughput = with.throughput.get() / without.throughput.get();
        let goodput = with.goodput.request_rate / without.goodput.request_rate;
        let in_time = with.goodput.share.max(without.goodput.share);
        let (by, ratio) = if *slo != Slo::default() && in_time >= FEW && (goodput - 1.0).abs() > TIE {
            (Measure::Goodput, goodput)
        } else if (throughput - 1.0).abs() > SAME_THROUGHPUT {
            (Measure::Throughput, throughput)
        } else {
            (Measure::Latency, without.e2e.mean / with.e2e.mean)
        };
        let outcome = if (ratio - 1.0).abs() <= TIE || ratio.is_nan() {
            Outcome::Ties
        } else if ratio > 1.0 {
            Outcome::Wins
        } else {
            Outcome::Loses
        };
        Self { by, ratio, outcome }
    }
}

/// Requests served with speculation and without.
#[derive(Debug, Clone, PartialEq)]
pub struct ServingAnswer {
    /// What was simulated.
    pub config: ServingConfig,
    /// Requests that arrive in a second; none where users wait for their answers.
    pub offered: Option<f64>,
    /// With speculation.
    pub with: ServingResult,
    /// Without.
    pub without: ServingResult,
    /// Which is better.
    pub comparison: Comparison,
    /// The same server under other loads, rising.
    pub loads: Vec<LoadPoint>,
    /// Whether it was stopped before all requests were answered.
    pub interrupted: bool,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// Simulates the same requests on a server that speculates and on one that does not, then other loads.
///
/// # Errors
/// A sentence about steps that cannot be priced, or settings that cannot be simulated.
pub fn simulate_serving(
    setup: &ModelledSetup,
    config: &ServingConfig,
    notes: Vec<String>,
    watch: Watch,
) -> Result<ServingAnswer, String> {
    let prices = StepPrices::new(setup, config.max_requests, config.token_budget, longest(config))
        .map_err(|error| error.to_string())?;
    let plain = ServingConfig { drafting: None, ..config.clone() };
    prices.drafting.covers(config).map_err(|error| error.to_string())?;
    let (with, without) = rayon::join(
        || one(config, &prices.drafting, Stage::WithSpeculation, watch),
        || one(&plain, &prices.plain, Stage::WithoutSpeculation, watch),
    );
    let (with, without) = (with?, without?);
    let mut interrupted = [&with, &without].iter().any(|side| side.end == End::Interrupted);
    let loads = if interrupted { None } else { loads(config, &prices, watch)? };
    interrupted |= loads.is_none();
    Ok(ServingAnswer {
        comparison: Comparison::of(&with, &without, &config.slo),
        offered: offered(config),
        config: config.clone(),
        with,
        without,
        loads: loads.unwrap_or_default(),
        interrupted,
        notes,
    })
}

/// One side.
pub(super) fn one(
    config: &ServingConfig,
    cost: &impl StepCost,
    stage: Stage,
    watch: Watch,
) -> Result<ServingResult, String> {
    let share = |progress: Progress| progress.done as f64 / progress.requests.max(1) as f64;
    let mut told = |progress: Progress| -> ControlFlow<()> {
        let go_on = watch(stage, share(progress));
        // All done is done, whatever comes now.
        if progress.done == progress.requests { ControlFlow::Continue(()) } else { go_on }
    };
    simulate(config, cost, &mut told).map_err(|error| error.to_string())
}

/// A context that few requests exceed \[tokens\].
fn longest(config: &ServingConfig) -> u32 {
    let law = |length: Length| match length {
        Length::Fixed(tokens) => f64::from(tokens),
        Length::Lognormal { mean, variation } => mean * (1.0 + 4.0 * variation),
        Length::Exponential { mean } => 5.0 * mean,
    };
    match (config.lengths, &config.trace) {
        (Lengths::Drawn { prompt, output }, _) => (law(prompt) + law(output)) as u32,
        (Lengths::Trace, Some(trace)) => trace
            .requests()
            .iter()
            .map(|request| request.prompt.saturating_add(request.output))
            .max()
            .unwrap_or(1),
        (Lengths::Trace, None) => 1,
    }
}

/// Requests that arrive in a second.
fn offered(config: &ServingConfig) -> Option<f64> {
    match (config.arrivals, &config.trace) {
        (
            Arrivals::Poisson { interval }
            | Arrivals::Gamma { interval, .. }
            | Arrivals::Constant { interval },
            _,
        ) => Some(1.0 / interval.get()),
        (Arrivals::Trace, Some(trace)) => {
            let requests = trace.requests();
            let span = requests[requests.len() - 1].at.seconds() - requests[0].at.seconds();
            (span > Seconds::ZERO).then(|| (requests.len() - 1) as f64 / span.get())
        }
        _ => None,
    }
}

/// Whether arrivals wait for answers.
pub(super) const fn is_closed(config: &ServingConfig) -> bool {
    matches!(config.arrivals, Arrivals::Closed { .. })
}
