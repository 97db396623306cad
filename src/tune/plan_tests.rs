use super::*;
use crate::scenario::ModelledSetup;
use crate::tune::testing::{candidate, point, setup};
use crate::tune::{Beyond, Objective};

const K26: &str = "kimi-k2.6-eagle3-k3-8x-rtx-pro-6000.yaml";
const BY_RATE: Goal = Goal { objective: Objective::Throughput, slo: None, load: None };

fn space(batches: &[u32], steps: &[u32]) -> Space {
    Space { batches: batches.to_vec(), steps: steps.to_vec(), beyond: Beyond::Law, ..Space::default() }
}

fn on(cell: &Cell) -> bool {
    cell.best().expect("priced").setting.draft.is_some()
}

/// The crossover vector of a step time with cliffs: T(1 2 4 8 16 32 64 128) = 10 11 12 14 30 36 46 66 ms, three drafted
/// tokens, accept length 2.4, drafting 2 ms; a verify of B requests costs a step of 4B.
#[test]
fn a_curve_that_crosses_three_times_is_followed() {
    let setup = setup(K26, &["speculation.acceptance.accept_length=2.4"]);
    let step = |batch: u32| match batch {
        1 => 10.0,
        2 => 11.0,
        4 => 12.0,
        8 => 14.0,
        16 => 30.0,
        32 => 36.0,
        64 => 46.0,
        128 => 66.0,
        other => panic!("{other}"),
    };
    let price = |s: &ModelledSetup| point(s, step(s.common.batch), step(4 * s.common.batch) + 2.0);
    let plan = plan(
        &[candidate(&setup, &price)],
        &space(&[1, 2, 4, 8, 16, 32], &[3]),
        BY_RATE,
        Strategy::Exhaustive,
    );
    let expected = [1.714, 1.650, 0.900, 0.884, 1.500, 1.271];
    for (cell, gain) in plan.cells.iter().zip(expected) {
        assert!((cell.on().expect("priced").gain - gain).abs() < 5e-4, "batch {}", cell.batch);
        assert_eq!(on(cell), gain > 1.0, "batch {}", cell.batch);
    }
}

#[test]
fn longer_chains_win_on_known_acceptance_or_on_request_only() {
    let flat = |s: &ModelledSetup| point(s, 10.0, 10.0 + 0.1 * f64::from(s.common.steps));
    let best = |setup: &ModelledSetup, beyond| {
        let space = Space { beyond, ..space(&[1], &[1, 2, 3, 4, 5, 6]) };
        let plan = plan(&[candidate(setup, &flat)], &space, BY_RATE, Strategy::Exhaustive);
        plan.cells[0].best().expect("priced").clone()
    };
    let stated = setup(K26, &[]);
    assert_eq!(best(&stated, Beyond::Least).setting.depth(), 3);
    let deep = best(&stated, Beyond::Law);
    assert!(deep.setting.depth() > 3 && deep.accept.expect("known").assumed.is_some());
    let known = setup(K26, &["speculation.acceptance={cumulative: [0.7, 0.6, 0.5, 0.45, 0.4]}"]);
    let five = best(&known, Beyond::Least);
    assert_eq!(five.setting.depth(), 5);
    assert!((five.gain_low - five.gain_high).abs() < 1e-12);
}

