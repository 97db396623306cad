//! A number as it was printed, with the rounding that printing did.

/// A printed number and half of its last place: the true value lies within `value ± half`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// As printed.
    pub value: f64,
    /// Half of the last printed place; 0.5 for a whole number.
    pub half: f64,
}

/// Half of the last place, by the number of places.
const HALVES: [f64; 13] = [0.5, 5e-2, 5e-3, 5e-4, 5e-5, 5e-6, 5e-7, 5e-8, 5e-9, 5e-10, 5e-11, 5e-12, 5e-13];

impl Printed {
    /// Reads a plain number that is neither negative nor infinite nor `nan`: digits, and a fraction or none.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let places = match bytes.iter().position(|b| *b == b'.') {
            Some(point) => bytes.len() - point - 1,
            None => 0,
        };
        let plain = !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_digit() || *b == b'.');
        let half = *HALVES.get(places).filter(|_| plain)?;
        let value: f64 = text.parse().ok()?;
        value.is_finite().then_some(Self { value, half })
    }

    /// Whether `value` could have been printed so.
    pub fn may_be(self, value: f64) -> bool {
        (value - self.value).abs() <= self.half * (1.0 + 1e-9)
    }
}

/// A whole number, as counts are printed; `12.0` counts too, as Prometheus prints them.
pub(super) fn whole(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse::<u64>() {
        return Some(number);
    }
    let value: f64 = text.parse().ok()?;
    // Beyond 2^53 a floating-point counter no longer counts by ones.
    (value >= 0.0 && value.fract() == 0.0 && value <= 9_007_199_254_740_992.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_is_the_rounding() {
        let two = Printed::parse("1.95").expect("a number");
        assert!((two.value - 1.95).abs() < 1e-15 && (two.half - 0.005).abs() < 1e-15);
        assert!(two.may_be(1.9549) && !two.may_be(1.956));
        assert!((Printed::parse("48").expect("whole").half - 0.5).abs() < 1e-15);
        for text in ["", "nan", "-1", "1e5", "inf", "1.2.3", "0x10", "1 ", "1.2[2025"] {
            assert_eq!(Printed::parse(text), None, "{text}");
        }
    }

    #[test]
    fn counters_may_be_printed_as_floats() {
        assert_eq!(whole("12"), Some(12));
        assert_eq!(whole("12.0"), Some(12));
        assert_eq!(whole("1.2345e+06"), Some(1_234_500));
        for text in ["12.5", "-1", "nan", "1e300", ""] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
