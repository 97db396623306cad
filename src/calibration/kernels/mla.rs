//! Absorbed multi-head latent attention in decode: the kernel alone, and the whole module with its projections.
//!
//! Axes heads (of one GPU), batch (requests, or requests x rows), context; all linear. The latent cache has
//! rank 512 and a rotary part of 64, as in DeepSeek-V3 and Kimi-K2.

use crate::calibration::block::{Column, for_each_row, optional, required};
use crate::calibration::error::TableError;
use crate::calibration::grid::{Point, Scale};
use crate::calibration::keyed::{Entry, Keyed};
use crate::calibration::lazy::Decode;
use crate::calibration::words::{Word, as_keyed, in_order_of_preference};
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
pub(in crate::calibration) struct MlaTable(Keyed<Key, 3>);

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
                at: [row.count(4)?, row.count(5)?, row.count(6)?],
                time: row.microseconds(7)?,
                line: row.line,
            });
            Ok(())
        })?;
        Keyed::new([Scale::Linear; 3], entries).map(Self)
    }
}

impl MlaTable {
    /// None where no server was measured with that cache and those projections.
    pub(in crate::calibration) fn at(
        &self,
        what: What,
        server: RuntimeKind,
        weights: Option<WeightFormat>,
        kv: KvFormat,
        [heads, batch, context]: [u32; 3],
    ) -> Option<Point> {
        let weights = weights.map(as_keyed);
        let key = |server| (what, server, weights, kv);
        let grid = in_order_of_preference(server).into_iter().find_map(|s| self.0.get(&key(s)))?;
        Some(grid.at([f64::from(heads), f64::from(batch), f64::from(context)]))
    }
}
