//! The times of a baseline step and of a draft/verify cycle, and the arithmetic on them.

use crate::sourced::{Source, Sourced};
use crate::speculation::Cycle;
use crate::units::{AcceptLength, Seconds, Tokens, TokensPerSecond};

use super::interval::Deviation;
use super::prediction::Verdict;

/// All-reduces of the verify pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AllreducePart {
    /// How many.
    pub count: u32,
    /// One of them; in eager mode as booked, waiting included, if the user's figure is that.
    pub each: Sourced<Seconds>,
}

/// What speedup depends on. All answers are closed forms of these numbers and allocate nothing unless they say so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Requests B.
    pub batch: u32,
    /// The most that one cycle can yield per request, k + 1.
    pub accept_limit: f64,
    /// Tokens per cycle and request, bonus token included.
    pub accept_length: Sourced<AcceptLength>,
    /// One decode step without speculation, its host work included.
    pub baseline_step: Sourced<Seconds>,
    /// The verify pass.
    pub verify: Sourced<Seconds>,
    /// Its all-reduces, where their number is known.
    pub allreduce: Option<AllreducePart>,
    /// Drafting and host work of a cycle.
    pub draft_host: Sourced<Seconds>,
    /// The throughput from which a part of the cycle was found as the remainder (see [`Parts::from_observed`]). It
    /// decides ranges and sources: a speedup of two observed throughputs does not inherit the ranges of the split between them.
    pub observed: Option<Sourced<TokensPerSecond>>,
}

/// The source of a result of arithmetic on inputs of these sources.
pub(super) fn derived(sources: &[Source]) -> Source {
    let combined = sources.iter().copied().reduce(Source::combine).unwrap_or(Source::Derived);
    combined.max(Source::Derived)
}

impl Parts {
    /// From a cycle of priced passes. One all-reduce is the mean over those of the verify pass.
    pub fn from_cycle(cycle: &Cycle) -> Self {
        let total = cycle.allreduce();
        let allreduce = (total.count > 0).then(|| AllreducePart {
            count: total.count,
            each: Sourced::new(total.total / f64::from(total.count), total.source),
        });
        Self {
            batch: cycle.batch(),
            accept_limit: cycle.shape.accept_limit().get(),
            accept_length: cycle.accept_length(),
            baseline_step: cycle.baseline_time(),
            verify: cycle.verify.time,
            allreduce,
            draft_host: cycle.draft_host_time(),
            observed: None,
        }
    }

    /// Cycle time as a bare number.
    pub(super) fn cycle_value(&self) -> Seconds {
        self.verify.value + self.draft_host.value
    }

    /// Whether a table was left at its edge; an observed total owes nothing to tables.
    fn extrapolated(&self) -> bool {
        self.observed.is_none() && (self.verify.extrapolated || self.draft_host.extrapolated)
    }

    /// Draft, verify and host work.
    pub fn cycle(&self) -> Sourced<Seconds> {
        let value = self.cycle_value();
        let source = match self.observed {
            Some(throughput) => derived(&[self.accept_length.source, throughput.source]),
            None => derived(&[self.verify.source, self.draft_host.source]),
        };
        let deviation = self.cycle_deviation();
        deviation.around(value, Seconds::new, Seconds::get, source, self.extrapolated())
    }

    /// Break-even accept length R = cycle / baseline step.
    pub fn ratio(&self) -> f64 {
        self.cycle_value() / self.baseline_step.value
    }

    /// Speedup without source and range, for sweeps: AL / R.
    pub fn speedup_value(&self) -> f64 {
        self.accept_length.value.get() / self.ratio()
    }

    /// Throughput with speculation over throughput without: AL · baseline step / cycle.
    pub fn speedup(&self) -> Sourced<f64> {
        let source = match self.observed {
            Some(throughput) => derived(&[throughput.source, self.baseline_step.source]),
            None => derived(&[
                self.accept_length.source,
                self.baseline_step.source,
                self.verify.source,
                self.draft_host.source,
            ]),
        };
        let extrapolated =
            self.extrapolated() || self.accept_length.extrapolated || self.baseline_step.extrapolated;
        let value = self.speedup_value();
        self.speedup_deviation().around(value, |x| x, |x| x, source, extrapolated)
    }

    /// Output with speculation over all requests, B · AL / cycle.
    pub fn throughput(&self) -> Sourced<TokensPerSecond> {
        let value = self.accept_length.value.tokens(f64::from(self.batch)) / self.cycle_value();
        let source = match self.observed {
            Some(throughput) => throughput.source,
            None => derived(&[self.accept_length.source, self.verify.source, self.draft_host.source]),
        };
        let extrapolated = self.extrapolated() || self.accept_length.extrapolated;
        self.throughput_deviation().around(
            value,
            TokensPerSecond::new,
            TokensPerSecond::get,
            source,
            extrapolated,
        )
    }

    /// Output without speculation over all requests, B / baseline step.
    pub fn baseline_throughput(&self) -> Sourced<TokensPerSecond> {
        let value = Tokens::new(f64::from(self.batch)) / self.baseline_step.value;
        Deviation::of(self.baseline_step, Seconds::get).inverse().around(
            value,
            TokensPerSecond::new,
            TokensPerSecond::get,
            derived(&[self.baseline_step.source]),
            self.baseline_step.extrapolated,
        )
    }

    /// Whether speculation pays; a tie where |speedup - 1| < 0.01 or its range contains 1.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.speedup())
    }

    /// With the totals dropped, as every variation starts: the parts keep their values and ranges, and what was a
    /// remainder of an observed throughput becomes a part like any other.
    #[must_use]
    pub const fn without_totals(mut self) -> Self {
        self.observed = None;
        self
    }
}

#[cfg(test)]
#[path = "parts_laws.rs"]
mod laws;
#[cfg(test)]
#[path = "parts_tests.rs"]
pub(in crate::analytic) mod tests;
