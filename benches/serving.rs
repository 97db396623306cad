//! Serving 2,048 recorded requests, and a hundred times as many, on one replica that speculates.
//!
//! Block size 16, 40,000 KV blocks, 128 sequences, 512 tokens a step, step = 8 ms + 20 µs per token in it, three drafted
//! tokens with conditional acceptance 0.8, 0.7, 0.6.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use specplan::serving::{Arrivals, Drafting, Kv, Lengths, LinearCost, ServingConfig, Trace, simulate};
use specplan::speculation::{Acceptance, DraftShape};
use specplan::units::Seconds;

fn recorded(rounds: u64) -> ServingConfig {
    let csv = include_str!("../tests/fixtures/requests_2048.csv");
    let trace = Trace::read(csv.as_bytes()).expect("a trace");
    let acceptance = Acceptance::conditional(&[0.8, 0.7, 0.6]).expect("rates");
    ServingConfig {
        arrivals: Arrivals::Trace,
        lengths: Lengths::Trace,
        requests: trace.requests().len() as u64 * rounds,
        trace: Some(Arc::new(trace)),
        max_requests: 128,
        token_budget: 512,
        kv: Kv { blocks: 40_000, block_size: 16 },
        drafting: Some(Drafting::fixed(acceptance, DraftShape::chain(3))),
        ..ServingConfig::default()
    }
}

fn serving(c: &mut Criterion) {
    let cost = LinearCost::new(Seconds::from_ms(8.0), Seconds::from_us(20.0));
    let run = |config: &ServingConfig| {
        let result = simulate(black_box(config), &cost, &mut |_| ControlFlow::Continue(()));
        let result = result.expect("a valid configuration");
        assert_eq!(result.requests.completed, config.requests);
        result
    };
    let once = recorded(1);
    c.bench_function("serving/2048 requests", |b| b.iter(|| run(&once)));
    let plain = ServingConfig { drafting: None, ..recorded(1) };
    c.bench_function("serving/2048 requests without speculation", |b| b.iter(|| run(&plain)));
    let many = recorded(100);
    let mut group = c.benchmark_group("serving");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.bench_function("204800 requests", |b| b.iter(|| run(&many)));
    group.finish();
}

criterion_group!(benches, serving);
criterion_main!(benches);
