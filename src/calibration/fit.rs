//! Curves fitted to collectives where only a few figures are public.
//!
//! Forms: `alpha-beta`, t = α + β·S; `piecewise`, the same with a slope per interval between knots:
//! t = α + Σ βᵢ·(part of S in interval i). S is the message per rank in KiB.

use serde::Serialize;

use super::curves;
use super::error::CalibrationError;
use super::file::MOST_RANKS;
use super::keys::{Keys, number_of};
use super::tree::Node;
use super::words::{Family, Mode, Word};
use crate::collective::Transport;
use crate::runtime::CollectiveOp;
use crate::sourced::Source;
use crate::units::{Bytes, Seconds};

/// A fitted curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv_error: Option<f64>,
    /// Whether that error is too large for the fit to be used: the table answers instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flagged: bool,
    /// `fitted` (default) or, where a constant is a guess, `assumed`.
    pub source: Source,
    /// What it was fitted to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a fit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FitOf {
    /// The operation.
    pub op: CollectiveOp,
    /// Ranks that take part.
    pub ranks: u32,
    /// The implementation.
    pub family: Family,
    /// How it was issued; none: device time, that is stream and graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How the bytes travelled.
    pub transport: Transport,
}

/// Formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One slope.
    AlphaBeta,
    /// One slope per interval.
    Piecewise,
}

/// Constants of a formula.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Params {
    /// Time of an empty message \[µs\].
    pub alpha_us: f64,
    /// Slopes \[µs/KiB\]: one for `alpha-beta`, one more than knots for `piecewise`.
    pub beta_us_per_kib: Vec<f64>,
    /// Where the slope changes \[KiB\], rising.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub knots_kib: Vec<f64>,
}

/// Sizes of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FitRange {
    /// Smallest message \[B\].
    pub from_bytes: Bytes,
    /// Largest message \[B\].
    pub to_bytes: Bytes,
}

impl Word for Form {
    const EXPECTED: &'static str = "alpha-beta or piecewise";
    const WORDS: &'static [(&'static str, Self)] =
        &[("alpha-beta", Self::AlphaBeta), ("piecewise", Self::Piecewise)];
}

/// The longest call that a fit may predict inside its range \[µs\] \[B\]: a quarter of an hour.
const LONGEST_US: f64 = 1e9;
/// The shortest \[µs\] \[B\].
const SHORTEST_US: f64 = 1e-3;
/// The largest message \[B\] \[B\].
const MOST_BYTES: f64 = 1e15;
/// The largest error of a fit that is used \[B\]: `calibrate` flags from 0.1 on, public sources state up to 0.25.
const MOST_ERROR: f64 = 0.5;

/// Slopes and knots of one fit \[B\].
const MOST_KNOTS: usize = 100;

/// Every fit of a file.
pub(super) fn read_all(nodes: &[Node]) -> Result<Vec<Fit>, CalibrationError> {
    let mut fits: Vec<Fit> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let fit = read(node)?;
        let twice = || {
            let earlier = fits.iter().position(|earlier| earlier.overlaps(&fit))?;
            Some(format!("it covers sizes that fit {} of the same collective covers", earlier + 1))
        };
        if let Some(message) = fit.fault().or_else(twice) {
            return Err(CalibrationError::Fit { place: node.place, number: at + 1, message });
        }
        fits.push(fit);
    }
    Ok(fits)
}

