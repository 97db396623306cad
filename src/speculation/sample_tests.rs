//! Samplers against their laws: chi-square for cycles, Kolmogorov-Smirnov for rates; fixed seeds.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{Beta, ContinuousCDF as _};

use super::*;
use crate::speculation::{Counts, Fits, Markov, Mixture, chi_square};
use crate::units::AcceptLength;

const N: u32 = 100_000;

fn every_law() -> Vec<Acceptance> {
    let rate = |a| Acceptance::geometric(a).expect("valid");
    let tree = DraftShape { steps: 3, topk: 2, draft_tokens: 8 };
    let stated = crate::sourced::Sourced::given(AcceptLength::new(2.2));
    vec![
        rate(0.618),
        Acceptance::conditional(&[0.9, 0.7, 0.4]).expect("valid"),
        Acceptance::histogram(&[40.0, 30.0, 20.0, 10.0]).expect("valid"),
        Acceptance::tree(&[0.6, 0.2, 0.1], tree).expect("valid"),
        Acceptance::mean_only(stated, DraftShape::chain(3)).expect("valid"),
        Acceptance::floor_ceil(AcceptLength::new(2.4)).expect("valid"),
        Acceptance::beta(3.0, 1.5).expect("valid"),
        Acceptance::mixture(vec![(0.3, rate(0.9)), (0.7, rate(0.4))]).expect("valid"),
        Acceptance::Markov(Markov::two_states(rate(0.9), rate(0.3), 0.4, 0.7).expect("valid")),
    ]
}

fn refuse_below(counts: &[u64], pmf: &[f64], p_value: f64, what: &str) {
    let mut cells: Vec<(u64, f64)> = counts.iter().copied().zip(pmf.iter().copied()).collect();
    cells.retain(|cell| cell.0 > 0 || cell.1 > 0.0);
    let (counts, pmf): (Vec<u64>, Vec<f64>) = cells.into_iter().unzip();
    let test = chi_square(&counts, &pmf, 0).expect("enough counts");
    assert!(test.p_value > p_value, "{what}: {test:?}");
}

#[test]
fn cycles_at_random_follow_every_law() {
    for (seed, law) in (1..).zip(every_law()) {
        let shape = DraftShape { steps: 3, topk: 2, draft_tokens: 8 };
        let law = law.with_shape(shape);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut counts = vec![0_u64; 4];
        for _ in 0..N {
            counts[law.sample(shape, &mut rng) as usize - 1] += 1;
        }
        refuse_below(&counts, &law.pmf(shape), 0.01, law.word());
    }
}

/// Requests of equal output, each with its own kind, rate or state: over all their cycles the law must come out.
#[test]
fn cycles_of_requests_average_to_the_law() {
    let shape = DraftShape::chain(3);
    for (seed, law) in (1..).zip(every_law()) {
        let law = law.with_shape(shape);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(100 + seed);
        let (mut tokens, mut cycles) = (0_u64, 0_u64);
        // A walk ends its requests in good states more often, which weighs the less the longer they are.
        let (requests, output) =
            if matches!(law, Acceptance::Markov(_)) { (1000, 2000) } else { (20_000, 100) };
        for _ in 0..requests {
            let mut request = law.start_request(shape, &mut rng);
            let mut left = output;
            while left > 0 {
                let length = law.sample_next(&mut request, shape, &mut rng);
                assert!((1..=4).contains(&length));
                tokens += u64::from(length);
                cycles += 1;
                left -= i32::try_from(length).expect("at most 4");
            }
        }
        let mean = tokens as f64 / cycles as f64;
        let expected = law.mean(shape).get();
        // Requests differ by a third at most, so that 20,000 of them leave 0.25 % of sampling error.
        assert!((mean / expected - 1.0).abs() < 0.0075, "{}: {mean} against {expected}", law.word());
    }
}

