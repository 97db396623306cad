//! Laws of the methods: published indices, linear functions, threads.

use std::f64::consts::PI;

use super::*;
use crate::sourced::SPREAD_DEVIATIONS;

/// Ishigami's function of three numbers uniform on [-π, π] (T. Ishigami, T. Homma 1990), with a = 7, b = 0.1.
fn ishigami(scores: &[f64]) -> f64 {
    let x: Vec<f64> = scores.iter().map(|z| PI * (2.0 * normal_probability(*z) - 1.0)).collect();
    x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
}

/// First-order 0.3139, 0.4424, 0 and total 0.5576, 0.4424, 0.2437 (A. Saltelli et al., Global Sensitivity Analysis, 2008).
#[test]
fn sobol_finds_the_indices_of_ishigamis_function() {
    let found = sobol(3, 8192, 1, ishigami);
    let (first, total) = ([0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]);
    for (i, index) in found.iter().enumerate() {
        assert!((index.first - first[i]).abs() < 3.5 * index.first_error, "first {i}: {index:?}");
        assert!((index.total - total[i]).abs() < 3.5 * index.total_error, "total {i}: {index:?}");
        assert!(index.first_error < 0.02 && index.total_error < 0.02, "{index:?}");
    }
}

#[test]
fn indices_of_a_sum_are_the_shares_of_its_variance() {
    let found = sobol(3, 4096, 7, |z| 3.0 * z[0] + 4.0 * z[1] + 100.0);
    for (index, share) in found.iter().zip([9.0 / 25.0, 16.0 / 25.0, 0.0]) {
        assert!((index.first - share).abs() < 0.05 && (index.total - share).abs() < 0.03, "{index:?}");
    }
    assert!(sobol(2, 64, 1, |_| 3.0).iter().all(|index| index.total.abs() < 1e-15));
}

/// ln of a product of lognormal inputs is linear in the scores: both methods give the same range.
#[test]
fn monte_carlo_equals_first_order_where_linear() {
    let weights = [0.04, -0.10, 0.02, 0.06];
    let f = |z: &[f64]| {
        let sum: f64 = weights.iter().zip(z).map(|(w, z)| w * z).sum();
        vec![0.9 * sum.exp(), sum]
    };
    let first = first_order(weights.len(), f);
    let samples = monte_carlo(weights.len(), 40_000, 3, f);
    let deviation = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    for output in 0..2 {
        let (low, high) = first.range(output).expect("a range");
        let sampled = samples.summary(output);
        // Standard error of a 5th percentile: √(p(1-p)/n) over the density there, about 2.1 deviations / √n.
        let slack = 4.0 * 2.1 * deviation / 200.0;
        assert!((sampled.low - low).abs() < slack && (sampled.high - high).abs() < slack, "{sampled:?}");
    }
    let chance = first.probability_above(0, 1.0).expect("a probability");
    assert!((samples.share_above(0, 1.0) - chance).abs() < 0.01);
}

#[test]
fn one_two_and_four_threads_give_the_same_bits() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let samples = monte_carlo(3, 500, 42, |z| vec![ishigami(z)]);
            (samples, sobol(3, 200, 42, ishigami))
        })
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(4));
    let other = monte_carlo(3, 500, 43, |z| vec![ishigami(z)]);
    assert_ne!(one.0, other, "another seed gives other draws");
}

#[test]
fn scores_are_standard_normal() {
    let samples = monte_carlo(2, 40_000, 5, <[f64]>::to_vec);
    for output in 0..2 {
        let summary = samples.summary(output);
        assert!(summary.mean.abs() < 0.02 && (summary.deviation - 1.0).abs() < 0.02, "{summary:?}");
        assert!((summary.high - SPREAD_DEVIATIONS).abs() < 0.05);
    }
    let product: f64 = samples.output(0).zip(samples.output(1)).map(|(a, b)| a * b).sum();
    assert!((product / 40_000.0).abs() < 0.02, "inputs are independent");
}
