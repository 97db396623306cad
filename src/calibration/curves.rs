//! Fits of what is no collective: the achieved bandwidth and rate of kernels, and the spread of launch costs.
//!
//! * `bandwidth`: t = floor + bytes / B, the achieved bandwidth being bytes / t. Bytes are those that a kernel must read
//!   and write.
//! * `roofline`: t = floor + bytes / B + operations / R; nothing overlaps, which over-estimates where both are large.
//! * `lognormal`: samples of a launch cost around their median with a coefficient of variation, cv = √(exp(σ²) - 1), σ from
//!   the 10th to the 90th percentile, so that a few interrupts do not set it.
//!
//! They say how well a formula holds on this box, and beyond the tables they say what to expect; look-ups take tables.

use serde::Serialize;

use super::error::CalibrationError;
use super::fit::FitRange;
use super::keys::{Keys, wrong};
use super::tree::{Content, Node};
use super::words::Word;
use crate::units::{Bytes, Flops, Seconds};

/// A fitted kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelFit {
    /// What was fitted: the table and what distinguishes the kernel, e.g. `gemm bf16`, `stream`.
    pub of: String,
    /// Its formula.
    pub form: KernelForm,
    /// Time of no work \[µs\].
    pub floor_us: f64,
    /// Achieved bandwidth B \[GB/s\].
    pub gb_s: f64,
    /// Achieved rate R, where the formula has one \[10¹²/s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tflops: Option<f64>,
    /// Bytes for which it was made.
    pub range: FitRange,
    /// Median relative error of rows that were left out; none: too few rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv_error: Option<f64>,
    /// Whether that error is more than 10 %: the table says it better.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flagged: bool,
}

/// Formulas of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelForm {
    /// Floor and bandwidth.
    Bandwidth,
    /// Floor, bandwidth and rate.
    Roofline,
}

impl Word for KernelForm {
    const EXPECTED: &'static str = "bandwidth or roofline";
    const WORDS: &'static [(&'static str, Self)] =
        &[("bandwidth", Self::Bandwidth), ("roofline", Self::Roofline)];
}

/// The distribution of a launch cost: lognormal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JitterFit {
    /// The launch cost, as the table `launch` calls it.
    pub of: String,
    /// The median \[µs\].
    pub median_us: f64,
    /// Standard deviation over mean.
    pub cv: f64,
    /// Samples.
    pub samples: u32,
    /// Relative error of the 10th and 90th percentile of the samples left out, the larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv_error: Option<f64>,
    /// Whether that error is more than 10 %: the percentiles of the table say it better.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flagged: bool,
}

impl KernelFit {
    /// The time of so many bytes and operations.
    pub fn time(&self, bytes: Bytes, work: Flops) -> Seconds {
        let rate = self.tflops.map_or(0.0, |tflops| work.get() / (tflops * 1e6));
        Seconds::from_us(self.floor_us + bytes.get() / (self.gb_s * 1e3) + rate)
    }
}

type Result<T> = std::result::Result<T, CalibrationError>;

/// Every fit of the key `kernel_fits`.
pub(super) fn read_kernels(nodes: &[Node]) -> Result<Vec<KernelFit>> {
    nodes.iter().map(kernel).collect()
}

fn kernel(node: &Node) -> Result<KernelFit> {
    let known = ["of", "form", "floor_us", "gb_s", "tflops", "range", "cv_error", "flagged"];
    let keys = Keys::of("kernel_fits", node, &known)?;
    let range = keys.needed("range", "`from_bytes` and `to_bytes`")?;
    let range = Keys::of("range", range, &["from_bytes", "to_bytes"])?;
    Ok(KernelFit {
        of: keys.text("of", "what was fitted")?.to_owned(),
        form: keys.word("form")?,
        floor_us: keys.number("floor_us", 0.0..=1e9)?,
        gb_s: keys.number("gb_s", 1e-6..=1e9)?,
        tflops: keys.number_or_none("tflops", 1e-6..=1e9)?,
        range: FitRange {
            from_bytes: Bytes::new(range.number("from_bytes", 0.0..=1e15)?),
            to_bytes: Bytes::new(range.number("to_bytes", 1.0..=1e15)?),
        },
        cv_error: keys.number_or_none("cv_error", 0.0..=10.0)?,
        flagged: flag(keys)?,
    })
}

/// Every distribution of the key `jitter`.
pub(super) fn read_jitter(nodes: &[Node]) -> Result<Vec<JitterFit>> {
    let known = ["of", "median_us", "cv", "samples", "cv_error", "flagged"];
    let read = |node: &Node| {
        let keys = Keys::of("jitter", node, &known)?;
        Ok(JitterFit {
            of: keys.text("of", "a launch cost")?.to_owned(),
            median_us: keys.number("median_us", 1e-3..=1e9)?,
            cv: keys.number("cv", 0.0..=1e3)?,
            samples: keys.whole("samples", 1..=u32::MAX)?,
            cv_error: keys.number_or_none("cv_error", 0.0..=10.0)?,
            flagged: flag(keys)?,
        })
    };
    nodes.iter().map(read).collect()
}

/// The key `flagged`; absent: no.
pub(super) fn flag(keys: Keys) -> Result<bool> {
    let Some(node) = keys.get("flagged") else { return Ok(false) };
    match node.content {
        Content::Bool(flagged) => Ok(flagged),
        _ => Err(wrong(node, "flagged", "true or false")),
    }
}
