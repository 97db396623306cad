//! The reference case by hand: Kimi-K2.5 with EAGLE-3 on 8x RTX PRO 6000, as observed, with a model beside it.
//!
//! The observed figures are 82 tok/s without and 60 tok/s with speculation, 30 ms of verify with 25 ms booked in
//! 122 all-reduces, accept length 2.0. The model's figures here only fill its column.

use crate::analytic::{
    BaselineAnswer, BreakEven, BreakEvens, Crossing, Elasticity, Figure, Finding, Lever, Prediction, Row,
    SpeculationAnswer, Verdict, WhatIfAnswer,
};
use crate::sourced::{Source, Sourced};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

use super::context::Context;
use crate::uncertainty::{Effect, Factor, Indices, MoreCycles, Outcome, Summary, Turn, Uncertainty};

/// Names and settings of the reference case.
pub(super) fn context() -> Context {
    Context {
        tool_version: "0.1.0".to_owned(),
        seed: 1,
        scenario_name: "Kimi-K2.5, EAGLE-3, 8x RTX PRO 6000 on PCIe".to_owned(),
        scenario_path: "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml".to_owned(),
        calibration_name: Some("rtx-pro-6000-x8".to_owned()),
        overrides: vec![],
        plots: vec!["out/throughput-verify.svg".to_owned()],
        setup_words: "Kimi-K2.5 on 8x RTX PRO 6000, SGLang, TP8, batch 1, context 2,048".to_owned(),
        uncertainty: None,
    }
}

fn figure<T>(value: T, source: Source, predicted: T) -> Figure<T> {
    Figure { used: Sourced::new(value, source), predicted: Some(Sourced::new(predicted, Source::Assumed)) }
}

fn ms_figure(value: f64, source: Source, predicted: f64) -> Figure<Seconds> {
    figure(Seconds::from_ms(value), source, Seconds::from_ms(predicted))
}

fn row(part: &str, depth: u8, used: Option<(f64, f64, Source)>, model: f64) -> Row {
    Row {
        part: part.to_owned(),
        count: None,
        each: None,
        time: used.map(|(ms, _, source)| Sourced::new(Seconds::from_ms(ms), source)),
        share: used.map(|(_, share, _)| share),
        predicted: Some(Sourced::new(Seconds::from_ms(model), Source::Fitted)),
        depth,
    }
}

/// The answer to the reference case.
pub(super) fn prediction() -> Prediction {
    let graph = what_if(
        "verify inside a CUDA graph",
        Verdict::Wins,
        1.3304,
        109.09,
        15.0,
        Source::Fitted,
        &["verify"],
    );
    Prediction {
        verdict: Verdict::Loses,
        win_probability: None,
        speedup: figure(60.0 / 82.0, Source::Derived, 0.8465),
        baseline: baseline(),
        speculation: speculation(),
        break_even: break_evens(),
        what_ifs: vec![
            graph.clone(),
            what_if("verify takes 15 ms", Verdict::Wins, 1.3304, 109.09, 15.0, Source::Derived, &[]),
            what_if(
                "one-shot all-reduce up to 56 KB",
                Verdict::Loses,
                0.7421,
                62.3,
                28.8,
                Source::Assumed,
                &["verify", "baseline"],
            ),
        ],
        elasticities: vec![
            Elasticity { of: "accept_length", value: 1.0 },
            Elasticity { of: "verify", value: -0.9 },
            Elasticity { of: "allreduce", value: -0.75 },
            Elasticity { of: "draft_host", value: -0.1 },
        ],
        largest_lever: Some(graph),
        diagnosis: vec![finding()],
    }
}

