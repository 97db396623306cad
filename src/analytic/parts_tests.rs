//! The reference case and other arithmetic with known answers.

use super::*;
use crate::analytic::{ObservedTotals, step_from_throughput};
use crate::sourced::SPREAD_DEVIATIONS;

fn ms(t: f64) -> Sourced<Seconds> {
    Sourced::given(Seconds::from_ms(t))
}

fn length(l: f64) -> Sourced<AcceptLength> {
    Sourced::given(AcceptLength::new(l))
}

fn rate(x: f64) -> Sourced<TokensPerSecond> {
    Sourced::given(TokensPerSecond::new(x))
}

/// Kimi-K2.5, EAGLE-3, 8x RTX PRO 6000: 82 tok/s without; verify 30 ms, of which 122 all-reduces take 25 ms, accept
/// length 2.0 of at most 3, 60 tok/s with.
pub(in crate::analytic) fn reference() -> Parts {
    Parts::from_observed(ObservedTotals {
        batch: 1,
        accept_limit: 3.0,
        accept_length: length(2.0),
        baseline_step: step_from_throughput(1, rate(82.0)),
        verify: ms(30.0),
        allreduce: Some((122, ms(25.0))),
        throughput: Some(rate(60.0)),
        draft_host: None,
    })
    .expect("consistent")
}

#[test]
fn the_reference_case() {
    let parts = reference();
    assert!((parts.cycle().value.ms() - 33.333_333).abs() < 1e-6);
    assert!((parts.draft_host.value.ms() - 3.333_333).abs() < 1e-6);
    assert!((parts.speedup().value - 60.0 / 82.0).abs() < 1e-12);
    assert!((parts.speedup().value - 0.732).abs() < 5e-4);
    assert!((parts.baseline_step.value.ms() - 12.195).abs() < 1e-3);
    assert!((parts.throughput().value.get() - 60.0).abs() < 1e-9);
    assert!((parts.baseline_throughput().value.get() - 82.0).abs() < 1e-9);
    assert!((parts.allreduce.expect("known").each.value.us() - 204.918).abs() < 1e-3);
    assert_eq!(parts.verdict(), Verdict::Loses);
    assert_eq!(parts.speedup().source, Source::Derived);
    assert_eq!(parts.cycle().source, Source::Derived);
    assert_eq!(parts.draft_host.source, Source::Derived);
    assert_eq!(parts.verify.source, Source::Given);
    assert_eq!(parts.speedup().spread, None);
    assert_eq!(parts.win_probability(), None);
}

/// "Verify takes 15 ms": draft and host kept, 109 tok/s and 1.33x.
#[test]
fn verify_in_fifteen_ms() {
    let parts = Parts { verify: ms(15.0), ..reference() }.without_totals();
    assert!((parts.throughput().value.get() - 109.09).abs() < 0.01);
    assert!((parts.speedup().value - 1.33).abs() < 5e-3);
    assert_eq!(parts.verdict(), Verdict::Wins);
    // 133 tok/s would need drafting to be free; 2 ms of it gives 118.
    let with = |t: f64| Parts { draft_host: ms(t), ..parts }.throughput().value.get();
    assert!((with(0.0) - 133.3).abs() < 0.1);
    assert!((with(2.0) - 117.6).abs() < 0.1);
}

/// Against the 88.8 tok/s of tuned NCCL settings; and with verify at 29 ms.
#[test]
fn other_quoted_baselines() {
    let needed = |baseline: f64, verify: f64| {
        let step = step_from_throughput(1, rate(baseline));
        let needed = Parts { baseline_step: step, verify: ms(verify), ..reference() }.needed().accept_length;
        (needed.kept.get(), needed.draft_free.get())
    };
    let (kept, free) = needed(88.8, 30.0);
    assert!((kept - 2.96).abs() < 5e-3 && (free - 2.66).abs() < 5e-3);
    let (kept, free) = needed(82.0, 29.0);
    assert!((kept - 2.65).abs() < 5e-3 && (free - 2.38).abs() < 5e-3);
}

