//! Collectives over message size: t = α + Σ βᵢ·(part of S in interval i), α and slopes ≥ 0, relative errors minimised.
//!
//! Knots are chosen among the measured sizes, one after the other, as long as the error on rows left out falls by a fifth:
//! NCCL changes protocol and algorithm with size, and each change is a knot.

use super::judged;
use super::least_squares::nnls;
use crate::calibration::measure::journal::Record;
use crate::calibration::measure::rows::default_curves;
use crate::calibration::measure::statistics::median;
use crate::calibration::{Fit, FitOf, FitRange, Form, Params};
use crate::sourced::Source;
use crate::units::Bytes;

/// Fewer sizes make no fit.
const FEWEST: usize = 4;
/// More knots say no more than the table.
const MOST_KNOTS: usize = 3;
/// An error with which no further knot is sought: measurements repeat no better.
const GOOD: f64 = 0.005;
/// What a further knot must leave of the error.
const WORTH: f64 = 0.8;

/// A size \[KiB\] and its time \[µs\].
type Point = (f64, f64);

/// One fit per curve with sizes enough.
pub(super) fn fit(records: &[Record]) -> Vec<Fit> {
    let mut fits = Vec::new();
    for (task, points) in default_curves(records) {
        let points: Vec<Point> = points.into_iter().map(|(bytes, us)| (bytes / 1024.0, us)).collect();
        let Some((params, errors)) = best(&points) else { continue };
        let (cv_error, flagged) = judged(&errors);
        let form = if params.knots_kib.is_empty() { Form::AlphaBeta } else { Form::Piecewise };
        fits.push(Fit {
            of: FitOf {
                op: task.op,
                ranks: task.ranks,
                family: task.family,
                mode: Some(task.mode),
                transport: task.transport,
            },
            form,
            params,
            range: FitRange {
                from_bytes: Bytes::from_kib(points[0].0),
                to_bytes: Bytes::from_kib(points[points.len() - 1].0),
            },
            cv_error,
            flagged,
            source: Source::Fitted,
            note: format!("{} sizes of this file", points.len()),
        });
    }
    fits
}

/// The constants, and the relative errors of rows left out.
fn best(points: &[Point]) -> Option<(Params, Vec<f64>)> {
    if points.len() < FEWEST {
        return None;
    }
    let mut knots = Vec::new();
    let mut errors = left_out(points, &knots)?;
    while score(&errors) > GOOD && knots.len() < MOST_KNOTS && points.len() > knots.len() + FEWEST {
        let Some((with, less)) = one_more(points, &knots) else { break };
        if score(&less) > WORTH * score(&errors) {
            break;
        }
        (knots, errors) = (with, less);
    }
    Some((solve(points, &knots)?, errors))
}

/// The knot that leaves the least error, with those there are.
fn one_more(points: &[Point], knots: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let inner = &points[1..points.len() - 1];
    let candidates = inner.iter().map(|p| p.0).filter(|size| !knots.contains(size)).map(|size| {
        let mut with = knots.to_vec();
        with.push(size);
        with.sort_by(f64::total_cmp);
        with
    });
    candidates
        .filter_map(|with| left_out(points, &with).map(|errors| (with, errors)))
        .min_by(|(_, a), (_, b)| score(a).total_cmp(&score(b)))
}

/// Mean of the errors: the median would not see one bad interval.
fn score(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// Each inner row left out in turn and predicted from the others.
fn left_out(points: &[Point], knots: &[f64]) -> Option<Vec<f64>> {
    let mut errors = Vec::new();
    for at in 1..points.len() - 1 {
        let mut rest = points.to_vec();
        let (size, time) = rest.remove(at);
        let params = solve(&rest, knots)?;
        errors.push((predict(&params, size) / time - 1.0).abs());
    }
    median(&errors).map(|_| errors)
}

/// The constants for given knots. Rows are divided by their times, so that relative errors count.
fn solve(points: &[Point], knots: &[f64]) -> Option<Params> {
    let ends: Vec<f64> = knots.iter().copied().chain([f64::INFINITY]).collect();
    let mut columns = vec![points.iter().map(|(_, time)| 1.0 / time).collect::<Vec<f64>>()];
    let mut start = 0.0;
    for end in ends {
        columns.push(points.iter().map(|(size, time)| (size.min(end) - start).max(0.0) / time).collect());
        start = end;
    }
    let found = nnls(&columns, &vec![1.0; points.len()])?;
    Some(Params {
        alpha_us: round(found[0]).max(1e-3),
        beta_us_per_kib: found[1..].iter().map(|slope| round(*slope)).collect(),
        knots_kib: knots.to_vec(),
    })
}

/// Six significant digits: a file is for reading too.
fn round(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn predict(params: &Params, size: f64) -> f64 {
    let mut time = params.alpha_us;
    let mut start = 0.0;
    for (slope, end) in
        params.beta_us_per_kib.iter().zip(params.knots_kib.iter().copied().chain([f64::INFINITY]))
    {
        time += slope * (size.min(end) - start).max(0.0);
        start = end;
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> impl Iterator<Item = f64> {
        (0..14).map(|power| f64::from(1 << power))
    }

    #[test]
    fn a_straight_line_needs_no_knot_and_is_found() {
        let points: Vec<Point> = sizes().map(|kib| (kib, 20.0 + 0.1 * kib)).collect();
        let (params, errors) = best(&points).unwrap();
        assert!(params.knots_kib.is_empty());
        assert!((params.alpha_us - 20.0).abs() < 1e-3 && (params.beta_us_per_kib[0] - 0.1).abs() < 1e-5);
        assert!(score(&errors) < 1e-4);
    }

    #[test]
    fn a_change_of_protocol_becomes_a_knot() {
        let truth = |kib: f64| 24.0 + 0.3 * kib.min(256.0) + 0.05 * (kib - 256.0).max(0.0);
        let points: Vec<Point> = sizes().map(|kib| (kib, truth(kib))).collect();
        let (params, errors) = best(&points).unwrap();
        assert_eq!(params.knots_kib, [256.0]);
        assert!((params.beta_us_per_kib[0] - 0.3).abs() < 1e-3, "{params:?}");
        assert!(score(&errors) < 1e-3);
    }

    #[test]
    fn chaos_is_judged_worse_than_ten_percent() {
        let points: Vec<Point> =
            sizes().enumerate().map(|(i, kib)| (kib, if i % 2 == 0 { 10.0 } else { 40.0 })).collect();
        let (_, errors) = best(&points).unwrap();
        assert!(judged(&errors).1, "{errors:?}");
    }

    #[test]
    fn three_sizes_make_no_fit() {
        assert!(best(&[(1.0, 2.0), (2.0, 3.0), (4.0, 5.0)]).is_none());
    }
}