/// The answer without a hardware model: observed numbers alone.
pub(super) fn observed_only() -> Prediction {
    let mut p = prediction();
    let bare = |rows: &mut Vec<Row>| {
        rows.retain(|row| row.time.is_some());
        for row in rows {
            row.predicted = None;
        }
    };
    bare(&mut p.speculation.cycle_breakdown);
    bare(&mut p.speculation.verify_breakdown);
    p.baseline.breakdown.clear();
    p.break_even.execution.clear();
    p.break_even.batch.clear();
    p.break_even.allreduce = None;
    p.what_ifs.clear();
    p.largest_lever = None;
    p.diagnosis.clear();
    p
}

fn what_if(
    name: &str,
    verdict: Verdict,
    speedup: f64,
    throughput: f64,
    verify: f64,
    source: Source,
    parts: &[&'static str],
) -> WhatIfAnswer {
    WhatIfAnswer {
        baseline: TokensPerSecond::new(82.0),
        name: name.to_owned(),
        verdict,
        speedup,
        throughput: TokensPerSecond::new(throughput),
        verify: Seconds::from_ms(verify),
        source,
        predicted_parts: parts.to_vec(),
    }
}

fn baseline() -> BaselineAnswer {
    BaselineAnswer {
        execution: Some("graph"),
        step: ms_figure(1000.0 / 82.0, Source::Derived, 11.6),
        throughput: figure(TokensPerSecond::new(82.0), Source::Given, TokensPerSecond::new(86.2)),
        breakdown: vec![
            Row { count: Some(123), each: Some(Seconds::from_us(26.9)), ..row("allreduce", 0, None, 3.3) },
            row("attention", 0, None, 4.6),
            row("experts", 0, None, 2.2),
            row("all else", 0, None, 1.5),
        ],
    }
}

fn speculation() -> SpeculationAnswer {
    let verify = [
        Row {
            count: Some(122),
            each: Some(Seconds::from_us(25_000.0 / 122.0)),
            ..row("allreduce", 2, Some((25.0, 0.75, Source::Given)), 3.8)
        },
        row("waiting for the hosts", 2, None, 12.0),
        row("all else", 2, Some((5.0, 0.15, Source::Derived)), 8.6),
    ];
    let mut cycle = vec![
        row("cycle", 0, Some((100.0 / 3.0, 1.0, Source::Derived)), 27.3),
        row("draft and host", 1, Some((10.0 / 3.0, 0.1, Source::Derived)), 2.9),
        row("verify", 1, Some((30.0, 0.9, Source::Given)), 24.4),
    ];
    cycle.extend(verify.iter().cloned());
    SpeculationAnswer {
        execution: Some("eager"),
        accept_length: Figure { used: Sourced::given(AcceptLength::new(2.0)), predicted: None },
        accept_limit: AcceptLength::new(3.0),
        rows: Figure { used: Sourced::given(3.0), predicted: None },
        cycle: ms_figure(100.0 / 3.0, Source::Derived, 27.3),
        draft_host: ms_figure(10.0 / 3.0, Source::Derived, 2.9),
        draft: None,
        host: None,
        verify: ms_figure(30.0, Source::Given, 24.4),
        throughput: figure(TokensPerSecond::new(60.0), Source::Derived, TokensPerSecond::new(73.3)),
        cycle_breakdown: cycle,
        verify_breakdown: verify.to_vec(),
    }
}

fn time_lever(now: Sourced<Seconds>, value: Seconds, draft_free: Seconds, change: f64) -> Lever<Seconds> {
    let needed = BreakEven::Reached { value: Some(value), draft_free: Some(draft_free) };
    Lever { now, needed, change: Some(change), at_least: false, note: None }
}

fn break_evens() -> BreakEvens {
    let (ms, us) = (Seconds::from_ms, Seconds::from_us);
    let crossing = |at: &str, verdict, speedup| Crossing { at: at.to_owned(), verdict, speedup };
    BreakEvens {
        accept_length: Lever {
            now: Sourced::given(AcceptLength::new(2.0)),
            needed: BreakEven::Reached {
                value: Some(AcceptLength::new(2.7333)),
                draft_free: Some(AcceptLength::new(2.46)),
            },
            change: Some(0.7333),
            at_least: true,
            note: None,
        },
        verify: time_lever(Sourced::given(ms(30.0)), ms(21.0569), ms(24.3902), -0.2981),
        allreduce: Some(time_lever(Sourced::given(us(204.918)), us(131.614), us(158.936), -0.3577)),
        draft_host: Lever {
            now: Sourced::new(ms(10.0 / 3.0), Source::Derived),
            needed: BreakEven::Unreachable { because: "verify alone > 24.4 ms".to_owned() },
            change: None,
            at_least: false,
            note: None,
        },
        execution: vec![crossing("graph", Verdict::Wins, 1.33), crossing("eager", Verdict::Loses, 0.73)],
        batch: vec![
            crossing("1", Verdict::Wins, 1.71),
            crossing("4", Verdict::Loses, 0.90),
            crossing("16", Verdict::Wins, 1.50),
        ],
        context: vec![],
        draft_tokens: vec![],
    }
}

fn finding() -> Finding {
    Finding {
        code: "host-bound-verify",
        message:
            "25.0 ms in 122 all-reduces is 205 µs each; this box measures 31 µs for 43.0 KB. The verify pass \
                  waits for its hosts; the links are idle most of the time."
                .to_owned(),
        settle: vec![
            "all_reduce_perf -b 14336 -e 43008 -f 3 -g 8".to_owned(),
            "look for `cuda graph: False` in the decode lines of the server log, then run the baseline with \
             --disable-cuda-graph: the same 28 to 30 ms mean that the host is the longer clock"
                .to_owned(),
        ],
    }
}

/// A study of made-up numbers, with everything that a study can hold.
pub(super) fn uncertainty() -> Uncertainty {
    let outcome = |key: &str, name: &str, unit, value: f64, reachable| Outcome {
        key: key.to_owned(),
        name: name.to_owned(),
        unit,
        value,
        sampled: Summary {
            low: value * 0.9,
            median: value,
            high: value * 1.1,
            mean: value * 1.001,
            deviation: value * 0.06,
            share: 1.0,
        },
        first_order: Some((value * 0.91, value * 1.09)),
        possible: true,
        reachable,
    };
    let effect =
        |name: &str, unit, [low, value, high]: [f64; 3], [at_low, at_high]: [f64; 2], share| Effect {
            factor: Factor { name: name.to_owned(), unit, low, value, high, source: Source::Assumed },
            at_low,
            at_high,
            indices: Indices { first: share, total: share + 0.01, first_error: 0.02, total_error: 0.02 },
        };
    Uncertainty {
        samples: 12_000,
        seed: 1,
        win_probability: 0.123,
        win_error: 0.003,
        first_order_probability: Some(0.13),
        outcomes: vec![
            outcome("speedup", "speedup", "", 0.94, 1.0),
            outcome("break_even.accept_length", "break-even accept length", "tokens", 2.13, 1.0),
            outcome("break_even.allreduce", "break-even of one allreduce", "us", 98.7, 0.83),
            Outcome { first_order: None, ..outcome("baseline.step", "step without it", "ms", 12.2, 1.0) },
        ],
        effects: vec![
            effect("accept length", "tokens", [1.8, 2.0, 2.2], [0.85, 1.03], 0.71),
            effect("host per cycle", "ms", [1.4, 2.0, 2.6], [0.96, 0.92], 0.2),
            effect("NCCL times", "x", [0.91, 1.0, 1.1], [0.95, 0.93], -0.01),
        ],
        turns: vec![
            Turn { over: "batch", wins: false, at: [8, 12, 20], share: 0.97 },
            Turn { over: "context", wins: true, at: [32_768, 32_768, 32_768], share: 0.4 },
        ],
        more_cycles: Some(MoreCycles {
            break_even: 2.13,
            margin: 0.0213,
            seen: Some(60.0),
            expected: 1234.0,
            per_independent: 5.0,
            ceiling: 0.91,
            blocker: Some("host per cycle".to_owned()),
        }),
    }
}
