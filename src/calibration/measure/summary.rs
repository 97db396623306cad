//! What a run found, in a page: counts, headline figures, fits.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::journal::Record;
use super::plan::{Part, size, word};
use super::reply::{Check, Inspection, Measured};
use super::rows::default_curves;
use super::statistics::quantiles;
use super::task::{CollectiveTask, Task};
use crate::calibration::{Draft, Family, Mode};
use crate::runtime::CollectiveOp;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The GPU of the box.
    pub gpu: String,
    /// How many.
    pub count: u32,
    /// Whether the times are made up.
    pub synthetic: bool,
    /// Per part.
    pub parts: Vec<PartSummary>,
    /// Tasks whose result was compared with the host's or NCCL's and agreed.
    pub checked: usize,
    /// Costs of launching and how they vary.
    pub launch: Vec<LaunchSummary>,
    /// All-reduce per implementation and mode, graphs first.
    pub all_reduce: Vec<CollectiveSummary>,
    /// Best streaming read \[GB/s\]; none: not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_gb_s: Option<f64>,
    /// Fits, and how well they hold.
    pub fits: FitSummary,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartSummary {
    /// Which.
    pub part: Part,
    /// Tasks that have times.
    pub measured: usize,
    /// Tasks that failed.
    pub failed: usize,
}

/// One launch cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LaunchSummary {
    /// Which.
    pub what: String,
    /// Median \[µs\].
    pub median_us: f64,
    /// 10th percentile \[µs\].
    pub p10_us: f64,
    /// 90th percentile \[µs\].
    pub p90_us: f64,
}

/// One curve of an all-reduce.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectiveSummary {
    /// Ranks.
    pub ranks: u32,
    /// Implementation.
    pub family: String,
    /// How it is issued.
    pub mode: String,
    /// How the bytes travel.
    pub transport: String,
    /// Smallest message \[B\].
    pub smallest_bytes: f64,
    /// Its time \[µs\].
    pub latency_us: f64,
    /// Whether that is the host's time to issue a call rather than the collective's: small messages back to back in a
    /// stream end before the next one is issued, and vary from run to run as the host does.
    pub issue_bound: bool,
    /// Largest message \[B\].
    pub largest_bytes: f64,
    /// Its bus bandwidth, 2(n-1)/n · bytes / time (as nccl-tests defines it) \[GB/s\].
    pub busbw_gb_s: f64,
}

/// Fits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitSummary {
    /// How many.
    pub count: usize,
    /// Median of their errors on rows left out; none without a fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_cv_error: Option<f64>,
    /// Those that are flagged, with their errors.
    pub flagged: Vec<String>,
}

impl Summary {
    /// Of a file that was just made.
    pub fn of(draft: &Draft, records: &[Record], found: &Inspection) -> Self {
        Self {
            gpu: draft.facts.gpu.clone(),
            count: draft.facts.count,
            synthetic: found.synthetic,
            parts: parts(records),
            checked: records.iter().filter_map(measured).filter(|m| m.check != Check::NotApplicable).count(),
            launch: launch(records),
            all_reduce: all_reduce(records),
            read_gb_s: read(records),
            fits: fits(draft),
        }
    }
}

fn parts(records: &[Record]) -> Vec<PartSummary> {
    let of = |part: Part| {
        let own = records.iter().filter(|record| record.part == part);
        let measured = own.clone().filter(|record| record.result.is_ok()).count();
        PartSummary { part, measured, failed: own.count() - measured }
    };
    Part::ALL.into_iter().map(of).filter(|part| part.measured + part.failed > 0).collect()
}

fn measured(record: &Record) -> Option<&Measured> {
    record.result.as_ref().ok()
}

fn launch(records: &[Record]) -> Vec<LaunchSummary> {
    let of = |record: &Record| {
        let Task::Launch { kind } = record.task() else { return None };
        let q = quantiles(&measured(record)?.samples_us)?;
        Some(LaunchSummary {
            what: word(kind),
            median_us: three(q.median),
            p10_us: three(q.p10),
            p90_us: three(q.p90),
        })
    };
    records.iter().filter_map(of).collect()
}

fn all_reduce(records: &[Record]) -> Vec<CollectiveSummary> {
    let mut found = Vec::new();
    for (task, points) in default_curves(records) {
        let CollectiveTask { op: CollectiveOp::AllReduce, ranks, family, mode, transport, .. } = task else {
            continue;
        };
        let ((smallest, latency), (largest, time)) = (points[0], points[points.len() - 1]);
        let n = f64::from(ranks);
        found.push(CollectiveSummary {
            ranks,
            family: word(&family),
            mode: word(&mode),
            transport: word(&transport),
            smallest_bytes: smallest,
            latency_us: three(latency),
            issue_bound: mode == Mode::Stream,
            largest_bytes: largest,
            busbw_gb_s: three(2.0 * (n - 1.0) / n * largest / time * 1e-3),
        });
    }
    // Graphs first: their times are the GPUs' alone.
    found.sort_by_key(|curve| curve.mode != word(&Mode::Graph));
    found
}

