//! How well the curves of collectives predict a size that was not measured: each row in turn is left out and
//! predicted from the rest of its curve.

use super::Calibration;
use super::collectives::{CollectiveCurve, CollectiveKey, CollectiveRow, interpolate};
use super::words::Mode;
use crate::runtime::{CollectiveOp, RuntimeKind};
use crate::sourced::Source;
use crate::units::{Bytes, Seconds};

/// One row, left out and predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// Name of the calibration.
    pub calibration: String,
    /// Its curve.
    pub key: CollectiveKey,
    /// The server of the curve, where servers are told apart.
    pub server: Option<RuntimeKind>,
    /// The size left out.
    pub bytes: Bytes,
    /// As measured.
    pub measured: Seconds,
    /// From its neighbours.
    pub predicted: Seconds,
    /// predicted / measured - 1.
    pub error: f64,
    /// Whether the row is flagged, so that the curve passes it by anyway.
    pub spike: bool,
}

/// All rows left out, and what they say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The rows, worst first.
    pub rows: Vec<LeftOut>,
}

impl Report {
    /// Middle of the absolute relative errors; none without rows.
    pub fn median(&self) -> Option<f64> {
        let n = self.rows.len();
        let error = |at: usize| self.rows[at].error.abs();
        (n > 0).then(|| 0.5 * (error((n - 1) / 2) + error(n / 2)))
    }

    /// The absolute relative error that a share of the rows (0 to 1) does not exceed (nearest rank).
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let n = self.rows.len();
        let rank = ((share * n as f64).ceil() as usize).clamp(1, n.max(1));
        self.rows.get(n.checked_sub(rank)?).map(|row| row.error.abs())
    }

    /// The row predicted worst.
    pub fn worst(&self) -> Option<&LeftOut> {
        self.rows.first()
    }
}

/// Leaves out each measured row of an operation in the given modes with `from` ≤ size ≤ `to`, unless it is the first or last knot
/// of its curve. Flagged rows are left out and predicted like the others.
pub fn leave_one_out(
    calibrations: &[&Calibration],
    op: CollectiveOp,
    modes: &[Mode],
    from: Bytes,
    to: Bytes,
) -> Report {
    let mut rows = Vec::new();
    for calibration in calibrations {
        let chosen = |c: &&CollectiveCurve| c.key.op == op && modes.contains(&c.key.mode);
        for curve in calibration.collective_curves().iter().filter(chosen) {
            let inside = |row: &&CollectiveRow| from <= row.bytes && row.bytes <= to;
            for row in curve.rows().iter().filter(inside).filter(|r| r.source == Source::Measured) {
                let Some(predicted) = without(curve.knots(), row.bytes) else { continue };
                rows.push(LeftOut {
                    calibration: calibration.name.clone(),
                    key: curve.key,
                    server: curve.server,
                    bytes: row.bytes,
                    measured: row.time,
                    predicted,
                    error: predicted / row.time - 1.0,
                    spike: row.spike,
                });
            }
        }
    }
    rows.sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()));
    Report { rows }
}

/// The time at a size from all other knots; none where that would be extrapolation.
fn without(knots: &[CollectiveRow], bytes: Bytes) -> Option<Seconds> {
    let rest: Vec<_> = knots.iter().filter(|k| k.bytes != bytes).copied().collect();
    if rest.is_empty() {
        return None;
    }
    let (time, _, extrapolated) = interpolate(&rest, bytes);
    (!extrapolated).then_some(time)
}
