//! Sweeps of the reference scenario: 10,000 points on one thread, and what a point costs in each kind of sweep.
//!
//! Budget: 100,000 points on two cores in under 2 s, so 40 µs of one core for a point with its row.

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use specplan::evaluate::{self, Base};
use specplan::report;
use specplan::scenario::{Builtin, Family, Overrides, Setup, dimensions};
use specplan::sweep::{DEFAULT_METRICS, Grid, Outcome, Plan, Row, Solver, metrics, run};

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";

/// What the command sweeps.
struct Evaluate;

impl Solver for Evaluate {
    type Base = Base;

    fn prepare(&self, base: &Setup) -> Base {
        Base::new(base)
    }

    fn solve(&self, setup: &Setup, base: &Base, variation: Option<&Setup>) -> Result<Outcome, String> {
        let varied = evaluate::variation(setup, &base.known, variation.unwrap_or(setup));
        let parts = varied.known.parts();
        let again = variation.map(|again| (again, varied.known.model.as_deref()));
        let sure = base.sureness(setup, again, parts.speedup_value());
        Ok(Outcome {
            parts,
            verdict: sure.verdict,
            speedup: sure.speedup,
            win_probability: sure.win_probability,
            model: varied.known.predicted_parts(),
            baseline_throughput: varied.known.baseline_throughput.map(|throughput| throughput.value),
            draft: varied.known.draft.map(|draft| draft.used.value),
            host: varied.known.host.map(|host| host.used.value),
            predicted: varied.predicted,
        })
    }
}

fn sweep(axes: &[&str]) -> usize {
    let axes: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
    let mut family = Family::open(REFERENCE, &Overrides::default(), &Builtin).expect("the scenario is sound");
    let grid = Grid::new(dimensions(&axes, None).expect("the axes are sound")).expect("few points");
    family.vary(grid.axes().map(|(_, axis)| axis.key.as_str())).expect("the scenario is sound");
    let metrics = metrics(DEFAULT_METRICS).expect("these exist");
    let plan = Plan { family: &family, grid: &grid, points: 0..grid.total(), metrics: &metrics, keep: 0 };
    let write = |row: &Row, out: &mut Vec<u8>| report::sweep_csv_row(row, 8, out);
    let mut bytes = 0;
    run(&plan, &Evaluate, &write, &mut |batch| {
        bytes += batch.bytes.len();
        ControlFlow::Continue(())
    });
    bytes
}

fn benches(c: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut group = c.benchmark_group("10,000 points, one thread");
    group.throughput(Throughput::Elements(10_000)).sample_size(10);
    for (name, axes) in [
        (
            "times and rates",
            ["speculation.verify.time=10 ms..40 ms:100", "speculation.acceptance.rate=0.3..0.9:100"],
        ),
        ("batch and context", ["workload.batch=1..25:25", "workload.context=1024..4096:400"]),
        (
            "draft tokens and context",
            ["speculation.draft_tokens=2..11:10", "workload.context=1024..4096:1000"],
        ),
    ] {
        group.bench_function(name, |b| b.iter(|| pool.install(|| sweep(black_box(&axes)))));
    }
    group.finish();
}

criterion_group!(group, benches);
criterion_main!(group);
