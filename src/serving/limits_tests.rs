//! Limits that are known exactly: single-server queues, saturation, laws of acceptance, Little.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::*;
use crate::speculation::{Acceptance, DraftShape, Markov, chi_square};
use crate::units::Seconds;

fn run<C: StepCost + ?Sized>(config: &ServingConfig, cost: &C) -> ServingResult {
    simulate(config, cost, &mut |_| ControlFlow::Continue(())).expect("a valid configuration")
}

/// A single server: one request at a time, its whole prompt in one step, one token of output. The mean service is
/// 1 s, in 2^16 tokens where it varies.
fn single_server(load: f64, service: Length, requests: u64, seed: u64) -> ServingConfig {
    ServingConfig {
        arrivals: Arrivals::Poisson { interval: Seconds::new(1.0 / load) },
        lengths: Lengths::Drawn { prompt: service, output: Length::Fixed(1) },
        requests,
        max_requests: 1,
        token_budget: u32::MAX,
        kv: Kv { blocks: u32::MAX, block_size: 65_536 },
        seed,
        ..ServingConfig::default()
    }
}

/// Load, requests, seed, and the largest standard error in shares of the exact wait.
type Case = (f64, u64, u64, f64);

/// Mean wait against the exact one, within four standard errors by batch means.
fn waits_agree(service: Length, cost: &LinearCost, exact: fn(f64) -> f64, cases: &[Case]) {
    let faults: Vec<String> = cases
        .par_iter()
        .filter_map(|(load, requests, seed, most)| {
            let result = run(&single_server(*load, service, *requests, *seed), cost);
            assert_eq!(result.requests.completed, *requests);
            let exact = exact(*load);
            let error = result.wait_error.expect("enough requests").get();
            let off = (result.wait.mean.get() - exact) / error;
            let told = format!("load {load} seed {seed}: off by {off:.2} errors of {:.4}", error / exact);
            (off.abs() > 4.0 || error / exact > *most).then_some(told)
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Pollaczek and Khinchine: ρ / (2 (1 - ρ)) services for a constant one.
fn md1(cases: &[Case]) {
    let cost = LinearCost::new(Seconds::new(1.0), Seconds::ZERO);
    waits_agree(Length::Fixed(1), &cost, |load| load / (2.0 * (1.0 - load)), cases);
}

/// ρ / (1 - ρ) services for an exponential one.
fn mm1(cases: &[Case]) {
    let mean = 65_536.0;
    let cost = LinearCost::new(Seconds::ZERO, Seconds::new(1.0 / mean));
    waits_agree(Length::Exponential { mean }, &cost, |load| load / (1.0 - load), cases);
}

#[test]
fn md1_waits_are_exact() {
    md1(&[(0.5, 240_000, 0, 0.01), (0.8, 900_000, 0, 0.01), (0.9, 3_000_000, 0, 0.01)]);
}

#[test]
fn mm1_waits_are_exact() {
    mm1(&[(0.5, 500_000, 0, 0.01), (0.8, 1_600_000, 0, 0.01)]);
}

/// The same queue four times over, side by side, since it takes 4.4 million requests to know this mean to 1 %: a
/// Poisson stream that is dealt out at random is four Poisson streams.
#[test]
fn mm1_waits_are_exact_in_heavy_traffic() {
    let (load, mean) = (0.9, 65_536.0);
    let cost = LinearCost::new(Seconds::ZERO, Seconds::new(1.0 / mean));
    let config = ServingConfig {
        replicas: 4,
        router: Routing::Random,
        ..single_server(4.0 * load, Length::Exponential { mean }, 5_200_000, 0)
    };
    let result = run(&config, &cost);
    let exact = load / (1.0 - load);
    let error = result.wait_error.expect("enough requests").get();
    assert!((result.wait.mean.get() - exact).abs() < 4.0 * error, "{:?} ± {error}", result.wait.mean);
    assert!(error < 0.01 * exact, "{}", error / exact);
}

/// Shorter runs, whose errors are larger and known as well.
#[test]
fn waits_are_exact_for_any_seed() {
    let cases: Vec<Case> =
        (1..=8).flat_map(|seed| [(0.5, 30_000, seed, 0.05), (0.8, 100_000, seed, 0.06)]).collect();
    md1(&cases);
    mm1(&cases);
}

fn laws() -> Vec<Acceptance> {
    let rate = |a| Acceptance::geometric(a).expect("valid");
    vec![
        rate(0.6),
        Acceptance::conditional(&[0.8, 0.7, 0.6]).expect("valid"),
        Acceptance::histogram(&[40.0, 30.0, 20.0, 10.0]).expect("valid"),
        Acceptance::tree(&[0.6, 0.2, 0.1], TREE).expect("valid"),
        Acceptance::beta(3.0, 1.5).expect("valid"),
        Acceptance::mixture(vec![(0.3, rate(0.9)), (0.7, rate(0.4))]).expect("valid"),
        Acceptance::Markov(Markov::two_states(rate(0.9), rate(0.3), 0.4, 0.3).expect("valid")),
    ]
}

const TREE: DraftShape = DraftShape { steps: 3, topk: 2, draft_tokens: 8 };

/// B users without a pause keep B requests in the batch: B · E[L] / cycle.
fn saturated(law: &Acceptance, shape: DraftShape, seed: u64) -> (ServingConfig, f64) {
    let (users, cycle) = (32, Seconds::from_ms(20.0));
    let config = ServingConfig {
        arrivals: Arrivals::Closed { users },
        lengths: Lengths::Drawn { prompt: Length::Fixed(1), output: Length::Fixed(1_000_000) },
        requests: 1000,
        max_requests: users,
        kv: Kv { blocks: 10_000_000, block_size: 16 },
        drafting: Some(Drafting::fixed(law.clone(), shape)),
        horizon: Some(Seconds::new(20.0 * 40.0)),
        seed,
        ..ServingConfig::default()
    };
    let mean = law.clone().with_shape(shape).mean(shape).get();
    (config, f64::from(users) * mean / cycle.get())
}

#[test]
fn saturated_throughput_is_batch_times_accept_length_over_cycle() {
    let cost = LinearCost::new(Seconds::from_ms(20.0), Seconds::ZERO);
    for law in laws() {
        // 32 requests alone do not show the spread of requests that differ for good: see the next test.
        if matches!(law, Acceptance::Beta(_) | Acceptance::Mixture(_)) {
            continue;
        }
        for (seed, shape) in [(1, TREE), (2, DraftShape::chain(3))] {
            let (config, expected) = saturated(&law, shape, seed);
            let result = run(&config, &cost);
            assert_eq!(result.end, End::Horizon);
            let ratio = result.throughput.get() / expected;
            assert!((ratio - 1.0).abs() < 0.005, "{}: {ratio}", law.word());
            assert!((result.busy_share - 1.0).abs() < 1e-12);
        }
    }
}

/// Requests that differ, or remember, served one after the other: throughput averages to the law.
#[test]
fn saturated_throughput_holds_for_requests_that_differ() {
    let cost = LinearCost::new(Seconds::from_ms(20.0), Seconds::ZERO);
    let shape = DraftShape::chain(3);
    for law in laws().into_iter().filter(|law| matches!(law, Acceptance::Beta(_) | Acceptance::Mixture(_))) {
        let output = 201;
        let config = ServingConfig {
            arrivals: Arrivals::Closed { users: 32 },
            lengths: Lengths::Drawn { prompt: Length::Fixed(1), output: Length::Fixed(output) },
            requests: 20_000,
            max_requests: 32,
            drafting: Some(Drafting::fixed(law.clone(), shape)),
            seed: 4,
            ..ServingConfig::default()
        };
        let result = run(&config, &cost);
        let ratio = result.accept_length.get() / law.mean(shape).get();
        assert!((ratio - 1.0).abs() < 0.0075, "{}: {ratio}", law.word());
        // One step of each request is its prompt's; 0.5 % of the passes are cut at the end.
        let expected = 32.0 * f64::from(output) / (f64::from(output - 1) / result.delivered_per_pass + 1.0);
        let steps = result.throughput.get() * 0.020 / expected;
        assert!((steps - 1.0).abs() < 0.005, "{}: {steps}", law.word());
    }
}

#[test]
fn accept_lengths_follow_their_law() {
    let cost = LinearCost::new(Seconds::from_ms(20.0), Seconds::ZERO);
    for law in laws() {
        // Passes of one request depend on one another where requests differ or remember: no chi-square there.
        if matches!(law, Acceptance::Beta(_) | Acceptance::Mixture(_) | Acceptance::Markov(_)) {
            continue;
        }
        for (seed, shape) in [(1, TREE), (2, DraftShape::chain(3)), (3, DraftShape::chain(1))] {
            let config = ServingConfig {
                requests: 400,
                drafting: Some(Drafting::fixed(law.clone(), shape)),
                seed,
                ..ServingConfig::default()
            };
            let result = run(&config, &cost);
            let pmf = law.clone().with_shape(shape).pmf(shape);
            let test = chi_square(&result.accept_histogram[1..], &pmf, 0).expect("enough passes");
            assert!(test.p_value > 1e-4, "{} {shape:?}: {test:?}", law.word());
        }
    }
}

/// L = λ W, exactly: both sides are whole picoseconds, summed in two ways.
#[test]
fn littles_law_holds_exactly() {
    for (seed, replicas) in [(1, 1), (2, 3)] {
        let config = ServingConfig {
            arrivals: Arrivals::Gamma { interval: Seconds::from_ms(150.0), variation: 2.0 },
            lengths: Lengths::Drawn {
                prompt: Length::Lognormal { mean: 800.0, variation: 1.0 },
                output: Length::Lognormal { mean: 60.0, variation: 0.7 },
            },
            max_requests: 16,
            replicas,
            seed,
            keep_records: true,
            ..ServingConfig::default()
        };
        let cost = LinearCost::new(Seconds::from_ms(8.0), Seconds::from_us(60.0));
        let result = run(&config, &cost);
        assert_eq!(result.end, End::Finished);
        let sojourns: u128 = result.records.iter().map(|r| u128::from((r.completed - r.arrived).ps())).sum();
        let span = result.span.get() * 1e12;
        assert!((result.mean_in_system * span / sojourns as f64 - 1.0).abs() < 1e-12);
        let rate = result.requests.completed as f64 / result.span.get();
        assert!((result.mean_in_system / (rate * result.e2e.mean.get()) - 1.0).abs() < 1e-9);
        let over_time: f64 =
            result.timeline.iter().map(|p| (p.waiting + p.running) * (p.to.get() - p.from.get())).sum();
        assert!((over_time * 1e12 / sojourns as f64 - 1.0).abs() < 1e-9);
    }
}
