//! Routed experts of one layer on one GPU, tokens spread evenly.
//!
//! Axes shards (log-log: an expert's bytes are proportional to 1/shards) and tokens (linear), under the exact
//! shape of the layer. Rows were measured with a balanced router: t tokens touch min(t·K, E) distinct experts,
//! more than a real router does (see [`super::super::MoeLookup::distinct_assumed`]).

use crate::calibration::block::{Column, for_each_row, optional, required};
use crate::calibration::error::TableError;
use crate::calibration::grid::{Point, Scale};
use crate::calibration::keyed::{Entry, Keyed};
use crate::calibration::lazy::Decode;
use crate::calibration::words::keys_of;
use crate::model::WeightFormat;
use crate::runtime::RuntimeKind;

const COLUMNS: &[Column] = &[
    required("server"),
    required("weights"),
    required("hidden"),
    required("width"),
    required("per_token"),
    required("experts"),
    required("shards"),
    required("tokens"),
    required("median_us"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
];

/// Hidden size, whole width of an expert, experts per token, experts.
type Shape = [u32; 4];

/// Measured expert layers.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::calibration) struct MoeTable(Keyed<(RuntimeKind, WeightFormat, Shape), 2>);

impl Decode for MoeTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut entries = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            let shape = [row.count(2)?, row.count(3)?, row.count(4)?, row.count(5)?];
            entries.push(Entry {
                key: (row.word(0)?, row.word(1)?, shape),
                at: [row.count(6)?, row.count(7)?],
                time: row.microseconds(8)?,
                line: row.line,
            });
            Ok(())
        })?;
        Keyed::new([Scale::Log, Scale::Linear], entries).map(Self)
    }
}

impl MoeTable {
    /// None where no layer of that shape and storage was measured with this server.
    pub(in crate::calibration) fn at(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        shape: Shape,
        [shards, tokens]: [u32; 2],
    ) -> Option<Point> {
        keys_of(weights).find_map(|(weights, factor)| {
            let grid = self.0.get(&(server, weights, shape))?;
            Some(grid.at([f64::from(shards), f64::from(tokens)]).scaled(factor))
        })
    }
}