fn read(node: &Node) -> Result<Fit, CalibrationError> {
    let keys =
        Keys::of("fits", node, &["of", "form", "params", "range", "cv_error", "flagged", "source", "note"])?;
    let of = keys.needed("of", "the collective that is fitted")?;
    let of = Keys::of("of", of, &["op", "ranks", "family", "mode", "transport"])?;
    let params = keys.needed("params", "the constants of the formula")?;
    let params = Keys::of("params", params, &["alpha_us", "beta_us_per_kib", "knots_kib"])?;
    let range = keys.needed("range", "`from_bytes` and `to_bytes`")?;
    let range = Keys::of("range", range, &["from_bytes", "to_bytes"])?;
    let source = keys.word_or_none("source")?.unwrap_or(Source::Fitted);
    if source == Source::Measured {
        let place = keys.needed("source", "fitted or assumed")?.place;
        return Err(CalibrationError::at(
            place,
            "a fit is `fitted` or `assumed`; what was measured is a table",
        ));
    }
    Ok(Fit {
        of: FitOf {
            op: of.word("op")?,
            ranks: of.whole("ranks", 2..=MOST_RANKS)?,
            family: of.word("family")?,
            mode: of.word_or_none("mode")?,
            transport: of.word("transport")?,
        },
        form: keys.word("form")?,
        params: Params {
            alpha_us: params.number("alpha_us", SHORTEST_US..=LONGEST_US)?,
            beta_us_per_kib: numbers(params, "beta_us_per_kib", 0.0)?,
            knots_kib: numbers(params, "knots_kib", f64::MIN_POSITIVE)?,
        },
        range: FitRange {
            from_bytes: Bytes::new(range.number("from_bytes", 0.0..=MOST_BYTES)?),
            to_bytes: Bytes::new(range.number("to_bytes", 1.0..=MOST_BYTES)?),
        },
        cv_error: keys.number_or_none("cv_error", 0.0..=10.0)?,
        flagged: curves::flag(keys)?,
        source,
        note: keys.text_or_none("note")?,
    })
}

fn numbers(keys: Keys, key: &str, least: f64) -> Result<Vec<f64>, CalibrationError> {
    let nodes = keys.list(key, "a list of numbers")?;
    if nodes.len() > MOST_KNOTS {
        return Err(CalibrationError::at(keys.place, format!("`{key}` is longer than {MOST_KNOTS}")));
    }
    nodes.iter().map(|node| number_of(node, key, &(least..=LONGEST_US))).collect()
}

impl Fit {
    /// What is wrong with it, if anything.
    fn fault(&self) -> Option<String> {
        let Params { beta_us_per_kib: beta, knots_kib: knots, .. } = &self.params;
        let slopes = if self.form == Form::AlphaBeta { 1 } else { knots.len() + 1 };
        if self.form == Form::AlphaBeta && !knots.is_empty() {
            return Some("`alpha-beta` has no knots; use `piecewise`".to_owned());
        }
        if beta.len() != slopes {
            let are = if beta.len() == 1 { "slope is" } else { "slopes are" };
            return Some(format!("{} {are} given, {slopes} needed", beta.len()));
        }
        if !knots.is_sorted_by(|a, b| a < b) {
            return Some("the knots must rise".to_owned());
        }
        let FitRange { from_bytes, to_bytes } = self.range;
        if from_bytes >= to_bytes {
            return Some("the range is empty: `from_bytes` must be less than `to_bytes`".to_owned());
        }
        if let Some(error) = self.cv_error.filter(|error| *error > MOST_ERROR && !self.flagged) {
            return Some(format!(
                "`cv_error` is {error}: a fit that misses by more than half needs `flagged: true`, and the table answers"
            ));
        }
        if self.time(to_bytes).us() > LONGEST_US {
            return Some("it predicts more than a quarter of an hour for one call".to_owned());
        }
        None
    }

    /// Whether some size of some collective is covered by both.
    fn overlaps(&self, other: &Self) -> bool {
        let device = |mode: Option<Mode>| mode != Some(Mode::Eager);
        let modes = match (self.of.mode, other.of.mode) {
            (Some(a), Some(b)) => a == b,
            (a, b) => device(a) && device(b),
        };
        let same = FitOf { mode: self.of.mode, ..other.of } == self.of;
        modes
            && same
            && self.range.from_bytes < other.range.to_bytes
            && other.range.from_bytes < self.range.to_bytes
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
            flagged: false,
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
            (vec![], vec![]),
            (vec![64.0, 64.0], vec![0.1; 3]),
            (vec![1.0], vec![0.1, 1e9]),
        ] {
            assert!(piecewise(&knots, &beta).fault().is_some(), "{knots:?} {beta:?}");
        }
    }
}