/// Kimi-K2.6, EAGLE-3 k = 3, vLLM, 8x RTX PRO 6000 (local-inference-lab/rtx6kpro `models/kimi-k26-v4.md`): R and speedup.
#[test]
fn published_ratios() {
    for (base, cycle, accept, ratio, speedup) in
        [(10.82, 20.34, 2.48, 1.88, 1.32), (16.70, 24.92, 2.10, 1.49, 1.41), (33.41, 59.81, 2.11, 1.79, 1.18)]
    {
        let parts = Parts {
            accept_length: length(accept),
            accept_limit: 4.0,
            baseline_step: ms(base),
            verify: ms(cycle),
            draft_host: ms(0.0),
            ..reference()
        };
        assert!((parts.ratio() - ratio).abs() < 5.1e-3);
        assert!((parts.speedup().value - speedup).abs() < 0.011);
    }
}

/// sglang #11948, four log lines of one server: accept length over throughput is one cycle, while tok/s moves by 14 %.
#[test]
fn published_logs_share_one_cycle() {
    let cycles: Vec<f64> = [(1.95, 178.86), (1.80, 165.41), (2.05, 188.68), (1.80, 165.59)]
        .iter()
        .map(|(l, r)| (AcceptLength::new(*l).tokens(1.0) / TokensPerSecond::new(*r)).ms())
        .collect();
    for cycle in cycles {
        assert!((cycle / 10.87 - 1.0).abs() < 0.004, "{cycle}");
    }
}

/// EAGLE and EAGLE-3 with the same chain share R, so the ratio of their speedups is that of their accept lengths at
/// every batch (arXiv 2503.01840, tables over batch; the published ratios scatter by their noise).
#[test]
fn speedups_that_share_a_ratio_differ_by_accept_length_only() {
    for verify in [12.0, 15.0, 24.0, 60.0] {
        let at =
            |l: f64| Parts { verify: ms(verify), accept_length: length(l), ..reference() }.speedup_value();
        assert!((at(2.6) / at(1.9) - 2.6 / 1.9).abs() < 1e-12);
    }
    let eagle = [1.40, 1.38, 1.23, 1.02, 0.93, 0.94, 0.88, 0.99, 0.99];
    let eagle3 = [1.81, 1.82, 1.62, 1.48, 1.39, 1.32, 1.38, 1.34, 1.38];
    let ratios = || eagle3.iter().zip(eagle).map(|(a, b)| a / b);
    let (low, high) = (ratios().fold(f64::MAX, f64::min), ratios().fold(0.0, f64::max));
    assert!((low - 1.29).abs() < 5e-3 && (high - 1.57).abs() < 5e-3);
}

/// Spec-Bench, A100, Vicuna-13B: accept length and speedup give the break-even accept length R.
#[test]
fn ratios_of_spec_bench() {
    for (accept, speedup, ratio) in [
        (5.71, 3.02, 1.89),
        (4.43, 2.46, 1.80),
        (3.64, 2.16, 1.69),
        (2.39, 1.80, 1.33),
        (2.19, 1.54, 1.42),
        (1.67, 1.56, 1.07),
    ] {
        let parts = Parts {
            accept_length: length(accept),
            baseline_step: ms(10.0),
            verify: ms(10.0 * accept / speedup),
            draft_host: ms(0.0),
            ..reference()
        };
        assert!((parts.speedup_value() - speedup).abs() < 1e-12);
        assert!((parts.needed().accept_length.kept.get() - ratio).abs() < 5.1e-3);
    }
}

