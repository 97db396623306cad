//! Speedup over batch, context, draft tokens and execution mode, by the model alone.
//!
//! Scanned, never bisected: the curve over batch crosses 1 more than once, since speculation meets each cliff of
//! the step time k + 1 times earlier than the baseline does.

use super::passes::cycle;
use crate::analytic::{Crossing, Parts, Verdict, crossings};
use crate::runtime::Execution;
use crate::scenario::{Method, ModelledSetup};
use crate::sourced::{Source, Sourced};

/// Batch sizes of the scan: each up to 64, then coarser.
fn batches() -> impl Iterator<Item = u32> {
    (1..=64).chain((68..=128).step_by(4)).chain((136..=256).step_by(8))
}

/// Contexts of the scan \[tokens\].
const CONTEXTS: [u32; 11] = [256, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 98_304, 131_072, 262_144];

/// Longest chain of the scan, in rows.
const MOST_ROWS: u32 = 12;

/// Speedup of `setup` by the model alone.
pub(super) fn model_speedup(setup: &ModelledSetup) -> f64 {
    Parts::from_cycle(&cycle(setup)).speedup_value()
}

/// Batch size and speedup.
pub fn over_batch(setup: &ModelledSetup) -> Vec<(u32, f64)> {
    speedups(batch_setups(setup))
}

/// Context and speedup, up to the longest context of the model.
pub(super) fn over_context(setup: &ModelledSetup) -> Vec<(u32, f64)> {
    speedups(context_setups(setup))
}

/// Rows verified and speedup, for chains; a tree's shape does not follow from one number.
pub(super) fn over_draft_tokens(setup: &ModelledSetup) -> Vec<(u32, f64)> {
    if setup.common.topk != 1 {
        return Vec::new();
    }
    speedups(draft_token_setups(setup))
}

fn speedups(setups: impl Iterator<Item = (u32, ModelledSetup)>) -> Vec<(u32, f64)> {
    setups.map(|(at, setup)| (at, model_speedup(&setup))).collect()
}

/// The setups of the scan over the batch.
pub(super) fn batch_setups(setup: &ModelledSetup) -> impl Iterator<Item = (u32, ModelledSetup)> + '_ {
    batches().map(|batch| {
        let mut varied = setup.clone();
        varied.common.batch = batch;
        (batch, varied)
    })
}

/// The setups of the scan over the context.
pub(super) fn context_setups(setup: &ModelledSetup) -> impl Iterator<Item = (u32, ModelledSetup)> + '_ {
    let longest = setup.model.max_context.max(setup.context);
    CONTEXTS.iter().filter(move |&&context| context <= longest).map(|&context| {
        let mut varied = setup.clone();
        varied.context = context;
        (context, varied)
    })
}

/// The setups of the scan over the rows of a chain.
pub(super) fn draft_token_setups(setup: &ModelledSetup) -> impl Iterator<Item = (u32, ModelledSetup)> + '_ {
    (2..=MOST_ROWS).map(|rows| (rows, with_rows(setup, rows)))
}

/// The same chain with another number of rows; the acceptance is continued as it began.
pub(super) fn with_rows(setup: &ModelledSetup, rows: u32) -> ModelledSetup {
    let mut varied = setup.clone();
    varied.common.steps = rows - 1;
    varied.common.draft_tokens = rows;
    varied
}

/// The speedup of each execution mode of verify.
pub(super) fn over_execution(setup: &ModelledSetup) -> Vec<Crossing> {
    [(Execution::Graph, "graph"), (Execution::Eager, "eager")]
        .into_iter()
        .map(|(execution, word)| {
            let mut varied = setup.clone();
            varied.verify.execution = execution;
            let speedup = model_speedup(&varied);
            // Like the other scans by the central figure, without its range.
            let verdict = Verdict::of(Sourced::new(speedup, Source::Derived));
            Crossing { at: word.to_owned(), verdict, speedup }
        })
        .collect()
}

/// All crossings of a modelled setup: execution, batch, context, draft tokens.
pub(super) fn all(setup: &ModelledSetup) -> [Vec<Crossing>; 4] {
    let draft_tokens = match setup.common.method {
        Method::Ngram => Vec::new(),
        _ => crossings(over_draft_tokens(setup).into_iter()),
    };
    [
        over_execution(setup),
        crossings(over_batch(setup).into_iter()),
        crossings(over_context(setup).into_iter()),
        draft_tokens,
    ]
}
