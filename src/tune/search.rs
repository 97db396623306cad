//! The best shapes of one method in one cell: all of them, or only those that can still be among the best.
//!
//! At a batch size all objectives rank shapes by tokens per time, AL / cycle. A shape contains another if it has no
//! fewer steps, branches and rows; its cycle is then hardly shorter:
//!
//! ```text
//! cycle(s) ≥ (1 - SLACK) · cycle(s')     for every s' that s contains
//! ```
//!
//! Only a collective that is faster for more bytes (NCCL changing its protocol) breaks plain monotony, and it is a part
//! of the cycle. So AL(s) / ((1 - SLACK) · longest such cycle) bounds what s can reach before it is priced.

use crate::speculation::DraftShape;

/// How much shorter a cycle may be than one that it contains. The largest fall with size in the shipped all-reduce
/// tables is 15 % (512 KiB to 1 MiB on eight RTX PRO 6000), of the all-reduce alone.
const SLACK: f64 = 0.2;

/// How the shapes are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Every shape is priced.
    Exhaustive,
    /// Shapes whose bound lies below the second best so far are not.
    Pruned,
}

/// Shapes that were priced, each with its rate.
pub(super) struct Priced<T> {
    /// What was priced, in the order of the shapes.
    pub(super) list: Vec<(DraftShape, T)>,
}

/// Prices shapes, which must be sorted so that none precedes one that it contains. `accept` gives tokens per cycle,
/// `price` the cycle in seconds and whatever else is known then.
pub(super) fn price_all<T>(
    shapes: &[DraftShape],
    strategy: Strategy,
    accept: impl Fn(DraftShape) -> f64,
    mut price: impl FnMut(DraftShape) -> (f64, T),
) -> Priced<T> {
    let mut list = Vec::new();
    let mut cycles: Vec<(DraftShape, f64)> = Vec::new();
    let mut best = [0.0_f64; 2];
    for &shape in shapes {
        let tokens = accept(shape);
        if strategy == Strategy::Pruned {
            let contained = cycles.iter().filter(|(smaller, _)| contains(shape, *smaller));
            let longest = contained.map(|(_, cycle)| *cycle).fold(0.0, f64::max);
            if longest > 0.0 && tokens / (longest * (1.0 - SLACK)) < best[1] {
                continue;
            }
        }
        let (cycle, rest) = price(shape);
        cycles.push((shape, cycle));
        let rate = tokens / cycle;
        if rate > best[0] {
            best = [rate, best[0]];
        } else {
            best[1] = best[1].max(rate);
        }
        list.push((shape, rest));
    }
    Priced { list }
}

/// The shape with the most tokens per time, and how many were priced; the smaller one of equals.
pub fn best_shape(
    shapes: &[DraftShape],
    strategy: Strategy,
    accept: impl Fn(DraftShape) -> f64,
    mut cycle: impl FnMut(DraftShape) -> f64,
) -> (Option<DraftShape>, usize) {
    let priced = price_all(shapes, strategy, &accept, |shape| {
        let cycle = cycle(shape);
        (cycle, accept(shape) / cycle)
    });
    let mut best: Option<(DraftShape, f64)> = None;
    for &(shape, rate) in &priced.list {
        if best.is_none_or(|(_, most)| rate > most) {
            best = Some((shape, rate));
        }
    }
    (best.map(|(shape, _)| shape), priced.list.len())
}

fn contains(shape: DraftShape, smaller: DraftShape) -> bool {
    shape.steps >= smaller.steps && shape.topk >= smaller.topk && shape.draft_tokens >= smaller.draft_tokens
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
