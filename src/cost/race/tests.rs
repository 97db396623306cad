use proptest::prelude::*;

use super::*;
use crate::cost::Bound;
use crate::forward::Part;
use crate::sourced::Source;

fn op(issue: f64, device: f64) -> PricedOp {
    PricedOp {
        issue_measured: None,
        label: "op",
        part: Part::Mlp,
        device: Seconds::from_us(device),
        issue: Seconds::from_us(issue),
        kernels: 1,
        source: Source::Measured,
        extrapolated: false,
        bound: Bound::Table,
        exchange: None,
    }
}

/// The recurrence as it stands in the module's first lines, operation by operation.
fn slow(blocks: &[PricedBlock], sequence: &[Run]) -> Seconds {
    let (mut host, mut gpu) = (Seconds::ZERO, Seconds::ZERO);
    for run in sequence {
        for _ in 0..run.count {
            for op in &blocks[run.block].ops {
                host += op.issue;
                gpu = gpu.max(host) + op.device;
            }
        }
    }
    gpu
}

fn run(blocks: &[PricedBlock], sequence: &[Run], execution: Execution) -> Race {
    race(blocks, sequence, execution, Seconds::from_us(2.5), |op| (op.issue, op.device))
}

fn a_pass(scale: (f64, f64)) -> impl Strategy<Value = (Vec<PricedBlock>, Vec<Run>)> {
    let ops = prop::collection::vec((0.0..100.0f64, 0.0..100.0f64), 1..12);
    let blocks = prop::collection::vec(ops, 1..4);
    let runs = prop::collection::vec((any::<prop::sample::Index>(), 0..80u32), 1..6);
    (blocks, runs).prop_map(move |(blocks, runs)| {
        let blocks: Vec<_> = blocks
            .into_iter()
            .map(|ops| PricedBlock {
                name: "block",
                ops: ops.into_iter().map(|(i, d)| op(i * scale.0, d * scale.1)).collect(),
            })
            .collect();
        let sequence =
            runs.into_iter().map(|(at, count)| Run { block: at.index(blocks.len()), count }).collect();
        (blocks, sequence)
    })
}

fn close(a: Seconds, b: Seconds) -> bool {
    (a - b).get().abs() <= 1e-12 * a.get().abs().max(1e-9)
}

proptest! {
    #[test]
    fn repeated_blocks_cost_what_the_recurrence_says((blocks, sequence) in a_pass((1.0, 1.0))) {
        let fast = run(&blocks, &sequence, Execution::Eager);
        prop_assert!(close(fast.total, slow(&blocks, &sequence)));
    }

    #[test]
    fn eager_takes_at_least_either_clock_and_at_most_both((blocks, sequence) in a_pass((1.0, 1.0))) {
        let eager = run(&blocks, &sequence, Execution::Eager);
        let slack = Seconds::new(1e-15);
        prop_assert!(eager.total + slack >= eager.device.max(eager.issue));
        prop_assert!(eager.total <= eager.device + eager.issue + slack);
    }

    #[test]
    fn without_issue_cost_the_device_sum_remains((blocks, sequence) in a_pass((0.0, 1.0))) {
        let eager = run(&blocks, &sequence, Execution::Eager);
        prop_assert!(close(eager.total, eager.device));
        let graph = run(&blocks, &sequence, Execution::Graph);
        prop_assert!(close(graph.total, eager.device + Seconds::from_us(2.5)));
        prop_assert!(close(graph.waiting() + graph.device, graph.total));
    }

    #[test]
    fn without_device_time_the_issue_sum_remains((blocks, sequence) in a_pass((1.0, 0.0))) {
        let eager = run(&blocks, &sequence, Execution::Eager);
        prop_assert!(close(eager.total, eager.issue));
    }

    #[test]
    fn doubling_every_time_doubles_the_total((blocks, sequence) in a_pass((1.0, 1.0))) {
        let mut twice = blocks.clone();
        for op in twice.iter_mut().flat_map(|block| &mut block.ops) {
            op.issue = 2.0 * op.issue;
            op.device = 2.0 * op.device;
        }
        let (once, twice) =
            (run(&blocks, &sequence, Execution::Eager), run(&twice, &sequence, Execution::Eager));
        prop_assert!(close(2.0 * once.total, twice.total));
    }
}

/// Host 10 µs an operation, GPU 4, 4 and 100 µs: the GPU starves twice, then the host runs ahead.
#[test]
fn a_gpu_that_waits_and_then_falls_behind() {
    let blocks = [PricedBlock { name: "b", ops: vec![op(10.0, 4.0), op(10.0, 4.0), op(10.0, 100.0)] }];
    let eager = run(&blocks, &[Run { block: 0, count: 2 }], Execution::Eager);
    // First block: 10-14, 20-24, 30-130; second: 130-134, 134-138, 138-238.
    assert!((eager.total.us() - 238.0).abs() < 1e-9);
    assert!((eager.waiting().us() - 22.0).abs() < 1e-9);
}