#[test]
fn one_uncertain_input_gives_its_own_ends() {
    let spread =
        |low: f64, high: f64| length(2.0).with_spread(AcceptLength::new(low), AcceptLength::new(high));
    let parts = Parts { accept_length: spread(1.9, 2.2), ..reference() }.without_totals();
    let range = parts.speedup().spread.expect("a range");
    assert!((range.low - 0.95 * 60.0 / 82.0).abs() < 1e-12);
    assert!((range.high - 1.1 * 60.0 / 82.0).abs() < 1e-12);
    assert_eq!(parts.cycle().spread, None);
    let verify = ms(30.0).with_spread(Seconds::from_ms(27.0), Seconds::from_ms(36.0));
    let parts = Parts { verify, ..reference() }.without_totals();
    let range = parts.cycle().spread.expect("a range");
    assert!((range.low.ms() - 30.333_333).abs() < 1e-6 && (range.high.ms() - 39.333_333).abs() < 1e-6);
    let range = parts.throughput().spread.expect("a range");
    assert!((range.low.get() - 2000.0 / 39.333_333).abs() < 1e-5);
}

#[test]
fn ranges_can_make_a_tie() {
    let near = |l: f64| Parts { accept_length: length(l), ..reference() };
    assert_eq!(near(2.733_333 * 1.005).verdict(), Verdict::Ties, "within one per cent");
    assert_eq!(near(2.733_333 * 1.02).verdict(), Verdict::Wins);
    let wide =
        Sourced::given(AcceptLength::new(2.6)).with_spread(AcceptLength::new(2.4), AcceptLength::new(2.8));
    let parts = Parts { accept_length: wide, ..reference() }.without_totals();
    assert_eq!(parts.verdict(), Verdict::Ties, "the range contains 1");
}

#[test]
fn the_probability_of_winning_is_normal_in_the_logarithm() {
    // One deviation below 1: ln speedup = -σ, so 15.87 % remain.
    let sigma = 0.05;
    let value = 2.733_333_333_333_333 * f64::exp(-sigma);
    let end = |d: f64| AcceptLength::new(value * (d * SPREAD_DEVIATIONS * sigma).exp());
    let uncertain = Sourced::given(AcceptLength::new(value)).with_spread(end(-1.0), end(1.0));
    let parts = Parts { accept_length: uncertain, ..reference() }.without_totals();
    assert!((parts.win_probability().expect("a range") - 0.158_655).abs() < 1e-5);
}

/// Throughputs with and without were both observed: how uncertain the accept length or the verify time is then cannot
/// matter to the speedup.
#[test]
fn an_observed_speedup_does_not_inherit_the_ranges_of_its_split() {
    let uncertain = |throughput: Option<Sourced<TokensPerSecond>>| ObservedTotals {
        batch: 1,
        accept_limit: 3.0,
        accept_length: length(2.0).with_spread(AcceptLength::new(1.8), AcceptLength::new(2.2)),
        baseline_step: step_from_throughput(1, rate(82.0)),
        verify: ms(30.0).with_spread(Seconds::from_ms(29.0), Seconds::from_ms(31.0)),
        allreduce: None,
        throughput,
        draft_host: Some(ms(3.333_333)),
    };
    let observed = rate(60.0).with_spread(TokensPerSecond::new(58.0), TokensPerSecond::new(62.0));
    let parts = Parts::from_observed(uncertain(Some(observed))).expect("consistent");
    let range = parts.speedup().spread.expect("a range");
    assert!((range.low - 58.0 / 82.0).abs() < 1e-12 && (range.high - 62.0 / 82.0).abs() < 1e-12);
    // The remainder inherits all three.
    let rest = parts.draft_host.spread.expect("a range");
    let down = (2.0 / 60.0 - 1.8 / 60.0_f64).hypot(2.0 / 60.0 - 2.0 / 62.0).hypot(1e-3);
    assert!(((parts.draft_host.value - rest.low).get() - down).abs() < 1e-12 || rest.low == Seconds::ZERO);
    // Without the throughput the parts decide.
    let free = Parts::from_observed(uncertain(None)).expect("consistent").speedup().spread.expect("a range");
    assert!(free.low < 0.67 && free.high > 0.79);
}
