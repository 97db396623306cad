//! Ranges of results: first-order propagation of the inputs' ranges.
//!
//! Each input is moved to either end of its range with the others held, the result's logarithm is noted, and the
//! changes of all inputs add in quadrature, upward and downward apart. Exact for one uncertain input; otherwise it takes the
//! inputs as independent and leaves out their interactions. The probability of winning treats ln speedup as
//! normal, with the deviation of the side on which 1 lies.

use statrs::function::erf::erfc;

use crate::sourced::{SPREAD_DEVIATIONS, Source, Sourced};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

use super::parts::Parts;

/// How far ln of a result reaches below and above it; none where no input has a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deviation(Option<Sides>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sides {
    down: f64,
    up: f64,
}

impl Deviation {
    /// Of an input itself.
    pub(super) fn of<T: Copy>(input: Sourced<T>, number: impl Fn(T) -> f64) -> Self {
        Self::through(input, number, |x| x)
    }

    /// Of a positive, rising function of an input.
    fn through<T: Copy>(input: Sourced<T>, number: impl Fn(T) -> f64, rising: impl Fn(f64) -> f64) -> Self {
        Self(input.spread.map(|spread| {
            let middle = rising(number(input.value));
            let distance = |end: T| (rising(number(end)) / middle).ln();
            Sides { down: -distance(spread.low).min(0.0), up: distance(spread.high).max(0.0) }
        }))
    }

    /// Of the reciprocal.
    pub(super) fn inverse(self) -> Self {
        Self(self.0.map(|s| Sides { down: s.up, up: s.down }))
    }

    /// Of a product of independent factors.
    pub(super) fn and(self, other: Self) -> Self {
        Self(match (self.0, other.0) {
            (Some(a), Some(b)) => Some(Sides { down: a.down.hypot(b.down), up: a.up.hypot(b.up) }),
            (one, other) => one.or(other),
        })
    }

    /// A result with this range.
    pub(super) fn around<T: Copy>(
        self,
        value: T,
        wrap: impl Fn(f64) -> T,
        number: impl Fn(T) -> f64,
        source: Source,
        extrapolated: bool,
    ) -> Sourced<T> {
        let mut result = Sourced { extrapolated, ..Sourced::new(value, source) };
        if let Some(Sides { down, up }) = self.0 {
            let middle = number(value);
            result = result.with_spread(wrap(middle * (-down).exp()), wrap(middle * up.exp()));
        }
        result
    }
}

impl Parts {
    fn accept_deviation(&self) -> Deviation {
        Deviation::of(self.accept_length, AcceptLength::get)
    }

    /// Of the cycle: from its parts, or from accept length and observed throughput.
    pub(super) fn cycle_deviation(&self) -> Deviation {
        if let Some(throughput) = self.observed {
            return self.accept_deviation().and(Deviation::of(throughput, TokensPerSecond::get).inverse());
        }
        let cycle = self.cycle_value().get();
        let part = |time: Sourced<Seconds>| {
            let rest = cycle - time.value.get();
            Deviation::through(time, Seconds::get, |t| rest + t)
        };
        part(self.verify).and(part(self.draft_host))
    }

    /// Of the throughput.
    pub(super) fn throughput_deviation(&self) -> Deviation {
        match self.observed {
            Some(throughput) => Deviation::of(throughput, TokensPerSecond::get),
            None => self.accept_deviation().and(self.cycle_deviation().inverse()),
        }
    }

    /// Of the speedup.
    pub(super) fn speedup_deviation(&self) -> Deviation {
        self.throughput_deviation().and(Deviation::of(self.baseline_step, Seconds::get))
    }

    /// Probability that speculation wins; none where no input has a range.
    pub fn win_probability(&self) -> Option<f64> {
        let sides = self.speedup_deviation().0?;
        let gain = self.speedup_value().ln();
        let toward_one = if gain > 0.0 { sides.down } else { sides.up };
        let deviation = toward_one / SPREAD_DEVIATIONS;
        if deviation > 0.0 {
            Some(0.5 * erfc(-gain / deviation / std::f64::consts::SQRT_2))
        } else {
            Some(if gain > 0.0 { 1.0 } else { 0.0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_range_in_no_range_out() {
        let a = Deviation::of(Sourced::given(2.0), |x| x);
        assert_eq!(a, Deviation(None));
        assert_eq!(a.and(a.inverse()).around(3.0, |x| x, |x| x, Source::Derived, false).spread, None);
    }

    #[test]
    fn one_input_keeps_its_own_ends() {
        let a = Sourced::given(2.0).with_spread(1.9, 2.2);
        let twice = Deviation::of(a, |x| x).around(4.0, |x| x, |x| x, Source::Derived, false);
        let spread = twice.spread.expect("a range");
        assert!((spread.low - 3.8).abs() < 1e-12 && (spread.high - 4.4).abs() < 1e-12);
        let half = Deviation::of(a, |x| x).inverse().around(0.5, |x| x, |x| x, Source::Derived, false);
        let spread = half.spread.expect("a range");
        assert!((spread.low - 1.0 / 2.2).abs() < 1e-12 && (spread.high - 1.0 / 1.9).abs() < 1e-12);
    }
}
