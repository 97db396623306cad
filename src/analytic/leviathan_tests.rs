//! Published values of arXiv 2211.17192, and their closed form by direct computation.

use super::*;
use crate::speculation::{Acceptance, DraftShape};
use proptest::prelude::*;

/// Speed and operations at c = 0: their table of expected improvements.
#[test]
fn speed_and_operations() {
    for (a, g, speed, operations) in [
        (0.6, 2, 1.960, 1.531),
        (0.7, 3, 2.533, 1.579),
        (0.8, 2, 2.440, 1.230),
        (0.8, 5, 3.689, 1.626),
        (0.9, 2, 2.710, 1.107),
        (0.9, 10, 6.862, 1.603),
    ] {
        assert!((speedup(a, g, 0.0) - speed).abs() < 5.1e-4, "speed at {a}, {g}");
        assert!((operations_factor(a, g, 0.0) - operations).abs() < 5.1e-4, "operations at {a}, {g}");
    }
}

/// Their twelve predictions: a, g, c, the closed form with these printed inputs, and what they print.
#[test]
fn the_published_predictions() {
    let twelve = [
        (0.75, 7, 0.02, 3.157, 3.2),
        (0.80, 7, 0.04, 3.251, 3.3),
        (0.82, 7, 0.11, 2.497, 2.5),
        (0.62, 7, 0.02, 2.258, 2.3),
        (0.68, 5, 0.04, 2.347, 2.4),
        (0.71, 3, 0.11, 1.934, 2.0),
        (0.65, 5, 0.02, 2.402, 2.4),
        (0.73, 5, 0.04, 2.619, 2.6),
        (0.74, 3, 0.11, 2.025, 2.0),
        (0.53, 5, 0.02, 1.891, 1.9),
        (0.55, 3, 0.04, 1.803, 1.8),
        (0.56, 3, 0.11, 1.541, 1.6),
    ];
    for (a, g, c, closed, printed) in twelve {
        let value = speedup(a, g, c);
        assert!((value - closed).abs() < 5.1e-4, "closed form at {a}, {g}, {c}: {value}");
        assert!((value - printed).abs() < 0.07, "printed at {a}, {g}, {c}: {value}");
    }
}

/// Best draft length and its speedup, by direct search.
#[test]
fn the_table_of_best_lengths() {
    let costs = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4];
    let table = [
        (0.5, [(5, 1.875), (4, 1.794), (3, 1.630), (2, 1.458), (1, 1.250), (1, 1.071)]),
        (0.6, [(7, 2.297), (6, 2.170), (4, 1.921), (3, 1.674), (2, 1.400), (1, 1.143)]),
        (0.7, [(9, 2.972), (8, 2.758), (6, 2.353), (4, 1.981), (3, 1.583), (2, 1.217)]),
        (0.8, [(14, 4.232), (11, 3.817), (8, 3.092), (6, 2.470), (4, 1.868), (2, 1.356)]),
        (0.9, [(24, 7.486), (19, 6.365), (13, 4.674), (10, 3.431), (7, 2.373), (4, 1.575)]),
    ];
    for (rate, row) in table {
        for (cost, (drafted, value)) in costs.into_iter().zip(row) {
            let best = best_length(rate, cost, 100);
            assert_eq!(best.drafted, drafted, "a = {rate}, c = {cost}");
            assert!((best.speedup - value).abs() < 5.1e-4, "a = {rate}, c = {cost}: {}", best.speedup);
        }
    }
    assert!((speedup(0.5, 2, 0.2) - speedup(0.5, 1, 0.2)).abs() < 1e-12, "the tie of the table");
}

#[test]
fn edges() {
    assert_eq!(best_length(0.3, 0.4, 50).drafted, 0, "a < c never pays");
    assert_eq!(best_length(1.0, 0.1, 12).drafted, 12);
    assert!((accept_length(1.0, 1000).get() - 1001.0).abs() < 1e-9);
    assert!((accept_length(0.0, 1000).get() - 1.0).abs() < 1e-12);
    assert!((accept_length(1.0 - 1e-9, 200).get() - 201.0).abs() < 1e-4);
}

proptest! {
    #[test]
    fn one_drafted_token(a in 0.0..=1.0_f64, c in 0.0..2.0_f64) {
        prop_assert!((speedup(a, 1, c) - (1.0 + a) / (1.0 + c)).abs() < 1e-12);
    }

    #[test]
    fn it_pays_for_some_length_exactly_when_a_exceeds_c(a in 0.0..1.0_f64, c in 0.001..1.0_f64) {
        prop_assume!((a - c).abs() > 1e-6);
        let best = best_length(a, c, 64);
        prop_assert_eq!(best.drafted > 0, a > c);
    }

    #[test]
    fn operations_never_fall_below_one(a in 0.0..=1.0_f64, g in 0_u32..30, c in 0.0..1.0_f64) {
        prop_assert!(operations_factor(a, g, c) >= 1.0 - 1e-12);
    }

    #[test]
    fn the_acceptance_law_says_the_same(a in 0.0..0.999_f64, g in 0_u32..200) {
        let (law, shape) = (Acceptance::geometric(a).expect("valid"), DraftShape::chain(g));
        let closed = (1.0 - a.powf(f64::from(g) + 1.0)) / (1.0 - a);
        prop_assert!((accept_length(a, g).get() - closed).abs() < 1e-9 * closed);
        prop_assert!((law.mean(shape).get() - closed).abs() < 1e-9 * closed);
        prop_assert!((variance(a, g) - law.variance(shape)).abs() < 1e-9);
    }

    #[test]
    fn rises_with_the_rate(a in 0.0..1.0_f64, step in 0.0..1.0_f64, g in 0_u32..100) {
        let better = a + (1.0 - a) * step;
        prop_assert!(accept_length(better, g) >= accept_length(a, g) - AcceptLength::new(1e-9));
    }
}
