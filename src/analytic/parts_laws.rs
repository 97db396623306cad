//! Laws of the closed forms, over random parts.

use super::*;
use crate::analytic::leviathan;
use crate::speculation::{Acceptance, DraftShape};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn time(ms: f64) -> Sourced<Seconds> {
    Sourced::given(Seconds::from_ms(ms))
}

fn parts() -> impl Strategy<Value = Parts> {
    (
        1_u32..64,
        1_u32..9,
        0.0..=1.0_f64,
        0.5..80.0_f64,
        0.5..200.0_f64,
        0.0..40.0_f64,
        1_u32..300,
        0.01..0.99_f64,
    )
        .prop_map(|(batch, k, share, step, verify, draft_host, count, of_verify)| Parts {
            batch,
            accept_limit: f64::from(k) + 1.0,
            accept_length: Sourced::given(AcceptLength::new(1.0 + share * f64::from(k))),
            baseline_step: time(step),
            verify: time(verify),
            allreduce: Some(AllreducePart { count, each: time(verify * of_verify / f64::from(count)) }),
            draft_host: time(draft_host),
            observed: None,
        })
}

fn is_one(speedup: f64) -> bool {
    (speedup - 1.0).abs() < 1e-9
}

/// The parts with another all-reduce, all else of verify unchanged.
fn with_allreduce(parts: &Parts, each: Seconds) -> Parts {
    let ar = parts.allreduce.expect("set above");
    let verify = parts.verify.value + (each - ar.each.value) * f64::from(ar.count);
    let allreduce = Some(AllreducePart { each: Sourced::given(each), ..ar });
    Parts { verify: Sourced::given(verify), allreduce, ..*parts }
}

