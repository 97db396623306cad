use super::*;
use crate::sourced::Sourced;
use proptest::prelude::*;

fn stated(mean: f64, drafted: u32) -> Acceptance {
    Acceptance::mean_only(Sourced::given(AcceptLength::new(mean)), DraftShape::chain(drafted))
        .expect("a mean")
}

fn at(law: &Acceptance, drafted: u32) -> Outlook {
    outlook(law, DraftShape::chain(3), DraftShape::chain(drafted))
}

#[test]
fn one_rate_is_known_down_to_the_depth_of_the_scenario() {
    let law = Acceptance::geometric(0.85).expect("a rate");
    for drafted in 1..=3 {
        assert_eq!(at(&law, drafted).low, at(&law, drafted).high);
    }
    let deeper = at(&law, 7);
    assert_eq!(deeper.low, at(&law, 3).mean);
    assert!((deeper.high.get() - (1.0 - 0.85_f64.powi(8)) / 0.15).abs() < 1e-12);
    assert!(deeper.assumed.expect("said").contains("measured ones fall"));
    // A tree of known ranks: wider is known, deeper is not.
    let tree =
        Acceptance::tree(&[0.6, 0.2], DraftShape { steps: 3, topk: 2, draft_tokens: 8 }).expect("ranks");
    let wide = outlook(&tree, DraftShape::chain(3), DraftShape { steps: 3, topk: 2, draft_tokens: 11 });
    assert_eq!(wide.low, wide.high);
    let deep = outlook(&tree, DraftShape::chain(3), DraftShape { steps: 5, topk: 2, draft_tokens: 11 });
    assert!(deep.low < deep.high);
}

#[test]
fn the_stated_depth_and_known_positions_leave_nothing_open() {
    let law = stated(2.22, 3);
    let here = at(&law, 3);
    assert_eq!((here.low, here.high, here.assumed), (AcceptLength::new(2.22), AcceptLength::new(2.22), None));
    let positions = Acceptance::cumulative(&[0.65, 0.40, 0.24]).expect("rates");
    for drafted in 1..=3 {
        let known = at(&positions, drafted);
        assert_eq!(known.assumed, None);
        assert_eq!(known.low, known.high);
    }
}

#[test]
fn beyond_known_positions_between_nothing_more_and_the_last_rate() {
    let law = Acceptance::conditional(&[0.7, 0.6]).expect("rates");
    let deeper = at(&law, 3);
    assert!((deeper.low.get() - (1.0 + 0.7 + 0.42)).abs() < 1e-12);
    assert!((deeper.high.get() - (1.0 + 0.7 + 0.42 + 0.252)).abs() < 1e-12);
    assert!(deeper.assumed.expect("said").contains("0.600"));
    assert_eq!(at(&law, 3).used(Beyond::Least), deeper.low);
    assert_eq!(at(&law, 3).used(Beyond::Law), deeper.high);
}

/// Accept lengths at 1 ... 8 drafted tokens of one draft each, so that any of them can stand for what was stated
/// (SemiAnalysisAI/InferenceX @843c625, `golden_al_distribution`, coding prompts). Two decimals.
const MEASURED: [(&str, [f64; 8]); 3] = [
    ("Kimi-K2.5 EAGLE-3, thinking on", [1.83, 2.43, 2.88, 3.24, 3.46, 3.62, 3.71, 3.77]),
    ("Kimi-K2.5 EAGLE-3, thinking off", [1.80, 2.33, 2.75, 3.06, 3.25, 3.43, 3.46, 3.51]),
    ("Qwen3.5-397B MTP", [1.93, 2.73, 3.39, 3.97, 4.41, 4.80, 5.04, 5.21]),
];

#[test]
fn measured_accept_lengths_lie_in_the_range_that_any_one_of_them_gives_for_the_others() {
    for (name, lengths) in MEASURED {
        for (k, &known) in (1..).zip(&lengths) {
            let law = stated(known, k);
            for (other, &measured) in (1..).zip(&lengths) {
                let range = at(&law, other);
                let inside = range.low.get() - 0.01..=range.high.get() + 0.01;
                assert!(
                    inside.contains(&measured),
                    "{name}: {measured} at {other} from {known} at {k}: {range:?}"
                );
            }
        }
    }
}

proptest! {
    /// The two ends are theorems about falling rates.
    #[test]
    fn laws_with_falling_rates_lie_in_the_range(
        first in 0.05..1.0f64,
        falls in prop::collection::vec(0.5..1.0f64, 9),
        stated_at in 1u32..9,
        asked in 1u32..9,
    ) {
        let mut rates = vec![first];
        for fall in &falls {
            rates.push(rates[rates.len() - 1] * fall);
        }
        let truth = Acceptance::conditional(&rates).expect("rates");
        let mean = |k| truth.mean(DraftShape::chain(k)).get();
        let range = at(&stated(mean(stated_at), stated_at), asked);
        prop_assert!(range.low.get() <= mean(asked) + 1e-9);
        prop_assert!(range.high.get() >= mean(asked) - 1e-9);
        prop_assert!(range.low <= range.mean && range.mean <= range.high);
    }
}
