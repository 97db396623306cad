//! The cycles behind an acceptance, and the range that they leave.

use crate::scenario::library::Law;
use crate::scenario::setup::Evidence;
use crate::scenario::written::{AcceptanceKeys, SpeculationObserved};
use crate::sourced::{SPREAD_DEVIATIONS, Sourced};
use crate::speculation::{Acceptance, DraftShape};
use crate::units::AcceptLength;

/// As stated; a histogram of whole numbers counts its own cycles.
pub(super) fn of(keys: &AcceptanceKeys, observed: &SpeculationObserved) -> Option<Evidence> {
    let counted = keys.histogram.as_ref().filter(|counts| counts.iter().all(|count| count.fract() == 0.0));
    let counted = counted.map(|counts| counts.iter().sum::<f64>());
    let stated = observed.cycles.map(|cycles| cycles as f64);
    let independent = observed.effective_cycles;
    let cycles = stated.or(counted).or(independent).filter(|cycles| *cycles >= 1.0)?;
    Some(Evidence { cycles, independent: independent.unwrap_or(cycles).min(cycles) })
}

/// The law with the range that the cycles leave a mean or a rate, ± 1.645 standard errors; none where the law has a
/// range already or where its positions have ranges of their own.
pub(super) fn range(law: &Law, found: &Acceptance, shape: DraftShape, evidence: Evidence) -> Option<Law> {
    let variance = found.variance(shape);
    let n = evidence.independent;
    let around = |value: Sourced<f64>, error: f64, least: f64, most: f64| {
        let reach = SPREAD_DEVIATIONS * error;
        (value.spread.is_none() && reach > 0.0)
            .then(|| value.with_spread((value.value - reach).max(least), (value.value + reach).min(most)))
    };
    let depth = f64::from(shape.depth());
    match law {
        Law::AcceptLength(mean) => {
            let ranged = around(mean.map(AcceptLength::get), (variance / n).sqrt(), 1.0, depth + 1.0)?;
            Some(Law::AcceptLength(ranged.map(AcceptLength::new)))
        }
        Law::MeanRate(rate) => Some(Law::MeanRate(around(*rate, (variance / n).sqrt() / depth, 0.0, 1.0)?)),
        Law::Rate(rate) => {
            // Tokens that were tried: the first of every cycle, and each after an accepted one.
            let tried: f64 = n * (0..shape.depth()).map(|i| found.tail(i, shape)).sum::<f64>();
            let error = (rate.value * (1.0 - rate.value) / tried).sqrt();
            Some(Law::Rate(around(*rate, error, 0.0, 1.0)?))
        }
        Law::Conditional(_) | Law::Cumulative(_) | Law::Histogram(_) | Law::Tree { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_counts_and_shares_are_none() {
        let of_histogram = |list: &[f64]| {
            let keys = AcceptanceKeys { histogram: Some(list.to_vec()), ..AcceptanceKeys::default() };
            of(&keys, &SpeculationObserved::default())
        };
        assert_eq!(of_histogram(&[30.0, 50.0, 20.0]), Some(Evidence { cycles: 100.0, independent: 100.0 }));
        assert_eq!(of_histogram(&[0.3, 0.5, 0.2]), None);
        let observed = SpeculationObserved {
            cycles: Some(400),
            effective_cycles: Some(100.0),
            ..SpeculationObserved::default()
        };
        assert_eq!(
            of(&AcceptanceKeys::default(), &observed),
            Some(Evidence { cycles: 400.0, independent: 100.0 })
        );
    }

    #[test]
    fn four_times_the_cycles_halve_the_range_of_a_mean() {
        let shape = DraftShape::chain(3);
        let mean = Sourced::given(AcceptLength::new(2.0));
        let found = Acceptance::mean_only(mean, shape).expect("possible");
        let width = |n: f64| {
            let evidence = Evidence { cycles: n, independent: n };
            match range(&Law::AcceptLength(mean), &found, shape, evidence) {
                Some(Law::AcceptLength(length)) => {
                    let spread = length.spread.expect("a range");
                    spread.high.get() - spread.low.get()
                }
                other => panic!("{other:?}"),
            }
        };
        let expected = 2.0 * SPREAD_DEVIATIONS * (found.variance(shape) / 100.0).sqrt();
        assert!((width(100.0) - expected).abs() < 1e-12);
        assert!((width(100.0) / width(400.0) - 2.0).abs() < 1e-9);
    }
}
