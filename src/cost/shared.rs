//! Attention of several rows of one request, from tables that hold one row per request.
//!
//! Decode kernels treat each row as a request of its own: vLLM's Triton MLA indexes its block table by query
//! (`triton_mla.py`; local-inference-lab/rtx6kpro `models/kimi-k26-mtp-long-ctx-wip` @10dd6f5), so B requests of r rows
//! are B·r blocks of work. The tables time B·r requests with a cache each, t(B·r): an upper bound. The rows of one
//! request read one cache, which comes from memory once and from L2 for the others, and they fill streaming
//! multiprocessors that B requests leave idle; so each further row costs at most what a request costs a full GPU:
//!
//! ```text
//! t(B, r) ≤ t(B, ctx) + [t(B·r, 1) - t(B, 1)] + B·(r - 1)·[m(ctx) - m(1)],   m = slope of t at the largest batches
//! ```
//!
//! The bracket in the middle is what more rows cost beside the cache: projections, launches. The smaller of both bounds is
//! taken and marked extrapolated, until a calibration times rows themselves.

use super::roofline::Cost;
use crate::calibration::Lookup;
use crate::units::Seconds;

/// Batch sizes beyond all tables, where the slope is that of the last measured interval.
const FULL: (u32, u32) = (4096, 8192);

/// The time of `requests` requests of `rows` rows each: as a table timed them, where one did, else by [`sharing`].
/// `at(requests, rows, context)` looks up, `cost(row, [batch, context])` turns a row into a cost.
pub(super) fn rows_of(
    requests: u32,
    rows: u32,
    context: u32,
    at: impl Fn(u32, u32, u32) -> Option<Lookup>,
    cost: impl Fn(Lookup, [u32; 2]) -> Cost,
) -> Option<Cost> {
    if rows > 1
        && let Some(row) = at(requests, rows, context)
        && !row.unshared
    {
        return Some(cost(row, [requests * rows, context]));
    }
    sharing(requests, rows, context, |batch, context| {
        at(batch, 1, context).map(|row| cost(row, [batch, context]))
    })
}

/// The time of `requests` requests of `rows` rows, `at(batch, context)` being that of requests with one row each.
pub(super) fn sharing(
    requests: u32,
    rows: u32,
    context: u32,
    at: impl Fn(u32, u32) -> Option<Cost>,
) -> Option<Cost> {
    let apart = at(requests * rows, context)?;
    if rows <= 1 {
        return Some(apart);
    }
    let marked = Cost { extrapolated: true, ..apart };
    let (Some(one), Some(beside)) = (at(requests, context), beside(requests, rows, &at)) else {
        return Some(marked);
    };
    // The third term is never negative: here the first bound is the smaller one, whatever the slopes.
    if one.time + beside >= apart.time {
        return Some(marked);
    }
    let slope = |context: u32| {
        let (few, many) = (at(FULL.0, context)?.time, at(FULL.1, context)?.time);
        Some((many - few).max(Seconds::ZERO) / f64::from(FULL.1 - FULL.0))
    };
    let (Some(full), Some(empty)) = (slope(context), slope(1)) else { return Some(marked) };
    let further = (full - empty).max(Seconds::ZERO) * f64::from(requests * (rows - 1));
    Some(Cost { time: marked.time.min(one.time + beside + further), ..marked })
}

/// What more rows cost with no cache to read.
fn beside(requests: u32, rows: u32, at: &impl Fn(u32, u32) -> Option<Cost>) -> Option<Seconds> {
    Some((at(requests * rows, 1)?.time - at(requests, 1)?.time).max(Seconds::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Bound;
    use crate::sourced::Source;

    #[allow(clippy::unnecessary_wraps, reason = "it stands for a table, which may have no row")]
    /// A kernel with a floor, a cost per request, and one per token that is halved while the GPU is not full.
    fn kernel(batch: u32, context: u32) -> Option<Cost> {
        let tokens = f64::from(batch) * f64::from(context);
        let us = 10.0 + 0.1 * f64::from(batch) + tokens * 1e-3 + (tokens * 1e-3).min(40.0);
        Some(Cost {
            time: Seconds::from_us(us),
            bound: Bound::Table,
            source: Source::Measured,
            extrapolated: false,
            alone: false,
        })
    }

    #[test]
    fn one_row_is_the_table_itself() {
        assert_eq!(sharing(4, 1, 1000, kernel), kernel(4, 1000));
    }

    #[test]
    fn rows_cost_no_more_than_requests_and_no_more_than_the_slope_of_a_full_gpu() {
        let shared = sharing(8, 4, 10_000, kernel).expect("in the table");
        let apart = kernel(32, 10_000).expect("in the table");
        assert!(shared.time <= apart.time && shared.extrapolated);
        // 8 requests: 10 + 0.8 + 80 + 40; 24 further rows: 0.1 each beside the cache (and its first token), 10 each for it.
        assert!((shared.time.us() - (130.8 + 24.0 * 10.1)).abs() < 0.1, "{:?}", shared.time);
    }

    #[test]
    fn a_table_that_ends_below_leaves_the_bound_that_it_has() {
        let small = |batch: u32, context: u32| kernel(batch, context).filter(|_| batch <= 64);
        let shared = sharing(4, 4, 1000, small).expect("in the table");
        assert_eq!(shared.time, kernel(16, 1000).expect("in the table").time);
    }
}
