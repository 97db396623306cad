//! First order: each input at the ends of its range, the others at their middle.
//!
//! The changes of all inputs add in quadrature, upward and downward apart, in logarithms where the output is
//! positive. Exact for one input and for products of powers of lognormal inputs, right to first order otherwise:
//! interactions are left out.

use crate::sourced::SPREAD_DEVIATIONS;

use super::normal::normal_probability;

/// The outputs with one input at its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    /// At its 5th percentile.
    pub low: Vec<f64>,
    /// At its 95th percentile.
    pub high: Vec<f64>,
}

/// The outputs at the middle of all inputs, and with each input at its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstOrder {
    /// All inputs at their middle.
    pub middle: Vec<f64>,
    /// One for each input.
    pub inputs: Vec<Ends>,
}

/// Evaluates `function` at the middle and at both ends of each of `factors` inputs.
pub fn first_order(factors: usize, function: impl Fn(&[f64]) -> Vec<f64>) -> FirstOrder {
    let mut scores = vec![0.0; factors];
    let middle = function(&scores);
    let mut at = |input: usize, score: f64| {
        scores[input] = score;
        let outputs = function(&scores);
        scores[input] = 0.0;
        outputs
    };
    let inputs = (0..factors)
        .map(|input| Ends { low: at(input, -SPREAD_DEVIATIONS), high: at(input, SPREAD_DEVIATIONS) })
        .collect();
    FirstOrder { middle, inputs }
}

/// How far an output reaches below and above its middle, in the scale in which it was added up.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reach {
    down: f64,
    up: f64,
    /// Whether in logarithms.
    log: bool,
}

impl FirstOrder {
    /// The two values of an output with an input at its ends.
    pub fn ends(&self, input: usize, output: usize) -> (f64, f64) {
        (self.inputs[input].low[output], self.inputs[input].high[output])
    }

    /// The range that holds an output nine times in ten; none where no input moves it or it is no number.
    pub fn range(&self, output: usize) -> Option<(f64, f64)> {
        let Reach { down, up, log } = self.reach(output)?;
        let middle = self.middle[output];
        Some(if log { (middle * (-down).exp(), middle * up.exp()) } else { (middle - down, middle + up) })
    }

    /// Probability that a positive output exceeds `limit`, taking its logarithm as normal with the deviation of
    /// the side on which the limit lies; none where no input moves it.
    pub fn probability_above(&self, output: usize, limit: f64) -> Option<f64> {
        let Reach { down, up, log } = self.reach(output)?;
        let middle = self.middle[output];
        let gain = if log { (middle / limit).ln() } else { middle - limit };
        let deviation = if gain > 0.0 { down } else { up } / SPREAD_DEVIATIONS;
        Some(match deviation > 0.0 {
            true => normal_probability(gain / deviation),
            false if gain > 0.0 => 1.0,
            false => 0.0,
        })
    }

    fn reach(&self, output: usize) -> Option<Reach> {
        let middle = self.middle[output];
        let ends = || (0..self.inputs.len()).map(|input| self.ends(input, output));
        if !middle.is_finite() || ends().any(|(low, high)| !low.is_finite() || !high.is_finite()) {
            return None;
        }
        let log = middle > 0.0 && ends().all(|(low, high)| low > 0.0 && high > 0.0);
        let (mut down, mut up) = (0.0_f64, 0.0_f64);
        for (low, high) in ends() {
            let change = |end: f64| if log { (end / middle).ln() } else { end - middle };
            let (a, b) = (change(low), change(high));
            down = down.hypot(a.min(b).min(0.0));
            up = up.hypot(a.max(b).max(0.0));
        }
        // What only rounds is no range.
        let least = if log { 1e-9 } else { 1e-9 * middle.abs() };
        (down > least || up > least).then_some(Reach { down, up, log })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_input_keeps_its_own_ends_and_two_add_in_quadrature() {
        let one = first_order(1, |z| vec![(0.1 * z[0]).exp(), 7.0]);
        let (low, high) = one.range(0).expect("a range");
        assert!((high - (0.1 * SPREAD_DEVIATIONS).exp()).abs() < 1e-12 && (low * high - 1.0).abs() < 1e-12);
        assert_eq!(one.range(1), None, "nothing moves it");
        let two = first_order(2, |z| vec![(0.3 * z[0] - 0.4 * z[1]).exp()]);
        let (_, high) = two.range(0).expect("a range");
        assert!((high.ln() - 0.5 * SPREAD_DEVIATIONS).abs() < 1e-12);
        let chance = two.probability_above(0, 0.5_f64.exp()).expect("a probability");
        assert!((chance - normal_probability(-1.0)).abs() < 1e-12);
    }

    #[test]
    fn an_output_that_can_be_negative_adds_up_as_it_is() {
        let two = first_order(2, |z| vec![0.1 + 3.0 * z[0] + 4.0 * z[1]]);
        let (low, high) = two.range(0).expect("a range");
        assert!((high - low - 10.0 * SPREAD_DEVIATIONS).abs() < 1e-9);
    }
}
