//! Ranges of a plain answer by first order, and the whole study by Monte Carlo.

use super::outputs::{
    ACCEPT_LENGTH, BASELINE_THROUGHPUT, BREAK_EVEN_LENGTH, CYCLE, DRAFT, DRAFT_HOST, HOST, SPEEDUP, STEP,
    THROUGHPUT, VERIFY, WHAT_IFS,
};
use super::{Input, Study};
use crate::analytic::{Figure, Prediction, Verdict};
use crate::evaluate::known::draft_shape;
use crate::scenario::Loaded;
use crate::sourced::{SPREAD_DEVIATIONS, Sourced, Spread};
use crate::uncertainty::sequential::{Seen, SequentialTest};
use crate::uncertainty::{
    Effect, FirstOrder, Indices, MoreCycles, Outcome, Uncertainty, first_order, monte_carlo, sobol,
};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// Half-width of a tie, relative: the difference of accept lengths that the sequential test need not see.
const TIE: f64 = 0.01;
/// Probability of error of a sure verdict.
const ERROR: f64 = 0.05;
/// Inputs that move the speedup by less than this share, interactions included, are not told.
const NEGLIGIBLE: f64 = 1e-3;

/// Gives a prediction its ranges, verdicts and probability: first order over the causes that its parts share.
pub(in crate::evaluate) fn make_sure(prediction: &mut Prediction, loaded: &Loaded) {
    let study = Study::new(loaded);
    let found = first_order(study.inputs.len(), |scores| study.numbers(scores));
    let range = |output: usize| found.range(output).map(|(low, high)| Spread { low, high });
    let ms = |figure: &mut Figure<Seconds>, output| set(figure, range(output), Seconds::from_ms);
    set(&mut prediction.speedup, range(SPEEDUP), |x| x);
    prediction.verdict = Verdict::of(prediction.speedup.used);
    prediction.win_probability = found.probability_above(SPEEDUP, 1.0);
    ms(&mut prediction.baseline.step, STEP);
    set(&mut prediction.baseline.throughput, range(BASELINE_THROUGHPUT), TokensPerSecond::new);
    let speculation = &mut prediction.speculation;
    set(&mut speculation.accept_length, range(ACCEPT_LENGTH), AcceptLength::new);
    set(&mut speculation.throughput, range(THROUGHPUT), TokensPerSecond::new);
    ms(&mut speculation.cycle, CYCLE);
    ms(&mut speculation.verify, VERIFY);
    ms(&mut speculation.draft_host, DRAFT_HOST);
    for (figure, output) in [(&mut speculation.draft, DRAFT), (&mut speculation.host, HOST)] {
        if let Some(figure) = figure {
            ms(figure, output);
        }
    }
    for answer in &mut prediction.what_ifs {
        // Refused what-ifs have no answer, so places follow from names.
        if let Some(at) = study.what_ifs.iter().position(|(name, _)| *name == answer.name) {
            let spread = range(WHAT_IFS + at);
            answer.verdict = Verdict::of(Sourced { spread, ..Sourced::given(answer.speedup) });
        }
    }
}

fn set<T>(figure: &mut Figure<T>, range: Option<Spread<f64>>, wrap: impl Fn(f64) -> T) {
    figure.used.spread = range.map(|range| Spread { low: wrap(range.low), high: wrap(range.high) });
}

/// The study of a scenario: `samples` draws with `seed`, both methods, indices, turns, cycles to observe.
pub(in crate::evaluate) fn of(loaded: &Loaded, samples: u32, seed: u64) -> Uncertainty {
    let study = Study::new(loaded);
    let count = study.inputs.len();
    let found = first_order(count, |scores| study.numbers(scores));
    let drawn = monte_carlo(count, samples, seed, |scores| study.numbers(scores));
    let win = drawn.share_above(SPEEDUP, 1.0);
    let outcomes = study.outputs().into_iter().enumerate().filter(|(at, _)| !found.middle[*at].is_nan());
    let outcome = |(at, output): (usize, super::outputs::Output)| Outcome {
        key: output.key,
        name: output.name,
        unit: output.unit,
        value: found.middle[at],
        sampled: drawn.summary(at),
        first_order: found.range(at),
        possible: study.is_possible(at, found.middle[at]),
        reachable: drawn.share_where(at, |value| study.is_possible(at, value)),
    };
    let effects = effects(&study, &found, samples, seed);
    Uncertainty {
        samples,
        seed,
        win_probability: win,
        win_error: (win * (1.0 - win) / f64::from(samples.max(1))).sqrt(),
        first_order_probability: found.probability_above(SPEEDUP, 1.0),
        outcomes: outcomes.map(outcome).collect(),
        more_cycles: more_cycles(&study, &found),
        effects,
        turns: study.turns(samples, seed),
    }
}

