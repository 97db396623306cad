//! The step table against times worked out by hand.

use super::*;
use crate::cost::{CollectiveTotal, PricedPass};
use crate::forward::{Batch, PassKind};
use crate::runtime::Execution;
use crate::serving::Drafting;
use crate::sourced::{Source, Sourced};
use crate::speculation::{Acceptance, DraftWork, HostWork};

fn ms(time: f64) -> Seconds {
    Seconds::from_ms(time)
}

fn table(mixing: Mixing) -> StepTable {
    let shape = |shape, times: [f64; 4]| ShapeTimes {
        shape,
        batches: vec![1, 5],
        contexts: vec![1000, 3000],
        times: times.into_iter().map(ms).collect(),
    };
    let shapes =
        [shape(PLAIN, [10.0, 14.0, 12.0, 24.0]), shape(DraftShape::chain(2), [20.0, 28.0, 24.0, 48.0])];
    StepTable::new(&shapes, &[(1, ms(9.0)), (101, ms(19.0))], mixing).expect("valid")
}

fn step(decodes: u32, drafted: u32, context: u64, prefill: u32) -> Step {
    Step {
        decodes,
        shape: DraftShape::chain(drafted),
        decode_context: context * u64::from(decodes),
        prefills: u32::from(prefill > 0),
        prefill_tokens: prefill,
        prefill_context: 0,
    }
}

#[test]
fn times_are_linear_between_entries() {
    let (separate, shared) = (table(Mixing::Separate), table(Mixing::Shared));
    for (step, alone, together) in [
        (step(1, 0, 1000, 0), 10.0, 10.0),
        (step(3, 0, 1000, 0), 12.0, 12.0),
        (step(5, 0, 2000, 0), 19.0, 19.0),
        (step(3, 2, 2000, 0), 30.0, 30.0),
        // Below the first context as at it; beyond the last entries along their line.
        (step(1, 0, 10, 0), 10.0, 10.0),
        (step(7, 0, 1000, 0), 16.0, 16.0),
        (step(1, 0, 4000, 0), 13.0, 13.0),
        // Prompts.
        (step(0, 0, 0, 51), 14.0, 14.0),
        (step(0, 0, 0, 201), 29.0, 29.0),
        (step(1, 0, 1000, 51), 24.0, 15.0),
    ] {
        assert!((separate.time(&step).seconds().ms() - alone).abs() < 1e-9, "{step:?}");
        assert!((shared.time(&step).seconds().ms() - together).abs() < 1e-9, "{step:?}");
    }
}

#[test]
fn a_table_tells_what_it_does_not_cover() {
    let table = table(Mixing::Shared);
    let law = Acceptance::geometric(0.5).expect("valid");
    let config = |drafted, max_requests, token_budget| ServingConfig {
        drafting: Some(Drafting::fixed(law.clone(), DraftShape::chain(drafted))),
        max_requests,
        token_budget,
        ..ServingConfig::default()
    };
    assert_eq!(table.covers(&config(2, 5, 101)), Ok(()));
    assert_eq!(table.covers(&config(3, 5, 101)), Err(StepTableError::Shape { steps: 3, rows: 4 }));
    let told = |config| table.covers(&config).expect_err("not covered").to_string();
    assert_eq!(told(config(2, 6, 101)), "the step table ends at 5 requests, but 6 may occur");
    assert_eq!(told(config(2, 5, 102)), "the step table ends at 101 prompt tokens, but 102 may occur");
}

#[test]
fn broken_tables_are_errors() {
    let shape = |batches: &[u32], times: &[f64]| ShapeTimes {
        shape: PLAIN,
        batches: batches.to_vec(),
        contexts: vec![100],
        times: times.iter().copied().map(ms).collect(),
    };
    let error = |shape: ShapeTimes| StepTable::new(&[shape], &[(1, ms(1.0))], Mixing::Shared).is_err();
    assert!(!error(shape(&[1, 2], &[1.0, 2.0])));
    assert!(error(shape(&[2, 1], &[1.0, 2.0])));
    assert!(error(shape(&[], &[])));
    assert!(error(shape(&[1, 2], &[1.0])));
    assert!(error(shape(&[1, 2], &[1.0, f64::NAN])));
    assert!(StepTable::new(&[], &[], Mixing::Shared).is_err());
}

fn cycle(batch: u32, context: u32, verify: f64) -> Cycle {
    let sourced = |t: f64| Sourced::new(ms(t), Source::Roofline);
    let pass = |kind, rows, time: f64| PricedPass {
        host_source: Source::Assumed,
        kind,
        batch: Batch { requests: batch, rows, context },
        execution: Execution::Graph,
        blocks: Vec::new(),
        sequence: Vec::new(),
        launch: Seconds::from_us(5.0),
        time: sourced(time),
        device_time: ms(time),
        issue_time: ms(1.0),
        allreduce: CollectiveTotal { count: 0, total: Seconds::ZERO, source: Source::Measured },
    };
    Cycle {
        shape: DraftShape::chain(2),
        acceptance: Acceptance::geometric(0.5).expect("valid"),
        baseline: pass(PassKind::Decode, 1, verify - 2.0),
        baseline_host: HostWork::exposed(sourced(0.5)),
        verify: pass(PassKind::Verify, 3, verify),
        draft: DraftWork::Lookup(sourced(1.0)),
        host: HostWork::exposed(sourced(2.0)),
    }
}

#[test]
fn cycles_fill_a_table() {
    let prefill = [(1, ms(9.0))];
    let cycles = [cycle(1, 500, 10.0), cycle(4, 500, 16.0)];
    let table = StepTable::from_cycles(&cycles, &prefill, Mixing::Separate).expect("valid");
    for (step, expected) in
        [(step(1, 2, 500, 0), 13.0), (step(3, 2, 500, 0), 17.0), (step(1, 0, 500, 0), 8.5)]
    {
        assert!((table.time(&step).seconds().ms() - expected).abs() < 1e-9, "{step:?}");
    }
    let holes = [cycle(1, 500, 10.0), cycle(4, 900, 16.0)];
    assert_eq!(
        StepTable::from_cycles(&holes, &prefill, Mixing::Separate),
        Err(StepTableError::Hole { batch: 4, context: 500 })
    );
}
