//! Whole runs with known answers.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::*;
use crate::speculation::{Acceptance, DraftShape};
use crate::units::Seconds;

fn run<C: StepCost + ?Sized>(config: &ServingConfig, cost: &C) -> ServingResult {
    simulate(config, cost, &mut |_| ControlFlow::Continue(())).expect("a valid configuration")
}

fn recorded() -> ServingConfig {
    let csv = include_str!("../../tests/fixtures/requests_2048.csv");
    let trace = Trace::read(csv.as_bytes()).expect("a trace");
    let acceptance = Acceptance::conditional(&[0.8, 0.7, 0.6]).expect("rates");
    ServingConfig {
        arrivals: Arrivals::Trace,
        lengths: Lengths::Trace,
        requests: 2048,
        trace: Some(Arc::new(trace)),
        max_requests: 128,
        token_budget: 512,
        kv: Kv { blocks: 40_000, block_size: 16 },
        drafting: Some(Drafting::fixed(acceptance, DraftShape::chain(3))),
        ..ServingConfig::default()
    }
}

fn bench_cost() -> LinearCost {
    LinearCost::new(Seconds::from_ms(8.0), Seconds::from_us(20.0))
}

#[test]
fn recorded_requests_are_all_served() {
    let result = run(&recorded(), &bench_cost());
    assert_eq!(result.end, End::Finished);
    assert_eq!((result.requests.completed, result.requests.rejected), (2048, 0));
    assert_eq!((result.tokens.output, result.tokens.prefill), (434_430, 2_386_787));
    assert!((result.accept_length.get() - 2.696).abs() < 0.02, "1 + 0.8 + 0.56 + 0.336");
    assert!(result.delivered_per_pass < result.accept_length.get());
    assert!(result.span > Seconds::new(305.36) && result.span < Seconds::new(330.0));
    assert!(result.tpot.p50 > Seconds::from_ms(8.0 / 4.0));
    assert!(result.itl.min > Seconds::from_ms(8.0));
}

/// The first numbers of a seed, for ever: a change here changes every simulation with the same seed.
#[test]
fn same_seed_same_numbers() {
    let result = run(&recorded(), &bench_cost());
    assert_eq!((result.events, result.steps, result.preemptions), (32_710, 30_662, 0));
    assert_eq!(result.accept_histogram, [0, 31_981, 38_654, 36_472, 53_966]);
}

#[test]
fn one_request_alone_takes_its_steps() {
    let config = ServingConfig {
        arrivals: Arrivals::Constant { interval: Seconds::new(10.0) },
        lengths: Lengths::Drawn { prompt: Length::Fixed(1000), output: Length::Fixed(101) },
        requests: 5,
        token_budget: 512,
        ..ServingConfig::default()
    };
    let result = run(&config, &bench_cost());
    // 512 and 488 prompt tokens; 100 steps of one token.
    let (ttft, step) = (2.0 * 8.0 + 1000.0 * 0.02, 8.02);
    assert!((result.ttft.mean.ms() - ttft).abs() < 1e-6);
    assert!((result.e2e.max.ms() - ttft - 100.0 * step).abs() < 1e-6);
    assert!((result.tpot.p50.ms() - step).abs() < 1e-6);
    assert_eq!((result.itl.count, result.itl.min, result.itl.max), (500, result.itl.p50, result.itl.p99));
    assert_eq!((result.wait.max, result.accept_length.get().to_bits()), (Seconds::ZERO, 1.0_f64.to_bits()));
    assert_eq!(result.steps, 5 * 102);
}

#[test]
fn goodput_counts_what_meets_every_limit() {
    let config = ServingConfig {
        arrivals: Arrivals::Constant { interval: Seconds::new(10.0) },
        lengths: Lengths::Drawn { prompt: Length::Fixed(1000), output: Length::Fixed(101) },
        requests: 5,
        token_budget: 512,
        ..ServingConfig::default()
    };
    let ms = |x| Some(Seconds::from_ms(x));
    for (slo, good) in [
        (Slo { ttft: ms(36.1), tpot: ms(8.03), itl: ms(8.03), e2e: ms(839.0) }, 5),
        (Slo { ttft: ms(35.9), ..Slo::default() }, 0),
        (Slo { tpot: ms(8.01), ..Slo::default() }, 0),
        (Slo { itl: ms(8.01), ..Slo::default() }, 0),
        (Slo { e2e: ms(837.0), ..Slo::default() }, 0),
    ] {
        let result = run(&ServingConfig { slo, ..config.clone() }, &bench_cost());
        assert_eq!(result.goodput.requests, good, "{slo:?}");
        let expected = good as f64 * 101.0 / result.span.get();
        assert!((result.goodput.throughput.get() - expected).abs() < 1e-9);
    }
}

