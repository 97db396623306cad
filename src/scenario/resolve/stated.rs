//! Times that the scenario states.

use crate::scenario::setup::{ObservedAllreduce, Stated, StatedPass};
use crate::scenario::written::{AllreduceKeys, Given, ObservedAllreduceKeys, Written};
use crate::sourced::{Source, Sourced};
use crate::units::{Seconds, TokensPerSecond};

pub(super) fn stated(written: &Written) -> Stated {
    let (baseline, speculation) = (&written.baseline, &written.speculation);
    let batch = f64::from(written.workload.batch.unwrap_or(1));
    let step = baseline
        .observed
        .time
        .map(value)
        .or_else(|| baseline.observed.throughput.map(|throughput| step_time(throughput.0, batch)));
    Stated {
        baseline: StatedPass {
            observed_throughput: baseline.observed.throughput.map(value),
            ..pass(baseline.time, &baseline.allreduce, step, baseline.observed.allreduce.as_ref())
        },
        verify: pass(
            speculation.verify.time,
            &speculation.verify.allreduce,
            speculation.verify.observed.time.map(value),
            speculation.verify.observed.allreduce.as_ref(),
        ),
        draft: speculation.draft_pass.time.map(value),
        host: speculation.host.time.map(value),
        observed_draft: speculation.draft_pass.observed.time.map(value),
        observed_throughput: speculation.observed.throughput.map(value),
    }
}

fn pass(
    time: Option<Given<Seconds>>,
    allreduce: &AllreduceKeys,
    observed: Option<Sourced<Seconds>>,
    observed_allreduce: Option<&ObservedAllreduceKeys>,
) -> StatedPass {
    StatedPass {
        time: time.map(value),
        allreduce_each: allreduce.time.map(value),
        observed,
        observed_throughput: None,
        observed_allreduce: observed_allreduce
            .map(|keys| ObservedAllreduce { count: keys.count, total: keys.total.0 }),
    }
}

fn value<T>(given: Given<T>) -> Sourced<T> {
    given.0
}

/// The step that yields one token to each of `batch` requests: batch / throughput. A higher throughput is a shorter
/// step, so the ends of the range change places.
fn step_time(throughput: Sourced<TokensPerSecond>, batch: f64) -> Sourced<Seconds> {
    let step = |rate: TokensPerSecond| Seconds::new(batch / rate.get());
    let time = Sourced::new(step(throughput.value), Source::Derived);
    match throughput.spread {
        Some(spread) => time.with_spread(step(spread.high), step(spread.low)),
        None => time,
    }
}
