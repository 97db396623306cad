//! Crossovers that no bisection finds, and public step curves.

use super::*;
use crate::analytic::{Verdict, crossings};

fn table(rows: &[(u32, f64)]) -> StepTable {
    StepTable::new(rows.iter().map(|(rows, t)| (*rows, Seconds::from_ms(*t))).collect()).expect("valid")
}

/// Steps with cliffs at 4 → 8 → 16 rows, k = 3, accept length 2.4, 2 ms of drafting.
#[test]
fn the_crossover_vector() {
    let steps =
        table(&[(1, 10.0), (2, 11.0), (4, 12.0), (8, 14.0), (16, 30.0), (32, 36.0), (64, 46.0), (128, 66.0)]);
    let speedup =
        |batch| steps.speedup(batch, 3, AcceptLength::new(2.4), Seconds::from_ms(2.0)).expect("in the table");
    let expected = [(1, 1.714), (2, 1.650), (4, 0.900), (8, 0.884), (16, 1.500), (32, 1.271)];
    for (batch, value) in expected {
        assert!((speedup(batch) - value).abs() < 5.1e-4, "{batch}: {}", speedup(batch));
    }
    let found = crossings(expected.iter().map(|(batch, _)| (*batch, speedup(*batch))));
    let found: Vec<(&str, Verdict)> = found.iter().map(|c| (c.at.as_str(), c.verdict)).collect();
    assert_eq!(found, [("4", Verdict::Loses), ("16", Verdict::Wins)]);
    assert!(
        steps.speedup(64, 3, AcceptLength::new(2.4), Seconds::ZERO).is_none(),
        "256 rows are not in the table"
    );
}

/// GLM-4.5-Air, ik_llama.cpp #1630: one row 5.88 ms, two rows 17.93: the cliff makes every short chain lose.
#[test]
fn a_public_curve_with_a_cliff() {
    let steps = table(&[(1, 5.88), (2, 17.93), (3, 20.58), (4, 22.89), (6, 27.05), (8, 30.07)]);
    for k in [1, 2, 3] {
        let most = AcceptLength::new(f64::from(k) + 1.0);
        let speedup = steps.speedup(1, k, most, Seconds::ZERO).expect("in the table");
        assert!((speedup > 1.0) == (k == 3), "even full acceptance loses at k = {k}: {speedup}");
    }
    assert!((steps.at(5).expect("between").ms() - 24.97).abs() < 1e-9);
    assert!(steps.at(9).is_none() && steps.at(0).is_none());
}

/// Kimi-K2.6, EAGLE-3 k = 3, vLLM, 8x RTX PRO 6000 (local-inference-lab/rtx6kpro `models/kimi-k26-v4.md`): cycle minus
/// the no-speculation step over 4B rows, ms.
#[test]
fn the_remainder_of_published_cycles() {
    let steps = table(&[
        (1, 10.82),
        (2, 13.22),
        (4, 16.70),
        (8, 22.80),
        (16, 25.15),
        (32, 33.41),
        (64, 42.74),
        (128, 57.59),
    ]);
    for (batch, cycle, remainder) in [
        (1, 20.34, 3.6),
        (2, 23.32, 0.5),
        (4, 24.92, -0.2),
        (8, 40.26, 6.9),
        (16, 43.75, 1.0),
        (32, 59.81, 2.2),
    ] {
        let bare = steps.cycle(batch, 3, Seconds::ZERO).expect("in the table");
        assert!((cycle - bare.ms() - remainder).abs() < 0.06, "{batch}");
    }
}

#[test]
fn tables_that_cannot_be_are_errors() {
    let t = Seconds::from_ms(1.0);
    assert_eq!(StepTable::new(vec![]), Err(StepTableError::Empty));
    assert_eq!(StepTable::new(vec![(2, t), (2, t)]), Err(StepTableError::Order { rows: 2 }));
    assert_eq!(StepTable::new(vec![(1, Seconds::ZERO)]), Err(StepTableError::Time { rows: 1 }));
}
