//! Runs a simulation in rounds, so that the caller sees its progress and can stop it.
//!
//! Open arrivals are drawn in order, a few thousand at a time; then every lane runs up to just before the last of
//! them, in parallel. Lanes share nothing, and what they counted is added in their order, so that the number of
//! threads changes nothing.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::arrivals::{Arrivals, Source};
use super::config::ServingConfig;
use super::cost::StepCost;
use super::drafting::Plan;
use super::error::ServingError;
use super::lane::Lane;
use super::metrics::Metrics;
use super::replica::{Replica, StepLimits};
use super::result::{End, Outline, ServingResult};
use super::router::{Router, Routing};
use crate::des::SimTime;
use crate::units::{Seconds, TokensPerSecond};

/// Requests drawn ahead.
const AHEAD: usize = 4096;

/// Events of a lane between two reports of progress: a few milliseconds of work.
const EVENTS: u64 = 50_000;

/// Lanes at most: enough for any machine, few enough for their histograms.
const LANES: u32 = 32;

/// How far a simulation is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Simulated time.
    pub now: Seconds,
    /// Events handled.
    pub events: u64,
    /// Requests in all.
    pub requests: u64,
    /// Requests that arrived.
    pub arrived: u64,
    /// Requests answered or rejected.
    pub done: u64,
    /// Output tokens per second so far.
    pub throughput: TokensPerSecond,
}

/// Simulates. `progress` is called every few milliseconds of work; if it breaks, the result tells of what was done.
///
/// # Errors
/// If the configuration cannot be simulated.
pub fn simulate<C: StepCost + ?Sized>(
    config: &ServingConfig,
    cost: &C,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ServingResult, ServingError> {
    config.check()?;
    let plan = Plan::new(config.drafting.as_ref());
    Ok(Simulation::new(config, cost, &plan).run(progress))
}

/// Simulates the same configuration with several seeds, in parallel; the results are in the order of the seeds.
///
/// # Errors
/// If the configuration cannot be simulated.
pub fn simulate_seeds<C: StepCost + ?Sized>(
    config: &ServingConfig,
    seeds: &[u64],
    cost: &C,
) -> Result<Vec<ServingResult>, ServingError> {
    let one = |seed: &u64| {
        let config = ServingConfig { seed: *seed, ..config.clone() };
        simulate(&config, cost, &mut |_| ControlFlow::Continue(()))
    };
    seeds.par_iter().map(one).collect()
}

struct Simulation<'a, C: ?Sized> {
    config: &'a ServingConfig,
    lanes: Vec<Lane<'a, C>>,
    /// Open arrivals; a closed loop's are drawn by its lane.
    source: Option<Source>,
    router: Router,
    horizon: SimTime,
}

impl<'a, C: StepCost + ?Sized> Simulation<'a, C> {
    fn new(config: &'a ServingConfig, cost: &'a C, plan: &'a Plan) -> Self {
        let mut source = Some(Source::new(config));
        let is_closed = matches!(config.arrivals, Arrivals::Closed { .. });
        let is_coupled = is_closed || config.router == Routing::LeastRequests;
        let count = if is_coupled { 1 } else { config.replicas.min(LANES) };
        let limits = StepLimits {
            requests: config.max_requests,
            budget: config.token_budget,
            blocks: config.kv.blocks,
            block_size: config.kv.block_size,
        };
        let lanes = (0..count).map(|lane| {
            let replicas = (lane..config.replicas)
                .step_by(count as usize)
                .map(|index| Replica::new(index, limits, plan, config.seed))
                .collect();
            let router = Router::new(config.router, config.replicas, config.seed);
            let users = if is_closed { source.clone() } else { None };
            Lane::new(cost, replicas, router, users, Metrics::new(config, plan.most_accepted()))
        });
        let mut lanes: Vec<_> = lanes.collect();
        if let Arrivals::Closed { users } = config.arrivals {
            lanes[0].seat(users);
            source = None;
        }
        let router = Router::new(config.router, config.replicas, config.seed);
        let horizon = config.horizon.map_or(SimTime::MAX, SimTime::from_seconds);
        Self { config, lanes, source, router, horizon }
    }

    fn run(mut self, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> ServingResult {
        loop {
            let until = self.draw_ahead();
            loop {
                let reached = self.run_lanes(until.unwrap_or(self.horizon));
                if progress(self.progress()).is_break() {
                    return self.close(End::Interrupted);
                }
                if reached {
                    break;
                }
            }
            if until.is_none() {
                let is_open = self.source.is_some() || self.lanes.iter().any(Lane::is_open);
                return self.close(if is_open { End::Horizon } else { End::Finished });
            }
        }
    }

    /// Draws requests for the lanes. Until when these can run; none when no more requests come before the horizon.
    fn draw_ahead(&mut self) -> Option<SimTime> {
        let count = self.lanes.len() as u32;
        let source = self.source.as_mut()?;
        let mut last = SimTime::ZERO;
        for _ in 0..AHEAD {
            let Some(arrival) = source.next() else {
                self.source = None;
                return None;
            };
            if arrival.at > self.horizon {
                return None;
            }
            last = arrival.at;
            if count == 1 {
                self.lanes[0].expect(arrival, None);
            } else {
                let replica = self.router.choose(|_| 0);
                self.lanes[(replica % count) as usize].expect(arrival, Some(replica / count));
            }
        }
        // Others may arrive together with the last one, so that its own time is not over yet.
        Some(SimTime::from_ps(last.ps().saturating_sub(1)))
    }

    /// Whether all lanes reached the horizon.
    fn run_lanes(&mut self, horizon: SimTime) -> bool {
        match self.lanes.as_mut_slice() {
            [lane] => lane.run(horizon, EVENTS),
            lanes => {
                lanes.par_iter_mut().map(|lane| lane.run(horizon, EVENTS)).reduce(|| true, |a, b| a && b)
            }
        }
    }

    fn now(&self) -> SimTime {
        self.lanes.iter().map(Lane::now).max().unwrap_or(SimTime::ZERO)
    }

    fn progress(&self) -> Progress {
        let now = self.now();
        let (mut arrived, mut done, mut output, mut events) = (0, 0, 0, 0);
        for lane in &self.lanes {
            let counts = &lane.metrics().counts;
            arrived += counts.arrived;
            done += counts.completed + counts.rejected;
            output += counts.output;
            events += lane.events();
        }
        let seconds = now.seconds().get();
        Progress {
            now: now.seconds(),
            events,
            requests: self.config.requests,
            arrived,
            done,
            throughput: TokensPerSecond::new(if seconds > 0.0 { output as f64 / seconds } else { 0.0 }),
        }
    }

    fn close(self, end: End) -> ServingResult {
        let span = if end == End::Horizon { self.horizon } else { self.now() };
        let events = self.lanes.iter().map(Lane::events).sum();
        let mut sum: Option<Metrics> = None;
        let (mut running, mut waiting, mut held) = (0, 0, 0);
        for lane in self.lanes {
            let (metrics, left) = lane.close(span);
            running += left[0];
            waiting += left[1];
            held += left[2];
            match &mut sum {
                Some(sum) => sum.merge(metrics),
                None => sum = Some(metrics),
            }
        }
        let outline = Outline {
            end,
            seed: self.config.seed,
            span,
            events,
            replicas: self.config.replicas,
            blocks: self.config.kv.blocks,
            running,
            waiting,
            held,
        };
        ServingResult::new(outline, sum.expect("there is a lane"))
    }
}
