//! The quantity types and the operators between them.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

use super::display::ThreeFigures;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(f64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0.0);

            /// From a number of base units.
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            /// The number of base units.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The larger of two.
            #[must_use]
            pub const fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of two.
            #[must_use]
            pub const fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }

            /// Whether the value is neither infinite nor NaN.
            pub const fn is_finite(self) -> bool {
                self.0.is_finite()
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Mul<$name> for f64 {
            type Output = $name;
            fn mul(self, quantity: $name) -> $name {
                $name(self * quantity.0)
            }
        }

        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        impl Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self::ZERO, Add::add)
            }
        }
    };
}

quantity! {
    /// A duration \[s\].
    Seconds
}
quantity! {
    /// A size \[B\]; a fraction of a byte is allowed, since quantised weights have 4.25 or 4.5 bits.
    Bytes
}
quantity! {
    /// Bytes moved in a time \[B/s\].
    Bandwidth
}
quantity! {
    /// Floating-point operations; a multiply-add counts as two.
    Flops
}
quantity! {
    /// Floating-point operations in a time \[1/s\].
    FlopRate
}
quantity! {
    /// A number of tokens; expectations need not be whole.
    Tokens
}
quantity! {
    /// Output tokens in a time, over all requests \[tok/s\].
    TokensPerSecond
}
quantity! {
    /// Tokens gained per verify pass, *bonus token included*, 1 ≤ L ≤ k + 1, k = longest drafted chain (for a
    /// chain k + 1 = rows verified). Counted per request.
    AcceptLength
}

impl Seconds {
    /// From milliseconds.
    pub const fn from_ms(ms: f64) -> Self {
        Self(ms * 1e-3)
    }

    /// From microseconds.
    pub const fn from_us(us: f64) -> Self {
        Self(us * 1e-6)
    }

    /// In milliseconds.
    pub const fn ms(self) -> f64 {
        self.0 * 1e3
    }

    /// In microseconds.
    pub const fn us(self) -> f64 {
        self.0 * 1e6
    }

    /// Rounded to whole picoseconds, the resolution of the simulator. Every duration is rounded once, where
    /// it is priced, so that closed forms and simulation add the very same numbers.
    #[must_use]
    pub fn to_picosecond(self) -> Self {
        Self((self.0 * 1e12).round() * 1e-12)
    }
}

impl Bytes {
    /// From KiB (1024 B).
    pub const fn from_kib(kib: f64) -> Self {
        Self(kib * 1024.0)
    }
}

impl Bandwidth {
    /// From GB/s (10⁹ B/s).
    pub const fn from_gb_s(gb_s: f64) -> Self {
        Self(gb_s * 1e9)
    }

    /// In GB/s.
    pub const fn gb_s(self) -> f64 {
        self.0 * 1e-9
    }
}

impl FlopRate {
    /// From 10¹² operations a second.
    pub const fn from_tflops(tflops: f64) -> Self {
        Self(tflops * 1e12)
    }
}

impl Div<Bandwidth> for Bytes {
    type Output = Seconds;
    fn div(self, bandwidth: Bandwidth) -> Seconds {
        Seconds(self.0 / bandwidth.0)
    }
}

impl Div<Seconds> for Bytes {
    type Output = Bandwidth;
    fn div(self, time: Seconds) -> Bandwidth {
        Bandwidth(self.0 / time.0)
    }
}

impl Mul<Seconds> for Bandwidth {
    type Output = Bytes;
    fn mul(self, time: Seconds) -> Bytes {
        Bytes(self.0 * time.0)
    }
}

impl Div<FlopRate> for Flops {
    type Output = Seconds;
    fn div(self, rate: FlopRate) -> Seconds {
        Seconds(self.0 / rate.0)
    }
}

impl Div<Seconds> for Flops {
    type Output = FlopRate;
    fn div(self, time: Seconds) -> FlopRate {
        FlopRate(self.0 / time.0)
    }
}

