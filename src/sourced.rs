//! A value with where it came from.

use serde::{Deserialize, Serialize};

/// Where a number came from.
///
/// The order is the order of trust *within modelled sources*: `Fitted < Roofline < Assumed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Measured on hardware: a row of a calibration table, or interpolated between rows.
    Measured,
    /// Written by the user.
    Given,
    /// Arithmetic on measured and given values alone.
    Derived,
    /// A curve fitted to measurements.
    Fitted,
    /// Bytes over bandwidth or operations over rate.
    Roofline,
    /// A default that nobody measured on this machine.
    Assumed,
}

impl Source {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Given => "given",
            Self::Derived => "derived",
            Self::Fitted => "fitted",
            Self::Roofline => "roofline",
            Self::Assumed => "assumed",
        }
    }

    /// The source of a result computed from inputs of the two sources: equal sources of one kind keep their
    /// name; measured, given and derived values combine to `derived`; once a modelled input enters, the weakest
    /// of fitted > roofline > assumed names the result.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        let modelled = |s: Self| s >= Self::Fitted;
        if self == other {
            self
        } else if modelled(self) || modelled(other) {
            self.max(other)
        } else {
            Self::Derived
        }
    }
}

/// A range that holds the true value nine times in ten.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread<T> {
    /// The lower end (5th percentile).
    pub low: T,
    /// The upper end (95th percentile).
    pub high: T,
}

/// Standard deviations from the middle to the end of a [`Spread`] of a normal distribution.
pub const SPREAD_DEVIATIONS: f64 = 1.644_853_626_951_472_7;

/// A value, where it came from, and how uncertain it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub source: Source,
    /// The range, where one is known.
    pub spread: Option<Spread<T>>,
    /// Whether a table was left at its edge to get it.
    pub extrapolated: bool,
}

impl<T> Sourced<T> {
    /// A value without a spread.
    pub const fn new(value: T, source: Source) -> Self {
        Self { value, source, spread: None, extrapolated: false }
    }

    /// Written by the user.
    pub const fn given(value: T) -> Self {
        Self::new(value, Source::Given)
    }

    /// With a range.
    #[must_use]
    pub fn with_spread(mut self, low: T, high: T) -> Self {
        self.spread = Some(Spread { low, high });
        self
    }

    /// The value at a score of its own distribution, without a range: 0 is the value itself, ±1.645 are the ends of
    /// the range. Each side is half a normal distribution; of a modelled value, which is off by a factor, half a
    /// lognormal one. A positive value stays positive: it does not fall below its thousandth.
    #[must_use]
    pub fn at_score(self, score: f64, number: impl Fn(T) -> f64, wrap: impl Fn(f64) -> T) -> Self
    where
        T: Copy,
    {
        let Some(spread) = self.spread else { return self };
        let (value, share) = (number(self.value), score.abs() / SPREAD_DEVIATIONS);
        if share <= 0.0 {
            return Self { spread: None, ..self };
        }
        let end = number(if score < 0.0 { spread.low } else { spread.high });
        let moved = if self.source >= Source::Fitted && value > 0.0 && end > 0.0 {
            value * (end / value).powf(share)
        } else {
            value + (end - value) * share
        };
        let moved = if value > 0.0 { moved.max(value * 1e-3) } else { moved };
        Self { value: wrap(moved), spread: None, ..self }
    }

    /// The value turned into another one by a function that never falls, which is also applied to the ends of
    /// the range; the source is kept.
    pub fn map<U>(self, rising: impl Fn(T) -> U) -> Sourced<U> {
        Sourced {
            value: rising(self.value),
            source: self.source,
            spread: self.spread.map(|s| Spread { low: rising(s.low), high: rising(s.high) }),
            extrapolated: self.extrapolated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Source::{Assumed, Derived, Fitted, Given, Measured, Roofline};
    use super::{SPREAD_DEVIATIONS, Sourced};

    #[test]
    fn scores_reach_the_ends_of_a_range_and_half_way_is_half_a_deviation() {
        let at = |figure: Sourced<f64>, score: f64| figure.at_score(score, |x| x, |x| x).value;
        let given = Sourced::given(30.0).with_spread(28.0, 33.0);
        let assumed = Sourced::new(30.0, Assumed).with_spread(15.0, 120.0);
        for (figure, half) in [(given, 31.5), (assumed, 60.0)] {
            let spread = figure.spread.expect("a range");
            assert!((at(figure, -SPREAD_DEVIATIONS) - spread.low).abs() < 1e-12);
            assert!((at(figure, SPREAD_DEVIATIONS) - spread.high).abs() < 1e-12);
            assert!((at(figure, SPREAD_DEVIATIONS / 2.0) - half).abs() < 1e-12);
        }
        assert!((at(given.with_spread(1.0, 59.0), -9.0) - 0.03).abs() < 1e-12, "it stays positive");
        assert!((at(Sourced::given(30.0), 3.0) - 30.0).abs() < 1e-12);
    }

    #[test]
    fn the_weakest_modelled_source_names_the_result() {
        for (a, b, result) in [
            (Measured, Given, Derived),
            (Measured, Measured, Measured),
            (Given, Given, Given),
            (Derived, Measured, Derived),
            (Given, Fitted, Fitted),
            (Fitted, Roofline, Roofline),
            (Roofline, Assumed, Assumed),
            (Assumed, Measured, Assumed),
        ] {
            assert_eq!(a.combine(b), result);
            assert_eq!(b.combine(a), result);
        }
    }
}