#[test]
fn pruning_changes_no_choice() {
    let tree = setup(
        "kimi-k2.5-eagle3-8x-rtx-pro-6000-graph-verify.yaml",
        &["speculation.acceptance={tree: {ranks: [0.6, 0.15, 0.05]}}"],
    );
    let space = Space {
        topk: vec![1, 2, 4],
        draft_tokens: vec![4, 6, 8, 12, 16],
        ..space(&[1, 2, 4, 8, 16, 32, 64], &[1, 2, 3, 4, 5, 6, 7])
    };
    for per_row in [0.01, 0.1, 0.5, 2.0] {
        let price = |s: &ModelledSetup| {
            let rows = f64::from(s.common.batch * s.common.draft_tokens);
            point(
                s,
                10.0 + 0.2 * per_row * f64::from(s.common.batch),
                11.0 + per_row * rows.sqrt() + 0.3 * f64::from(s.common.steps),
            )
        };
        let plans = [Strategy::Exhaustive, Strategy::Pruned]
            .map(|strategy| plan(&[candidate(&tree, &price)], &space, BY_RATE, strategy));
        for (all, pruned) in plans[0].cells.iter().zip(&plans[1].cells) {
            assert_eq!(all.best(), pruned.best());
            assert_eq!(all.on(), pruned.on());
        }
        assert!(plans[1].priced < plans[0].priced);
        assert_eq!(plans[0].priced, plans[0].possible);
    }
}

#[test]
fn goodput_takes_the_best_of_what_keeps_the_limit() {
    let setup = setup(K26, &[]);
    // Off is faster per request below batch 8; speculation has more throughput at 8.
    let price = |s: &ModelledSetup| {
        point(s, 10.0 + f64::from(s.common.batch), 28.0 + 2.0 * f64::from(s.common.batch))
    };
    let at = |slo: f64| {
        let goal = Goal {
            objective: Objective::Goodput,
            slo: Some(Seconds::from_ms(slo)),
            load: Some(TokensPerSecond::new(3000.0)),
        };
        plan(&[candidate(&setup, &price)], &space(&[1, 8, 16], &[3]), goal, Strategy::Exhaustive)
    };
    let plan = at(20.5);
    let last = &plan.cells[2];
    assert!(last.tried.iter().all(|o| !o.keeps_slo), "nothing keeps it at batch 16");
    let fleet = &plan.fleets[0];
    let off = fleet.off.expect("batch 8 keeps it");
    // Batch sizes between those asked for count: 10 / 20 ms = 500 tok/s, 6 replicas of 8 GPUs.
    assert_eq!((off.batch, off.replicas, off.gpus), (10, 6, 48));
    assert_eq!(fleet.saved(), Some(i64::from(off.gpus) - i64::from(fleet.tuned.expect("too").gpus)));
    let none = at(1.0);
    assert_eq!((none.fleets[0].off, none.fleets[0].tuned, none.fleets[0].saved()), (None, None, None));
}

#[test]
fn what_does_not_fit_is_a_cell_with_its_reason() {
    let setup = setup(K26, &[]);
    let price = |s: &ModelledSetup| point(s, 10.0, 15.0);
    let refuse = |s: &ModelledSetup| (s.common.batch > 4).then(|| "too large".to_owned());
    let candidate = Candidate { refuse: &refuse, ..candidate(&setup, &price) };
    let plan = plan(&[candidate], &space(&[4, 8], &[3]), BY_RATE, Strategy::Exhaustive);
    assert!(plan.cells[0].best().is_some());
    assert_eq!(plan.cells[1].refused.as_deref(), Some("too large"));
    assert_eq!(plan.fixed[0].worst.0, 4);
}

#[test]
fn one_setting_for_all_batch_sizes_is_the_one_with_the_best_mean() {
    let setup = setup(K26, &[]);
    let price = |s: &ModelledSetup| {
        let cost = if s.common.batch == 1 { 0.2 } else { 6.0 };
        point(s, 10.0, 10.0 + cost * f64::from(s.common.steps))
    };
    let plan = plan(&[candidate(&setup, &price)], &space(&[1, 64], &[1, 3]), BY_RATE, Strategy::Exhaustive);
    let fixed = &plan.fixed[0];
    let mean = |depth: u32| {
        let gain = |cell: &Cell| cell.tried.iter().find(|o| o.setting.depth() == depth).expect("tried").gain;
        (gain(&plan.cells[0]) * gain(&plan.cells[1])).sqrt()
    };
    assert!((fixed.mean_gain - mean(fixed.setting.depth())).abs() < 1e-12);
    assert!([0, 1, 3].into_iter().all(|depth| mean(depth) <= fixed.mean_gain + 1e-12));
}
