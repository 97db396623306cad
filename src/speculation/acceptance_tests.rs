//! Exact vectors and laws of acceptance.

use super::*;
use proptest::prelude::*;

fn chain(drafted: u32) -> DraftShape {
    DraftShape::chain(drafted)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * (1.0 + b.abs())
}

/// Variances of truncated geometric acceptance, by exact arithmetic: a = 0.8, g = 4 and a = 0.5, g = 2.
#[test]
fn variance_vectors() {
    let law = Acceptance::geometric(0.8).expect("valid");
    assert!(close(law.mean(chain(4)).get(), 3.3616));
    assert!((law.variance(chain(4)) - 2.570_045_44).abs() < 1e-12);
    let law = Acceptance::geometric(0.5).expect("valid");
    assert!(close(law.mean(chain(2)).get(), 1.75));
    assert!((law.variance(chain(2)) - 0.6875).abs() < 1e-12);
}

/// arXiv 2211.17192: at a = 0 only the bonus token, at a = 1 all g + 1.
#[test]
fn the_ends_of_the_rate() {
    for g in [0, 1, 3, 20] {
        let at = |rate| Acceptance::geometric(rate).expect("valid").mean(chain(g)).get();
        assert!(close(at(0.0), 1.0));
        assert!(close(at(1.0), f64::from(g) + 1.0));
    }
}

/// Lines of vLLM's log (`v1/spec_decode/metrics.py`): "Mean acceptance length: 2.16 ... Per-position acceptance rate:
/// 0.543, 0.357, 0.264" and "2.56 ... 0.835, 0.512, 0.215".
#[test]
fn vllm_log_lines() {
    for (rates, printed) in [([0.543, 0.357, 0.264], 2.16), ([0.835, 0.512, 0.215], 2.56)] {
        let law = Acceptance::cumulative(&rates).expect("valid");
        assert!(close(law.mean(chain(3)).get(), 1.0 + rates.iter().sum::<f64>()));
        assert!((law.mean(chain(3)).get() - printed).abs() < 0.005 + 0.0005 * 3.0);
    }
    // The same mean from the mean rate: accepted 464 of 891 drafted, three a draft.
    let law = Acceptance::mean_rate(Sourced::given(464.0 / 891.0), chain(3)).expect("valid");
    assert!((law.mean(chain(3)).get() - 2.562).abs() < 5e-4);
}

/// Chat on 8x RTX PRO 6000 (local-inference-lab/rtx6kpro): cumulative .65 .40 .24, accept length 2.2 to 2.3.
#[test]
fn a_published_chat_workload() {
    let law = Acceptance::cumulative(&[0.65, 0.40, 0.24]).expect("valid");
    assert!((2.2..=2.3).contains(&law.mean(chain(3)).get()));
}

/// Kimi-K2.5 EAGLE-3 model cards, 3-1-4: accept lengths from 2.69 (MT-Bench) to 3.34 (MATH500) mean 2.29 to 2.66 with
/// two drafted tokens, by the geometric law.
#[test]
fn a_shorter_chain_from_a_mean() {
    for (three, two) in [(2.69, 2.29), (3.34, 2.66)] {
        let stated = Sourced::given(AcceptLength::new(three));
        let law = Acceptance::mean_only(stated, chain(3)).expect("valid");
        assert!((law.mean(chain(2)).get() - two).abs() < 0.005, "{}", law.mean(chain(2)));
    }
}

