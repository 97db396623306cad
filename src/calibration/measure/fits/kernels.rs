//! Achieved bandwidth and rate: t = floor + bytes / B + operations / R, constants ≥ 0, relative errors minimised.
//!
//! One fit per kind of kernel and storage, over all its shapes: where one formula holds for all of them, shapes that were
//! not measured follow it; where it does not, the fit is flagged. Rows are left out by fifths.

use std::collections::BTreeMap;

use super::judged;
use super::least_squares::nnls;
use crate::calibration::measure::journal::Record;
use crate::calibration::measure::rows::row_of;
use crate::calibration::measure::task::{LinkKind, Task, word_of_weights};
use crate::calibration::{FitRange, KernelFit, KernelForm};
use crate::units::Bytes;

/// Fewer rows make no fit.
const FEWEST: usize = 6;
/// Parts into which rows are cut for leaving out.
const FOLDS: usize = 5;
/// The smallest constants that mean anything: below, the term is absent \[s/B, s\].
const NOTHING: f64 = 1e-18;

/// Bytes that must move \[B\], operations, and the time \[µs\].
type Point = (f64, f64, f64);

pub(super) fn fit(records: &[Record]) -> Vec<KernelFit> {
    let mut groups: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for record in records {
        let Some((of, bytes, work)) = demand(record.task()) else { continue };
        let Some(row) = row_of(record) else { continue };
        groups.entry(of).or_default().push((bytes, work, row.times.median));
    }
    groups.into_iter().filter_map(|(of, points)| one(of, &points)).collect()
}

/// What a kernel must read, write and compute.
fn demand(task: &Task) -> Option<(String, f64, f64)> {
    let wide = f64::from;
    Some(match *task {
        Task::Stream { bytes } => ("stream".to_owned(), bytes as f64, 0.0),
        Task::Gemm { weights, n, k, rows } => (
            format!("gemm {}", word_of_weights(weights)),
            wide(n) * wide(k) * weights.bits() / 8.0 + 2.0 * wide(rows) * (wide(n) + wide(k)),
            2.0 * wide(n) * wide(k) * wide(rows),
        ),
        Task::Dequant { bits, group, n, k, rows } => (
            format!("gemm int{bits}-g{group}"),
            wide(n) * wide(k) * (wide(bits) + 16.0 / wide(group)) / 8.0
                + 2.0 * wide(rows) * (wide(n) + wide(k)),
            2.0 * wide(n) * wide(k) * wide(rows),
        ),
        Task::Moe { weights, hidden, width, per_token, experts, shards, tokens } => {
            let touched = (wide(tokens) * wide(per_token)).min(wide(experts));
            let one = 3.0 * wide(hidden) * wide(width) / wide(shards);
            (
                format!("experts {}", word_of_weights(weights)),
                touched * one * weights.bits() / 8.0,
                2.0 * one * wide(tokens) * wide(per_token),
            )
        }
        Task::Attention { kv, head_dim, heads, kv_heads, batch, rows, context } => (
            "attention".to_owned(),
            2.0 * wide(batch) * wide(context) * wide(kv_heads) * wide(head_dim) * kv.bytes_per_number(),
            4.0 * wide(batch) * wide(rows) * wide(context) * wide(heads) * wide(head_dim),
        ),
        Task::Mla { kv, heads, batch, rows, context } => (
            "mla".to_owned(),
            576.0 * wide(batch) * wide(context) * kv.bytes_per_number(),
            2.0 * (576.0 + 512.0) * wide(batch) * wide(rows) * wide(context) * wide(heads),
        ),
        Task::Link { kind: LinkKind::HostCopy, bytes, .. } => ("host-copy".to_owned(), bytes as f64, 0.0),
        Task::Link { kind: LinkKind::Copy, bytes, .. } => ("copy".to_owned(), bytes as f64, 0.0),
        Task::Inspect
        | Task::SelfTest
        | Task::Small { .. }
        | Task::Launch { .. }
        | Task::Link { .. }
        | Task::Collective(_) => {
            return None;
        }
    })
}

