//! How sure it is that a setting beats no speculation.
//!
//! The logarithm of the gain is taken as normal: with the standard deviation that the inputs' ranges give it, and, where
//! times are predicted, that of the model's own errors.

use statrs::function::erf::erfc;

use super::Point;
use crate::sourced::SPREAD_DEVIATIONS;

/// Standard deviation of ln(predicted / measured speedup): the root mean square, rounded up, over the 112 cells of the validation
/// page's section on choices (one model on one box), which a test computes again.
pub const MODEL_DEVIATION: f64 = 0.14;

/// Probability that a gain of `gain` over no speculation, found for `point`, is truly above 1.
pub fn win_probability(gain: f64, point: &Point) -> f64 {
    let inputs =
        point.speedup.map_or(0.0, |s| (s.high.max(1e-9) / s.low.max(1e-9)).ln() / 2.0 / SPREAD_DEVIATIONS);
    let model = if point.predicted { MODEL_DEVIATION } else { 0.0 };
    let deviation = inputs.hypot(model);
    if deviation > 0.0 {
        0.5 * erfc(-gain.ln() / deviation / std::f64::consts::SQRT_2)
    } else if gain > 1.0 {
        1.0
    } else {
        0.0
    }
}
