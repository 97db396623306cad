//! Curves fitted to collectives where only a few figures are public.
//!
//! Forms: `alpha-beta`, t = α + β·S; `piecewise`, the same with a slope per interval between knots:
//! t = α + Σ βᵢ·(part of S in interval i). S is the message per rank in KiB.

use serde::{Deserialize, Serialize};

use super::words::{Family, Mode};
use crate::collective::Transport;
use crate::runtime::CollectiveOp;
use crate::sourced::Source;
use crate::units::{Bytes, Seconds};

/// A fitted curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The collectives that it times.
    pub of: FitOf,
    /// Its formula.
    pub form: Form,
    /// The constants of the formula.
    pub params: Params,
    /// Sizes for which it was made; beyond them results are marked extrapolated.
    pub range: FitRange,
    /// Relative error where it was left out and predicted, or as its source states it; none: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv_error: Option<f64>,
    /// `fitted` (default) or, where a constant is a guess, `assumed`.
    #[serde(default = "fitted")]
    pub source: Source,
    /// What it was fitted to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

const fn fitted() -> Source {
    Source::Fitted
}

/// What a fit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitOf {
    /// The operation.
    pub op: CollectiveOp,
    /// Ranks that take part.
    pub ranks: u32,
    /// The implementation.
    pub family: Family,
    /// How it was issued; none: device time, that is stream and graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How the bytes travelled.
    pub transport: Transport,
}

/// Formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One slope.
    AlphaBeta,
    /// One slope per interval.
    Piecewise,
}

/// Constants of a formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Time of an empty message \[µs\].
    pub alpha_us: f64,
    /// Slopes \[µs/KiB\]: one for `alpha-beta`, one more than knots for `piecewise`.
    pub beta_us_per_kib: Vec<f64>,
    /// Where the slope changes \[KiB\], rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knots_kib: Vec<f64>,
}

/// Sizes of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRange {
    /// Smallest message \[B\].
    pub from_bytes: Bytes,
    /// Largest message \[B\].
    pub to_bytes: Bytes,
}

impl Fit {
    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let Params { alpha_us, beta_us_per_kib: beta, knots_kib: knots } = &self.params;
        let slopes = if self.form == Form::AlphaBeta { 1 } else { knots.len() + 1 };
        if self.form == Form::AlphaBeta && !knots.is_empty() {
            return Some("`alpha-beta` has no knots; use `piecewise`".to_owned());
        }
        if beta.len() != slopes {
            return Some(format!("{} slopes are given, {slopes} needed", beta.len()));
        }
        if !(alpha_us.is_finite() && *alpha_us > 0.0) || beta.iter().any(|b| !(b.is_finite() && *b >= 0.0)) {
            return Some("α must be larger than 0 and no slope negative".to_owned());
        }
        if knots.first().is_some_and(|k| *k <= 0.0) || !knots.is_sorted_by(|a, b| a < b) {
            return Some("knots must rise from above 0".to_owned());
        }
        let FitRange { from_bytes, to_bytes } = self.range;
        if !(from_bytes < to_bytes && to_bytes.is_finite()) {
            return Some("the range is empty".to_owned());
        }
        None
    }

    /// Whether a size lies in the range.
    pub fn covers(&self, bytes: Bytes) -> bool {
        self.range.from_bytes <= bytes && bytes <= self.range.to_bytes
    }

    /// The time of one call.
    pub fn time(&self, bytes: Bytes) -> Seconds {
        let size = bytes.get() / 1024.0;
        let mut time = self.params.alpha_us;
        let mut start = 0.0;
        for (slope, end) in self.params.beta_us_per_kib.iter().zip(self.interval_ends()) {
            time += slope * (size.min(end) - start).max(0.0);
            start = end;
        }
        Seconds::from_us(time)
    }

    fn interval_ends(&self) -> impl Iterator<Item = f64> {
        self.params.knots_kib.iter().copied().chain([f64::INFINITY])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piecewise(knots: &[f64], beta: &[f64]) -> Fit {
        Fit {
            of: FitOf {
                op: CollectiveOp::AllReduce,
                ranks: 8,
                family: Family::Nccl,
                mode: None,
                transport: Transport::P2p,
            },
            form: Form::Piecewise,
            params: Params { alpha_us: 24.0, beta_us_per_kib: beta.to_vec(), knots_kib: knots.to_vec() },
            range: FitRange { from_bytes: Bytes::new(512.0), to_bytes: Bytes::from_kib(256.0) },
            cv_error: None,
            source: Source::Fitted,
            note: String::new(),
        }
    }

    #[test]
    fn slopes_change_at_the_knots() {
        let fit = piecewise(&[64.0], &[0.16, 0.27]);
        for (kib, time) in [(0.0, 24.0), (64.0, 34.24), (128.0, 51.52), (256.0, 86.08)] {
            assert!((fit.time(Bytes::from_kib(kib)).us() - time).abs() < 1e-9, "{kib} KiB");
        }
    }

    #[test]
    fn faults_are_said() {
        assert_eq!(piecewise(&[64.0], &[0.1, 0.2]).fault(), None);
        for (knots, beta) in [
            (vec![64.0], vec![0.1]),
            (vec![64.0, 32.0], vec![0.1; 3]),
            (vec![], vec![-1.0]),
            (vec![0.0], vec![0.1; 2]),
        ] {
            assert!(piecewise(&knots, &beta).fault().is_some(), "{knots:?} {beta:?}");
        }
    }
}
