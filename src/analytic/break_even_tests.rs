//! Break-evens of the reference case, and every way in which a lever cannot do it.

use super::*;
use crate::analytic::parts::tests::reference;

fn ms(t: f64) -> Sourced<Seconds> {
    Sourced::given(Seconds::from_ms(t))
}

fn accept(l: f64) -> Sourced<AcceptLength> {
    Sourced::given(AcceptLength::new(l))
}

fn reached<T: Copy>(lever: &Lever<T>) -> (Option<T>, Option<T>) {
    match &lever.needed {
        BreakEven::Reached { value, draft_free } => (*value, *draft_free),
        BreakEven::Unreachable { because } => panic!("unreachable: {because}"),
    }
}

fn because<T>(lever: &Lever<T>) -> &str {
    match &lever.needed {
        BreakEven::Unreachable { because } => because,
        BreakEven::Reached { .. } => panic!("reached"),
    }
}

fn near(value: Option<f64>, expected: f64, tolerance: f64) -> bool {
    (value.expect("a value") - expected).abs() < tolerance
}

#[test]
fn the_reference_table() {
    let table = reference().break_evens();
    let (value, free) = reached(&table.accept_length);
    assert!(near(value.map(AcceptLength::get), 2.733, 5e-4) && near(free.map(AcceptLength::get), 2.46, 5e-4));
    assert!(near(table.accept_length.change, 0.733, 5e-4));
    assert!(table.accept_length.at_least && table.accept_length.note.is_none());

    let (value, free) = reached(&table.verify);
    assert!(near(value.map(Seconds::ms), 21.06, 5e-3) && near(free.map(Seconds::ms), 24.39, 5e-3));
    assert!(near(table.verify.change, -0.298, 5e-4));

    let allreduce = table.allreduce.expect("their number is known");
    let (value, free) = reached(&allreduce);
    assert!(near(value.map(Seconds::us), 131.6, 0.05) && near(free.map(Seconds::us), 158.9, 0.05));
    assert!(near(allreduce.change, -0.358, 5e-4));
    assert!(!allreduce.at_least);

    assert_eq!(because(&table.draft_host), "verify alone > 24.4 ms");
    assert_eq!(table.draft_host.change, None);
    assert!(table.batch.is_empty() && table.execution.is_empty());
}

#[test]
fn an_accept_length_beyond_the_rows_is_named_and_refused() {
    let parts = Parts { verify: ms(43.0), ..reference() };
    let table = parts.break_evens();
    assert_eq!(
        because(&table.accept_length),
        "needs 3.80 (3.53 if drafting were free), one cycle yields at most 3.00"
    );
    assert!((parts.needed().accept_length.kept.get() - 3.799).abs() < 1e-3, "the number stays available");
    // Only drafting pushes it over the limit.
    let table = Parts { verify: ms(35.0), ..reference() }.break_evens();
    let (value, free) = reached(&table.accept_length);
    assert!(value.is_none() && near(free.map(AcceptLength::get), 2.87, 1e-3));
    assert_eq!(table.accept_length.note.as_deref(), Some("needs 3.14, one cycle yields at most 3.00"));
    assert_eq!(table.accept_length.change, None);
}

#[test]
fn an_accept_length_at_the_limit_is_still_possible() {
    let parts = Parts { verify: ms(33.3), draft_host: ms(3.3), baseline_step: ms(12.2), ..reference() };
    let (value, _) = reached(&parts.break_evens().accept_length);
    assert!(near(value.map(AcceptLength::get), 3.0, 1e-12));
}

#[test]
fn times_that_the_rest_of_the_cycle_uses_up() {
    let slow_draft = Parts { draft_host: ms(26.0), ..reference() }.break_evens();
    let (value, free) = reached(&slow_draft.verify);
    assert!(value.is_none() && near(free.map(Seconds::ms), 24.39, 5e-3));
    let note = slow_draft.verify.note.as_deref().expect("a reason");
    assert_eq!(note, "draft and host alone take 26.0 ms; a cycle of 2.00 tokens may take 24.4 ms");
    let allreduce = Parts { verify: ms(60.0), ..reference() }.break_evens().allreduce.expect("known");
    let text = because(&allreduce);
    assert_eq!(text, "all but the all-reduces takes 38.3 ms; a cycle of 2.00 tokens may take 24.4 ms");
}

#[test]
fn values_out_of_the_ordinary_are_noted() {
    let short = Parts { accept_length: accept(1.2), ..reference() }.break_evens();
    assert!(short.verify.note.expect("11.3 ms").contains("shorter than one baseline step of 12.2 ms"));
    let broken = Parts { baseline_step: ms(50.0), ..reference() }.break_evens();
    let (value, _) = reached(&broken.accept_length);
    assert!(near(value.map(AcceptLength::get), 0.667, 1e-3));
    assert!(broken.accept_length.note.expect("a reason").starts_with("below 1"));
}

#[test]
fn a_winning_case_has_an_allowance_for_drafting() {
    let table = Parts { verify: ms(15.0), ..reference() }.break_evens();
    let (value, free) = reached(&table.draft_host);
    assert!(near(value.map(Seconds::ms), 9.39, 5e-3));
    assert!(free.is_none());
    let none = Parts { draft_host: ms(0.0), verify: ms(15.0), ..reference() }.break_evens();
    assert_eq!(none.draft_host.change, None, "no relative change from zero");
}
