//! Curves of all-reduce time against message size, as the pricing sees them, with the measured rows they stand on.

use crate::calibration::{CollectiveCurve, Mode};
use crate::collective::{Backend, Policy, Request, choose, refusal_of_policy};
use crate::cost::{self, Pricing};
use crate::report::plot::{AllreduceCurves, AllreduceSeries, MessageSize};
use crate::runtime::{CollectiveOp, Execution};
use crate::scenario::ModelledSetup;
use crate::units::{Bytes, Seconds};

/// Smallest and largest message of the plot, as powers of two.
const RANGE: std::ops::RangeInclusive<u32> = 10..=22;

/// Points between two powers of two.
const BETWEEN: u32 = 4;

/// The series of a setup: as it is served, one-shot where the box can run it, and eager calls as measured.
pub(super) fn curves(setup: &ModelledSetup, words: &str) -> AllreduceCurves {
    let rows = measured(setup, &[Mode::Graph, Mode::Stream]);
    let served = curve(setup, &setup.baseline.policy);
    // Rows were measured as NCCL chose by itself; settings of the user's may choose otherwise.
    let mut series = if setup.baseline.policy == Policy::default() || rows.is_empty() {
        vec![AllreduceSeries { name: "as served, in a graph".to_owned(), curve: served, measured: rows }]
    } else {
        vec![
            AllreduceSeries { name: "as served, in a graph".to_owned(), curve: served, measured: Vec::new() },
            AllreduceSeries {
                name: "measured in a graph, NCCL's own choice".to_owned(),
                curve: Vec::new(),
                measured: rows,
            },
        ]
    };
    let one_shot = Policy { backend: Some(Backend::OneShot), ..Policy::default() };
    if setup.baseline.policy.backend != Some(Backend::OneShot) {
        let curve: Vec<_> = curve(setup, &one_shot)
            .into_iter()
            .filter(|(bytes, _)| can_run(setup, &one_shot, *bytes))
            .collect();
        if !curve.is_empty() {
            series.push(AllreduceSeries { name: "one-shot".to_owned(), curve, measured: Vec::new() });
        }
    }
    let eager = measured(setup, &[Mode::Eager]);
    if !eager.is_empty() {
        series.push(AllreduceSeries {
            name: "one eager call, host included".to_owned(),
            curve: Vec::new(),
            measured: eager,
        });
    }
    let mark = |name: &str, rows: u32| {
        let tokens = f64::from(setup.common.batch * rows);
        let bytes = Bytes::new(tokens * f64::from(setup.model.hidden) * 2.0);
        MessageSize { name: name.to_owned(), bytes, time: Some(time(setup, &setup.baseline.policy, bytes)) }
    };
    AllreduceCurves {
        setup: words.to_owned(),
        series,
        marks: vec![mark("decode", 1), mark("verify", setup.common.draft_tokens)],
    }
}

fn can_run(setup: &ModelledSetup, policy: &Policy, bytes: Bytes) -> bool {
    refusal_of_policy(&setup.hardware, policy, request(setup, bytes)).is_none()
}

fn request(setup: &ModelledSetup, bytes: Bytes) -> Request {
    let ranks = setup.parallel.tensor;
    Request { op: CollectiveOp::AllReduce, ranks, bytes, execution: Execution::Graph }
}

fn curve(setup: &ModelledSetup, policy: &Policy) -> Vec<(Bytes, Seconds)> {
    let (first, last) = (RANGE.start() * BETWEEN, RANGE.end() * BETWEEN);
    (first..=last)
        // Whole vectors of 16 B, which some backends insist on.
        .map(|step| Bytes::new(((f64::from(step) / f64::from(BETWEEN)).exp2() / 16.0).round() * 16.0))
        .map(|bytes| (bytes, time(setup, policy, bytes)))
        .collect()
}

fn time(setup: &ModelledSetup, policy: &Policy, bytes: Bytes) -> Seconds {
    let with = Pricing {
        hardware: &setup.hardware,
        calibration: &setup.calibration,
        runtime: &setup.runtime,
        execution: Execution::Graph,
        policy,
    };
    cost::collective(CollectiveOp::AllReduce, setup.parallel.tensor, bytes, &with).value
}

/// Measured rows of one server, the setup's own where it has any.
fn measured(setup: &ModelledSetup, modes: &[Mode]) -> Vec<(Bytes, Seconds)> {
    // Rows of another transport are those of another box.
    let transport = choose(
        &setup.hardware,
        setup.runtime.kind,
        &setup.baseline.policy,
        request(setup, Bytes::from_kib(16.0)),
    )
    .transport;
    let fits = |curve: &&CollectiveCurve| {
        curve.key.op == CollectiveOp::AllReduce
            && curve.key.ranks == setup.parallel.tensor
            && curve.key.transport.is_none_or(|word| word == transport)
            && modes.contains(&curve.key.mode)
    };
    let curves = || setup.calibration.collective_curves().iter().filter(fits);
    let own = curves().find(|curve| curve.server == Some(setup.runtime.kind));
    let (least, most) = (f64::from(*RANGE.start()).exp2(), f64::from(*RANGE.end()).exp2());
    own.or_else(|| curves().next()).map_or_else(Vec::new, |curve| {
        let inside = |bytes: Bytes| (least..=most).contains(&bytes.get());
        curve.rows().iter().filter(|row| inside(row.bytes)).map(|row| (row.bytes, row.time)).collect()
    })
}
