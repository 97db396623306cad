//! Numbers as reports write them: a true minus sign, a space before `%`, one scale per column.

use crate::units::{Seconds, significant};

/// Unit and decimals shared by a column of times, so that digits stand below each other: set by the largest,
/// which gets three figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeScale {
    per_second: f64,
    unit: &'static str,
    decimals: usize,
}

impl TimeScale {
    /// The scale in which the largest of `times` has three figures.
    pub(super) fn for_largest(times: impl IntoIterator<Item = Seconds>) -> Self {
        let largest = times.into_iter().filter(|t| t.is_finite()).fold(Seconds::ZERO, Seconds::max).get();
        let (per_second, unit) = match largest {
            s if s >= 0.9995 => (1.0, "s"),
            s if s >= 0.9995e-3 || s <= 0.0 => (1e3, "ms"),
            s if s >= 0.9995e-6 => (1e6, "µs"),
            _ => (1e9, "ns"),
        };
        let decimals = match largest * per_second {
            v if v >= 99.95 => 0,
            v if v >= 9.995 => 1,
            _ => 2,
        };
        Self { per_second, unit, decimals }
    }

    /// `3.3 ms`; a value that would vanish in the column's decimals shows its first figure instead.
    pub(super) fn text(self, time: Seconds) -> String {
        let value = time.get() * self.per_second;
        let rounded = format!("{value:.*}", self.decimals);
        let vanished = value != 0.0 && !rounded.contains(|c: char| ('1'..='9').contains(&c));
        let number = if vanished { significant(value, 1) } else { rounded };
        format!("{} {}", minus(&number), self.unit)
    }
}

/// A hyphen in front of digits becomes a minus sign.
pub(super) fn minus(number: &str) -> String {
    number.replacen('-', "−", 1)
}

/// `0.73x`; three figures from 10 on.
pub(super) fn times(ratio: f64) -> String {
    format!("{}x", factor(ratio))
}

/// `0.73`, `12.3`: two decimals below 10, three figures above.
pub(super) fn factor(ratio: f64) -> String {
    if ratio.abs() < 9.995 { minus(&format!("{ratio:.2}")) } else { minus(&significant(ratio, 3)) }
}

/// A fraction of the whole as `75 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", minus(&format!("{:.0}", share * 100.0)))
}

/// A relative change as `−30 %`, `+8 %`.
pub(super) fn percent_change(change: f64) -> String {
    let text = percent(change);
    if change >= 0.0 { format!("+{text}") } else { text }
}

/// A difference as `+0.73`, `−0.60`.
pub(super) fn difference(change: f64) -> String {
    let text = minus(&format!("{change:.2}"));
    if change >= 0.0 { format!("+{text}") } else { text }
}

/// A number for machines: finite, rounded to 12 significant figures (so that `0.1 + 0.2` does not leak into
/// files), or nothing.
pub(super) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then(|| format!("{value:.11e}").parse().expect("a formatted number parses"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_time_sets_unit_and_decimals_of_its_column() {
        let scale = TimeScale::for_largest([33.333, 3.333].map(Seconds::from_ms));
        assert_eq!(scale.text(Seconds::from_ms(33.333)), "33.3 ms");
        assert_eq!(scale.text(Seconds::from_ms(3.333)), "3.3 ms");
        assert_eq!(scale.text(Seconds::from_ms(0.04)), "0.04 ms");
        assert_eq!(scale.text(Seconds::ZERO), "0.0 ms");
        let scale = TimeScale::for_largest([204.9, 131.6].map(Seconds::from_us));
        assert_eq!(scale.text(Seconds::from_us(131.6)), "132 µs");
        assert_eq!(TimeScale::for_largest([]).text(Seconds::ZERO), "0.00 ms");
    }

    #[test]
    fn changes_carry_their_sign() {
        assert_eq!(percent_change(-0.298), "−30 %");
        assert_eq!(percent_change(0.08), "+8 %");
        assert_eq!(difference(0.7333), "+0.73");
        assert_eq!(difference(-0.6), "−0.60");
        assert_eq!(times(0.7317), "0.73x");
        assert_eq!(times(12.34), "12.3x");
    }

    #[test]
    fn numbers_for_machines_are_finite_and_short() {
        assert_eq!(finite(0.1 + 0.2), Some(0.3));
        assert_eq!(finite(f64::NAN), None);
        assert_eq!(finite(f64::INFINITY), None);
        assert_eq!(finite(-0.5), Some(-0.5));
    }
}
