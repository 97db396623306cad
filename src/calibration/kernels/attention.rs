//! Decode attention over a KV cache, grouped-query.
//!
//! Axes rows (of a request, which share its cache), batch (requests) and context, all linear, under the exact shape of
//! heads. Where no row of a shape has several rows a request, requests x rows stand for the batch. A shape that was
//! not measured is looked up
//! 1. by another number of KV heads with the same group (query heads per KV head): a kernel's work is cut by
//!    (request, KV head), so b requests with h query and v KV heads do the work of b·v/v' requests with h·v'/v
//!    and v';
//! 2. failing that, by interpolating over the query heads at the same KV heads, never across the border between
//!    one query head per KV head and more, where servers change kernels.

use crate::calibration::block::{Column, Row, for_each_row, optional, required};
use crate::calibration::error::TableError;
use crate::calibration::grid::{Grid, Point, Scale};
use crate::calibration::keyed::{Entry, Keyed};
use crate::calibration::lazy::Decode;
use crate::model::KvFormat;
use crate::runtime::RuntimeKind;

const COLUMNS: &[Column] = &[
    required("server"),
    required("kv"),
    required("head_dim"),
    required("heads"),
    required("kv_heads"),
    required("batch"),
    required("context"),
    required("median_us"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
    optional("rows"),
];

/// Queries over a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::calibration) struct Queries {
    /// Requests.
    pub(in crate::calibration) requests: u32,
    /// Rows of each, which share its cache.
    pub(in crate::calibration) rows: u32,
    /// Tokens in the cache of each.
    pub(in crate::calibration) context: u32,
}

impl Queries {
    /// Rows and batch to look up in a grid with these rows a request, and whether rows of one request were measured as
    /// such: where the grid knows one row alone, each row counts as a request.
    pub(in crate::calibration) fn along(self, axis: &[f64]) -> ([f64; 2], bool) {
        let measured = axis.len() > 1 || axis.first().is_some_and(|rows| *rows > 1.0);
        if measured || self.rows == 1 {
            ([f64::from(self.rows), f64::from(self.requests)], true)
        } else {
            ([1.0, f64::from(self.requests) * f64::from(self.rows)], false)
        }
    }
}

/// Rows of a request; one where the table does not say.
pub(in crate::calibration) fn rows_of(row: &Row, column: usize) -> Result<u32, TableError> {
    if row.cell(column).is_empty() { Ok(1) } else { row.count(column) }
}

/// What one grid is for; ordered so that shapes of one group stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    server: RuntimeKind,
    kv: KvFormat,
    head_dim: u32,
    /// Query heads per KV head where that is a whole number, else 0.
    group: u32,
    kv_heads: u32,
    heads: u32,
}

impl Shape {
    fn new(server: RuntimeKind, kv: KvFormat, [heads, kv_heads, head_dim]: [u32; 3]) -> Self {
        let group = if heads % kv_heads == 0 { heads / kv_heads } else { 0 };
        Self { server, kv, head_dim, group, kv_heads, heads }
    }
}

/// Measured attention kernels.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::calibration) struct AttentionTable(Keyed<Shape, 3>);

impl Decode for AttentionTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut entries = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            let shape = [row.count(3)?, row.count(4)?, row.count(2)?];
            entries.push(Entry {
                key: Shape::new(row.word(0)?, row.word(1)?, shape),
                at: [rows_of(row, 11)?, row.count(5)?, row.count(6)?],
                time: row.microseconds(7)?,
                line: row.line,
            });
            Ok(())
        })?;
        Keyed::new([Scale::Linear; 3], entries).map(Self)
    }
}

impl AttentionTable {
    /// None where neither rule of the module leads to a measured shape of this server; with the time whether rows of one
    /// request were measured as such.
    pub(in crate::calibration) fn at(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        [heads, kv_heads, head_dim]: [u32; 3],
        queries: Queries,
    ) -> Option<(Point, bool)> {
        if kv_heads == 0 {
            return None;
        }
        let shape = Shape::new(server, kv, [heads, kv_heads, head_dim]);
        if let Some(grid) = self.0.get(&shape) {
            return Some(look_up(grid, queries, 1.0));
        }
        self.same_group(shape, queries).or_else(|| self.between_heads(shape, queries))
    }

    fn same_group(&self, shape: Shape, queries: Queries) -> Option<(Point, bool)> {
        if shape.group == 0 {
            return None;
        }
        let low = Shape { kv_heads: 0, heads: 0, ..shape };
        let high = Shape { kv_heads: u32::MAX, heads: u32::MAX, ..shape };
        let distance = |kv_heads: u32| (f64::from(kv_heads) / f64::from(shape.kv_heads)).ln().abs();
        let (found, grid) = self
            .0
            .range(&low, &high)
            .iter()
            .min_by(|(a, _), (b, _)| distance(a.kv_heads).total_cmp(&distance(b.kv_heads)))?;
        Some(look_up(grid, queries, f64::from(shape.kv_heads) / f64::from(found.kv_heads)))
    }

