//! Quantities as people write them: `30 ms`, `48 GB/s`, `82 tok/s`, `2.0 +- 0.1`.

use std::fmt;

use super::{AcceptLength, Bandwidth, Bytes, FlopRate, Seconds, TokensPerSecond};

/// A kind of quantity that a person can write, with its unit suffixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `s ms us µs ns`
    Time,
    /// `B KB MB GB TB KiB MiB GiB TiB`
    Size,
    /// `B/s KB/s MB/s GB/s TB/s`
    Bandwidth,
    /// `GFLOPS TFLOPS PFLOPS`
    FlopRate,
    /// `tok/s`
    Throughput,
    /// A plain number: no suffix allowed.
    Number,
}

impl Unit {
    /// Suffix and factor to the base unit.
    pub const fn suffixes(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Time => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ns", 1e-9)],
            Self::Size => &[
                ("B", 1.0),
                ("KB", 1e3),
                ("MB", 1e6),
                ("GB", 1e9),
                ("TB", 1e12),
                ("KiB", 1024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
                ("TiB", 1_099_511_627_776.0),
            ],
            Self::Bandwidth => &[("B/s", 1.0), ("KB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)],
            Self::FlopRate => &[("GFLOPS", 1e9), ("TFLOPS", 1e12), ("PFLOPS", 1e15)],
            Self::Throughput => &[("tok/s", 1.0)],
            Self::Number => &[],
        }
    }

    /// What the unit measures, for messages: "a time".
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Size => "a size",
            Self::Bandwidth => "a bandwidth",
            Self::FlopRate => "a rate of operations",
            Self::Throughput => "a throughput",
            Self::Number => "a number",
        }
    }

    /// The suffix to propose when one is missing.
    pub const fn usual(self) -> &'static str {
        match self {
            Self::Time => "ms",
            Self::Size => "KB",
            Self::Bandwidth => "GB/s",
            Self::FlopRate => "TFLOPS",
            Self::Throughput => "tok/s",
            Self::Number => "",
        }
    }

    /// Reads `30 ms` or `30 ms +- 1 ms` into base units.
    ///
    /// # Errors
    /// A number without its unit, an unknown unit, a value that is no finite number, a negative spread.
    pub fn parse(self, text: &str) -> Result<Written, ParseUnitError> {
        let (value, spread) = match text.split_once("+-").or_else(|| text.split_once('±')) {
            Some((value, spread)) => (value, Some(spread)),
            None => (text, None),
        };
        let value = self.parse_one(value)?;
        let deviation = spread.map(|s| self.parse_one(s)).transpose()?;
        if deviation.is_some_and(|d| d < 0.0) {
            return Err(ParseUnitError::NegativeSpread);
        }
        Ok(Written { value, deviation })
    }

    fn parse_one(self, text: &str) -> Result<f64, ParseUnitError> {
        let text = text.trim();
        let split = number_end(text);
        let (number, suffix) = (text[..split].trim(), text[split..].trim());
        if number.is_empty() {
            return Err(ParseUnitError::NotANumber { text: text.to_owned() });
        }
        let value: f64 = number.parse().map_err(|_| ParseUnitError::NotANumber { text: text.to_owned() })?;
        let factor = self.factor(suffix)?;
        let value = value * factor;
        if value.is_finite() { Ok(value) } else { Err(ParseUnitError::NotFinite) }
    }

    fn factor(self, suffix: &str) -> Result<f64, ParseUnitError> {
        if self == Self::Number {
            return if suffix.is_empty() {
                Ok(1.0)
            } else {
                Err(ParseUnitError::UnexpectedUnit { suffix: suffix.to_owned() })
            };
        }
        if suffix.is_empty() {
            return Err(ParseUnitError::MissingUnit { unit: self });
        }
        self.suffixes()
            .iter()
            .find(|(name, _)| *name == suffix)
            .map(|(_, factor)| *factor)
            .ok_or_else(|| ParseUnitError::UnknownUnit { unit: self, suffix: suffix.to_owned() })
    }
}

/// The byte where the number at the start of `text` ends.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let exponent_sign = end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        let in_number = match bytes[end] {
            b'0'..=b'9' | b'.' => true,
            b'+' | b'-' => end == 0 || exponent_sign,
            b'e' | b'E' => {
                end > 0 && bytes.get(end + 1).is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'))
            }
            _ => false,
        };
        if !in_number {
            break;
        }
        end += 1;
    }
    end
}

