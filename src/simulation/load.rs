//! The same server under other loads.
//!
//! An open load is given as requests a second: shares of what a closed loop of as many users as the server may run
//! together gets through on the better side. A closed one is given as users.

use std::sync::Arc;

use rayon::prelude::*;

use super::prices::StepPrices;
use super::serving::{Comparison, is_closed, one};
use super::watch::{Stage, Watch, unwatched};
use crate::des::SimTime;
use crate::serving::{Arrivals, ServingConfig, ServingResult, Trace, TraceRequest};
use crate::units::Seconds;

/// Open loads as shares of the capacity.
const SHARES: [f64; 9] = [0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.0, 1.2];
/// Requests at each load.
const REQUESTS: u64 = 1000;

/// What a load is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadUnit {
    /// Requests that arrive in a second.
    RequestsPerSecond,
    /// Users who wait for their answers.
    Users,
}

/// Both sides under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPoint {
    /// The load.
    pub load: f64,
    /// What it is counted in.
    pub unit: LoadUnit,
    /// With speculation.
    pub with: ServingResult,
    /// Without.
    pub without: ServingResult,
    /// Which is better.
    pub comparison: Comparison,
}

/// Simulates other loads; none where the watch ended it.
pub(super) fn loads(
    config: &ServingConfig,
    prices: &StepPrices,
    watch: Watch,
) -> Result<Option<Vec<LoadPoint>>, String> {
    let base = ServingConfig { requests: config.requests.min(REQUESTS), ..config.clone() };
    let most = base.max_requests.saturating_mul(base.replicas);
    let points: Vec<(f64, LoadUnit, ServingConfig)> = if is_closed(&base) {
        let users =
            std::iter::successors(Some(1_u32), |users| (*users < most).then(|| (users * 2).min(most)));
        users.map(|users| (f64::from(users), LoadUnit::Users, closed(&base, users))).collect()
    } else {
        let full = closed(&base, most);
        let capacity = both(&full, prices)?;
        let capacity = capacity.0.request_rate.max(capacity.1.request_rate);
        let rates = SHARES.iter().map(|share| capacity * share).filter(|rate| *rate > 0.0);
        rates.map(|rate| (rate, LoadUnit::RequestsPerSecond, open(&base, rate))).collect()
    };
    let count = points.len() as f64;
    let done = std::sync::atomic::AtomicU32::new(0);
    let simulated: Vec<Result<Option<LoadPoint>, String>> = points
        .into_par_iter()
        .map(|(load, unit, config)| {
            let before = done.load(std::sync::atomic::Ordering::Relaxed);
            if watch(Stage::Loads, f64::from(before) / count).is_break() {
                return Ok(None);
            }
            let (with, without) = both(&config, prices)?;
            done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let comparison = Comparison::of(&with, &without, &config.slo);
            Ok(Some(LoadPoint { load, unit, with, without, comparison }))
        })
        .collect();
    simulated.into_iter().collect()
}

fn both(config: &ServingConfig, prices: &StepPrices) -> Result<(ServingResult, ServingResult), String> {
    let plain = ServingConfig { drafting: None, ..config.clone() };
    let (with, without) = rayon::join(
        || one(config, &prices.drafting, Stage::Loads, &unwatched),
        || one(&plain, &prices.plain, Stage::Loads, &unwatched),
    );
    Ok((with?, without?))
}

fn closed(base: &ServingConfig, users: u32) -> ServingConfig {
    ServingConfig { arrivals: Arrivals::Closed { users }, ..base.clone() }
}

/// The same process at another rate; recorded arrivals are drawn out or pushed together.
fn open(base: &ServingConfig, rate: f64) -> ServingConfig {
    let interval = Seconds::new(1.0 / rate);
    let mut config = base.clone();
    match config.arrivals {
        Arrivals::Poisson { .. } | Arrivals::Closed { .. } => {
            config.arrivals = Arrivals::Poisson { interval };
        }
        Arrivals::Gamma { variation, .. } => config.arrivals = Arrivals::Gamma { interval, variation },
        Arrivals::Constant { .. } => config.arrivals = Arrivals::Constant { interval },
        Arrivals::Trace => config.trace = config.trace.map(|trace| Arc::new(paced(&trace, interval))),
    }
    config
}

/// A trace with another mean interval.
fn paced(trace: &Trace, interval: Seconds) -> Trace {
    let requests = trace.requests();
    let span = requests[requests.len() - 1].at.seconds() - requests[0].at.seconds();
    let gaps = (requests.len().max(2) - 1) as f64;
    let factor = if span > Seconds::ZERO { (interval * gaps) / span } else { 0.0 };
    let paced = requests.iter().map(|request| {
        let at = SimTime::from_seconds(request.at.seconds() * factor);
        TraceRequest { at, ..*request }
    });
    Trace::new(paced.collect()).expect("the order of a trace does not depend on its pace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_takes_another_pace() {
        let at = |s| TraceRequest { at: SimTime::from_seconds(Seconds::new(s)), prompt: 1, output: 1 };
        let trace = Trace::new(vec![at(0.0), at(1.0), at(4.0)]).expect("in order");
        let quick = paced(&trace, Seconds::new(0.5));
        let times: Vec<f64> = quick.requests().iter().map(|r| r.at.seconds().get()).collect();
        assert_eq!(times, [0.0, 0.25, 1.0]);
    }
}
