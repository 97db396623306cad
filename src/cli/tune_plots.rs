//! The figures of `tune`.

use std::path::Path;

use super::exit::Failure;
use super::plots::save;
use crate::report::plot;
use crate::tune::{Cell, Plan};

/// Writes gain over batch and steps, and the best setting over batch, for each context.
pub(super) fn write(folder: &Path, plan: &Plan, words: &str) -> Result<Vec<String>, Failure> {
    let mut contexts: Vec<u32> = plan.cells.iter().map(|cell| cell.context).collect();
    contexts.dedup();
    let several = contexts.len() > 1;
    let mut written = Vec::new();
    for context in contexts {
        let cells: Vec<&Cell> =
            plan.cells.iter().filter(|c| c.context == context && c.best().is_some()).collect();
        if cells.is_empty() {
            continue;
        }
        let suffix = if several { format!("-{context}") } else { String::new() };
        let words = format!("{words}, context {context}");
        let drawings = [
            ("tune-gain", plot::gain_map(&gains(&cells, &words))),
            ("tune-best", plot::best_setting(&staircase(plan, &cells, &words))),
        ];
        for (name, svg) in drawings {
            written.extend(save(&folder.join(format!("{name}{suffix}")), &svg)?);
        }
    }
    Ok(written)
}

/// The best gain of each depth at each batch size.
fn gains(cells: &[&Cell], words: &str) -> plot::GainMap {
    let depths = cells.iter().flat_map(|cell| cell.tried.iter().map(|o| o.setting.depth()));
    let mut depths: Vec<u32> = depths.filter(|depth| *depth > 0).collect();
    depths.sort_unstable();
    depths.dedup();
    let gain = |cell: &Cell, depth: u32| {
        // Sorted by rank: the first of a depth is its best.
        cell.tried.iter().find(|outcome| outcome.setting.depth() == depth).map(|outcome| outcome.gain)
    };
    let of = |depth: &u32| cells.iter().map(|cell| gain(cell, *depth)).collect();
    plot::GainMap {
        setup: words.to_owned(),
        batches: cells.iter().map(|cell| cell.batch).collect(),
        gains: depths.iter().map(of).collect(),
        depths,
    }
}

fn staircase(plan: &Plan, cells: &[&Cell], words: &str) -> plot::Staircase {
    let step = |cell: &&Cell| {
        let best = cell.best().expect("it was priced");
        plot::Stair {
            batch: cell.batch,
            depth: best.setting.depth(),
            words: best.setting.words(&plan.methods),
            gain: best.gain,
        }
    };
    plot::Staircase { setup: words.to_owned(), stairs: cells.iter().map(step).collect() }
}
