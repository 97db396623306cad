//! Observed totals turned into parts.
//!
//! An observed total fixes the unknown part: cycle = B · AL / throughput, draft and host = cycle - verify,
//! all else of verify = verify - all-reduces. Ranges of differences add in quadrature.

use thiserror::Error;

use crate::sourced::{Source, Sourced, Spread};
use crate::units::{AcceptLength, Seconds, Tokens, TokensPerSecond};

use super::parts::{AllreducePart, Parts, derived};

/// What was observed, or is given in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedTotals {
    /// Requests B.
    pub batch: u32,
    /// k + 1.
    pub accept_limit: f64,
    /// Tokens per cycle and request, bonus token included.
    pub accept_length: Sourced<AcceptLength>,
    /// One step without speculation; see [`step_from_throughput`].
    pub baseline_step: Sourced<Seconds>,
    /// The verify pass.
    pub verify: Sourced<Seconds>,
    /// Number and total of its all-reduces.
    pub allreduce: Option<(u32, Sourced<Seconds>)>,
    /// Throughput with speculation over all requests.
    pub throughput: Option<Sourced<TokensPerSecond>>,
    /// Drafting and host work, used where no throughput fixes them.
    pub draft_host: Option<Sourced<Seconds>>,
}

/// Observations that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum SplitError {
    /// The cycle ends before its verify pass does.
    #[error(
        "accept length over throughput makes the cycle {cycle}, which is shorter than its verify pass of {verify}"
    )]
    CycleShorterThanVerify {
        /// B · AL / throughput.
        cycle: Seconds,
        /// The verify pass.
        verify: Seconds,
    },
    /// The all-reduces take longer than the pass that holds them.
    #[error("the all-reduces of {allreduce} take longer than the verify pass of {verify} that holds them")]
    AllreduceLongerThanVerify {
        /// Their total.
        allreduce: Seconds,
        /// The verify pass.
        verify: Seconds,
    },
    /// A time, an accept length or a throughput that is not positive and finite.
    #[error("{what} must be positive and finite")]
    NotPositive {
        /// Which one.
        what: &'static str,
    },
}

/// The decode step behind a throughput over `batch` requests: B / throughput. The ends of the range change places.
pub fn step_from_throughput(batch: u32, throughput: Sourced<TokensPerSecond>) -> Sourced<Seconds> {
    let step = |rate: TokensPerSecond| Tokens::new(f64::from(batch)) / rate;
    Sourced {
        value: step(throughput.value),
        source: derived(&[throughput.source]),
        spread: throughput.spread.map(|s| Spread { low: step(s.high), high: step(s.low) }),
        extrapolated: throughput.extrapolated,
    }
}

impl Parts {
    /// Parts from observed totals. Without throughput and without `draft_host` nothing is known of drafting and host work:
    /// they count as zero, marked assumed, so that every answer is the drafting-free one.
    pub fn from_observed(totals: ObservedTotals) -> Result<Self, SplitError> {
        totals.check()?;
        let allreduce = match totals.allreduce {
            Some((count, total)) if count > 0 => {
                let verify = totals.verify.value;
                if total.value > verify {
                    return Err(SplitError::AllreduceLongerThanVerify { allreduce: total.value, verify });
                }
                Some(AllreducePart { count, each: total.map(|t| t / f64::from(count)) })
            }
            _ => None,
        };
        let draft_host = match (totals.throughput, totals.draft_host) {
            (Some(throughput), _) => totals.remainder(throughput)?,
            (None, Some(given)) => given,
            (None, None) => Sourced::new(Seconds::ZERO, Source::Assumed),
        };
        Ok(Self {
            batch: totals.batch,
            accept_limit: totals.accept_limit,
            accept_length: totals.accept_length,
            baseline_step: totals.baseline_step,
            verify: totals.verify,
            allreduce,
            draft_host,
            observed: totals.throughput,
        })
    }
}

impl ObservedTotals {
    fn check(&self) -> Result<(), SplitError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let what = if !positive(self.accept_length.value.get()) {
            "the accept length"
        } else if !positive(self.baseline_step.value.get()) {
            "the baseline step"
        } else if !positive(self.verify.value.get()) {
            "the verify time"
        } else if self.batch == 0 {
            "the batch"
        } else if self.throughput.is_some_and(|t| !positive(t.value.get())) {
            "the throughput"
        } else {
            return Ok(());
        };
        Err(SplitError::NotPositive { what })
    }

    /// Cycle minus verify.
    fn remainder(&self, throughput: Sourced<TokensPerSecond>) -> Result<Sourced<Seconds>, SplitError> {
        let cycle_of =
            |length: AcceptLength, rate: TokensPerSecond| length.tokens(f64::from(self.batch)) / rate;
        let cycle = cycle_of(self.accept_length.value, throughput.value);
        let verify = self.verify.value;
        let mut rest = cycle - verify;
        if rest < Seconds::ZERO {
            // Observed numbers are rounded: a hair below zero is zero.
            if rest.get() < -1e-9 * cycle.get() {
                return Err(SplitError::CycleShorterThanVerify { cycle, verify });
            }
            rest = Seconds::ZERO;
        }
        let source = derived(&[self.accept_length.source, throughput.source, self.verify.source]);
        let result = Sourced::new(rest, source);
        let ends = [
            self.accept_length.spread.map(|s| {
                let at = |length| (cycle_of(length, throughput.value) - cycle).get();
                (at(s.low), at(s.high))
            }),
            throughput.spread.map(|s| {
                let at = |rate| (cycle_of(self.accept_length.value, rate) - cycle).get();
                (at(s.high), at(s.low))
            }),
            self.verify.spread.map(|s| ((verify - s.high).get(), (verify - s.low).get())),
        ];
        if ends.iter().all(Option::is_none) {
            return Ok(result);
        }
        let (down, up) = ends
            .into_iter()
            .flatten()
            .fold((0.0_f64, 0.0_f64), |(down, up), (low, high)| (down.hypot(low), up.hypot(high)));
        Ok(result.with_spread((rest - Seconds::new(down)).max(Seconds::ZERO), rest + Seconds::new(up)))
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
