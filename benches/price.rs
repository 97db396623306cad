//! Pricing one pass of Kimi-K2.5 on eight RTX PRO 6000: part of every evaluation of a sweep.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use specplan::calibration;
use specplan::collective::Policy;
use specplan::cost::{Pricing, price};
use specplan::forward::{Batch, ExpertOverlap, Parallelism, PassKind, build};
use specplan::hardware;
use specplan::model;
use specplan::runtime::{Execution, Runtime, RuntimeKind};

fn pricing(c: &mut Criterion) {
    let hardware = hardware::preset("rtx-pro-6000-x8").expect("hardware");
    let calibration = calibration::preset("rtx-pro-6000-x8").expect("calibration");
    let model = model::preset("kimi-k2.5").expect("model");
    let policy = Policy::default();
    let parallel = Parallelism { tensor: 8, expert: 1, data_attention: 1, decode_context: 1 };
    for kind in [RuntimeKind::Sglang, RuntimeKind::Vllm] {
        let runtime = Runtime::profile(kind);
        let batch = Batch { requests: 1, rows: 3, context: 2048 };
        let pass = build(&model, parallel, &runtime, PassKind::Verify, batch, ExpertOverlap::default());
        for execution in [Execution::Graph, Execution::Eager] {
            let with = Pricing {
                hardware: &hardware,
                calibration: &calibration,
                runtime: &runtime,
                execution,
                policy: &policy,
            };
            c.bench_function(&format!("price/{kind:?}/{execution:?}"), |b| {
                b.iter(|| price(black_box(&pass), black_box(&with)));
            });
        }
    }
}

criterion_group!(benches, pricing);
criterion_main!(benches);
