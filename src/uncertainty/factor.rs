//! One uncertain input.

use crate::sourced::Source;

/// An input with its range, for display; the function that is studied knows how to move it.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// What it is, in the words of the report: `host issue of a kernel`.
    pub name: String,
    /// Unit of the three numbers; empty for a plain number, `x` for a factor on times.
    pub unit: &'static str,
    /// 5th percentile \[unit\].
    pub low: f64,
    /// The value that plain answers use, the median \[unit\].
    pub value: f64,
    /// 95th percentile \[unit\].
    pub high: f64,
    /// Where the range came from.
    pub source: Source,
}
