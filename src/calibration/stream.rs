//! Streaming reads of device memory: the bandwidth that a kernel can reach.
//!
//! Nothing is priced with them; a fit of them says which share of the datasheet's bandwidth this box reaches.

use super::block::{Column, for_each_row, optional, required};
use super::error::TableError;
use super::lazy::Decode;
use crate::units::{Bandwidth, Bytes, Seconds};

const COLUMNS: &[Column] =
    &[required("bytes"), required("median_us"), optional("p10_us"), optional("p90_us"), optional("samples")];

/// One streaming read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamRow {
    /// What was read.
    pub bytes: Bytes,
    /// Median time.
    pub time: Seconds,
}

impl StreamRow {
    /// bytes / time.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes / self.time
    }
}

/// Measured reads, sorted by size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StreamTable(Vec<StreamRow>);

impl Decode for StreamTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut rows: Vec<StreamRow> = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            let bytes = row.cell(0).parse().ok().filter(|bytes: &u64| (1..=1 << 50).contains(bytes));
            let bytes = bytes.ok_or_else(|| row.wrong(0, "a whole number of bytes from 1 to 2^50"))?;
            let entry = StreamRow { bytes: Bytes::new(bytes as f64), time: row.microseconds(1)? };
            if rows.iter().any(|earlier| earlier.bytes == entry.bytes) {
                return Err(TableError::Duplicate { line: row.line });
            }
            rows.push(entry);
            Ok(())
        })?;
        rows.sort_by(|a, b| a.bytes.get().total_cmp(&b.bytes.get()));
        Ok(Self(rows))
    }
}

impl StreamTable {
    /// All rows.
    pub(super) fn rows(&self) -> &[StreamRow] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_sorted_and_stand_once() {
        let text = "bytes,median_us\n8589934592,2000\n1000000,2\n";
        let table = StreamTable::decode(text).unwrap();
        assert!((table.rows()[0].bandwidth().gb_s() - 500.0).abs() < 1e-9);
        let twice = format!("{text}1000000,3\n");
        assert_eq!(StreamTable::decode(&twice), Err(TableError::Duplicate { line: 4 }));
        assert!(StreamTable::decode("bytes,median_us\n1.5,2\n").is_err());
    }
}