/// What each input does to the speedup, the most influential first.
fn effects(study: &Study, found: &FirstOrder, samples: u32, seed: u64) -> Vec<Effect> {
    // Inputs without any effect need no indices: they would cost an evaluation a sample each.
    let moving: Vec<usize> = (0..study.inputs.len())
        .filter(|input| {
            let (low, high) = found.ends(*input, SPEEDUP);
            (low - high).abs() > 0.0 || (low - found.middle[SPEEDUP]).abs() > 0.0
        })
        .collect();
    let all = sobol(moving.len(), samples, seed, |scores| {
        let mut full = vec![0.0; study.inputs.len()];
        for (input, score) in moving.iter().zip(scores) {
            full[*input] = *score;
        }
        study.at(&full).known.parts().speedup_value().ln()
    });
    let effect = |(input, indices): (&usize, Indices)| {
        let (at_low, at_high) = found.ends(*input, SPEEDUP);
        Effect { factor: study.inputs[*input].1.clone(), at_low, at_high, indices }
    };
    let mut list: Vec<Effect> = moving.iter().zip(all).map(effect).collect();
    list.retain(|effect| effect.indices.total > NEGLIGIBLE);
    list.sort_by(|a, b| b.indices.total.total_cmp(&a.indices.total));
    list
}

/// Cycles to observe until the accept length is surely on one side of its break-even. None where the speedup is one
/// of two observed throughputs, which needs no accept length, and where a cycle's yield does not vary.
fn more_cycles(study: &Study, found: &FirstOrder) -> Option<MoreCycles> {
    let known = study.at(&vec![0.0; study.inputs.len()]).known;
    let parts = known.parts();
    let common = study.answered().common();
    let shape = draft_shape(common);
    let deviation = common.acceptance.variance(shape).sqrt();
    if parts.observed.is_some() || deviation <= 0.0 || shape.depth() == 0 {
        return None;
    }
    let accept = common.acceptance.accept_length(shape);
    // A stated range is worth as many cycles as would leave it.
    let from_spread = accept.spread.map(|spread| {
        let error = (spread.high.get() - spread.low.get()) / (2.0 * SPREAD_DEVIATIONS);
        (deviation / error).powi(2)
    });
    let evidence = common.evidence;
    let seen = evidence.map(|e| e.independent).or(from_spread).filter(|n| n.is_finite());
    let break_even = parts.ratio();
    let margin = TIE * break_even;
    let test = SequentialTest { break_even, margin, error: ERROR };
    let state = Seen { cycles: seen.unwrap_or(0.0), mean: accept.value.get(), deviation };
    let per_independent = evidence.map_or(1.0, |e| e.cycles / e.independent);
    let is_acceptance = |input: &Input| matches!(input, Input::Acceptance | Input::Position(_));
    let others: Vec<usize> =
        (0..study.inputs.len()).filter(|i| !is_acceptance(&study.inputs[*i].0)).collect();
    let without = FirstOrder {
        middle: found.middle.clone(),
        inputs: others.iter().map(|i| found.inputs[*i].clone()).collect(),
    };
    let chance = without.probability_above(SPEEDUP, 1.0).unwrap_or(1.0);
    let ceiling = chance.max(1.0 - chance);
    let width = |input: &&usize| {
        let (low, high) = found.ends(**input, SPEEDUP);
        (high / low).ln().abs()
    };
    let largest = others.iter().max_by(|a, b| width(a).total_cmp(&width(b)));
    Some(MoreCycles {
        break_even: found.middle[BREAK_EVEN_LENGTH],
        margin,
        seen,
        expected: test.expected_more(state) * per_independent,
        per_independent,
        ceiling,
        blocker: largest.filter(|_| ceiling < 1.0 - ERROR).map(|input| study.inputs[*input].1.name.clone()),
    })
}