#[test]
fn deeper_shapes_say_what_was_supposed() {
    let law = Acceptance::conditional(&[0.8, 0.7, 0.6]).expect("valid");
    assert_eq!(law.note(chain(3)), None);
    assert_eq!(law.accept_length(chain(3)).source, Source::Derived);
    let note = law.note(chain(5)).expect("two positions are unknown");
    assert_eq!(note, ShapeNote::Extended { known: 3, drafted: 5, rate: 0.6 });
    assert!(note.to_string().contains("0.600"), "{note}");
    assert_eq!(law.accept_length(chain(5)).source, Source::Assumed);
    let tail = 0.8 * 0.7 * 0.6;
    let expected = 1.0 + 0.8 + 0.8 * 0.7 + tail + tail * 0.6 + tail * 0.36;
    assert!(close(law.mean(chain(5)).get(), expected));
    assert!(close(law.mean(chain(1)).get(), 1.8), "shorter chains need no supposition");

    let mean = Acceptance::mean_only(Sourced::given(AcceptLength::new(2.0)), chain(2)).expect("valid");
    assert_eq!(mean.accept_length(chain(2)), Sourced::given(AcceptLength::new(2.0)));
    assert_eq!(mean.accept_length(chain(3)).source, Source::Assumed);
    assert!(matches!(mean.note(chain(3)), Some(ShapeNote::GeometricAssumed { stated: 2, drafted: 3, .. })));
    let script = Acceptance::floor_ceil(AcceptLength::new(2.5)).expect("valid");
    assert_eq!(script.note(chain(3)), Some(ShapeNote::NothingBeyond { known: 2, drafted: 3 }));
    assert_eq!(script.accept_length(chain(3)).source, Source::Given);
}

#[test]
fn ranges_carry_over() {
    let stated =
        Sourced::given(AcceptLength::new(2.0)).with_spread(AcceptLength::new(1.9), AcceptLength::new(3.5));
    let law = Acceptance::mean_only(stated, chain(2)).expect("valid");
    let own = law.accept_length(chain(2)).spread.expect("a range");
    assert!(close(own.low.get(), 1.9) && close(own.high.get(), 3.0), "cut at what a cycle can yield");
    let deeper = law.accept_length(chain(4)).spread.expect("a range");
    assert!(close(deeper.high.get(), 5.0));
    let rate = Sourced::given(0.5).with_spread(0.4, 0.6);
    let law = Acceptance::geometric_sourced(rate).expect("valid");
    let spread = law.accept_length(chain(2)).spread.expect("a range");
    assert!(close(spread.low.get(), 1.56) && close(spread.high.get(), 1.96));
}

/// Over requests with the same number of output tokens, a mixture's mean over cycles is the harmonic mean.
#[test]
fn requests_and_cycles_weigh_differently() {
    let law = |rate| Acceptance::geometric(rate).expect("valid");
    let parts = vec![(0.5, law(0.9)), (0.5, law(0.1))];
    let (fast, slow) = (law(0.9).mean(chain(4)).get(), law(0.1).mean(chain(4)).get());
    let by_requests = Acceptance::Mixture(Mixture::of_requests(parts.clone(), chain(4)).expect("valid"));
    assert!(close(by_requests.mean(chain(4)).get(), 2.0 / (1.0 / fast + 1.0 / slow)));
    let by_cycles = Acceptance::mixture(parts).expect("valid");
    assert!(close(by_cycles.mean(chain(4)).get(), 0.5 * (fast + slow)));
    let nested = Acceptance::mixture(vec![(1.0, by_cycles)]);
    assert_eq!(nested, Err(AcceptanceError::Nested { position: 1 }));
}

fn laws() -> impl Strategy<Value = Acceptance> {
    let rate = 0.0..=1.0_f64;
    let plain = prop_oneof![
        rate.clone().prop_map(|a| Acceptance::geometric(a).expect("valid")),
        prop::collection::vec(0.0..=1.0_f64, 1..6).prop_map(|v| Acceptance::conditional(&v).expect("valid")),
        prop::collection::vec(0.01..=1.0_f64, 1..6).prop_map(|v| Acceptance::histogram(&v).expect("valid")),
        (0.0..=1.0_f64).prop_map(|share| {
            let mean = Sourced::given(AcceptLength::new(1.0 + 3.0 * share));
            Acceptance::mean_only(mean, chain(3)).expect("valid")
        }),
        (1.0..6.0_f64).prop_map(|m| Acceptance::floor_ceil(AcceptLength::new(m)).expect("valid")),
        (0.3..0.9_f64, 0.0..=1.0_f64).prop_map(|(a, share)| {
            let ranks = [a, (1.0 - a) * share * 0.5];
            let ranks = if ranks[1] > a { [a, a.min(1.0 - a)] } else { ranks };
            let shape = DraftShape { steps: 3, topk: 2, draft_tokens: 6 };
            Acceptance::tree(&ranks, shape).expect("valid")
        }),
    ]
    .boxed();
    prop_oneof![
        4 => plain.clone(),
        1 => (0.1..20.0_f64, 0.1..20.0_f64).prop_map(|(a, b)| Acceptance::beta(a, b).expect("valid")),
        1 => prop::collection::vec((0.1..1.0_f64, plain.clone()), 1..4)
            .prop_map(|parts| Acceptance::mixture(parts).expect("valid")),
        1 => (plain.clone(), plain, 0.05..0.95_f64, 0.0..0.9_f64).prop_map(|(a, b, share, persistence)| {
            Acceptance::Markov(Markov::two_states(a, b, share, persistence).expect("valid"))
        }),
    ]
}

