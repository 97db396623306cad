//! Where the verdict changes along a scan.

use crate::sourced::Sourced;

use super::prediction::{Crossing, Verdict};

/// The points of a scan at which the verdict differs from that of the point before: speculation meets every cliff of
/// the step time k + 1 times earlier than the baseline does, so that the speedup over the batch crosses 1 more than once and
/// a bisection would find some crossing or other. Points whose speedup is not finite are passed over.
pub fn crossings(scan: impl Iterator<Item = (u32, f64)>) -> Vec<Crossing> {
    let mut before: Option<Verdict> = None;
    let mut found = Vec::new();
    for (at, speedup) in scan.filter(|(_, speedup)| speedup.is_finite()) {
        let verdict = Verdict::of(Sourced::given(speedup));
        if before.is_some_and(|b| b != verdict) {
            found.push(Crossing { at: at.to_string(), verdict, speedup });
        }
        before = Some(verdict);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_reported() {
        let scan = [(1, 1.3), (2, 1.2), (4, 1.002), (8, 0.998), (16, 0.8), (32, f64::NAN), (64, 1.1)];
        let found: Vec<(String, Verdict)> =
            crossings(scan.into_iter()).into_iter().map(|c| (c.at, c.verdict)).collect();
        let expected = [("4", Verdict::Ties), ("16", Verdict::Loses), ("64", Verdict::Wins)];
        assert_eq!(found, expected.map(|(at, verdict)| (at.to_owned(), verdict)));
        assert!(crossings(std::iter::once((1, 0.5))).is_empty());
        assert!(crossings(std::iter::empty()).is_empty());
    }
}
