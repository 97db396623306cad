//! The reference case: Kimi-K2.5 with EAGLE-3 on eight RTX PRO 6000, eager verify. The arithmetic of the observed
//! numbers is exact; the model alone must land where the public measurements of such boxes lie.

use specplan::analytic::{BreakEven, Prediction, Verdict};
use specplan::evaluate;
use specplan::scenario::{self, Builtin, Overrides, Setup};

fn path(name: &str) -> String {
    format!("{}/scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

const REFERENCE: &str = "kimi-k2.5-eagle3-8x-rtx-pro-6000";

fn answer(name: &str, set: &[&str], unset: &[&str]) -> Prediction {
    let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    let overrides = Overrides { set: own(set), unset: own(unset) };
    let (_, loaded) = scenario::open(path(name), &overrides, &Builtin).unwrap_or_else(|e| panic!("{e:?}"));
    evaluate::answer(&loaded)
}

const MODEL_ALONE: [&str; 3] = ["baseline.observed", "speculation.observed", "speculation.verify.observed"];

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

fn reached<T: Copy>(needed: &BreakEven<T>) -> (T, T) {
    match needed {
        BreakEven::Reached { value: Some(value), draft_free: Some(free) } => (*value, *free),
        _ => panic!("reached with and without drafting"),
    }
}

#[test]
fn observed_numbers_give_the_quoted_arithmetic() {
    let p = answer(REFERENCE, &[], &[]);
    assert_eq!(p.verdict, Verdict::Loses);
    near(p.speedup.used.value, 0.732, 0.003);
    near(p.speculation.cycle.used.value.ms(), 33.33, 0.05);
    near(p.speculation.draft_host.used.value.ms(), 3.33, 0.05);
    let (length, free) = reached(&p.break_even.accept_length.needed);
    near(length.get(), 2.733, 0.001);
    near(free.get(), 2.46, 0.001);
    let (verify, free) = reached(&p.break_even.verify.needed);
    near(verify.ms(), 21.06, 0.01);
    near(free.ms(), 24.39, 0.01);
    let (each, free) = reached(&p.break_even.allreduce.as_ref().expect("counted").needed);
    near(each.us(), 131.6, 0.1);
    near(free.us(), 158.9, 0.1);
    let BreakEven::Unreachable { because } = &p.break_even.draft_host.needed else { panic!("unreachable") };
    assert_eq!(because, "verify alone > 24.4 ms");
}

#[test]
fn what_ifs_keep_drafting_and_predict_only_what_changed() {
    let p = answer(REFERENCE, &[], &[]);
    let what_if = |name: &str| p.what_ifs.iter().find(|w| w.name == name).expect("listed");
    let given = what_if("verify takes 15 ms");
    near(given.throughput.get(), 109.0, 1.0);
    assert!(given.predicted_parts.is_empty(), "nothing needed predicting");
    let graph = what_if("verify inside a CUDA graph");
    assert_eq!(graph.predicted_parts, ["verify"]);
    assert_eq!(graph.verdict, Verdict::Wins);
}

#[test]
fn the_command_line_varies_the_same_way_as_a_what_if() {
    let set = answer(REFERENCE, &["speculation.verify.time=15 ms"], &[]);
    near(set.speculation.throughput.used.value.get(), 109.09, 0.01);
    near(set.baseline.throughput.used.value.get(), 82.0, 1e-9);
}

#[test]
fn the_model_alone_lands_in_the_public_ranges() {
    let p = answer(REFERENCE, &[], &MODEL_ALONE);
    let step = p.baseline.step.used.value.ms();
    assert!((10.5..=13.0).contains(&step), "baseline step {step} ms");
    let eager = p.speculation.verify.used;
    let spread = eager.spread.expect("the runtime profile has a range");
    assert!(spread.low.ms() <= 30.0 && 30.0 <= spread.high.ms(), "{spread:?}");
    let graph = answer(REFERENCE, &["speculation.verify.execution=graph"], &MODEL_ALONE);
    let graph = graph.speculation.verify.used.value.ms();
    assert!((13.5..=16.5).contains(&graph), "verify in a graph {graph} ms");
    assert!(eager.value.ms() >= 1.5 * graph, "eager {} ms, graph {graph} ms", eager.value.ms());
    let finding =
        p.diagnosis.iter().find(|f| f.code == "host-bound-verify").expect("the host is the longer clock");
    assert!(finding.message.contains("host-bound"));
}

#[test]
fn the_diagnosis_names_the_host_and_rejects_25_ms_of_transfer() {
    let p = answer(REFERENCE, &[], &[]);
    let finding = &p.diagnosis[0];
    assert_eq!(finding.code, "host-bound-verify");
    assert!(finding.message.contains("205 µs each"), "{}", finding.message);
    assert!(finding.message.contains("of the 25.0 ms is transfer"), "{}", finding.message);
    assert!(finding.settle.iter().any(|s| s.contains("all_reduce_perf -b 14336 -e 43008")));
    assert!(p.diagnosis.iter().all(|f| f.code == "verify-is-not-the-cycle" || !f.settle.is_empty()));
}

/// Every break-even, put in, gives speedup 1, on every shipped scenario that has one.
#[test]
fn break_evens_round_trip() {
    let folder = format!("{}/scenarios", env!("CARGO_MANIFEST_DIR"));
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).expect("scenarios/ exists") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|e| e != "yaml") {
            continue;
        }
        let name = path.file_stem().expect("named").to_str().expect("UTF-8").to_owned();
        let p = answer(&name, &[], &[]);
        let mut sets = Vec::new();
        if let BreakEven::Reached { value: Some(v), .. } = p.break_even.accept_length.needed {
            sets.push(vec![format!("speculation.acceptance.accept_length={:.17}", v.get())]);
        }
        if let BreakEven::Reached { value: Some(v), .. } = p.break_even.verify.needed {
            sets.push(vec![format!("speculation.verify.time={:.17e} s", v.get())]);
        }
        if let Some(lever) = &p.break_even.allreduce
            && let BreakEven::Reached { value: Some(v), .. } = lever.needed
        {
            sets.push(vec![format!("speculation.verify.allreduce.time={:.17e} s", v.get())]);
        }
        if let BreakEven::Reached { value: Some(v), .. } = p.break_even.draft_host.needed {
            sets.push(vec![
                format!("speculation.draft_pass.time={:.17e} s", v.get()),
                "speculation.host.time=1e-12 s".to_owned(),
            ]);
        }
        for set in sets {
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let there = answer(&name, &set, &[]);
            near(there.speedup.used.value, 1.0, 1e-9);
            tried += 1;
        }
    }
    assert!(tried >= 30, "{tried} break-evens tried");
}

#[test]
fn observed_numbers_alone_are_answered_by_arithmetic() {
    let p = answer("observed-only", &[], &[]);
    near(p.speedup.used.value, 0.732, 0.003);
    assert!(p.speedup.predicted.is_none());
    let (_, loaded) = scenario::open(path("observed-only"), &Overrides::default(), &Builtin).expect("sound");
    assert!(matches!(loaded.base, Setup::Observed(_)));
}