fn read(records: &[Record]) -> Option<f64> {
    let of = |record: &Record| {
        let Task::Stream { bytes } = record.task() else { return None };
        Some(*bytes as f64 / quantiles(&measured(record)?.samples_us)?.median * 1e-3)
    };
    records.iter().filter_map(of).max_by(f64::total_cmp).map(three)
}

fn fits(draft: &Draft) -> FitSummary {
    let mut errors = Vec::new();
    let mut flagged = Vec::new();
    let mut add = |name: String, error: Option<f64>, bad: bool| {
        errors.extend(error);
        if bad {
            flagged.push(format!("{name} ({:.0} %)", 100.0 * error.unwrap_or(1.0)));
        }
    };
    for fit in &draft.fits {
        let of = &fit.of;
        let mode = of.mode.as_ref().map(word::<Mode>).unwrap_or_default();
        let family = word::<Family>(&of.family);
        add(format!("{} of {} by {family}, {mode}", word(&of.op), of.ranks), fit.cv_error, fit.flagged);
    }
    for fit in &draft.kernel_fits {
        add(fit.of.clone(), fit.cv_error, fit.flagged);
    }
    for fit in &draft.jitter {
        add(format!("spread of {}", fit.of), fit.cv_error, fit.flagged);
    }
    FitSummary {
        count: draft.fits.len() + draft.kernel_fits.len() + draft.jitter.len(),
        median_cv_error: super::statistics::median(&errors),
        flagged,
    }
}

/// Three significant digits.
fn three(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// As JSON.
pub fn json(summary: &Summary, tool: &str) -> Value {
    let mut value = serde_json::json!({ "schema": "specplan-calibrate-summary/1", "tool_version": tool });
    if let (Value::Object(to), Ok(Value::Object(from))) = (&mut value, serde_json::to_value(summary)) {
        to.extend(from);
    }
    value
}

/// As text.
pub fn text(summary: &Summary) -> String {
    let failed: usize = summary.parts.iter().map(|part| part.failed).sum();
    let measured: usize = summary.parts.iter().map(|part| part.measured).sum();
    let mut text = format!(
        "{}x {}: {measured} measured, {failed} failed, {} results checked{}\n\n",
        summary.count,
        summary.gpu,
        summary.checked,
        if summary.synthetic { " (made-up times)" } else { "" }
    );
    for part in &summary.parts {
        let failed = if part.failed > 0 { format!(", {} failed", part.failed) } else { String::new() };
        let _ = writeln!(text, "  {:<14}{:>5} measured{failed}", part.part.word(), part.measured);
    }
    if !summary.launch.is_empty() {
        let _ = writeln!(text, "\n  {:<20}{:>10}{:>10}{:>10}", "launch", "median", "p10", "p90");
        for cost in &summary.launch {
            let us = |value: f64| format!("{value} µs");
            let (median, low, high) = (us(cost.median_us), us(cost.p10_us), us(cost.p90_us));
            let _ = writeln!(text, "  {:<20}{median:>10}{low:>10}{high:>10}", cost.what);
        }
    }
    if !summary.all_reduce.is_empty() {
        let _ = writeln!(text, "\n  {:<32}{:>20}{:>24}", "all-reduce", "latency", "bus bandwidth");
        for curve in &summary.all_reduce {
            let name = format!("{}x {} {} {}", curve.ranks, curve.family, curve.mode, curve.transport);
            let latency = if curve.issue_bound {
                "bound by issue".to_owned()
            } else {
                format!("{} µs at {}", curve.latency_us, size(curve.smallest_bytes as u64))
            };
            let busbw = format!("{} GB/s at {}", curve.busbw_gb_s, size(curve.largest_bytes as u64));
            let _ = writeln!(text, "  {name:<32}{latency:>20}{busbw:>24}");
        }
    }
    if let Some(read) = summary.read_gb_s {
        let _ = writeln!(text, "\n  best streaming read: {read} GB/s");
    }
    write_fits(&mut text, &summary.fits);
    text
}

fn write_fits(text: &mut String, fits: &FitSummary) {
    let Some(error) = fits.median_cv_error else { return };
    let _ = writeln!(
        text,
        "\n  {} fits, median error on rows left out {:.1} %, {} flagged",
        fits.count,
        100.0 * error,
        fits.flagged.len()
    );
    for name in &fits.flagged {
        let _ = writeln!(text, "    over 10 %, the table is used: {name}");
    }
}
