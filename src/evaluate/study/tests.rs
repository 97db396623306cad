//! Intervals that hold, probabilities that mean what they say, methods that agree.

use super::outputs::{SPEEDUP, STEP, VERIFY};
use super::*;
use crate::scenario::{Builtin, Evidence, Overrides, open};
use crate::sourced::Spread;
use crate::uncertainty::{FirstOrder, first_order, monte_carlo};
use crate::units::TokensPerSecond;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const GRAPH: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000-graph-verify.yaml";

fn loaded(path: &str, set: &[&str], unset: &[&str]) -> Loaded {
    let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
    let overrides = Overrides { set: words(set), unset: words(unset) };
    open(path, &overrides, &Builtin).expect("a scenario").1
}

/// The shipped scenario by the model alone, verify in a graph or eager.
fn modelled(execution: &str) -> Loaded {
    let set = format!("speculation.verify.execution={execution}");
    loaded(GRAPH, &[&set], &["baseline.observed"])
}

fn ends(study: &Study) -> FirstOrder {
    first_order(study.inputs.len(), |scores| study.numbers(scores))
}

#[test]
fn unmoved_it_is_the_plain_answer() {
    for loaded in [modelled("graph"), modelled("eager"), loaded(GRAPH, &[], &[])] {
        let study = Study::new(&loaded);
        let middle = study.numbers(&vec![0.0; study.inputs.len()]);
        let plain = crate::evaluate::answer(&loaded);
        assert!((middle[SPEEDUP] / plain.speedup.used.value - 1.0).abs() < 1e-9);
        assert!((middle[STEP] / plain.baseline.step.used.value.ms() - 1.0).abs() < 1e-9);
        assert!((middle[VERIFY] / plain.speculation.verify.used.value.ms() - 1.0).abs() < 1e-9);
    }
}

/// Truths drawn from the ranges of all inputs lie in the first-order interval nine times in ten, in a graph and in the
/// race of host and GPU.
#[test]
fn first_order_intervals_hold_nine_draws_in_ten() {
    for execution in ["graph", "eager"] {
        let loaded = modelled(execution);
        let study = Study::new(&loaded);
        let first = ends(&study);
        let drawn = monte_carlo(study.inputs.len(), 4000, 11, |scores| study.numbers(scores));
        for output in [SPEEDUP, STEP, VERIFY] {
            let (low, high) = first.range(output).expect("a range");
            let held = drawn.share_where(output, |value| low <= value && value <= high);
            assert!((0.88..=0.92).contains(&held), "{execution}, output {output}: {held}");
        }
    }
}

/// What baseline and verify share cancels: the interval is narrower than that of independent parts, which holds
/// nearly every draw.
#[test]
fn shared_causes_do_not_widen_the_speedup() {
    let loaded = modelled("graph");
    let study = Study::new(&loaded);
    let (low, high) = ends(&study).range(SPEEDUP).expect("a range");
    let setup = loaded.variation.as_ref().expect("an override varies");
    let apart = Known::base(setup).parts().speedup().spread.expect("a range");
    assert!((high / low).ln() < 0.75 * (apart.high / apart.low).ln(), "{low} to {high}, apart {apart:?}");
    let drawn = monte_carlo(study.inputs.len(), 2000, 5, |scores| study.numbers(scores));
    let held = drawn.share_where(SPEEDUP, |value| apart.low <= value && value <= apart.high);
    assert!(held > 0.96, "independent parts promise 90 % and hold {held}");
}

#[test]
fn one_cause_moves_every_pass() {
    let loaded = modelled("graph");
    let study = Study::new(&loaded);
    let nccl = study
        .inputs
        .iter()
        .position(|(input, _)| *input == Input::Cause(crate::cost::Cause::Nccl))
        .expect("an input");
    let first = ends(&study);
    for output in [STEP, VERIFY] {
        let (low, high) = first.ends(nccl, output);
        assert!(low < first.middle[output] && first.middle[output] < high, "output {output}");
    }
}

/// A synthetic truth and what was measured of it: three times with their errors, counted cycles of a geometric law.
struct Truth {
    speedup: f64,
    measured: Loaded,
}

