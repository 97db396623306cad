//! Time as whole picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::units::Seconds;

/// A point in simulated time, or a duration \[ps\]: 0 to 213 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

impl SimTime {
    /// The beginning.
    pub const ZERO: Self = Self(0);
    /// The end of representable time.
    pub const MAX: Self = Self(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// In picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// From seconds, rounded to the nearest picosecond; the only way from the analytical side into the simulator.
    ///
    /// # Panics
    /// If `time` is negative, not a number or beyond 213 days: the caller broke an invariant.
    pub fn from_seconds(time: Seconds) -> Self {
        let ps = time.get() * 1e12;
        assert!(
            ps >= -0.5 && ps < u64::MAX as f64,
            "a simulated time must lie within 0 and 213 days: {time:?}"
        );
        Self(ps.round() as u64)
    }

    /// In seconds. Times below 2.5 hours come back exactly as [`Seconds::to_picosecond`] rounds them.
    pub fn seconds(self) -> Seconds {
        Seconds::new(self.0 as f64 * 1e-12)
    }

    /// From the earlier `other` to this; zero if `other` is later.
    #[must_use]
    pub const fn since(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for SimTime {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("simulated time stays below 213 days"))
    }
}

impl AddAssign for SimTime {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for SimTime {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("simulated time never runs back"))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.seconds().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_picoseconds_convert_both_ways() {
        for us in [0.0, 1e-6, 0.5, 30.912_345, 205.0, 1e6] {
            let time = Seconds::from_us(us).to_picosecond();
            assert_eq!(SimTime::from_seconds(time).seconds(), time, "{us} us");
        }
    }

    #[test]
    #[should_panic(expected = "within 0 and 213 days")]
    fn negative_times_are_broken_invariants() {
        let _ = SimTime::from_seconds(Seconds::new(-1e-9));
    }
}
