//! Laws made from nothing but a mean: the geometric one, and the one with the least variance.

use crate::sourced::{Sourced, Spread};
use crate::units::AcceptLength;

use super::error::AcceptanceError;
use super::shape::DraftShape;

/// The i.i.d. rate `a` at which a chain of `drafted` tokens has the mean accept length `mean`:
/// the root of Σ_{i=0..k} aⁱ = mean in \[0, 1\], for 1 ≤ mean ≤ k + 1.
///
/// The polynomial rises and is convex on \[0, 1\], so Newton's steps from a = 1 fall onto the root from above and
/// never leave the interval. Without drafted tokens every rate has the mean 1; the answer is then 0.
pub fn solve_rate(mean: AcceptLength, drafted: u32) -> Result<f64, AcceptanceError> {
    let (value, limit) = (mean.get(), f64::from(drafted) + 1.0);
    if !(1.0..=limit).contains(&value) {
        return Err(AcceptanceError::AcceptLength { value, limit });
    }
    let mut rate = 1.0;
    for _ in 0..200 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for _ in 0..=drafted {
            slope = slope * rate + sum;
            sum = sum * rate + 1.0;
        }
        let next = if slope > 0.0 { rate - (sum - value) / slope } else { 0.0 };
        if next >= rate {
            break;
        }
        rate = next.max(0.0);
    }
    Ok(rate)
}

/// A mean accept length at one depth, carried to others by the geometric law that has this mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanOnly {
    accept_length: Sourced<AcceptLength>,
    drafted: u32,
    rate: Sourced<f64>,
}

impl MeanOnly {
    /// The mean `accept_length`, stated for `shape`. A range that reaches beyond what the shape can yield is cut.
    pub fn new(accept_length: Sourced<AcceptLength>, shape: DraftShape) -> Result<Self, AcceptanceError> {
        let drafted = shape.depth();
        let rate_of = |mean: AcceptLength| solve_rate(mean, drafted);
        let mut rate = Sourced { spread: None, ..accept_length.map(|_| 0.0) };
        rate.value = rate_of(accept_length.value)?;
        let mut accept_length = accept_length;
        if let Some(spread) = accept_length.spread {
            let limit = shape.accept_limit();
            let cut = |mean: AcceptLength| mean.max(AcceptLength::new(1.0)).min(limit);
            let spread = Spread { low: cut(spread.low), high: cut(spread.high) };
            accept_length.spread = Some(spread);
            rate.spread = Some(Spread { low: rate_of(spread.low)?, high: rate_of(spread.high)? });
        }
        Ok(Self { accept_length, drafted, rate })
    }

    /// The mean as stated.
    pub const fn accept_length(&self) -> Sourced<AcceptLength> {
        self.accept_length
    }

    /// The depth it was stated for.
    pub const fn drafted(&self) -> u32 {
        self.drafted
    }

    /// The rate of the geometric law with this mean.
    pub const fn rate(&self) -> Sourced<f64> {
        self.rate
    }
}

/// Accept lengths ⌊m⌋ and ⌈m⌉ only, with mean m: of all laws with that mean the one with the least variance,
/// (m - ⌊m⌋)(⌈m⌉ - m). Synthetic acceptance in servers produces it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloorCeil {
    mean: AcceptLength,
}

impl FloorCeil {
    /// With the mean `mean` ≥ 1.
    pub fn new(mean: AcceptLength) -> Result<Self, AcceptanceError> {
        let value = mean.get();
        if value.is_finite() && value >= 1.0 {
            Ok(Self { mean })
        } else {
            Err(AcceptanceError::AcceptLength { value, limit: f64::INFINITY })
        }
    }

    /// The mean where nothing cuts it.
    pub const fn mean(&self) -> AcceptLength {
        self.mean
    }

    /// Deepest drafted token that is ever accepted, ⌈m⌉ - 1.
    pub fn reach(&self) -> u32 {
        self.mean.get().ceil() as u32 - 1
    }

    /// P(at least `i` drafted tokens accepted).
    pub const fn tail(&self, i: u32) -> f64 {
        (self.mean.get() - i as f64).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_reference_case_needs_these_rates() {
        // Accept length 2.0 and 2.733 with two drafted tokens: a² + a + 1 = L.
        let rate = |l: f64| solve_rate(AcceptLength::new(l), 2).expect("possible");
        assert!((rate(2.0) - 0.618_034).abs() < 1e-6);
        assert!((rate(2.733_333) - 0.908).abs() < 5e-4);
    }

    #[test]
    fn the_ends_are_exact_and_impossible_means_are_errors() {
        for drafted in [0, 1, 3, 64] {
            let limit = f64::from(drafted) + 1.0;
            let one = solve_rate(AcceptLength::new(limit), drafted).expect("possible");
            if drafted > 0 {
                assert!((one - 1.0).abs() < 1e-12);
                assert!(solve_rate(AcceptLength::new(1.0), drafted).expect("possible").abs() < 1e-12);
            }
            assert!(solve_rate(AcceptLength::new(limit + 0.01), drafted).is_err());
        }
        assert!(solve_rate(AcceptLength::new(0.99), 3).is_err());
        assert!(solve_rate(AcceptLength::new(f64::NAN), 3).is_err());
    }

    proptest! {
        #[test]
        fn the_rate_gives_the_mean_back(drafted in 1_u32..40, share in 0.0..=1.0_f64) {
            let mean = 1.0 + share * f64::from(drafted);
            let rate = solve_rate(AcceptLength::new(mean), drafted).expect("possible");
            let sum: f64 = (0..=drafted).map(|i| rate.powi(i32::try_from(i).expect("small"))).sum();
            prop_assert!((0.0..=1.0).contains(&rate));
            prop_assert!((sum - mean).abs() < 1e-10 * mean);
        }
    }

    #[test]
    fn two_lengths_only() {
        let law = FloorCeil::new(AcceptLength::new(2.3)).expect("possible");
        assert!((law.tail(1) - 1.0).abs() < 1e-15);
        assert!((law.tail(2) - 0.3).abs() < 1e-12);
        assert!(law.tail(3).abs() < 1e-15);
        assert_eq!(law.reach(), 2);
        assert_eq!(FloorCeil::new(AcceptLength::new(2.0)).expect("possible").reach(), 1);
        assert!(FloorCeil::new(AcceptLength::new(0.5)).is_err());
    }
}
