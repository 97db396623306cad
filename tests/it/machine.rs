//! What the simulated machine must show: about the reference case, about its measured twin, and for any seed.

use std::collections::BTreeMap;
use std::path::Path;

use super::agreement::{open, reference};
use specplan::evaluate;
use specplan::machine::{Fabric, MachineConfig, MachineResult, Trace, Track, simulate, trace};
use specplan::scenario::ModelledSetup;

fn verify_in(execution: &str, change: impl FnOnce(&mut MachineConfig)) -> MachineResult {
    let (cycle, hardware, runtime) = reference(&[&format!("speculation.verify.execution={execution}")]);
    let mut config = MachineConfig::of(&runtime);
    change(&mut config);
    simulate(&cycle, &hardware, &config)
}

/// 30 ms were observed; runs and host profiles spread around the model's own figure.
#[test]
fn the_observed_verify_time_lies_within_the_spread() {
    let verify = verify_in("eager", |_| {}).verify_ms;
    assert!(verify.p10() < 30.0 && 30.0 < verify.p90(), "{} to {}", verify.p10(), verify.p90());
}

/// What a profiler books as all-reduce is mostly waiting, once hosts differ.
#[test]
fn booked_allreduce_time_rises_with_jitter_and_true_time_does_not() {
    let at = |factor: f64| {
        let result = verify_in("eager", |config| {
            config.host_jitter *= factor;
            config.rank_speed *= factor;
            config.runs = 200;
            config.profile = None;
        });
        (result.verify.booked_over_true.p50(), result.verify.true_ms.mean())
    };
    let still = at(0.0);
    assert!((still.0 - 1.0).abs() < 1e-12);
    let (mut before, default) = (still.0, at(1.0));
    for factor in [0.1, 0.3, 1.0] {
        let (ratio, truly) = at(factor);
        assert!(ratio > before, "{ratio} after {before}");
        assert!((truly - still.1).abs() < 1e-9);
        before = ratio;
    }
    assert!(default.0 >= 2.5, "{}", default.0);
}

#[test]
fn the_critical_path_of_an_eager_pass_is_a_host() {
    let verify = verify_in("eager", |config| config.runs = 100).verify;
    assert!(verify.host_share > 0.9, "{}", verify.host_share);
    let words = verify.critical_path.to_string();
    assert!(words.contains("'s host issue, layers 1 to 6"), "{words}");
}

#[test]
fn a_graph_takes_what_the_gpus_need() {
    let result = verify_in("graph", |_| {});
    let verify = &result.verify_ms;
    assert!(verify.p10() > 13.5 && verify.p90() < 16.5, "{} to {}", verify.p10(), verify.p90());
    assert!(result.verify.booked_over_true.p90() < 1.5);
    assert!(result.verify.critical_path.to_string().contains("graph launch"));
}

// ------------------------------------------------------------------------------------------------ the twin

/// Two H200 with P2P off, 61 thin layers, PyTorch (docs/explanation/two-clocks.md).
fn twin(execution: &str) -> ModelledSetup {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/validation/data/thin-61.json");
    let text = format!(
        "name: twin\nhardware: h200-x2-shm\ncalibration: h200-x2-shm\nmodel: {}\nruntime: pytorch\n\
         parallel: {{ tensor: 2 }}\nworkload: {{ batch: 1, context: 2048 }}\n\
         baseline: {{ execution: {execution} }}\n\
         speculation:\n  method: ngram\n  draft_tokens: 3\n  acceptance: {{ accept_length: 1.5 }}\n  \
         verify: {{ execution: {execution} }}\n",
        model.display()
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("twin.yaml");
    std::fs::write(&path, text).expect("it can be written");
    open(&path, &[])
}

/// The profile of the twin: the least over ranks is the same in eager mode and in a graph, and is what the links need;
/// what the early rank books is how far the other host is behind.
#[test]
fn the_profile_of_two_gpus_is_reproduced_in_kind() {
    let run = |execution: &str, factors: Vec<f64>| {
        let setup = twin(execution);
        let config = MachineConfig { host_factors: factors, runs: 100, ..MachineConfig::of(&setup.runtime) };
        simulate(&evaluate::cycle(&setup), &setup.hardware, &config)
    };
    let graph = run("graph", Vec::new());
    let eager = run("eager", Vec::new());
    // A profiler slows hosts down, and not alike: walls of 65 to 230 ms against 27 to 35.
    let profiled = run("eager", vec![2.5, 7.0]);
    let least = |result: &MachineResult| result.decode.least_ms.mean();
    for result in [&graph, &eager, &profiled] {
        assert!((1.4..2.2).contains(&least(result)), "{} ms", least(result));
        assert_eq!(result.decode.allreduces, 122);
    }
    assert!((least(&graph) / least(&eager) - 1.0).abs() < 0.15, "{} {}", least(&graph), least(&eager));
    let booked: Vec<f64> = profiled.decode.ranks.iter().map(|rank| rank.booked_ms).collect();
    assert!((65.0..230.0).contains(&profiled.decode_ms.mean()), "wall {}", profiled.decode_ms.mean());
    assert!((76.0..219.0).contains(&booked[0]), "the early rank books {} ms", booked[0]);
    assert!(booked[1] < 1.2 * least(&profiled), "the late rank books {} ms", booked[1]);
    assert!(graph.decode.ranks.iter().all(|rank| rank.booked_ms < 1.2 * least(&graph)));
}

// ------------------------------------------------------------------------------------------- determinism

#[test]
fn the_same_seed_gives_the_same_result_for_any_number_of_threads() {
    let (cycle, hardware, runtime) = reference(&[]);
    let config = MachineConfig { runs: 64, seed: 7, ..MachineConfig::of(&runtime) };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| simulate(&cycle, &hardware, &config))
    };
    let one = with(1);
    for threads in [2, 4] {
        assert_eq!(one, with(threads), "{threads} threads");
    }
    let other = simulate(&cycle, &hardware, &MachineConfig { seed: 8, ..config.clone() });
    assert!((one.verify_ms.mean() - other.verify_ms.mean()).abs() > 0.0);
}