#[test]
fn requests_draw_their_rates_from_the_weighted_beta_law() {
    let shape = DraftShape::chain(2);
    let (alpha, beta) = (3.0, 1.5);
    let law = Acceptance::beta(alpha, beta).expect("valid");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut rates: Vec<f64> = (0..20_000)
        .map(|_| match law.start_request(shape, &mut rng).0 {
            Kept::Rate(rate) => rate,
            other => panic!("a Beta request keeps a rate, not {other:?}"),
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let weights: Vec<f64> = (0..=2).map(|i| law.tail(i, shape)).collect();
    let total: f64 = weights.iter().sum();
    let cdf = |x: f64| -> f64 {
        weights
            .iter()
            .zip(0_u32..)
            .map(|(w, i)| w / total * Beta::new(alpha + f64::from(i), beta).expect("valid").cdf(x))
            .sum()
    };
    let n = rates.len() as f64;
    let distance = rates.iter().zip(0_u32..).fold(0.0_f64, |d, (rate, i)| {
        let f = cdf(*rate);
        d.max((f - f64::from(i) / n).abs()).max((f64::from(i + 1) / n - f).abs())
    });
    // Kolmogorov: P(√n·D > 1.63) = 0.01.
    assert!(distance * n.sqrt() < 1.63, "{distance}");
}

#[test]
fn cycles_of_one_request_are_as_correlated_as_the_walk() {
    let rate = |a| Acceptance::geometric(a).expect("valid");
    let shape = DraftShape::chain(3);
    let walk = Markov::two_states(rate(0.95), rate(0.1), 0.5, 0.9).expect("valid");
    let law = Acceptance::Markov(walk.clone());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut request = law.start_request(shape, &mut rng);
    let lengths: Vec<f64> =
        (0..N).map(|_| f64::from(law.sample_next(&mut request, shape, &mut rng))).collect();
    let mean = law.mean(shape).get();
    for lag in [1_u32, 3] {
        let covariance: f64 =
            lengths.iter().zip(&lengths[lag as usize..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>()
                / f64::from(N - lag);
        let expected = walk.autocovariance(shape, lag);
        assert!((covariance / expected - 1.0).abs() < 0.1, "lag {lag}: {covariance} against {expected}");
    }
}

#[test]
fn fits_find_the_law_that_was_drawn_from() {
    let shape = DraftShape::chain(4);
    for (seed, (law, low, high)) in (1..).zip([
        (Acceptance::geometric(0.7).expect("valid"), 0.68, 0.72),
        (Acceptance::geometric(0.3).expect("valid"), 0.28, 0.32),
    ]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut histogram = [0_u64; 5];
        for _ in 0..20_000 {
            histogram[law.sample(shape, &mut rng) as usize - 1] += 1;
        }
        let fits = Fits::new(Counts::from_histogram(&histogram).expect("valid"));
        assert!((low..high).contains(&fits.geometric.rate.rate));
        assert!(fits.geometric.goodness.expect("enough").p_value > 0.01);
    }
}

/// The first draws of a seed, for ever: a change here changes every simulation with the same seed.
#[test]
fn same_seed_same_draws() {
    let law = Acceptance::geometric(0.6).expect("valid");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let draws: Vec<u32> = (0..16).map(|_| law.sample(DraftShape::chain(4), &mut rng)).collect();
    assert_eq!(draws, [1, 1, 5, 1, 4, 2, 1, 2, 5, 4, 1, 3, 5, 2, 5, 4]);
}

#[test]
fn equal_requests_of_a_mixture_are_drawn_by_their_share() {
    let rate = |a| Acceptance::geometric(a).expect("valid");
    let shape = DraftShape::chain(4);
    let mixture = Mixture::of_requests(vec![(0.25, rate(0.9)), (0.75, rate(0.2))], shape).expect("valid");
    let law = Acceptance::Mixture(mixture);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut counts = [0_u64; 2];
    for _ in 0..N {
        match law.start_request(shape, &mut rng).0 {
            Kept::Part(part) => counts[part] += 1,
            other => panic!("a request of a mixture keeps its part, not {other:?}"),
        }
    }
    refuse_below(&counts, &[0.25, 0.75], 0.01, "shares of requests");
}
