//! One evaluation of the reference scenario as a sweep does it, the whole answer with its scans, and the process.
//!
//! Budgets: 20 µs for one evaluation (setup to both step times, breakdown and closed-form break-evens), 30 ms for the
//! process without plots.

use std::hint::black_box;
use std::process::Command;

use criterion::{Criterion, criterion_group, criterion_main};
use specplan::evaluate;
use specplan::scenario::{self, Builtin, Loaded, Overrides};

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";

fn load(unset: &[&str]) -> Loaded {
    let overrides = Overrides { set: Vec::new(), unset: unset.iter().map(|k| (*k).to_owned()).collect() };
    scenario::open(REFERENCE, &overrides, &Builtin).expect("the reference scenario is sound").1
}

fn benches(c: &mut Criterion) {
    let observed = load(&[]);
    let modelled = load(&["baseline.observed", "speculation.observed", "speculation.verify.observed"]);
    c.bench_function("one evaluation, observed", |b| {
        b.iter(|| evaluate::evaluate(black_box(&observed.base)));
    });
    c.bench_function("one evaluation, model alone", |b| {
        b.iter(|| evaluate::evaluate(black_box(&modelled.base)));
    });
    c.bench_function("the whole answer", |b| b.iter(|| evaluate::answer(black_box(&observed))));
    c.bench_function("load and resolve", |b| b.iter(|| load(black_box(&[]))));
    c.bench_function("the process", |b| {
        b.iter(|| {
            let output = Command::new(env!("CARGO_BIN_EXE_specplan"))
                .args(["run", REFERENCE, "-q"])
                .output()
                .expect("the program starts");
            assert!(output.status.success());
        });
    });
}

criterion_group!(group, benches);
criterion_main!(group);
