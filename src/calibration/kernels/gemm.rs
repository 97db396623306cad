//! Dense projections: `rows` x k by k x n, one GPU.
//!
//! Rows of the servers' tables form a grid with the axes n, k, rows, all linear: a shape between the measured widths is
//! interpolated over its four neighbours. Rows of `cuda` and `pytorch` stand at the shapes of a model, see [`super::shapes`].

use crate::calibration::block::{Column, for_each_row, optional, required};
use crate::calibration::error::TableError;
use crate::calibration::grid::{Grid, Point, Scale};
use crate::calibration::kernels::shapes::Shapes;
use crate::calibration::keyed::{Entry, Keyed};
use crate::calibration::lazy::Decode;
use crate::calibration::words::keys_of;
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

/// Server and storage.
type Key = (RuntimeKind, WeightFormat);

/// Measured projections.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::calibration) struct GemmTable {
    grids: Keyed<Key, 3>,
    shapes: Vec<(Key, Shapes)>,
}

impl Decode for GemmTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let (mut grids, mut lines) = (Vec::new(), Vec::new());
        for_each_row(text, COLUMNS, |row| {
            let key: Key = (row.word(0)?, row.word(1)?);
            let ([n, k, rows], time) = ([row.count(2)?, row.count(3)?, row.count(4)?], row.microseconds(5)?);
            if forms_a_grid(key.0) {
                grids.push(Entry { key, at: [n, k, rows], time, line: row.line });
            } else {
                lines.push(Entry { key: (key, [n, k]), at: [rows], time, line: row.line });
            }
            Ok(())
        })?;
        let lines = Keyed::new([Scale::Linear], lines)?;
        Ok(Self { grids: Keyed::new([Scale::Linear; 3], grids)?, shapes: by_key(&lines) })
    }
}

/// Whether a server's rows form a grid: those of the public tables do.
const fn forms_a_grid(server: RuntimeKind) -> bool {
    matches!(server, RuntimeKind::Sglang | RuntimeKind::Vllm)
}

fn by_key(lines: &Keyed<(Key, [u32; 2]), 1>) -> Vec<(Key, Shapes)> {
    let of = |group: &[((Key, [u32; 2]), Grid<1>)]| {
        let shapes = Shapes::new(group.iter().map(|((_, shape), grid)| (*shape, grid.clone())));
        shapes.map(|shapes| (group[0].0.0, shapes))
    };
    lines.all().chunk_by(|a, b| a.0.0 == b.0.0).filter_map(of).collect()
}

impl GemmTable {
    /// None where this server was not measured with weights stored like that.
    pub(in crate::calibration) fn at(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        [rows, n, k]: [u32; 3],
    ) -> Option<Point> {
        keys_of(weights).find_map(|(weights, factor)| {
            let key = (server, weights);
            let point = if forms_a_grid(server) {
                self.grids.get(&key)?.at([f64::from(n), f64::from(k), f64::from(rows)])
            } else {
                let (_, shapes) = self.shapes.iter().find(|(of, _)| *of == key)?;
                shapes.at([rows, n, k])
            };
            Some(point.scaled(factor))
        })
    }
}
