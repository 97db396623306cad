//! Absorbed multi-head latent attention in decode: the kernel alone, and the whole module with its projections.
//!
//! Axes rows (of a request, which share its cache), heads (of one GPU), batch (requests), context; all linear. Where no
//! row of a key has several rows a request, requests x rows stand for the batch. The latent cache has rank 512 and a
//! rotary part of 64, as in DeepSeek-V3 and Kimi-K2.

use crate::calibration::block::{Column, for_each_row, optional, required};
use crate::calibration::error::TableError;
use crate::calibration::grid::{Point, Scale};
use crate::calibration::kernels::attention::{Queries, rows_of};
use crate::calibration::keyed::{Entry, Keyed};
use crate::calibration::lazy::Decode;
use crate::calibration::words::{Word, keys_of};
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::RuntimeKind;

const COLUMNS: &[Column] = &[
    required("what"),
    required("server"),
    required("weights"),
    required("kv"),
    required("heads"),
    required("batch"),
    required("context"),
    required("median_us"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
    optional("rows"),
];

/// What was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::calibration) enum What {
    /// The attention kernel.
    Kernel,
    /// Projections, absorption and kernel.
    Module,
}

impl Word for What {
    const EXPECTED: &'static str = "kernel or module";
    const WORDS: &'static [(&'static str, Self)] = &[("kernel", Self::Kernel), ("module", Self::Module)];
}

/// The weights are those of the projections: none for a kernel.
type Key = (What, RuntimeKind, Option<WeightFormat>, KvFormat);

/// Measured latent attention.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::calibration) struct MlaTable(Keyed<Key, 4>);

impl Decode for MlaTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut entries = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            let (what, weights) = (row.word(0)?, row.word_or_none(2)?);
            if (what == What::Module) != weights.is_some() {
                return Err(
                    row.wrong(2, "the storage of the projections for a module, and nothing for a kernel")
                );
            }
            entries.push(Entry {
                key: (what, row.word(1)?, weights, row.word(3)?),
                at: [rows_of(row, 11)?, row.count(4)?, row.count(5)?, row.count(6)?],
                time: row.microseconds(7)?,
                line: row.line,
            });
            Ok(())
        })?;
        Keyed::new([Scale::Linear; 4], entries).map(Self)
    }
}

impl MlaTable {
    /// None where this server was not measured with that cache and those projections; with the time whether rows of one
    /// request were measured as such.
    pub(in crate::calibration) fn at(
        &self,
        what: What,
        server: RuntimeKind,
        weights: Option<WeightFormat>,
        kv: KvFormat,
        heads: u32,
        queries: Queries,
    ) -> Option<(Point, bool)> {
        let of = |weights| self.0.get(&(what, server, weights, kv));
        let grid = match weights {
            None => of(None),
            Some(weights) => keys_of(weights).find_map(|(weights, _)| of(Some(weights))),
        }?;
        let ([rows, batch], as_such) = queries.along(grid.first_axis());
        Some((grid.at([rows, f64::from(heads), batch, f64::from(queries.context)]), as_such))
    }
}
