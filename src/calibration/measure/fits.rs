//! Fits of a run, each with the error on rows that were left out. A fit worse than 10 % is flagged and not used.

mod collectives;
mod jitter;
mod kernels;
mod least_squares;

use super::journal::Record;
use crate::calibration::{Fit, JitterFit, KernelFit};

/// The largest median error of rows that were left out with which a fit is used.
pub const WORST: f64 = 0.10;

/// Everything that was fitted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fitted {
    /// Collectives.
    pub collectives: Vec<Fit>,
    /// Kernels.
    pub kernels: Vec<KernelFit>,
    /// Launch costs.
    pub jitter: Vec<JitterFit>,
}

/// Fits all that can be fitted.
pub fn fit_all(records: &[Record]) -> Fitted {
    Fitted {
        collectives: collectives::fit(records),
        kernels: kernels::fit(records),
        jitter: jitter::fit(records),
    }
}

/// What a reader of the file must know about the fits.
pub fn notes(fitted: &Fitted) -> Vec<String> {
    let flagged = fitted.collectives.iter().filter(|f| f.flagged).count()
        + fitted.kernels.iter().filter(|f| f.flagged).count()
        + fitted.jitter.iter().filter(|f| f.flagged).count();
    match flagged {
        0 => Vec::new(),
        1 => vec![
            "One fit misses rows that it did not see by more than 10 %: it is flagged, the table answers."
                .to_owned(),
        ],
        n => vec![format!(
            "{n} fits miss rows that they did not see by more than 10 %: they are flagged, the tables answer."
        )],
    }
}

/// The error of a fit as the file states it, and whether it is flagged.
fn judged(errors: &[f64]) -> (Option<f64>, bool) {
    let error = super::statistics::median(errors).map(|e| (e.min(10.0) * 1e4).round() / 1e4);
    (error, error.is_some_and(|e| e > WORST))
}
