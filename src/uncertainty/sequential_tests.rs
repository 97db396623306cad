use super::*;
use crate::speculation::{Acceptance, DraftShape};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

fn test(break_even: f64) -> SequentialTest {
    SequentialTest { break_even, margin: 0.05, error: 0.05 }
}

#[test]
fn walds_numbers() {
    let test = test(2.0);
    assert!((test.bound() - 19.0_f64.ln()).abs() < 1e-12);
    // At R + δ: (2p - 1)·bound / (2δ²/σ²) with p = 0.95.
    let at = Seen { cycles: 0.0, mean: 2.05, deviation: 0.8 };
    let expected = 0.9 * 19.0_f64.ln() / (2.0 * 0.05_f64.powi(2) / 0.64);
    assert!((test.expected_more(at) / expected - 1.0).abs() < 1e-9);
    // At R itself: bound² / variance.
    let between = Seen { mean: 2.0, ..at };
    let expected = (19.0_f64.ln() * 0.8 / 0.1).powi(2);
    assert!((test.expected_more(between) / expected - 1.0).abs() < 1e-6);
}

#[test]
fn what_was_seen_counts() {
    let test = test(2.0);
    let seen = |cycles| Seen { cycles, mean: 2.1, deviation: 0.8 };
    let more: Vec<f64> = [0.0, 50.0, 150.0, 500.0].map(|n| test.expected_more(seen(n))).to_vec();
    assert!(more.windows(2).all(|pair| pair[1] < pair[0]), "{more:?}");
    assert!(more[3].abs() < 1e-12 && test.decided(seen(500.0)) == Some(true));
    assert_eq!(test.decided(seen(50.0)), None);
    assert_eq!(test.decided(Seen { mean: 1.9, ..seen(500.0) }), Some(false));
}

#[test]
fn correlated_cycles_are_worth_fewer() {
    assert!((effective_cycles(1000.0, 101.0, 0.04) - 200.0).abs() < 1e-9);
    assert!((effective_cycles(1000.0, 1.0, 0.5) - 1000.0).abs() < 1e-9);
}

/// Plays the test with cycles of a geometric law: share of wrong verdicts and mean number of cycles.
fn play(rate: f64, break_even: f64, margin: f64, runs: u64) -> (f64, f64, f64) {
    let (law, shape) = (Acceptance::geometric(rate).expect("a rate"), DraftShape::chain(3));
    let (mean, deviation) = (law.mean(shape).get(), law.variance(shape).sqrt());
    let test = SequentialTest { break_even, margin, error: 0.05 };
    let (mut wrong, mut cycles) = (0_u64, 0_u64);
    for run in 0..runs {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(run);
        let (mut count, mut sum) = (0_u64, 0_u64);
        let side = loop {
            sum += u64::from(law.sample(shape, &mut rng));
            count += 1;
            let seen = Seen { cycles: count as f64, mean: sum as f64 / count as f64, deviation };
            if let Some(side) = test.decided(seen) {
                break side;
            }
        };
        wrong += u64::from(side != (mean > break_even));
        cycles += count;
    }
    let expected = test.expected_more(Seen { cycles: 0.0, mean, deviation });
    (wrong as f64 / runs as f64, cycles as f64 / runs as f64, expected)
}

#[test]
fn simulated_cycles_keep_the_errors_and_the_expected_number() {
    let mean = Acceptance::geometric(0.6).expect("a rate").mean(DraftShape::chain(3)).get();
    for (distance, margin) in [(0.1, 0.1), (-0.1, 0.1), (0.3, 0.1)] {
        let (wrong, cycles, expected) = play(0.6, mean - distance, margin, 1500);
        // 5 % at the hypotheses themselves, three standard errors of 1,500 runs above it; less beyond them.
        assert!(wrong < 0.067, "{distance}: {wrong}");
        assert!((cycles / expected - 1.0).abs() < 0.10, "{distance}: {cycles} cycles, expected {expected}");
    }
}
