//! Grids under exact keys: what cannot be interpolated (server, format, head width) is the key.

use super::error::TableError;
use super::grid::{Grid, Scale};
use crate::units::Seconds;

/// Grids of one table, sorted by key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Keyed<K, const D: usize>(Vec<(K, Grid<D>)>);

/// A row of a table: key, position, time, and its line for messages.
pub(super) struct Entry<K, const D: usize> {
    pub(super) key: K,
    pub(super) at: [u32; D],
    pub(super) time: Seconds,
    pub(super) line: usize,
}

impl<K: Ord + Copy, const D: usize> Keyed<K, D> {
    /// From rows in any order.
    pub(super) fn new(scales: [Scale; D], mut entries: Vec<Entry<K, D>>) -> Result<Self, TableError> {
        let place = |e: &Entry<K, D>| (e.key, e.at);
        if !entries.is_sorted_by_key(place) {
            entries.sort_by_key(place);
        }
        if let Some(pair) = entries.windows(2).find(|pair| place(&pair[0]) == place(&pair[1])) {
            return Err(TableError::Duplicate { line: pair[0].line.max(pair[1].line) });
        }
        let mut grids = Vec::new();
        let mut knots = Vec::new();
        for group in entries.chunk_by(|a, b| a.key == b.key) {
            knots.clear();
            knots.extend(group.iter().map(|e| (e.at, e.time)));
            grids.push((group[0].key, Grid::from_sorted(scales, &knots)));
        }
        Ok(Self(grids))
    }

    /// All keys with their grids, sorted.
    pub(super) fn all(&self) -> &[(K, Grid<D>)] {
        &self.0
    }

    /// The grid of a key.
    pub(super) fn get(&self, key: &K) -> Option<&Grid<D>> {
        self.0.binary_search_by(|(k, _)| k.cmp(key)).ok().map(|at| &self.0[at].1)
    }

    /// The keys from `low` to `high`, both included, with their grids.
    pub(super) fn range(&self, low: &K, high: &K) -> &[(K, Grid<D>)] {
        let start = self.0.partition_point(|(k, _)| k < low);
        let end = self.0.partition_point(|(k, _)| k <= high);
        &self.0[start..end.max(start)]
    }
}
