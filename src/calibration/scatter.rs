//! How far the samples behind the rows of a table lie apart: p10 and p90 over the median, the median over all rows.
//!
//! It serves as the range of what the table says, shared by all its rows: runs on one box differ by about as much as the
//! samples of one run. Medians of many samples are known better than that, so the range errs to the wide side.

use crate::sourced::SPREAD_DEVIATIONS;

use super::Calibration;

/// Relative range of a table's times: 5th and 95th percentile over the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// 5th percentile over the median, at most 1.
    pub low: f64,
    /// 95th percentile over the median, at least 1.
    pub high: f64,
}

/// Standard deviations from the middle to the 10th and 90th percentile of a normal distribution.
pub(super) const TENTH: f64 = 1.281_551_565_545;

/// Of a table's text; none where no row gives both percentiles.
pub(super) fn scatter(text: &str) -> Option<Scatter> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let header: Vec<&str> = lines.next()?.split(',').map(str::trim).collect();
    let place = |name: &str| header.iter().position(|column| *column == name);
    let (median, low, high) = (place("median_us")?, place("p10_us")?, place("p90_us")?);
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let number = |column: usize| cells.get(column).and_then(|cell| cell.parse::<f64>().ok());
        if let (Some(median), Some(low), Some(high)) = (number(median), number(low), number(high)) {
            lows.push((low / median).ln());
            highs.push((high / median).ln());
        }
    }
    let reach = SPREAD_DEVIATIONS / TENTH;
    let (low, high) = (middle(lows)?, middle(highs)?);
    (high > low).then(|| Scatter { low: (low * reach).exp(), high: (high * reach).exp() })
}

fn middle(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().filter(|number| number.is_finite())
}

impl Calibration {
    /// How far the samples of a table lie apart, by the name that the file gives it (`gemm`, `collectives`); none
    /// where its rows do not say, or where nothing was looked up in it.
    pub fn scatter(&self, table: &str) -> Option<Scatter> {
        let tables = &self.tables;
        match table {
            "collectives" => tables.collectives.as_ref()?.scatter(),
            "gemm" => tables.gemm.as_ref()?.scatter(),
            "attention" => tables.attention.as_ref()?.scatter(),
            "mla" => tables.mla.as_ref()?.scatter(),
            "moe" => tables.moe.as_ref()?.scatter(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_row_speaks_for_the_table() {
        let text = "bytes,median_us,p10_us,p90_us\n1,10,9,12\n2,20,20,20\n3,10,,\n4,100,95,110\n";
        let found = scatter(text).expect("three rows say");
        let reach = SPREAD_DEVIATIONS / TENTH;
        assert!((found.low - 0.95_f64.powf(reach)).abs() < 1e-12);
        assert!((found.high - 1.1_f64.powf(reach)).abs() < 1e-12);
        assert_eq!(scatter("bytes,median_us\n1,10\n"), None);
        assert_eq!(
            scatter("bytes,median_us,p10_us,p90_us\n1,10,10,10\n"),
            None,
            "no scatter is no statement"
        );
    }
}