proptest! {
    #[test]
    fn every_break_even_round_trips(parts in parts()) {
        let needed = parts.needed();
        let free = Parts { draft_host: time(0.0), ..parts };
        for (pair, drafting) in [(needed.accept_length.kept, parts), (needed.accept_length.draft_free, free)] {
            let moved = Parts { accept_length: Sourced::given(pair), ..drafting };
            prop_assert!(is_one(moved.speedup_value()));
        }
        for (verify, drafting) in [(needed.verify.kept, parts), (needed.verify.draft_free, free)] {
            let moved = Parts { verify: Sourced::given(verify), ..drafting };
            prop_assert!(is_one(moved.speedup_value()));
        }
        let each = needed.allreduce.expect("set above");
        for (each, drafting) in [(each.kept, parts), (each.draft_free, free)] {
            prop_assert!(is_one(with_allreduce(&drafting, each).speedup_value()));
        }
        let draft_host = Sourced::given(needed.draft_host);
        let moved = Parts { draft_host, ..parts };
        prop_assert!(is_one(moved.speedup_value()));
    }

    #[test]
    fn speedup_is_accept_length_over_ratio_and_the_quotient_of_throughputs(parts in parts()) {
        let speedup = parts.speedup().value;
        prop_assert!((speedup / (parts.accept_length.value.get() / parts.ratio()) - 1.0).abs() < 1e-12);
        let quotient = parts.throughput().value / parts.baseline_throughput().value;
        prop_assert!((speedup / quotient - 1.0).abs() < 1e-12);
        prop_assert!((parts.cycle().value - parts.verify.value - parts.draft_host.value).get().abs() < 1e-15);
    }

    #[test]
    fn throughput_falls_with_every_time_and_rises_with_accept_length(parts in parts(), more in 1.01..2.0_f64) {
        let now = parts.throughput().value;
        let slower = Parts { verify: parts.verify.map(|t| t * more), ..parts };
        prop_assert!(slower.throughput().value < now);
        let slower = Parts { draft_host: parts.draft_host.map(|t| t * more + Seconds::from_us(1.0)), ..parts };
        prop_assert!(slower.throughput().value < now);
        let longer = Parts { accept_length: parts.accept_length.map(|l| l * more), ..parts };
        prop_assert!(longer.throughput().value > now);
    }

    #[test]
    fn elasticities_are_the_finite_differences(parts in parts()) {
        let step: f64 = 1e-6;
        let difference = |high: Parts, low: Parts| {
            (high.speedup_value().ln() - low.speedup_value().ln()) / ((1.0 + step) / (1.0 - step)).ln()
        };
        let scaled = |by: f64| [
            Parts { accept_length: parts.accept_length.map(|l| l * by), ..parts },
            Parts { baseline_step: parts.baseline_step.map(|t| t * by), ..parts },
            Parts { verify: parts.verify.map(|t| t * by), ..parts },
            with_allreduce(&parts, parts.allreduce.expect("set").each.value * by),
            Parts { draft_host: parts.draft_host.map(|t| t * by), ..parts },
        ];
        let values = parts.elasticity_values();
        let listed = [values.accept_length, values.baseline_step, values.verify, values.allreduce.expect("set"), values.draft_host];
        for ((high, low), value) in scaled(1.0 + step).into_iter().zip(scaled(1.0 - step)).zip(listed) {
            prop_assert!((difference(high, low) - value).abs() < 1e-5, "{} {value}", difference(high, low));
        }
    }

    /// Scaling every time by one factor changes nothing; the list is sorted and all-reduce is a part of verify.
    #[test]
    fn elasticities_of_all_times_add_up_to_zero(parts in parts()) {
        let values = parts.elasticity_values();
        prop_assert!((values.baseline_step + values.verify + values.draft_host).abs() < 1e-12);
        prop_assert!(values.allreduce.expect("set") >= values.verify);
        let list = parts.elasticities();
        prop_assert!(list.windows(2).all(|pair| pair[0].value.abs() >= pair[1].value.abs()));
        prop_assert_eq!(list.len(), 5);
    }

    #[test]
    fn levers_say_exactly_what_the_numbers_say(parts in parts()) {
        use crate::analytic::BreakEven;
        let (levers, needed) = (parts.break_evens(), parts.needed());
        let value = match levers.verify.needed {
            BreakEven::Reached { value, .. } => value,
            BreakEven::Unreachable { .. } => None,
        };
        prop_assert_eq!(value.is_some(), needed.verify.kept > Seconds::ZERO);
        let possible = needed.accept_length.kept.get() <= parts.accept_limit * (1.0 + 1e-12);
        prop_assert_eq!(levers.accept_length.change.is_some(), possible);
    }

    /// With a cost that does not grow with the rows the classical closed form comes out.
    #[test]
    fn flat_row_cost_is_the_published_speedup(a in 0.0..=1.0_f64, g in 1_u32..20, c in 0.0..1.0_f64) {
        let shape = DraftShape::chain(g);
        let law = Acceptance::geometric(a).expect("valid");
        let parts = Parts {
            batch: 1,
            accept_limit: shape.accept_limit().get(),
            accept_length: law.accept_length(shape),
            baseline_step: time(10.0),
            verify: time(10.0),
            allreduce: None,
            draft_host: time(10.0 * c * f64::from(g)),
            observed: None,
        };
        prop_assert!((parts.speedup_value() - leviathan::speedup(a, g, c)).abs() < 1e-9);
    }

    #[test]
    fn a_range_contains_its_value_and_decides_the_odds(parts in parts(), width in 0.01..0.4_f64) {
        let around = |t: Sourced<Seconds>| t.with_spread(t.value * (1.0 - width), t.value * (1.0 + width));
        let uncertain = Parts { verify: around(parts.verify), baseline_step: around(parts.baseline_step), ..parts };
        let speedup = uncertain.speedup();
        let spread = speedup.spread.expect("a range");
        prop_assert!(spread.low < speedup.value && speedup.value < spread.high);
        let odds = uncertain.win_probability().expect("a range");
        prop_assert_eq!(odds > 0.5, speedup.value > 1.0);
        // The range holds nine in ten: it excludes 1 exactly when the odds are beyond 5 or 95 %.
        let excludes = spread.low > 1.0 || spread.high < 1.0;
        prop_assert_eq!(excludes, !(0.05..=0.95).contains(&odds));
    }
}

/// Drawn cycles of constant length yield B · AL / cycle tokens a second.
#[test]
fn drawn_cycles_reach_the_closed_form() {
    let shape = DraftShape::chain(3);
    let law = Acceptance::conditional(&[0.8, 0.6, 0.5]).expect("valid");
    let parts = Parts {
        batch: 4,
        accept_limit: 4.0,
        accept_length: law.accept_length(shape),
        baseline_step: time(12.0),
        verify: time(15.0),
        allreduce: None,
        draft_host: time(2.0),
        observed: None,
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(42);
    let cycles = 50_000_u32;
    let tokens: u64 = (0..cycles * parts.batch).map(|_| u64::from(law.sample(shape, &mut rng))).sum();
    let drawn = tokens as f64 / (f64::from(cycles) * parts.cycle().value.get());
    assert!((drawn / parts.throughput().value.get() - 1.0).abs() < 0.005, "{drawn}");
}