fn shapes() -> impl Strategy<Value = DraftShape> {
    prop_oneof![
        (0_u32..8).prop_map(chain),
        (1_u32..5, 2_u32..4, 2_u32..9).prop_map(|(steps, topk, draft_tokens)| DraftShape {
            steps,
            topk,
            draft_tokens
        }),
    ]
}

proptest! {
    #[test]
    fn moments_and_pmf_agree(law in laws(), shape in shapes()) {
        let pmf = law.pmf(shape);
        prop_assert_eq!(pmf.len(), shape.depth() as usize + 1);
        prop_assert!(pmf.iter().all(|p| *p >= 0.0));
        prop_assert!(close(pmf.iter().sum(), 1.0));
        let moment = |power: i32| -> f64 {
            pmf.iter().zip(1_u32..).map(|(p, length)| p * f64::from(length).powi(power)).sum()
        };
        let mean = law.mean(shape).get();
        prop_assert!(close(mean, moment(1)));
        prop_assert!((law.variance(shape) - (moment(2) - moment(1).powi(2))).abs() < 1e-9);
        prop_assert!((1.0 - 1e-12..=shape.accept_limit().get() + 1e-12).contains(&mean));
        let tails: f64 = (1..=shape.depth()).map(|i| law.tail(i, shape)).sum();
        prop_assert!(close(mean, 1.0 + tails));
    }

    #[test]
    fn preparing_for_a_shape_changes_nothing(law in laws(), shape in shapes()) {
        let prepared = law.clone().with_shape(shape);
        prop_assert!(close(prepared.mean(shape).get(), law.mean(shape).get()));
        prop_assert!(close(prepared.variance(shape), law.variance(shape)));
    }

    #[test]
    fn a_longer_chain_never_yields_less(law in laws(), drafted in 0_u32..8) {
        prop_assert!(law.mean(chain(drafted + 1)).get() >= law.mean(chain(drafted)).get() - 1e-12);
    }

    #[test]
    fn accept_length_rises_with_every_rate(
        rates in prop::collection::vec(0.0..=1.0_f64, 1..6), at in 0_usize..6, share in 0.0..=1.0_f64
    ) {
        let mut better = rates.clone();
        let at = at % rates.len();
        better[at] += (1.0 - better[at]) * share;
        let mean = |v: &[f64]| Acceptance::conditional(v).expect("valid").mean(chain(6)).get();
        prop_assert!(mean(&better) >= mean(&rates) - 1e-12);
    }

    #[test]
    fn geometric_is_the_closed_form(rate in 0.0..0.999_f64, drafted in 0_u32..200) {
        let law = Acceptance::geometric(rate).expect("valid");
        let closed = (1.0 - rate.powi(i32::try_from(drafted).expect("small") + 1)) / (1.0 - rate);
        prop_assert!((law.mean(chain(drafted)).get() - closed).abs() < 1e-9 * closed);
    }

    /// No law of whole accept lengths with a given mean has a smaller variance than floor and ceiling.
    #[test]
    fn floor_and_ceiling_vary_least(weights in prop::collection::vec(0.01..1.0_f64, 2..7)) {
        let shape = chain(weights.len() as u32 - 1);
        let any = Acceptance::histogram(&weights).expect("valid");
        let mean = any.mean(shape);
        let least = Acceptance::floor_ceil(mean).expect("valid");
        prop_assert!(close(least.mean(shape).get(), mean.get()));
        prop_assert!(least.variance(shape) <= any.variance(shape) + 1e-9);
        let fraction = mean.get().fract();
        prop_assert!((least.variance(shape) - fraction * (1.0 - fraction)).abs() < 1e-9);
    }
}