/// Runs are independent of their number: the first runs of many are the runs of few.
#[test]
fn more_runs_change_no_earlier_run() {
    let (cycle, hardware, runtime) = reference(&[]);
    let of =
        |runs| simulate(&cycle, &hardware, &MachineConfig { runs, ..MachineConfig::of(&runtime) }).verify_ms;
    let (few, many) = (of(5), of(20));
    assert!(few.values().iter().all(|value| many.values().contains(value)));
}

// ------------------------------------------------------------------------------------------------- trace

fn traced(fabric: Fabric, execution: &str) -> (Trace, MachineResult) {
    let (cycle, hardware, runtime) = reference(&[&format!("speculation.verify.execution={execution}")]);
    let config = MachineConfig { fabric, runs: 1, ..MachineConfig::of(&runtime) };
    (trace(&cycle, &hardware, &config, 0), simulate(&cycle, &hardware, &config))
}

#[test]
fn a_trace_shows_the_run_that_was_simulated() {
    for execution in ["graph", "eager"] {
        for fabric in [Fabric::Priced, Fabric::Links { contention: true, anchored: true }] {
            let (trace, result) = traced(fabric, execution);
            let end = trace.spans.iter().map(|span| span.end.ms()).fold(0.0, f64::max);
            assert!((end - result.cycle_ms.mean()).abs() < 1e-9, "{end} against {}", result.cycle_ms.mean());
        }
    }
}

#[test]
fn a_chrome_trace_is_valid_and_its_slices_nest() {
    for fabric in [Fabric::Priced, Fabric::Links { contention: true, anchored: true }] {
        let (trace, _) = traced(fabric, "eager");
        let mut bytes = Vec::new();
        trace.write_chrome(&mut bytes).expect("memory can be written");
        let json: serde_json::Value = serde_json::from_slice(&bytes).expect("valid JSON");
        let events = json["traceEvents"].as_array().expect("an array of events");
        let mut names = BTreeMap::new();
        let mut open: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
        for event in events {
            let id = |key: &str| event[key].as_u64().expect("a number");
            let track = (id("pid"), id("tid"));
            match event["ph"].as_str().expect("a phase") {
                "M" => {
                    if event["name"] == "thread_name" {
                        names.insert(track, event["args"]["name"].as_str().expect("a name").to_owned());
                    }
                }
                "X" => {
                    let (start, length) =
                        (event["ts"].as_f64().expect("µs"), event["dur"].as_f64().expect("µs"));
                    assert!(names.contains_key(&track), "tracks are named before they are used");
                    assert!(start >= 0.0 && length > 0.0);
                    let stack = open.entry(track).or_default();
                    // To half a picosecond, the resolution of the numbers.
                    while stack.last().is_some_and(|end| *end <= start + 5e-7) {
                        stack.pop();
                    }
                    let inside = stack.last().is_none_or(|end| start + length <= end + 5e-7);
                    assert!(inside, "{event} overlaps another on its track");
                    stack.push(start + length);
                }
                other => panic!("phase {other}"),
            }
        }
        let named = |name: &str| names.values().filter(|n| n.as_str() == name).count();
        assert_eq!((named("host"), named("stream")), (8, 8));
        let links = trace.spans.iter().filter(|s| matches!(s.track, Track::Link(_))).count();
        assert!(links > 100, "{links} slices on links");
        assert!(named("GPU 0 out") == usize::from(fabric != Fabric::Priced));
    }
}
