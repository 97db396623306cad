//! The event queues in the hold model (Jones, CACM 29(4), 1986): with n events pending, take the earliest and schedule
//! another after an exponential delay. Then a whole kernel, and a cycle of the reference machine.
//!
//! Throughput is in events, one taken and one scheduled each; `std` is the standard library's binary heap.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use specplan::des::{
    self, EventQueue, Heap4, Kernel, Key, Limits, Model, RadixHeap, SimTime, StdHeap, Streams,
};
use specplan::evaluate;
use specplan::machine::{Fabric, MachineConfig, simulate};
use specplan::scenario::{self, Builtin, Overrides, Setup};

/// Events per iteration.
const EVENTS: u64 = 100_000;

/// Delays of mean 1 µs, drawn before so that drawing is not timed.
fn delays() -> Vec<u64> {
    let mut stream = Streams::new(1, 0).stream("delays", 0);
    (0..65_536).map(|_| stream.exponential(1e6) as u64).collect()
}

/// What a simulator's event looks like: 16 bytes.
type Payload = (u64, u32, u32);

fn hold<Q: EventQueue<Payload>>(queue: &mut Q, delays: &[u64], number: &mut u64) {
    for _ in 0..EVENTS {
        let (key, event) = queue.pop().expect("events are pending");
        let at = key.at + SimTime::from_ps(delays[(*number & 0xffff) as usize]);
        queue.push(Key { at, number: *number }, event);
        *number += 1;
    }
}

fn queue<Q: EventQueue<Payload>>(c: &mut Criterion, name: &str, delays: &[u64]) {
    let mut group = c.benchmark_group("hold");
    group.throughput(Throughput::Elements(EVENTS));
    for pending in [1_000_u64, 100_000] {
        let mut queue = Q::new();
        let mut number = 0;
        while number < pending {
            let at = SimTime::from_ps(delays[(number & 0xffff) as usize]);
            queue.push(Key { at, number }, (number, 0, 0));
            number += 1;
        }
        // To the steady state.
        for _ in 0..=(4 * pending / EVENTS) {
            hold(&mut queue, delays, &mut number);
        }
        group.bench_function(BenchmarkId::new(name, pending), |b| {
            b.iter(|| hold(black_box(&mut queue), delays, &mut number));
        });
    }
    group.finish();
}

/// The hold model as a model of the kernel.
struct Hold<'a> {
    delays: &'a [u64],
    next: usize,
}

impl Model for Hold<'_> {
    type Event = u32;
    fn handle(&mut self, event: u32, kernel: &mut Kernel<u32>) {
        self.next = (self.next + 1) & 0xffff;
        kernel.schedule_in(SimTime::from_ps(self.delays[self.next]), event);
    }
}

fn kernel(c: &mut Criterion, delays: &[u64]) {
    let mut group = c.benchmark_group("kernel");
    group.throughput(Throughput::Elements(EVENTS));
    for pending in [1_000_u32, 100_000] {
        let mut model = Hold { delays, next: 0 };
        let mut kernel = Kernel::default();
        for event in 0..pending {
            kernel.schedule(SimTime::from_ps(delays[event as usize & 0xffff]), event);
        }
        let mut limit = 4 * u64::from(pending);
        des::run(&mut model, &mut kernel, Limits { horizon: SimTime::MAX, events: limit });
        group.bench_function(BenchmarkId::from_parameter(pending), |b| {
            b.iter(|| {
                limit += EVENTS;
                des::run(&mut model, &mut kernel, Limits { horizon: SimTime::MAX, events: limit })
            });
        });
    }
    group.finish();
}

fn queues(c: &mut Criterion) {
    let delays = delays();
    queue::<StdHeap<Payload>>(c, "std", &delays);
    queue::<Heap4<Payload>>(c, "heap4", &delays);
    queue::<RadixHeap<Payload>>(c, "radix", &delays);
    kernel(c, &delays);
}

fn machine(c: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml");
    let mut group = c.benchmark_group("machine");
    for execution in ["graph", "eager"] {
        let set = format!("speculation.verify.execution={execution}");
        let overrides = Overrides { set: vec![set], unset: Vec::new() };
        let (_, loaded) = scenario::open(&path, &overrides, &Builtin).expect("a shipped scenario");
        let Setup::Modelled(setup) = loaded.variation.unwrap_or(loaded.base) else {
            panic!("it is modelled")
        };
        let cycle = evaluate::cycle(&setup);
        let links = |contention| Fabric::Links { contention, anchored: true };
        for (name, fabric) in
            [("priced", Fabric::Priced), ("ring", links(false)), ("shared ring", links(true))]
        {
            let exact = MachineConfig { fabric, ..MachineConfig::exact() };
            group.bench_function(format!("{execution}/{name}/one cycle and step"), |b| {
                b.iter(|| simulate(black_box(&cycle), &setup.hardware, &exact));
            });
        }
        group.sample_size(10);
        let thousand = MachineConfig::of(&setup.runtime);
        group.bench_function(format!("{execution}/priced/1000 jittered runs"), |b| {
            b.iter(|| simulate(black_box(&cycle), &setup.hardware, &thousand));
        });
    }
    group.finish();
}

criterion_group!(benches, queues, machine);
criterion_main!(benches);
