//! Estimates by hand, and recommendations that the counts support.

use super::*;

#[test]
fn counts_by_histogram_and_by_position_are_the_same() {
    let a = Counts::from_histogram(&[59, 24, 12, 34]).expect("valid");
    let b = Counts::from_positions(129, &[70, 46, 34]).expect("valid");
    assert_eq!(a, b);
    assert_eq!(a.histogram(), [59, 24, 12, 34]);
    assert_eq!((a.cycles(), a.drafted(), a.accepted()), (129, 3, 150));
}

/// vLLM's log line "Accepted: 150 tokens, Drafted: 387 tokens ... 0.543, 0.357, 0.264": 129 drafts, length 2.16.
#[test]
fn a_vllm_log_line() {
    let counts = Counts::from_positions(129, &[70, 46, 34]).expect("valid");
    let length = counts.accept_length();
    assert!((length.value.get() - (1.0 + 150.0 / 129.0)).abs() < 1e-12);
    let spread = length.spread.expect("a range");
    assert!(spread.low < length.value && length.value < spread.high);
    let fits = Fits::new(counts);
    let rates: Vec<f64> = fits.positions.iter().map(|p| p.rate).collect();
    for (rate, expected) in rates.iter().zip([0.543, 0.357 / 0.543, 0.264 / 0.357]) {
        assert!((rate - expected).abs() < 2e-3, "{rate} {expected}");
    }
    // 150 accepted, 95 cycles met a rejection.
    assert!((fits.geometric.rate.rate - 150.0 / 245.0).abs() < 1e-12);
    assert_eq!(fits.recommended, Recommended::Beta, "rates rise: .54 .66 .74");
    let mean = fits.acceptance().mean(DraftShape::chain(3)).get();
    assert!(spread.low.get() < mean && mean < spread.high.get());
}

#[test]
fn counts_that_cannot_be_are_errors() {
    assert_eq!(Counts::from_histogram(&[]), Err(AcceptanceError::Empty));
    assert_eq!(Counts::from_histogram(&[0, 0]), Err(AcceptanceError::Empty));
    assert_eq!(
        Counts::from_positions(10, &[5, 6]),
        Err(AcceptanceError::Counts { position: 2, accepted: 6, tried: 5 })
    );
}

#[test]
fn falling_rates_call_for_positions() {
    // Conditional .8, .5, .2: no rate and no mixture of rates falls so.
    let counts = Counts::from_positions(10_000, &[8000, 4000, 800]).expect("valid");
    let fits = Fits::new(counts);
    assert_eq!(fits.recommended, Recommended::Positions);
    assert!(fits.beta.is_none());
    assert!((fits.acceptance().mean(DraftShape::chain(3)).get() - 2.28).abs() < 1e-12);
}

#[test]
fn exact_beta_counts_give_the_parameters_back() {
    // Tails of Beta(3, 1.5) over 10⁷ cycles.
    let law = Acceptance::beta(3.0, 1.5).expect("valid");
    let shape = DraftShape::chain(5);
    let accepted: Vec<u64> = (1..=5).map(|i| (law.tail(i, shape) * 1e7).round() as u64).collect();
    let fits = Fits::new(Counts::from_positions(10_000_000, &accepted).expect("valid"));
    let fit = fits.beta.expect("rates rise");
    assert!((fit.law.alpha() - 3.0).abs() < 0.01, "{:?}", fit.law);
    assert!((fit.law.beta() - 1.5).abs() < 0.01);
    assert!(fit.gain > 100.0);
    assert_eq!(fits.recommended, Recommended::Beta);
    // μ = 2/3, φ = 1/4.5, known to a thousandth by ten million cycles.
    for (interval, truth) in [(fit.mean_rate, 2.0 / 3.0), (fit.dispersion, 1.0 / 4.5)] {
        assert!(interval.low < truth && truth < interval.high, "{interval:?}");
        assert!(interval.high - interval.low < 2e-3, "{interval:?}");
    }
}

#[test]
fn few_counts_recommend_one_rate_and_say_so() {
    let fits = Fits::new(Counts::from_histogram(&[2, 1, 1]).expect("valid"));
    assert_eq!(fits.recommended, Recommended::GeometricUntested);
    assert!(fits.recommended.because().contains("too few"));
    let one = Fits::new(Counts::from_histogram(&[4000, 6000]).expect("valid"));
    assert_eq!(one.recommended, Recommended::Geometric);
    let nothing = Fits::new(Counts::from_histogram(&[50, 0, 0]).expect("valid"));
    assert!(nothing.acceptance().mean(DraftShape::chain(2)).get() - 1.0 < 1e-12);
    let all = Fits::new(Counts::from_histogram(&[0, 0, 50]).expect("valid"));
    assert!((all.acceptance().mean(DraftShape::chain(2)).get() - 3.0).abs() < 1e-12);
}

/// Fits to many small samples of a known law: its intervals hold the truth about nine times in ten.
#[test]
fn intervals_of_the_beta_law_cover_nine_times_in_ten() {
    use rand::{RngExt as _, SeedableRng as _};
    let law = Acceptance::beta(2.0, 1.0).expect("valid");
    let pmf = law.pmf(DraftShape::chain(4));
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut rate, mut dispersion) = (0, 0);
    let samples = 200;
    for _ in 0..samples {
        let mut cells = [0_u64; 5];
        for _ in 0..600 {
            let mut left: f64 = rng.random();
            let cell = pmf.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            cells[cell.unwrap_or(4)] += 1;
        }
        let fit = Fits::new(Counts::from_histogram(&cells).expect("counts")).beta.expect("rates rise");
        rate += u32::from(fit.mean_rate.low <= 2.0 / 3.0 && 2.0 / 3.0 <= fit.mean_rate.high);
        dispersion += u32::from(fit.dispersion.low <= 1.0 / 3.0 && 1.0 / 3.0 <= fit.dispersion.high);
    }
    // Nine tenths of 200, and three standard deviations.
    assert!((167..=193).contains(&rate), "{rate}");
    assert!((167..=193).contains(&dispersion), "{dispersion}");
}

/// Found by fuzzing metrics: sums of such counts overflow.
#[test]
fn counts_that_no_server_reaches_are_refused() {
    let large = (1 << 53) + 1;
    assert_eq!(Counts::from_positions(large, &[1]), Err(AcceptanceError::CountTooLarge { count: large }));
    assert_eq!(
        Counts::from_histogram(&[u64::MAX, 1]),
        Err(AcceptanceError::CountTooLarge { count: u64::MAX })
    );
    let most = Counts::from_positions(1 << 53, &[1 << 53; 9]).expect("the most");
    assert_eq!(Fits::new(most).counts.accepted(), 9 << 53);
}
