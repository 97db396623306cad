//! A small plan in every format, against committed text.

use insta::assert_snapshot;

use crate::report::{Context, Style, tune_csv, tune_json, tune_markdown, tune_text};
use crate::runtime::Execution;
use crate::scenario::Method;
use crate::speculation::DraftShape;
use crate::tune::{
    Carried, Cell, Fixed, Fleet, Goal, Objective, Outcome, Outlook, Paste, Plan, Service, Setting, Side,
};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

fn chain(steps: u32) -> Setting {
    Setting { draft: Some((0, DraftShape::chain(steps))), ..Setting::OFF }
}

fn outcome(setting: Setting, throughput: f64, gain: f64) -> Outcome {
    let on = setting.draft.is_some();
    let accept = Outlook {
        mean: AcceptLength::new(2.22),
        low: AcceptLength::new(1.99),
        high: AcceptLength::new(2.22),
        assumed: Some("the accept length was stated for 3 drafted tokens".to_owned()),
    };
    Outcome {
        setting,
        throughput: TokensPerSecond::new(throughput),
        per_token: Seconds::new(8.0 / throughput),
        cycle: Seconds::from_ms(20.0),
        length: on.then_some(accept.low),
        accept: on.then_some(accept),
        measured: false,
        gain,
        gain_low: gain * 0.9,
        gain_high: gain,
        win_probability: on.then_some(if gain > 1.0 { 0.97 } else { 0.2 }),
        keeps_slo: throughput < 500.0,
    }
}

fn plan() -> Plan {
    let slow = Setting { service: Service { execution: Some(Execution::Eager), opt_in: None }, ..chain(1) };
    let cells = vec![
        Cell {
            batch: 1,
            context: 2048,
            refused: None,
            tried: vec![
                outcome(chain(3), 136.0, 1.38),
                outcome(Setting::OFF, 98.6, 1.0),
                outcome(slow, 50.0, 0.51),
            ],
        },
        Cell {
            batch: 64,
            context: 2048,
            refused: None,
            tried: vec![outcome(Setting::OFF, 717.0, 1.0), outcome(chain(1), 688.0, 0.96)],
        },
        Cell {
            batch: 128,
            context: 2048,
            refused: Some("262144 tokens of KV cache, room for 224340".to_owned()),
            tried: Vec::new(),
        },
    ];
    let side = |setting, throughput: f64, replicas| Side {
        batch: 64,
        setting,
        throughput: TokensPerSecond::new(throughput),
        per_token: Seconds::from_ms(89.3),
        replicas,
        gpus: replicas * 8,
    };
    let fleet = Fleet {
        context: 2048,
        load: TokensPerSecond::new(5000.0),
        off: Some(side(Setting::OFF, 717.0, 7)),
        tuned: Some(side(chain(3), 900.0, 6)),
        saved_range: Some((0, 16)),
    };
    Plan {
        cells,
        fixed: vec![Fixed { context: 2048, setting: chain(3), mean_gain: 1.1, worst: (64, 0.93) }],
        fleets: vec![fleet],
        goal: Goal { objective: Objective::Goodput, slo: Some(Seconds::from_ms(100.0)), load: None },
        methods: vec![Method::Eagle3],
        priced: 5,
        possible: 9,
        carried: vec![Carried { part: "verify", ratios: vec![(1, 2.08), (8, 1.95)], eager: false }],
        as_modelled: false,
        assumed: vec!["the accept length was stated for 3 drafted tokens".to_owned()],
        measure: vec!["On or off is not settled at batch 64: run both.".to_owned()],
    }
}

fn pastes() -> Vec<Paste> {
    vec![Paste {
        title: "One server for batch 1 to 64".to_owned(),
        lines: vec!["vllm serve MODEL_PATH \\".to_owned(), "  --max-num-seqs 64".to_owned()],
        notes: vec!["Mean gain 1.10x.".to_owned()],
    }]
}

fn context() -> Context {
    Context {
        tool_version: "0.0.0".to_owned(),
        seed: 0,
        scenario_name: "A box".to_owned(),
        scenario_path: "box.yaml".to_owned(),
        calibration_name: Some("box".to_owned()),
        overrides: vec![("workload.context".to_owned(), "2048".to_owned())],
        plots: Vec::new(),
        uncertainty: None,
        setup_words: "a model on a box".to_owned(),
    }
}

#[test]
fn text_of_a_plan() {
    assert_snapshot!(tune_text(&plan(), &pastes(), &context(), &Style { color: false, width: 80 }));
}

#[test]
fn markdown_of_a_plan() {
    assert_snapshot!(tune_markdown(&plan(), &pastes(), &context()));
}

#[test]
fn csv_of_a_plan() {
    assert_snapshot!(tune_csv(&plan(), &context()));
}

#[test]
fn json_of_a_plan() {
    let text = serde_json::to_string_pretty(&tune_json(&plan(), &pastes(), &context()))
        .expect("a JSON value prints");
    assert_snapshot!(text);
}
