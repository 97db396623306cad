//! Splits and their contradictions.

use super::*;

fn totals() -> ObservedTotals {
    ObservedTotals {
        batch: 1,
        accept_limit: 3.0,
        accept_length: Sourced::given(AcceptLength::new(2.0)),
        baseline_step: Sourced::given(Seconds::from_ms(12.2)),
        verify: Sourced::given(Seconds::from_ms(30.0)),
        allreduce: None,
        throughput: None,
        draft_host: None,
    }
}

fn rate(x: f64) -> Sourced<TokensPerSecond> {
    Sourced::given(TokensPerSecond::new(x))
}

#[test]
fn contradictions_are_errors_with_the_numbers() {
    let error = Parts::from_observed(ObservedTotals { throughput: Some(rate(80.0)), ..totals() })
        .expect_err("25 < 30 ms");
    assert!(matches!(error, SplitError::CycleShorterThanVerify { .. }));
    let text = error.to_string();
    assert!(text.contains("25.0 ms") && text.contains("30.0 ms"), "{text}");
    let total = Sourced::given(Seconds::from_ms(31.0));
    let error = Parts::from_observed(ObservedTotals { allreduce: Some((122, total)), ..totals() });
    assert!(matches!(error, Err(SplitError::AllreduceLongerThanVerify { .. })));
    for (broken, what) in [
        (ObservedTotals { verify: Sourced::given(Seconds::ZERO), ..totals() }, "the verify time"),
        (ObservedTotals { throughput: Some(rate(f64::NAN)), ..totals() }, "the throughput"),
        (ObservedTotals { batch: 0, ..totals() }, "the batch"),
    ] {
        assert_eq!(Parts::from_observed(broken), Err(SplitError::NotPositive { what }));
    }
}

#[test]
fn unknown_drafting_is_assumed_free() {
    let parts = Parts::from_observed(totals()).expect("consistent");
    assert_eq!(parts.draft_host, Sourced::new(Seconds::ZERO, Source::Assumed));
    assert_eq!(parts.speedup().source, Source::Assumed);
    let exact = Parts::from_observed(ObservedTotals { throughput: Some(rate(2.0 / 0.030)), ..totals() });
    assert!(exact.expect("a cycle of nothing but verify").draft_host.value.get().abs() < 1e-15);
}

#[test]
fn a_step_from_a_throughput() {
    let observed = Sourced::given(TokensPerSecond::new(350.9))
        .with_spread(TokensPerSecond::new(340.0), TokensPerSecond::new(360.0));
    let step = step_from_throughput(8, observed);
    assert!((step.value.ms() - 22.80).abs() < 5e-3);
    let spread = step.spread.expect("a range");
    assert!((spread.low.ms() - 8e3 / 360.0).abs() < 1e-9 && (spread.high.ms() - 8e3 / 340.0).abs() < 1e-9);
    assert_eq!(step.source, Source::Derived);
}

/// The quoted earlier day: 94 tok/s at accept length 2.0 is a cycle of 21.3 ms, which is 18 ms of verify.
#[test]
fn the_tuned_day() {
    let verify = Sourced::given(Seconds::from_ms(18.0));
    let parts = Parts::from_observed(ObservedTotals { verify, throughput: Some(rate(94.0)), ..totals() })
        .expect("consistent");
    assert!((parts.cycle().value.ms() - 21.28).abs() < 5e-3);
    assert!((parts.draft_host.value.ms() - 3.28).abs() < 5e-3);
}
