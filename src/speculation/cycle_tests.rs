//! The cycle against sums made by hand.

use super::*;
use crate::forward::{Batch, PassKind};

fn ms(t: f64) -> Sourced<Seconds> {
    Sourced::new(Seconds::from_ms(t), Source::Roofline)
}

fn pass(kind: PassKind, execution: Execution, time: f64, issue: f64) -> PricedPass {
    PricedPass {
        host_source: Source::Assumed,
        kind,
        batch: Batch { requests: 4, rows: 3, context: 0 },
        execution,
        blocks: Vec::new(),
        sequence: Vec::new(),
        launch: Seconds::from_us(5.0),
        time: ms(time),
        device_time: Seconds::from_ms(time),
        issue_time: Seconds::from_ms(issue),
        allreduce: CollectiveTotal { count: 122, total: Seconds::from_ms(3.8), source: Source::Measured },
    }
}

fn cycle() -> Cycle {
    Cycle {
        shape: DraftShape::chain(3),
        acceptance: Acceptance::geometric(0.5).expect("valid"),
        baseline: pass(PassKind::Decode, Execution::Graph, 11.0, 25.0),
        baseline_host: HostWork::exposed(ms(0.5)),
        verify: pass(PassKind::Verify, Execution::Graph, 15.0, 25.0),
        draft: DraftWork::Passes {
            step: Some(pass(PassKind::DraftStep, Execution::Graph, 0.3, 0.5)),
            extend: pass(PassKind::DraftExtend, Execution::Graph, 0.6, 0.5),
        },
        host: HostWork::exposed(ms(2.0)),
    }
}

fn close(time: Sourced<Seconds>, ms: f64) -> bool {
    (time.value.ms() - ms).abs() < 1e-9
}

#[test]
fn without_overlap_everything_adds() {
    let cycle = cycle();
    assert!(close(cycle.draft_time(), 2.0 * 0.3 + 0.6), "S - 1 steps and one extend");
    assert!(close(cycle.time(), 15.0 + 1.2 + 2.0));
    assert!(close(cycle.host_time(), 2.0));
    assert!(close(cycle.draft_host_time(), 3.2));
    assert!(close(cycle.baseline_time(), 11.5));
    assert_eq!(cycle.batch(), 4);
    assert!((cycle.accept_length().value.get() - 1.875).abs() < 1e-12);
}

#[test]
fn one_step_has_only_the_extend() {
    let mut cycle = cycle();
    cycle.shape = DraftShape::chain(1);
    assert!(close(cycle.draft_time(), 0.6));
    cycle.draft = DraftWork::Lookup(ms(0.05));
    assert!(close(cycle.draft_time(), 0.05));
    assert!(close(cycle.time(), 17.05));
}

#[test]
fn hidden_work_costs_nothing_until_the_host_is_the_longer_clock() {
    let mut cycle = cycle();
    cycle.host = HostWork { exposed: ms(0.2), hidden: ms(3.0) };
    assert!(close(cycle.time(), 15.0 + 1.2 + 0.2), "graphs leave the host free");
    assert!(close(cycle.host_time(), 0.2));
    // Eager verify: the host needs 14 ms to issue it, and 3 ms for the rest, and the graph launches.
    cycle.verify = pass(PassKind::Verify, Execution::Eager, 15.0, 14.0);
    let launches = 3.0 * 0.005;
    assert!(close(cycle.time(), 14.0 + launches + 3.0 + 0.2));
    assert!(close(cycle.host_time(), 14.0 + launches + 3.0 + 0.2 - 16.2));
    assert_eq!(cycle.time().source, Source::Roofline);
}

#[test]
fn ranges_add_in_quadrature() {
    let mut cycle = cycle();
    let with = |t: f64, d: f64| ms(t).with_spread(Seconds::from_ms(t - d), Seconds::from_ms(t + d));
    cycle.verify.time = with(15.0, 0.8);
    cycle.host = HostWork::exposed(with(2.0, 0.6));
    let spread = cycle.time().spread.expect("a range");
    assert!((spread.low.ms() - 17.2).abs() < 1e-9 && (spread.high.ms() - 19.2).abs() < 1e-9);
}