#[test]
fn a_run_can_be_stopped_and_tells_what_was_done() {
    let config = ServingConfig { requests: 60_000, ..recorded() };
    let mut rounds = 0;
    let stop = |_: Progress| {
        rounds += 1;
        if rounds == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = simulate(&config, &bench_cost(), &mut { stop }).expect("valid");
    assert_eq!(result.end, End::Interrupted);
    let r = result.requests;
    assert_eq!(r.arrived, r.completed + r.rejected + r.running + r.waiting);
    assert!(r.completed > 100 && r.arrived < 60_000);
}

#[test]
fn a_horizon_ends_a_run_and_counts_what_is_left() {
    let config = ServingConfig { horizon: Some(Seconds::new(100.0)), ..recorded() };
    let result = run(&config, &bench_cost());
    assert_eq!((result.end, result.span), (End::Horizon, Seconds::new(100.0)));
    assert!(result.requests.running > 0 && result.kv.held > 0);
    let arrived = config.trace.as_ref().expect("it is there").requests();
    let arrived = arrived.iter().filter(|r| r.at.seconds() <= Seconds::new(100.0)).count();
    assert_eq!(result.requests.arrived, arrived as u64);
}

#[test]
fn a_trace_that_starts_again_keeps_its_rate() {
    let rows =
        (0..10).map(|i| TraceRequest { at: crate::des::SimTime::from_ps(i * 1000), prompt: 1, output: 1 });
    let config = ServingConfig {
        arrivals: Arrivals::Trace,
        lengths: Lengths::Trace,
        trace: Some(Arc::new(Trace::new(rows.collect()).expect("it rises"))),
        requests: 35,
        keep_records: true,
        ..ServingConfig::default()
    };
    let result = run(&config, &LinearCost::new(Seconds::ZERO, Seconds::new(1e-12)));
    let times: Vec<u64> = result.records.iter().map(|r| r.arrived.ps()).collect();
    assert_eq!(times, (0..35).map(|i| i * 1000).collect::<Vec<u64>>());
}

#[test]
fn arrivals_keep_their_mean_and_spread() {
    for (variation, arrivals) in [
        (1.0, Arrivals::Poisson { interval: Seconds::from_ms(20.0) }),
        (0.4, Arrivals::Gamma { interval: Seconds::from_ms(20.0), variation: 0.4 }),
        (3.0, Arrivals::Gamma { interval: Seconds::from_ms(20.0), variation: 3.0 }),
        (0.0, Arrivals::Gamma { interval: Seconds::from_ms(20.0), variation: 0.0 }),
        (0.0, Arrivals::Constant { interval: Seconds::from_ms(20.0) }),
    ] {
        let config = ServingConfig {
            arrivals,
            lengths: Lengths::Drawn { prompt: Length::Fixed(1), output: Length::Fixed(1) },
            requests: 40_000,
            keep_records: true,
            ..ServingConfig::default()
        };
        let result = run(&config, &LinearCost::new(Seconds::ZERO, Seconds::new(1e-12)));
        let gaps: Vec<f64> =
            result.records.windows(2).map(|p| (p[1].arrived - p[0].arrived).seconds().ms()).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean / 20.0 - 1.0).abs() <= 4.0 * variation / n.sqrt() + 1e-9, "{arrivals:?}: {mean}");
        assert!((sd / 20.0 - variation).abs() <= 0.05 * variation + 1e-9, "{arrivals:?}: {sd}");
    }
}

#[test]
fn a_closed_loop_keeps_its_users_busy() {
    let config = ServingConfig {
        arrivals: Arrivals::Closed { users: 7 },
        requests: 500,
        replicas: 3,
        router: Routing::LeastRequests,
        keep_records: true,
        ..ServingConfig::default()
    };
    let result = run(&config, &bench_cost());
    assert_eq!(result.requests.completed, 500);
    // One in, one out: seven at any time, but for the end, when fewer requests are left.
    assert!(result.mean_in_system > 6.9 && result.mean_in_system <= 7.0);
    assert_eq!(result.records.iter().filter(|r| r.arrived.ps() == 0).count(), 7);
    let served = |replica| result.records.iter().filter(|r| r.replica == replica).count();
    assert!((0..3).all(|replica| served(replica) > 100));
}

/// Two replicas in turn are two servers with every second request each.
#[test]
fn replicas_share_the_load() {
    let config = ServingConfig {
        arrivals: Arrivals::Poisson { interval: Seconds::from_ms(25.0) },
        requests: 2000,
        replicas: 2,
        keep_records: true,
        ..recorded()
    };
    let result = run(&config, &bench_cost());
    assert!(result.records.iter().all(|r| u64::from(r.replica) == r.id % 2));
    let alone = run(&ServingConfig { replicas: 1, ..config.clone() }, &bench_cost());
    assert!(result.ttft.mean < alone.ttft.mean);
    let least = run(&ServingConfig { router: Routing::LeastRequests, ..config.clone() }, &bench_cost());
    let random = run(&ServingConfig { router: Routing::Random, ..config }, &bench_cost());
    assert!(least.e2e.mean < random.e2e.mean, "a router that looks does better than one that throws dice");
}

/// Speculation pays while the batch is small and costs when every row does: on and off by batch is at least as good.
#[test]
fn speculation_by_batch_beats_both_when_rows_are_dear() {
    let law = Acceptance::geometric(0.6).expect("valid");
    let shape = DraftShape::chain(3);
    let cost = LinearCost::new(Seconds::from_ms(5.0), Seconds::from_us(300.0));
    let config = |drafting: Option<Drafting>, interval: f64| ServingConfig {
        arrivals: Arrivals::Poisson { interval: Seconds::from_ms(interval) },
        lengths: Lengths::Drawn { prompt: Length::Fixed(16), output: Length::Fixed(200) },
        requests: 600,
        max_requests: 128,
        drafting,
        ..ServingConfig::default()
    };
    let always = || Some(Drafting::fixed(law.clone(), shape));
    let switch = || {
        let rows = vec![
            DraftingRow { from_batch: 1, shape: Some(shape) },
            DraftingRow { from_batch: 12, shape: None },
        ];
        Some(Drafting::by_batch(law.clone(), rows).expect("the rows rise"))
    };
    let e2e = |drafting, interval| run(&config(drafting, interval), &cost).e2e.mean.get();
    let (light, heavy) = (600.0, 75.0);
    assert!(e2e(always(), light) < 0.7 * e2e(None, light));
    assert!(e2e(None, heavy) < e2e(always(), heavy));
    assert!(e2e(switch(), light) <= 1.01 * e2e(always(), light));
    assert!(e2e(switch(), heavy) < e2e(always(), heavy));
}