/// Draws a truth, ln speedup even on both sides of the break-even, and measures it once.
fn truth(template: &Loaded, rng: &mut Xoshiro256PlusPlus) -> Truth {
    let mut uniform = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    let shape = DraftShape::chain(3);
    let law = Acceptance::geometric(uniform(0.45, 0.8)).expect("a rate");
    let (verify, draft, speedup) = (uniform(17.0, 24.0), uniform(2.0, 4.0), uniform(-0.4, 0.4).exp());
    let step = speedup * (verify + draft) / law.mean(shape).get();
    let cycles = 40 + (uniform(0.0, 400.0) as u32);
    let mut normal = || crate::uncertainty::normal_score(uniform(1e-9, 1.0 - 1e-9));
    let ms = |value: f64, deviation: f64| {
        let reach = crate::sourced::SPREAD_DEVIATIONS * deviation;
        Sourced::given(Seconds::from_ms(value))
            .with_spread(Seconds::from_ms(value - reach), Seconds::from_ms(value + reach))
    };
    let mut measure = |value: f64, deviation: f64| ms(value + deviation * normal(), deviation);
    let (seen_step, seen_verify, seen_draft) =
        (measure(step, 0.3), measure(verify, 0.8), measure(draft, 0.25));
    let mut counts = [0.0; 4];
    for _ in 0..cycles {
        counts[law.sample(shape, rng) as usize - 1] += 1.0;
    }
    let mut measured = template.clone();
    let Setup::Observed(setup) = &mut measured.base else { panic!("observed numbers alone") };
    let common = &mut setup.common;
    (common.steps, common.topk, common.draft_tokens) = (3, 1, 4);
    common.acceptance = Acceptance::histogram(&counts).expect("there are cycles");
    common.evidence = Some(Evidence { cycles: cycles.into(), independent: cycles.into() });
    common.stated = crate::scenario::Stated::default();
    common.stated.baseline.observed = Some(seen_step);
    common.stated.verify.observed = Some(seen_verify);
    common.stated.draft = Some(seen_draft);
    common.stated.host = Some(Sourced::given(Seconds::ZERO));
    Truth { speedup, measured }
}

fn template() -> Loaded {
    Loaded { what_ifs: Vec::new(), ..loaded("scenarios/observed-only.yaml", &[], &[]) }
}

/// The 90 % intervals of both methods hold the truth 88 to 92 times in a hundred, and verdicts of 10, 30, 50 ... per cent
/// come true as often.
#[test]
fn intervals_hold_synthetic_truths_and_probabilities_come_true() {
    let template = template();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2026);
    let (trials, mut held, mut sampled, mut drawn_trials) = (4000_u32, 0_u32, 0_u32, 0_u32);
    let mut bins = [(0_u32, 0_u32, 0.0_f64); 5];
    for trial in 0..trials {
        let truth = truth(&template, &mut rng);
        let study = Study::new(&truth.measured);
        let first = ends(&study);
        let holds = |(low, high): (f64, f64)| u32::from(low <= truth.speedup && truth.speedup <= high);
        held += holds(first.range(SPEEDUP).expect("a range"));
        let chance = first.probability_above(SPEEDUP, 1.0).expect("a probability");
        let bin = &mut bins[((chance * 5.0) as usize).min(4)];
        *bin = (bin.0 + 1, bin.1 + u32::from(truth.speedup > 1.0), bin.2 + chance);
        if trial % 4 == 0 {
            let drawn = monte_carlo(study.inputs.len(), 300, trial.into(), |scores| study.numbers(scores));
            let summary = drawn.summary(SPEEDUP);
            sampled += holds((summary.low, summary.high));
            drawn_trials += 1;
        }
    }
    let share = |part: u32, of: u32| f64::from(part) / f64::from(of);
    let (first, monte) = (share(held, trials), share(sampled, drawn_trials));
    assert!((0.88..=0.92).contains(&first), "first order: {first}");
    assert!((0.88..=0.92).contains(&monte), "Monte Carlo: {monte}");
    for (n, wins, sum) in bins {
        let (said, seen) = (sum / f64::from(n), share(wins, n));
        let slack = 3.0 * (said * (1.0 - said) / f64::from(n)).sqrt();
        assert!(n > 100 && (said - seen).abs() < slack, "said {said}, came true {seen} of {n}");
    }
}

#[test]
fn the_whole_study_is_the_same_for_any_number_of_threads() {
    let loaded = modelled("graph");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| uncertainty(&loaded, 120, 9))
    };
    let one = format!("{:?}", with(1));
    assert_eq!(one, format!("{:?}", with(2)));
    assert_eq!(one, format!("{:?}", with(4)));
}

