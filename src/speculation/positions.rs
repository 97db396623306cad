//! Acceptance known position by position.

use std::sync::Arc;

use super::error::{AcceptanceError, normalised, probability};

/// Tails S_1 ... S_K of the accepted tokens, with the conditional rate that continues them.
///
/// From conditional rates a_i (position i accepted, given all before): S_i = Π_{j≤i} a_j. From cumulative rates,
/// as vLLM prints them: S_i itself. From a histogram over accepted tokens: the sums from i on.
/// Deeper positions than known ones take the last conditional rate S_K / S_{K-1}.
#[derive(Debug, Clone, PartialEq)]
pub struct Positions {
    tails: Arc<[f64]>,
    beyond: f64,
}

impl Positions {
    fn from_tails(tails: Vec<f64>) -> Self {
        let last = tails.last().copied().unwrap_or(0.0);
        let before = if tails.len() < 2 { 1.0 } else { tails[tails.len() - 2] };
        let beyond = if before > 0.0 { (last / before).min(1.0) } else { 0.0 };
        Self { tails: tails.into(), beyond }
    }

    /// From conditional rates, one per position.
    pub fn from_conditional(rates: &[f64]) -> Result<Self, AcceptanceError> {
        if rates.is_empty() {
            return Err(AcceptanceError::Empty);
        }
        let mut tail = 1.0;
        let mut tails = Vec::with_capacity(rates.len());
        for (i, rate) in rates.iter().enumerate() {
            tail *= probability(i + 1, *rate)?;
            tails.push(tail);
        }
        let mut positions = Self::from_tails(tails);
        // The rate as written, also where rounding or an earlier zero would hide it.
        positions.beyond = rates[rates.len() - 1];
        Ok(positions)
    }

    /// From cumulative rates, one per position.
    pub fn from_cumulative(rates: &[f64]) -> Result<Self, AcceptanceError> {
        if rates.is_empty() {
            return Err(AcceptanceError::Empty);
        }
        let mut before = 1.0;
        for (i, rate) in rates.iter().enumerate() {
            let value = probability(i + 1, *rate)?;
            if value > before {
                return Err(AcceptanceError::Rising { position: i + 1, value, before });
            }
            before = value;
        }
        Ok(Self::from_tails(rates.to_vec()))
    }

    /// From weights (counts or shares) of 0, 1, ... accepted drafted tokens; they need not add up to 1.
    pub fn from_histogram(weights: &[f64]) -> Result<Self, AcceptanceError> {
        let shares = normalised(weights)?;
        let mut tails = vec![0.0; shares.len() - 1];
        let mut tail = 0.0;
        for i in (0..tails.len()).rev() {
            tail += shares[i + 1];
            tails[i] = f64::min(tail, 1.0);
        }
        Ok(Self::from_tails(tails))
    }

    /// How many positions are known.
    pub fn known(&self) -> u32 {
        self.tails.len() as u32
    }

    /// S_1 ... S_K.
    pub fn tails(&self) -> &[f64] {
        &self.tails
    }

    /// The conditional rate beyond the known positions.
    pub const fn beyond(&self) -> f64 {
        self.beyond
    }

    /// P(at least `i` accepted), extended beyond the known positions.
    pub fn tail(&self, i: u32) -> f64 {
        match i.checked_sub(1) {
            None => 1.0,
            Some(index) => self.tails.get(index as usize).copied().unwrap_or_else(|| {
                let last = self.tails.last().copied().unwrap_or(1.0);
                last * power(self.beyond, i - self.known())
            }),
        }
    }
}

/// `rate` to a whole power.
pub(super) fn power(rate: f64, exponent: u32) -> f64 {
    rate.powi(i32::try_from(exponent).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditional_rates_multiply_to_cumulative_ones() {
        let positions = Positions::from_conditional(&[0.8, 0.5, 0.25]).expect("valid");
        assert_eq!(positions.tails(), [0.8, 0.4, 0.1]);
        assert!((positions.tail(5) - 0.1 * 0.25 * 0.25).abs() < 1e-15);
        assert!((positions.tail(0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn histograms_and_cumulative_rates_say_the_same() {
        let a = Positions::from_histogram(&[2.0, 4.0, 3.0, 1.0]).expect("valid");
        let b = Positions::from_cumulative(&[0.8, 0.4, 0.1]).expect("valid");
        for i in 0..=5 {
            assert!((a.tail(i) - b.tail(i)).abs() < 1e-15, "{i}");
        }
        assert!((b.beyond() - 0.25).abs() < 1e-15);
    }

    #[test]
    fn wrong_numbers_are_errors_that_name_the_place() {
        assert_eq!(Positions::from_conditional(&[]), Err(AcceptanceError::Empty));
        assert_eq!(
            Positions::from_conditional(&[0.5, 1.5]),
            Err(AcceptanceError::NotAProbability { position: 2, value: 1.5 })
        );
        assert!(Positions::from_conditional(&[f64::NAN]).is_err());
        assert_eq!(
            Positions::from_cumulative(&[0.5, 0.6]),
            Err(AcceptanceError::Rising { position: 2, value: 0.6, before: 0.5 })
        );
        assert_eq!(
            Positions::from_histogram(&[1.0, -1.0]),
            Err(AcceptanceError::NotAWeight { position: 2, value: -1.0 })
        );
        assert_eq!(Positions::from_histogram(&[0.0, 0.0]), Err(AcceptanceError::NoWeight));
    }
}