impl Div<Seconds> for Tokens {
    type Output = TokensPerSecond;
    fn div(self, time: Seconds) -> TokensPerSecond {
        TokensPerSecond(self.0 / time.0)
    }
}

impl Div<TokensPerSecond> for Tokens {
    type Output = Seconds;
    fn div(self, throughput: TokensPerSecond) -> Seconds {
        Seconds(self.0 / throughput.0)
    }
}

impl AcceptLength {
    /// The tokens that a batch of `requests` gains in one cycle.
    pub const fn tokens(self, requests: f64) -> Tokens {
        Tokens(self.0 * requests)
    }
}

impl fmt::Display for Seconds {
    /// Three figures and the unit that suits: `33.3 ms`, `205 µs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0.abs() {
            s if s >= 0.9995 => (self.0, "s"),
            s if s >= 0.9995e-3 || s == 0.0 => (self.0 * 1e3, "ms"),
            s if s >= 0.9995e-6 => (self.0 * 1e6, "µs"),
            _ => (self.0 * 1e9, "ns"),
        };
        f.pad(&format!("{} {unit}", ThreeFigures(value)))
    }
}

impl fmt::Display for Bytes {
    /// Exact below 1,000 B, else three figures in decimal units: `43.0 KB`, `594 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0.abs() {
            b if b < 999.5 => format!("{} B", self.0),
            b if b < 999.5e3 => format!("{} KB", ThreeFigures(self.0 * 1e-3)),
            b if b < 999.5e6 => format!("{} MB", ThreeFigures(self.0 * 1e-6)),
            b if b < 999.5e9 => format!("{} GB", ThreeFigures(self.0 * 1e-9)),
            _ => format!("{} TB", ThreeFigures(self.0 * 1e-12)),
        };
        f.pad(&text)
    }
}

impl fmt::Display for Bandwidth {
    /// In GB/s: `48.0 GB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} GB/s", ThreeFigures(self.gb_s())))
    }
}

impl fmt::Display for FlopRate {
    /// In TFLOPS: `468 TFLOPS`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} TFLOPS", ThreeFigures(self.0 * 1e-12)))
    }
}

impl fmt::Display for TokensPerSecond {
    /// `82.0 tok/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} tok/s", ThreeFigures(self.0)))
    }
}

impl fmt::Display for AcceptLength {
    /// Two decimals, as servers print it: `2.73`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.2}", self.0))
    }
}

impl fmt::Display for Tokens {
    /// Two decimals at most: `3`, `2.22`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}", (self.0 * 100.0).round() / 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_three_figures_with_the_unit_that_suits() {
        assert_eq!(Seconds::from_ms(33.333).to_string(), "33.3 ms");
        assert_eq!(Seconds::from_us(204.9).to_string(), "205 µs");
        assert_eq!(Seconds::from_ms(0.9999).to_string(), "1.00 ms");
        assert_eq!(Seconds::new(2.0).to_string(), "2.00 s");
        assert_eq!(Bytes::new(14_336.0).to_string(), "14.3 KB");
        assert_eq!(Bytes::new(512.0).to_string(), "512 B");
        assert_eq!(TokensPerSecond::new(1234.5).to_string(), "1,234 tok/s");
    }

    #[test]
    fn operators_keep_the_dimensions() {
        let time = Bytes::new(1.5e9) / Bandwidth::from_gb_s(1.5);
        assert!((time.get() - 1.0).abs() < 1e-15);
        let rate = AcceptLength::new(2.0).tokens(1.0) / Seconds::from_ms(25.0);
        assert!((rate.get() - 80.0).abs() < 1e-12);
    }

    #[test]
    fn rounding_to_picoseconds_is_idempotent() {
        let rounded = Seconds::from_us(30.912_345_678_9).to_picosecond();
        assert_eq!(rounded, rounded.to_picosecond());
    }
}