fn one(of: String, points: &[Point]) -> Option<KernelFit> {
    let few = if of == "stream" { 3 } else { FEWEST };
    if points.len() < few {
        return None;
    }
    let [floor, per_byte, per_work] = solve(points)?;
    if per_byte < NOTHING {
        return None;
    }
    let (cv_error, flagged) = judged(&left_out(points));
    let sizes = points.iter().map(|p| p.0);
    let from = sizes.clone().fold(f64::INFINITY, f64::min);
    let to = sizes.fold(0.0, f64::max);
    if from >= to {
        return None;
    }
    let rated = per_work > NOTHING;
    Some(KernelFit {
        of,
        form: if rated { KernelForm::Roofline } else { KernelForm::Bandwidth },
        floor_us: round(floor),
        // µs/B to GB/s, µs/FLOP to 10¹²/s.
        gb_s: round(1e-3 / per_byte),
        tflops: rated.then(|| round(1e-6 / per_work)),
        range: FitRange { from_bytes: Bytes::new(from.round()), to_bytes: Bytes::new(to.round()) },
        cv_error,
        flagged,
    })
}

/// Floor \[µs\], \[µs/B\], \[µs/FLOP\].
fn solve(points: &[Point]) -> Option<[f64; 3]> {
    let column = |of: &dyn Fn(&Point) -> f64| points.iter().map(|p| of(p) / p.2).collect::<Vec<f64>>();
    let columns = [column(&|_| 1.0), column(&|p| p.0), column(&|p| p.1)];
    let found = nnls(&columns, &vec![1.0; points.len()])?;
    Some([found[0], found[1], found[2]])
}

fn left_out(points: &[Point]) -> Vec<f64> {
    let mut errors = Vec::new();
    for fold in 0..FOLDS.min(points.len()) {
        let (out, rest): (Vec<_>, Vec<_>) = points.iter().enumerate().partition(|(i, _)| i % FOLDS == fold);
        let rest: Vec<Point> = rest.into_iter().map(|(_, p)| *p).collect();
        let Some([floor, per_byte, per_work]) = solve(&rest) else { continue };
        errors.extend(out.into_iter().map(|(_, (bytes, work, time))| {
            ((floor + per_byte * bytes + per_work * work) / time - 1.0).abs()
        }));
    }
    errors
}

fn round(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_bandwidth_and_rate_are_found() {
        let points: Vec<Point> = (1..=5)
            .flat_map(|size| [1.0, 16.0, 64.0, 256.0].map(|rows| (f64::from(size) * 1e7, rows)))
            .map(|(bytes, rows)| (bytes, bytes * rows, 3.0 + bytes / 3e6 + bytes * rows / 5e8))
            .collect();
        let fit = one("gemm bf16".to_owned(), &points).unwrap();
        assert!((fit.floor_us - 3.0).abs() < 1e-2, "{fit:?}");
        assert!((fit.gb_s / 3000.0 - 1.0).abs() < 1e-3, "{fit:?}");
        assert!((fit.tflops.unwrap() / 500.0 - 1.0).abs() < 1e-3, "{fit:?}");
        assert!(!fit.flagged && fit.cv_error.unwrap() < 1e-3);
    }

    #[test]
    fn experts_read_what_their_tokens_touch_in_turn() {
        let moe = |tokens| Task::Moe {
            weights: crate::model::WeightFormat::Bf16,
            hidden: 2048,
            width: 768,
            per_token: 8,
            experts: 128,
            shards: 2,
            tokens,
        };
        let one = 3.0 * 2048.0 * 384.0 * 2.0;
        for (tokens, touched) in [(1, 8.0), (8, 64.0), (16, 128.0), (64, 128.0)] {
            assert_eq!(demand(&moe(tokens)).map(|(_, bytes, _)| bytes), Some(touched * one));
        }
    }

    #[test]
    fn bytes_alone_make_a_bandwidth() {
        let points: Vec<Point> =
            (1..=6).map(|size| (f64::from(size) * 1e8, 0.0, 4.0 + f64::from(size) * 25.0)).collect();
        let fit = one("stream".to_owned(), &points).unwrap();
        assert_eq!((fit.form, fit.tflops), (KernelForm::Bandwidth, None));
        assert!((fit.gb_s - 4000.0).abs() < 1.0);
    }

    #[test]
    fn shapes_that_follow_no_formula_are_flagged() {
        let points: Vec<Point> =
            (1..=12).map(|i| (f64::from(i) * 1e6, 0.0, [10.0, 25.0, 60.0][i as usize % 3])).collect();
        assert!(one("moe".to_owned(), &points).is_none_or(|fit| fit.flagged));
    }
}
