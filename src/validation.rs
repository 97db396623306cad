//! Predictions beside measurements: signed errors, medians, worst cases, and what each prediction was given.
//!
//! Levels: V0 one collective or kernel, V1 a forward pass, V2 a draft/verify cycle, V3 single-stream or batch
//! throughput, V4 serving. A row whose prediction used an observed inner quantity is arithmetic; it and a row that a
//! constant was fitted to are kept out of the headline.

use serde::{Deserialize, Serialize};

/// How deep a quantity lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// One collective or kernel.
    V0,
    /// A forward pass.
    V1,
    /// A draft/verify cycle.
    V2,
    /// Throughput.
    V3,
    /// Serving: TTFT, ITL, E2E.
    V4,
}

impl Level {
    /// The word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::V0 => "V0",
            Self::V1 => "V1",
            Self::V2 => "V2",
            Self::V3 => "V3",
            Self::V4 => "V4",
        }
    }
}

/// One prediction beside its measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the row.
    pub id: String,
    /// Rows of one group are summed up together.
    pub group: String,
    /// Level.
    pub level: Level,
    /// Quantity with its unit: `step_ms`.
    pub quantity: String,
    /// What was measured.
    pub measured: f64,
    /// What is predicted.
    pub predicted: f64,
    /// What the prediction knew of this machine: `presets only`, `calibrated all-reduce`.
    pub inputs: String,
    /// Whether the row counts as predicted: nothing was fitted to it, nor given from its inside.
    pub held_out: bool,
    /// Whether the prediction was given an observed inner quantity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub arithmetic: bool,
    /// Relative difference of two repeats of the measurement, where it was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<f64>,
    /// Source of the measurement.
    pub source: String,
    /// What a reader should know.
    pub note: String,
}

impl Comparison {
    /// Signed relative error: predicted / measured - 1.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// The errors of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The group.
    pub group: String,
    /// Its level.
    pub level: Level,
    /// Rows.
    pub n: usize,
    /// Median of the signed errors: the bias.
    pub median_signed: f64,
    /// Median of the absolute errors.
    pub median: f64,
    /// 90th percentile of the absolute errors.
    pub p90: f64,
    /// The worst absolute error.
    pub worst: f64,
    /// Row of the worst.
    pub worst_id: String,
    /// Whether all rows are held out.
    pub held_out: bool,
    /// Median relative difference of two repeats, over the rows that were repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<f64>,
}

/// Summaries by group, in order of first appearance.
pub fn summaries(rows: &[Comparison]) -> Vec<Summary> {
    let mut groups: indexmap::IndexMap<&str, Vec<&Comparison>> = indexmap::IndexMap::new();
    for row in rows {
        groups.entry(&row.group).or_default().push(row);
    }
    groups.into_values().map(|rows| summary(&rows)).collect()
}

/// The summary of one group, which must not be empty.
fn summary(rows: &[&Comparison]) -> Summary {
    let signed: Vec<f64> = rows.iter().map(|row| row.error()).collect();
    let absolute: Vec<f64> = signed.iter().map(|e| e.abs()).collect();
    let worst = rows
        .iter()
        .max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()))
        .expect("a group has at least one row");
    Summary {
        group: worst.group.clone(),
        level: worst.level,
        n: rows.len(),
        median_signed: quantile(&signed, 0.5),
        median: quantile(&absolute, 0.5),
        p90: quantile(&absolute, 0.9),
        worst: worst.error().abs(),
        worst_id: worst.id.clone(),
        held_out: rows.iter().all(|row| row.held_out),
        repeat: {
            let repeats: Vec<f64> = rows.iter().filter_map(|row| row.repeat).collect();
            (!repeats.is_empty()).then(|| quantile(&repeats, 0.5))
        },
    }
}

/// The `q` quantile, linear between order statistics.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    assert!(!values.is_empty(), "a quantile needs values");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(id: &str, measured: f64, predicted: f64) -> Comparison {
        Comparison {
            id: id.into(),
            group: "g".into(),
            level: Level::V1,
            quantity: "step_ms".into(),
            measured,
            predicted,
            inputs: String::new(),
            held_out: true,
            arithmetic: false,
            repeat: None,
            source: String::new(),
            note: String::new(),
        }
    }

    #[test]
    fn errors_are_signed_and_the_worst_is_named() {
        let rows = [comparison("a", 10.0, 11.0), comparison("b", 10.0, 8.0), comparison("c", 10.0, 10.0)];
        let summary = &summaries(&rows)[0];
        assert_eq!(summary.n, 3);
        assert!((summary.median_signed - 0.0).abs() < 1e-12);
        assert!((summary.median - 0.1).abs() < 1e-12);
        assert!((summary.worst - 0.2).abs() < 1e-12);
        assert_eq!(summary.worst_id, "b");
    }

    #[test]
    fn quantiles_lie_between_order_statistics() {
        assert!((quantile(&[1.0, 2.0, 3.0, 4.0], 0.5) - 2.5).abs() < 1e-12);
        assert!((quantile(&[4.0], 0.9) - 4.0).abs() < 1e-12);
    }
}
