//! When requests arrive, and the source that draws them.

use std::sync::Arc;

use rand_distr::{Distribution as _, Gamma};

use super::config::ServingConfig;
use super::error::{ServingError, positive};
use super::lengths::{LengthSampler, Lengths};
use super::trace::Trace;
use crate::des::{SimTime, Stream, Streams};
use crate::units::Seconds;

/// The process of arrivals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals, this mean time apart.
    Poisson {
        /// Mean time between two.
        interval: Seconds,
    },
    /// Gamma-distributed times between arrivals: burstier than Poisson above a variation of 1, more even below.
    Gamma {
        /// Mean time between two.
        interval: Seconds,
        /// Standard deviation over mean of the time between two.
        variation: f64,
    },
    /// Equal times between arrivals.
    Constant {
        /// Time between two.
        interval: Seconds,
    },
    /// As the trace says.
    Trace,
    /// Users who send their next request when the last one is answered.
    Closed {
        /// How many.
        users: u32,
    },
}

impl Arrivals {
    pub(super) fn check(self) -> Result<(), ServingError> {
        match self {
            Self::Poisson { interval } | Self::Constant { interval } => {
                positive("the interval of arrivals", interval.get())
            }
            Self::Gamma { interval, variation } => {
                positive("the interval of arrivals", interval.get())?;
                if variation >= 0.0 && variation.is_finite() {
                    Ok(())
                } else {
                    Err(ServingError::Variation { what: "the time between arrivals", value: variation })
                }
            }
            Self::Closed { users: 0 } => Err(ServingError::Zero { what: "the number of users" }),
            Self::Trace | Self::Closed { .. } => Ok(()),
        }
    }
}

/// A request that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) id: u64,
    pub(super) at: SimTime,
    pub(super) prompt: u32,
    pub(super) output: u32,
}

#[derive(Debug, Clone)]
enum Gaps {
    Exponential(f64),
    Gamma(Gamma<f64>),
    Constant(SimTime),
    Trace,
    /// All at once: the users of a closed loop at its start.
    None,
}

#[derive(Debug, Clone)]
enum Sizes {
    Drawn { prompt: LengthSampler, output: LengthSampler },
    Trace,
}

/// Draws requests one after the other. Times and lengths come from streams of their own.
#[derive(Debug, Clone)]
pub(super) struct Source {
    gaps: Gaps,
    sizes: Sizes,
    trace: Option<Arc<Trace>>,
    times: Stream,
    tokens: Stream,
    clock: SimTime,
    drawn: u64,
    total: u64,
}

impl Source {
    /// For a checked configuration.
    pub(super) fn new(config: &ServingConfig) -> Self {
        let streams = Streams::new(config.seed, 0);
        let gaps = match config.arrivals {
            Arrivals::Poisson { interval } => Gaps::Exponential(interval.get()),
            Arrivals::Gamma { interval, variation } if variation > 0.0 => {
                let shape = (variation * variation).recip();
                Gaps::Gamma(Gamma::new(shape, interval.get() / shape).expect("the variation was checked"))
            }
            Arrivals::Gamma { interval, .. } | Arrivals::Constant { interval } => {
                Gaps::Constant(SimTime::from_seconds(interval))
            }
            Arrivals::Trace => Gaps::Trace,
            Arrivals::Closed { .. } => Gaps::None,
        };
        let sizes = match config.lengths {
            Lengths::Drawn { prompt, output } => {
                Sizes::Drawn { prompt: prompt.sampler(), output: output.sampler() }
            }
            Lengths::Trace => Sizes::Trace,
        };
        Self {
            gaps,
            sizes,
            trace: config.trace.clone(),
            times: streams.stream("arrivals", 0),
            tokens: streams.stream("lengths", 0),
            clock: SimTime::ZERO,
            drawn: 0,
            total: config.requests,
        }
    }

    /// The next request; none when all are drawn.
    pub(super) fn next(&mut self) -> Option<Arrival> {
        let at = match &self.gaps {
            Gaps::Exponential(mean) => self.clock + gap(self.times.exponential(*mean)),
            Gaps::Gamma(law) => self.clock + gap(law.sample(self.times.rng())),
            Gaps::Constant(interval) => self.clock + *interval,
            Gaps::Trace => {
                let trace = self.trace.as_deref().expect("a trace was checked to be there");
                let n = trace.requests().len() as u64;
                let (round, index) = (self.drawn / n, self.drawn % n);
                SimTime::from_ps(trace.period().ps() * round) + trace.requests()[index as usize].at
            }
            Gaps::None => self.clock,
        };
        self.next_at(at)
    }

    /// The next request, arriving at a time that the caller says: the next one of a closed loop's user.
    pub(super) fn next_at(&mut self, at: SimTime) -> Option<Arrival> {
        if self.drawn == self.total {
            return None;
        }
        let (prompt, output) = match &self.sizes {
            Sizes::Drawn { prompt, output } => (prompt.draw(&mut self.tokens), output.draw(&mut self.tokens)),
            Sizes::Trace => {
                let requests = self.trace.as_deref().expect("a trace was checked to be there").requests();
                let request = requests[(self.drawn % requests.len() as u64) as usize];
                (request.prompt, request.output)
            }
        };
        let arrival = Arrival { id: self.drawn, at, prompt, output };
        self.clock = at;
        self.drawn += 1;
        Some(arrival)
    }
}

fn gap(seconds: f64) -> SimTime {
    SimTime::from_seconds(Seconds::new(seconds))
}
