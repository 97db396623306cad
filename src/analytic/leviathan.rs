//! Closed forms for chains with an i.i.d. acceptance rate (arXiv 2211.17192).
//!
//! a: acceptance rate of one drafted token; g: tokens drafted; c: draft step over target step. They suppose that
//! verifying g + 1 rows costs one step, which holds on no machine for large g; [`super::Parts`] takes the measured cost.

use crate::units::AcceptLength;

/// Expected tokens per cycle, (1 - a^(g+1)) / (1 - a); 1 at a = 0, g + 1 at a = 1. For a in \[0, 1\].
pub fn accept_length(rate: f64, drafted: u32) -> AcceptLength {
    // Horner's rule has no cancellation near a = 1; beyond some length the closed form is exact enough and faster.
    let tokens = if drafted <= 64 || rate >= 1.0 {
        if rate >= 1.0 {
            f64::from(drafted) + 1.0
        } else {
            (0..drafted).fold(1.0, |sum: f64, _| sum * rate + 1.0)
        }
    } else if rate <= 0.0 {
        1.0
    } else {
        -((f64::from(drafted) + 1.0) * rate.ln()).exp_m1() / (1.0 - rate)
    };
    AcceptLength::new(tokens)
}

/// Variance of the tokens per cycle: accepted tokens are geometric, cut at g \[tokens²\].
pub fn variance(rate: f64, drafted: u32) -> f64 {
    let (mut tail, mut first, mut second) = (1.0, 0.0, 0.0);
    for i in 1..=drafted {
        tail *= rate;
        first += tail;
        second += (2.0 * f64::from(i) - 1.0) * tail;
    }
    (second - first * first).max(0.0)
}

/// Speedup over decoding one by one: (1 - a^(g+1)) / ((1 - a)(g·c + 1)). At g = 1 it is (1 + a) / (1 + c), and it
/// exceeds 1 for some g exactly when a > c.
pub fn speedup(rate: f64, drafted: u32, cost: f64) -> f64 {
    accept_length(rate, drafted).get() / (f64::from(drafted) * cost + 1.0)
}

/// Arithmetic operations over those without speculation, `cost` being the draft's operations per token over the
/// target's: (1 - a)(g·ĉ + g + 1) / (1 - a^(g+1)).
pub fn operations_factor(rate: f64, drafted: u32, cost: f64) -> f64 {
    let drafted_tokens = f64::from(drafted);
    (drafted_tokens * cost + drafted_tokens + 1.0) / accept_length(rate, drafted).get()
}

/// The best draft length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestLength {
    /// Tokens to draft; 0 where speculation does not pay.
    pub drafted: u32,
    /// The speedup with it.
    pub speedup: f64,
}

/// The draft length of greatest [`speedup`] among 0 ... `most`, by direct search; the shorter one on ties. With c = 0
/// the speedup never stops rising and `most` is the answer, or the first length after which nothing changes any more.
pub fn best_length(rate: f64, cost: f64, most: u32) -> BestLength {
    best_length_by(most, |drafted| speedup(rate, drafted, cost))
}

/// The draft length of greatest `speedup` among 0 ... `most`; the shorter one on ties (to 10⁻¹²).
pub fn best_length_by(most: u32, speedup: impl Fn(u32) -> f64) -> BestLength {
    let mut best = BestLength { drafted: 0, speedup: speedup(0) };
    for drafted in 1..=most {
        let value = speedup(drafted);
        if value > best.speedup * (1.0 + 1e-12) {
            best = BestLength { drafted, speedup: value };
        }
    }
    best
}

#[cfg(test)]
#[path = "leviathan_tests.rs"]
mod tests;