    fn between_heads(&self, shape: Shape, queries: Queries) -> Option<(Point, bool)> {
        let first = Shape { group: 0, kv_heads: 0, heads: 0, ..shape };
        let last = Shape { group: u32::MAX, kv_heads: u32::MAX, heads: u32::MAX, ..shape };
        let mut below: Option<(u32, &Grid<3>)> = None;
        let mut above: Option<(u32, &Grid<3>)> = None;
        for (found, grid) in self.0.range(&first, &last) {
            if found.kv_heads != shape.kv_heads || found.group == 1 || shape.group == 1 {
                continue;
            }
            if found.heads < shape.heads && below.is_none_or(|(h, _)| found.heads > h) {
                below = Some((found.heads, grid));
            }
            if found.heads > shape.heads && above.is_none_or(|(h, _)| found.heads < h) {
                above = Some((found.heads, grid));
            }
        }
        let ((a, low), (b, high)) = below.zip(above)?;
        let ((low, as_such), (high, also)) = (look_up(low, queries, 1.0), look_up(high, queries, 1.0));
        let share = f64::from(shape.heads - a) / f64::from(b - a);
        let point = Point {
            time: low.time + share * (high.time - low.time),
            extrapolated: low.extrapolated || high.extrapolated,
        };
        Some((point, as_such && also))
    }
}

/// A grid at the queries, their requests counted `times`.
fn look_up(grid: &Grid<3>, queries: Queries, times: f64) -> (Point, bool) {
    let ([rows, batch], as_such) = queries.along(grid.first_axis());
    (grid.at([rows, batch * times, f64::from(queries.context)]), as_such)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "server,kv,head_dim,heads,kv_heads,batch,context,median_us\n\
        sglang,bf16,128,8,1,1,1024,8\n\
        sglang,bf16,128,8,1,8,1024,16\n\
        sglang,bf16,128,16,1,1,1024,10\n\
        sglang,bf16,128,16,1,8,1024,24\n\
        sglang,bf16,128,1,1,1,1024,4\n";

    fn time(batch: u32, shape: [u32; 3]) -> Option<f64> {
        let table = AttentionTable::decode(TEXT).unwrap();
        let queries = Queries { requests: batch, rows: 1, context: 1024 };
        let found = table.at(RuntimeKind::Sglang, KvFormat::Bf16, shape, queries);
        found.map(|(p, _)| (p.time * 1e9).round() / 1e3)
    }

    #[test]
    fn a_measured_shape_is_itself() {
        assert_eq!(time(8, [8, 1, 128]), Some(16.0));
    }

    #[test]
    fn other_kv_heads_of_the_same_group_are_more_requests() {
        assert_eq!(time(1, [64, 8, 128]), Some(16.0));
    }

    #[test]
    fn heads_between_measured_ones_are_interpolated() {
        assert_eq!(time(1, [12, 1, 128]), Some(9.0));
        // Between 1 and 8 heads lies the change of kernels.
        assert_eq!(time(1, [4, 1, 128]), None);
    }

    #[test]
    fn another_head_width_or_format_is_not_guessed() {
        assert_eq!(time(1, [8, 1, 256]), None);
        let table = AttentionTable::decode(TEXT).unwrap();
        let queries = Queries { requests: 1, rows: 1, context: 1024 };
        assert_eq!(table.at(RuntimeKind::Sglang, KvFormat::Fp8, [8, 1, 128], queries), None);
    }

    #[test]
    fn rows_of_a_request_are_requests_until_they_are_measured() {
        let of = |text: &str, requests, rows| {
            let queries = Queries { requests, rows, context: 1024 };
            let table = AttentionTable::decode(text).unwrap();
            let (point, as_such) =
                table.at(RuntimeKind::Sglang, KvFormat::Bf16, [8, 1, 128], queries).unwrap();
            ((point.time * 1e9).round() / 1e3, as_such)
        };
        assert_eq!(of(TEXT, 2, 4), (16.0, false));
        let measured = "server,kv,head_dim,heads,kv_heads,batch,rows,context,median_us\n\
            sglang,bf16,128,8,1,1,1,1024,8\nsglang,bf16,128,8,1,8,1,1024,16\n\
            sglang,bf16,128,8,1,1,4,1024,9\nsglang,bf16,128,8,1,8,4,1024,23\n";
        assert_eq!(of(measured, 1, 4), (9.0, true));
        assert_eq!(of(measured, 2, 4), (11.0, true));
        assert_eq!(of(measured, 8, 1), (16.0, true));
    }
}
