//! Pearson's chi-square test of counts against a law.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Cells with a smaller expected count are joined with their neighbours, as the approximation needs.
const LEAST_EXPECTED: f64 = 5.0;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquare {
    /// Σ (observed - expected)² / expected.
    pub statistic: f64,
    /// Cells after joining - 1 - fitted parameters.
    pub degrees: u32,
    /// Probability of a statistic at least as large if the law were true.
    pub p_value: f64,
}

/// Tests `counts` against the probabilities `law`, of whose parameters `fitted` were fitted to the counts. Joins
/// neighbouring cells from the left until each expects five counts. None where no degree of freedom is left:
/// too few cells, or too few counts. A count where the law allows none makes the p-value 0.
pub fn chi_square(counts: &[u64], law: &[f64], fitted: u32) -> Option<ChiSquare> {
    let total = counts.iter().sum::<u64>() as f64;
    if counts.len() != law.len() || total <= 0.0 {
        return None;
    }
    if counts.iter().zip(law).any(|(count, p)| *count > 0 && *p <= 0.0) {
        return Some(ChiSquare { statistic: f64::INFINITY, degrees: 1, p_value: 0.0 });
    }
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (count, p) in counts.iter().zip(law) {
        open = (open.0 + *count as f64, open.1 + total * p);
        if open.1 >= LEAST_EXPECTED {
            cells.push(open);
            open = (0.0, 0.0);
        }
    }
    match cells.last_mut() {
        Some(last) => *last = (last.0 + open.0, last.1 + open.1),
        None => return None,
    }
    let degrees = (cells.len() as u32).checked_sub(1 + fitted).filter(|d| *d > 0)?;
    let statistic: f64 = cells.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    let law = ChiSquared::new(f64::from(degrees)).ok()?;
    Some(ChiSquare { statistic, degrees, p_value: law.sf(statistic) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_case() {
        // 60 throws of a fair die: 5 8 9 8 10 20 gives 13.4 with 5 degrees, p about 0.02.
        let test = chi_square(&[5, 8, 9, 8, 10, 20], &[1.0 / 6.0; 6], 0).expect("enough counts");
        assert!((test.statistic - 13.4).abs() < 1e-12);
        assert_eq!(test.degrees, 5);
        assert!((test.p_value - 0.0199).abs() < 5e-4);
    }

    #[test]
    fn thin_cells_are_joined() {
        let test = chi_square(&[90, 6, 3, 1], &[0.9, 0.06, 0.03, 0.01], 0).expect("enough counts");
        assert_eq!(test.degrees, 1);
        assert!(test.statistic.abs() < 1e-12);
        assert!(chi_square(&[3, 1], &[0.5, 0.5], 0).is_none());
        assert!(chi_square(&[30, 10], &[0.5, 0.5], 1).is_none(), "no degree of freedom");
        assert!(chi_square(&[30, 10], &[1.0, 0.0], 0).expect("impossible").p_value.abs() < 1e-15);
    }
}
