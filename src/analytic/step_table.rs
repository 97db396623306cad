//! The cycle predicted from steps measured without speculation.
//!
//! cycle(B, k) ≈ T(B·(k+1)) + c, with T the step time over the rows of a batch and c the cost of drafting. T must be
//! a table, since public curves have cliffs that no smooth form shows.

use thiserror::Error;

use crate::units::{AcceptLength, Seconds};

/// Step time against rows, linear between the measured rows.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTable {
    rows: Vec<(u32, Seconds)>,
}

/// Why a table cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StepTableError {
    /// No row.
    #[error("a step table needs at least one row")]
    Empty,
    /// Rows out of order, or twice.
    #[error("row {rows} does not come after the one before it")]
    Order {
        /// The row.
        rows: u32,
    },
    /// A time that is none.
    #[error("the time at {rows} rows is not positive and finite")]
    Time {
        /// The row.
        rows: u32,
    },
}

impl StepTable {
    /// From (rows, time), by rising rows.
    pub fn new(rows: Vec<(u32, Seconds)>) -> Result<Self, StepTableError> {
        if rows.is_empty() {
            return Err(StepTableError::Empty);
        }
        if let Some((rows, _)) = rows.iter().find(|(_, time)| !time.is_finite() || *time <= Seconds::ZERO) {
            return Err(StepTableError::Time { rows: *rows });
        }
        if let Some(pair) = rows.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
            return Err(StepTableError::Order { rows: pair[1].0 });
        }
        Ok(Self { rows })
    }

    /// The step over `rows` rows; none outside the table.
    pub fn at(&self, rows: u32) -> Option<Seconds> {
        match self.rows.binary_search_by_key(&rows, |row| row.0) {
            Ok(i) => Some(self.rows[i].1),
            Err(i) => {
                let ((r0, t0), (r1, t1)) = (*self.rows.get(i.checked_sub(1)?)?, *self.rows.get(i)?);
                let share = f64::from(rows - r0) / f64::from(r1 - r0);
                Some(t0 + (t1 - t0) * share)
            }
        }
    }

    /// T(B·(k+1)) + draft; none outside the table.
    pub fn cycle(&self, batch: u32, drafted: u32, draft: Seconds) -> Option<Seconds> {
        Some(self.at(batch.checked_mul(drafted.checked_add(1)?)?)? + draft)
    }

    /// AL · T(B) / cycle(B, k); none outside the table.
    pub fn speedup(&self, batch: u32, drafted: u32, accept: AcceptLength, draft: Seconds) -> Option<f64> {
        Some(accept.get() * (self.at(batch)? / self.cycle(batch, drafted, draft)?))
    }
}

#[cfg(test)]
#[path = "step_table_tests.rs"]
mod tests;