/// Two observed throughputs need no accept length, so its range does not enter their ratio.
#[test]
fn a_ratio_of_observed_throughputs_hangs_on_them_alone() {
    let loaded = loaded(
        "scenarios/observed-only.yaml",
        &["speculation.observed.cycles=300", "baseline.observed.throughput=82 tok/s +- 2 tok/s"],
        &[],
    );
    let found = uncertainty(&loaded, 400, 1);
    assert_eq!(found.effects.len(), 1, "{:?}", found.effects);
    assert_eq!(found.effects[0].factor.name, "baseline throughput");
    assert!(found.more_cycles.is_none());
    let (low, high) = found.outcomes[0].first_order.expect("a range");
    let reach = crate::sourced::SPREAD_DEVIATIONS * 2.0;
    assert!((high / (60.0 / (82.0 - reach)) - 1.0).abs() < 1e-9, "{high}");
    assert!((low / (60.0 / (82.0 + reach)) - 1.0).abs() < 1e-9, "{low}");
}

#[test]
fn counted_cycles_tell_how_many_more_are_needed() {
    let with = |cycles: &str| {
        let cycles = format!("speculation.observed.cycles={cycles}");
        let all = loaded(
            "scenarios/observed-only.yaml",
            &[&cycles, "baseline.observed.throughput=61 tok/s", "speculation.verify.observed.time=28 ms"],
            &["speculation.observed.throughput", "speculation.verify.observed.allreduce"],
        );
        uncertainty(&all, 200, 1).more_cycles.expect("the accept length decides")
    };
    let (few, more) = (with("50"), with("100"));
    assert_eq!((few.seen, more.seen), (Some(50.0), Some(100.0)));
    assert!(few.expected > more.expected && more.expected > 0.0, "{few:?} {more:?}");
    assert!(with("100000").expected.abs() < 1e-12, "decided");
    assert!((few.ceiling - 1.0).abs() < 1e-12 && few.blocker.is_none(), "nothing else has a range");
}

#[test]
fn a_score_of_a_stated_throughput_moves_its_step_the_other_way() {
    let mut loaded = template();
    let Setup::Observed(setup) = &mut loaded.base else { panic!("observed") };
    let rate = |tokens: f64| TokensPerSecond::new(tokens);
    let stated = &mut setup.common.stated.baseline;
    stated.observed_throughput = stated.observed_throughput.map(|throughput| Sourced {
        spread: Some(Spread { low: rate(72.0), high: rate(92.0) }),
        ..throughput
    });
    let study = Study::new(&loaded);
    let first = ends(&study);
    let (low, high) = first.ends(0, STEP);
    assert!((low - 1e3 / 72.0).abs() < 1e-9 && (high - 1e3 / 92.0).abs() < 1e-9, "{low} {high}");
}

/// The reliability table of docs/explanation/uncertainty.md.
#[test]
#[ignore = "prints a table: cargo test --lib reliability_table -- --ignored --nocapture"]
#[allow(clippy::print_stdout)]
fn reliability_table() {
    let template = template();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (trials, mut held) = (20_000_u32, 0_u32);
    let mut bins = [(0_u32, 0_u32, 0.0_f64); 10];
    for _ in 0..trials {
        let truth = truth(&template, &mut rng);
        let first = ends(&Study::new(&truth.measured));
        let (low, high) = first.range(SPEEDUP).expect("a range");
        held += u32::from(low <= truth.speedup && truth.speedup <= high);
        let chance = first.probability_above(SPEEDUP, 1.0).expect("a probability");
        let bin = &mut bins[((chance * 10.0) as usize).min(9)];
        *bin = (bin.0 + 1, bin.1 + u32::from(truth.speedup > 1.0), bin.2 + chance);
    }
    println!("| said | answers | mean said | came true |\n|--:|--:|--:|--:|");
    for (i, (n, wins, sum)) in bins.iter().enumerate() {
        let count = f64::from(*n);
        let (said, seen) = (100.0 * sum / count, 100.0 * f64::from(*wins) / count);
        println!("| {} to {} % | {n} | {said:.1} % | {seen:.1} % |", 10 * i, 10 * i + 10);
    }
    println!("\nheld by 90 % intervals: {:.1} % of {trials}", 100.0 * f64::from(held) / f64::from(trials));
}
