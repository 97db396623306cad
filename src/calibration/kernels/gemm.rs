//! Dense projections: `rows` x k by k x n, one GPU.
//!
//! Axes n, k, rows, all linear. A shape between the measured widths is interpolated over its four neighbours.

use crate::calibration::block::{Column, for_each_row, optional, required};
use crate::calibration::error::TableError;
use crate::calibration::grid::{Point, Scale};
use crate::calibration::keyed::{Entry, Keyed};
use crate::calibration::lazy::Decode;
use crate::calibration::words::{as_keyed, in_order_of_preference};
use crate::model::WeightFormat;
use crate::runtime::RuntimeKind;

const COLUMNS: &[Column] = &[
    required("server"),
    required("weights"),
    required("n"),
    required("k"),
    required("rows"),
    required("median_us"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
];

/// Measured projections.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::calibration) struct GemmTable(Keyed<(RuntimeKind, WeightFormat), 3>);

impl Decode for GemmTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut entries = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            entries.push(Entry {
                key: (row.word(0)?, row.word(1)?),
                at: [row.count(2)?, row.count(3)?, row.count(4)?],
                time: row.microseconds(5)?,
                line: row.line,
            });
            Ok(())
        })?;
        Keyed::new([Scale::Linear; 3], entries).map(Self)
    }
}

impl GemmTable {
    /// None where no server was measured with weights stored like that.
    pub(in crate::calibration) fn at(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        [rows, n, k]: [u32; 3],
    ) -> Option<Point> {
        let weights = as_keyed(weights);
        let grid = in_order_of_preference(server).into_iter().find_map(|s| self.0.get(&(s, weights)))?;
        Some(grid.at([f64::from(n), f64::from(k), f64::from(rows)]))
    }
}
