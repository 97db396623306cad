//! How sure it is that a setting beats no speculation.
//!
//! The logarithm of the gain is taken as normal: with the standard deviation that the inputs' ranges give it, and, where
//! times are predicted, that of the model's own errors, wider by what it missed of the times that were observed.

use statrs::function::erf::erfc;

use super::Point;
use crate::sourced::SPREAD_DEVIATIONS;

/// Standard deviation of ln(predicted / measured speedup): the root mean square, rounded up, over the 112 cells of the validation
/// page's section on choices (one model on one box), which a test computes again.
pub const MODEL_DEVIATION: f64 = 0.14;

/// A probability with the model in it is cut to this and its complement: a deviation known from 112 cells of one box says
/// nothing of rarer misses. So is one of measured times that the model contradicts, since one of the two is wrong.
pub const MOST_PREDICTED: f64 = 0.99;

/// Share of ln(observed / modelled time) that counts as a standard deviation where that ratio is carried to other points,
/// or left out of them: nobody knows whether it holds there, and from the middle both ends are half of it away.
const UNKNOWN: f64 = 0.5;

/// Probability that a gain of `gain` over no speculation, found for `point`, is truly above 1.
pub fn win_probability(gain: f64, point: &Point) -> f64 {
    let inputs =
        point.speedup.map_or(0.0, |s| (s.high.max(1e-9) / s.low.max(1e-9)).ln() / 2.0 / SPREAD_DEVIATIONS);
    let cut = |p: f64| p.clamp(1.0 - MOST_PREDICTED, MOST_PREDICTED);
    match point.predicted {
        false if point.excess > MODEL_DEVIATION => cut(above(gain, inputs)),
        false => above(gain, inputs),
        true => cut(above(gain, inputs.hypot(MODEL_DEVIATION.hypot(UNKNOWN * point.excess)))),
    }
}

/// Probability that a gain of this standard deviation in its logarithm is above 1.
fn above(gain: f64, deviation: f64) -> f64 {
    if deviation > 0.0 {
        0.5 * erfc(-gain.ln() / deviation / std::f64::consts::SQRT_2)
    } else if gain > 1.0 {
        1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::testing::{point, setup};

    #[test]
    fn a_model_that_missed_what_was_observed_is_less_sure_and_never_certain() {
        let setup = setup("kimi-k2.6-eagle3-k3-8x-rtx-pro-6000.yaml", &[]);
        let at = |excess: f64, predicted: bool| {
            let point = Point { predicted, excess, ..point(&setup, 10.0, 12.0) };
            win_probability(1.4, &point)
        };
        assert!(at(2f64.ln(), true) < at(0.0, true));
        let far = Point { excess: 0.0, ..point(&setup, 10.0, 12.0) };
        assert!((win_probability(9.0, &far) - MOST_PREDICTED).abs() < 1e-12);
        assert!((win_probability(0.1, &far) - (1.0 - MOST_PREDICTED)).abs() < 1e-12);
        assert!(at(0.0, false) > at(0.0, true));
        assert!((at(2f64.ln(), false) - MOST_PREDICTED).abs() < 1e-12, "measured, and contradicted");
    }
}