/// A value as written, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// The value.
    pub value: f64,
    /// One standard deviation, where `+-` was given.
    pub deviation: Option<f64>,
}

/// A quantity type that people can write in a scenario.
pub trait Quantity: Copy {
    /// Its kind of unit.
    const UNIT: Unit;
    /// From base units.
    fn from_base(value: f64) -> Self;
    /// To base units.
    fn to_base(self) -> f64;
}

macro_rules! written_as {
    ($($type:ty => $unit:expr),* $(,)?) => {$(
        impl Quantity for $type {
            const UNIT: Unit = $unit;
            fn from_base(value: f64) -> Self { Self::new(value) }
            fn to_base(self) -> f64 { self.get() }
        }
        impl std::str::FromStr for $type {
            type Err = ParseUnitError;
            fn from_str(text: &str) -> Result<Self, ParseUnitError> {
                Ok(Self::from_base(<Self as Quantity>::UNIT.parse(text)?.value))
            }
        }
    )*};
}

written_as! {
    Seconds => Unit::Time,
    Bytes => Unit::Size,
    Bandwidth => Unit::Bandwidth,
    FlopRate => Unit::FlopRate,
    TokensPerSecond => Unit::Throughput,
    AcceptLength => Unit::Number,
}

/// Why a written quantity cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseUnitError {
    /// `30` where `30 ms` is meant.
    MissingUnit {
        /// The unit expected.
        unit: Unit,
    },
    /// `30 minutes`, `30 GB` for a time.
    UnknownUnit {
        /// The unit expected.
        unit: Unit,
        /// What stands there.
        suffix: String,
    },
    /// `2.0 ms` where a plain number is meant.
    UnexpectedUnit {
        /// What stands there.
        suffix: String,
    },
    /// Not a number at all.
    NotANumber {
        /// What stands there.
        text: String,
    },
    /// Infinity or beyond the range of numbers.
    NotFinite,
    /// `30 ms +- -1 ms`.
    NegativeSpread,
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingUnit { unit } => write!(f, "{} needs a unit", unit.noun()),
            Self::UnknownUnit { unit, suffix } => {
                let known: Vec<_> = unit.suffixes().iter().map(|(name, _)| *name).collect();
                write!(f, "`{suffix}` is not a unit of {}; known: {}", unit.noun(), known.join(", "))
            }
            Self::UnexpectedUnit { suffix } => write!(f, "a plain number is expected, without `{suffix}`"),
            Self::NotANumber { text } => write!(f, "`{text}` is not a number"),
            Self::NotFinite => f.write_str("the value must be a finite number"),
            Self::NegativeSpread => f.write_str("the spread after `+-` must not be negative"),
        }
    }
}

impl std::error::Error for ParseUnitError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_reach_base_units() {
        for (unit, text, value, deviation) in [
            (Unit::Time, "30 ms", 0.03, None),
            (Unit::Time, "30ms", 0.03, None),
            (Unit::Time, "205 µs +- 5 µs", 205e-6, Some(5e-6)),
            (Unit::Size, "43 KB", 43e3, None),
            (Unit::Size, "1 MiB", 1_048_576.0, None),
            (Unit::Throughput, "82 tok/s", 82.0, None),
            (Unit::Number, "2.0 ± 0.1", 2.0, Some(0.1)),
            (Unit::Time, "1e-3 s", 1e-3, None),
        ] {
            let written = unit.parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!((written.value - value).abs() <= 1e-12 * value, "{text}");
            assert_eq!(written.deviation.is_some(), deviation.is_some(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(Unit::Time.parse("30"), Err(ParseUnitError::MissingUnit { unit: Unit::Time }));
        assert!(matches!(Unit::Time.parse("30 GB"), Err(ParseUnitError::UnknownUnit { .. })));
        assert!(matches!(Unit::Number.parse("2 ms"), Err(ParseUnitError::UnexpectedUnit { .. })));
        assert!(matches!(Unit::Time.parse("fast"), Err(ParseUnitError::NotANumber { .. })));
        assert_eq!(Unit::Time.parse("1e999 s"), Err(ParseUnitError::NotFinite));
        assert_eq!(Unit::Time.parse("3 ms +- -1 ms"), Err(ParseUnitError::NegativeSpread));
    }
}
