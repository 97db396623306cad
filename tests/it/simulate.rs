//! `specplan simulate` as people call it: contract of the JSON, what stands beside, files, exit codes, determinism.

use std::process::{Command, Output};

use serde_json::Value;

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";
const SERVING: &str = "scenarios/serving-kimi-k2.5-8x-rtx-pro-6000.yaml";
/// Few requests, since the program under test is not optimised.
const FEW: &str = "simulation.serving.arrivals.requests=40";

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("CLICOLOR_FORCE").arg("simulate").args(args);
    command
}

fn simulate(args: &[&str]) -> Output {
    command(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[track_caller]
fn answered(args: &[&str]) -> String {
    let output = simulate(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&answered(&[args, &["-q", "-f", "json"]].concat())).expect("JSON")
}

#[track_caller]
fn number(value: &Value, path: &str) -> f64 {
    let pointer = format!("/{}", path.replace('.', "/"));
    let found = value.pointer(&pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {path}: {value}"))
}

// ------------------------------------------------------------------------------------------------- machine

#[test]
fn the_json_of_the_machine_has_the_fields_of_its_contract() {
    let answer = json(&[REFERENCE, "--runs", "40"]);
    assert_eq!(answer["mode"], "machine");
    for time in ["decode_ms", "verify_ms", "cycle_ms"] {
        for statistic in ["mean", "p10", "p50", "p90", "p99", "closed_form"] {
            assert!(number(&answer, &format!("{time}.{statistic}")) > 0.0);
        }
    }
    let ranks = answer["ranks"].as_array().expect("a list");
    assert_eq!(ranks.len(), 8);
    for (at, rank) in ranks.iter().enumerate() {
        assert_eq!(rank["rank"], at);
        assert!(number(rank, "allreduce_booked_ms") >= number(rank, "allreduce_true_ms"));
        assert!(number(rank, "booked_over_true") >= 1.0);
    }
    let least = number(&answer, "allreduce.least_ms.mean");
    assert!((least / number(&answer, "allreduce.true_ms.mean") - 1.0).abs() < 0.02, "{least}");
    assert!((0.0..=1.0).contains(&number(&answer, "utilisation.host")));
    assert!(number(&answer, "events") > 10_000.0);
    assert!(answer["critical_path"].as_str().is_some_and(|path| path.contains("host issue")));
}

/// 30 ms of verify and 25 ms of all-reduce were observed, at 60 tok/s against 82: none of them enters, all stand beside.
#[test]
fn what_was_observed_stands_beside_with_its_place_in_the_distribution() {
    let answer = json(&[REFERENCE]);
    let verify = &answer["verify_ms"];
    assert!((number(verify, "observed.value") - 30.0).abs() < 1e-9);
    assert!((10.0..90.0).contains(&number(verify, "observed.percentile")), "{verify}");
    assert!(number(verify, "p10") < 30.0 && 30.0 < number(verify, "p90"));
    assert!((number(&answer, "cycle_ms.observed.value") - 100.0 / 3.0).abs() < 1e-6);
    assert!((number(&answer, "decode_ms.observed.value") - 1000.0 / 82.0).abs() < 1e-6);
    assert!((number(&answer, "allreduce.booked_ms.observed.value") - 25.0).abs() < 1e-9);
    assert!(number(&answer, "allreduce.booked_over_true.p50") >= 2.5);
    let bare = json(&[REFERENCE, "--unset", "speculation.verify.observed"]);
    assert_eq!(bare["verify_ms"]["observed"], Value::Null);
    assert_eq!(bare["verify_ms"]["mean"], verify["mean"], "no observed time enters");
}

#[test]
fn an_override_leaves_only_observations_of_passes_that_it_did_not_change() {
    let graph = json(&[REFERENCE, "--runs", "100", "--set", "speculation.verify.execution=graph"]);
    assert_eq!(graph["verify_ms"]["observed"], Value::Null);
    assert_eq!(graph["cycle_ms"]["observed"], Value::Null);
    assert!(graph["decode_ms"]["observed"].is_object());
    for statistic in ["p10", "p90"] {
        let verify = number(&graph, &format!("verify_ms.{statistic}"));
        assert!((13.5..16.5).contains(&verify), "{verify}");
    }
    assert!(number(&graph, "allreduce.booked_over_true.p90") <= 1.5);
    let runs = json(&[REFERENCE, "--set", "simulation.runs=20"]);
    assert!(runs["verify_ms"]["observed"].is_object(), "how it is simulated is no input of a pass");
}

/// The model column of `run` and the simulation without anything random.
#[test]
fn without_jitter_and_contention_simulate_is_run() {
    let still = ["--set", "simulation.host_jitter=0", "--set", "simulation.rank_speed=0"];
    for fabric in ["priced", "unshared-links"] {
        let fabric = format!("simulation.fabric={fabric}");
        let answer = json(&[&[REFERENCE, "--set", &fabric][..], &still].concat());
        assert_eq!(answer["runs"], 1);
        let run = Command::new(env!("CARGO_BIN_EXE_specplan"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["run", REFERENCE, "-q", "-f", "json"])
            .output()
            .expect("the program starts");
        let run: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        for (simulated, predicted) in [
            ("decode_ms.mean", "baseline.step_ms.predicted"),
            ("verify_ms.mean", "speculation.verify_ms.predicted"),
            ("cycle_ms.mean", "speculation.cycle_ms.predicted"),
        ] {
            let (a, b) = (number(&answer, simulated), number(&run, predicted));
            assert!((a / b - 1.0).abs() < 1e-9, "{fabric}: {simulated} {a} against {b}");
        }
        assert!((number(&answer, "allreduce.booked_over_true.p50") - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_text_says_what_was_simulated_beside_what() {
    let answer = answered(&[REFERENCE, "-q", "--runs", "60"]);
    for part in
        ["in 80 % of 60 runs", "the\nclosed form says", "30.0 ms were observed", "closed form", "Observed"]
    {
        assert!(answer.contains(part), "{part}:\n{answer}");
    }
    for part in
        ["rank 7", "booked / true", "least of the ranks, summed", "Critical path", "host issue, layers"]
    {
        assert!(answer.contains(part), "{part}:\n{answer}");
    }
    assert!(answer.lines().all(|line| line.chars().count() <= 80), "{answer}");
}

#[test]
fn a_trace_is_valid_and_has_every_rank() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let file = path.to_str().expect("UTF-8");
    answered(&[REFERENCE, "-q", "--runs", "3", "--trace", file, "--trace-run", "2"]);
    let trace: Value = serde_json::from_slice(&std::fs::read(&path).expect("written")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let threads = |name: &str| {
        events.iter().filter(|e| e["name"] == "thread_name" && e["args"]["name"] == name).count()
    };
    assert_eq!((threads("host"), threads("stream")), (8, 8));
    let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert!(slices.len() > 10_000);
    assert!(slices.iter().all(|slice| slice["dur"].as_f64().is_some_and(|dur| dur > 0.0)));
    assert!(slices.iter().any(|slice| slice["name"] == "waiting for the last rank"));
}

// ------------------------------------------------------------------------------------------------- serving

#[test]
fn the_json_of_serving_has_the_fields_of_its_contract_on_both_sides() {
    let answer = json(&[SERVING, "--set", FEW]);
    assert_eq!(answer["mode"], "serving");
    for side in [&answer, &answer["without_speculation"]] {
        assert_eq!(number(side, "requests.arrived") as u64, 40);
        assert_eq!(
            number(side, "requests.arrived") as u64,
            (number(side, "requests.completed") + number(side, "requests.rejected")) as u64
        );
        for latency in ["ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"] {
            let at = |statistic: &str| number(side, &format!("{latency}.{statistic}"));
            assert!(0.0 < at("p50") && at("p50") <= at("p90") && at("p90") <= at("p99"), "{latency}");
        }
        assert!(number(side, "throughput_tok_s") > 0.0 && number(side, "events") > 40.0);
        assert!((0.0..=1.0).contains(&number(side, "goodput.share")));
    }
    assert!((number(&answer, "accept_length") - 2.0).abs() < 0.1);
    assert!((number(&answer, "without_speculation.accept_length") - 1.0).abs() < 1e-12);
    assert!(answer["loads"].as_array().is_some_and(|loads| loads.len() >= 5));
    assert!(["wins", "loses", "ties"].contains(&answer["comparison"]["verdict"].as_str().expect("a word")));
}

/// One user after the other: the time per token is the closed form's cycle over its accept length.
#[test]
fn a_single_user_gets_the_throughput_of_run() {
    let answer = json(&[
        SERVING,
        "--set",
        "simulation.serving.arrivals.process=closed",
        "--set",
        "simulation.serving.lengths={ distribution: fixed, prompt: 1, output: 4001 }",
        "--set",
        "simulation.serving.arrivals.requests=4",
        "--set",
        "simulation.serving.max_requests=1",
        "--set",
        "workload.context=2048",
    ]);
    let run = Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", SERVING, "-q", "-f", "json"])
        .output()
        .expect("the program starts");
    let run: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    for (side, predicted) in [
        ("tpot_ms.mean", "speculation.throughput_tok_s.value"),
        ("without_speculation.tpot_ms.mean", "baseline.throughput_tok_s.value"),
    ] {
        // The mean context is about that of the scenario.
        let error = 1000.0 / number(&answer, side) / number(&run, predicted) - 1.0;
        assert!(error.abs() < 0.02, "{side}: {error}");
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    for args in [&[REFERENCE, "--runs", "24"][..], &[SERVING, "--set", FEW]] {
        let with = |threads: &str| {
            let args = [args, &["-q", "-f", "json", "--seed", "5"]].concat();
            let output =
                command(&args).env("RAYON_NUM_THREADS", threads).output().expect("the program starts");
            assert_eq!(output.status.code(), Some(0));
            output.stdout
        };
        let one = with("1");
        assert!(!one.is_empty());
        assert!(one == with("2") && one == with("4"), "{args:?}");
    }
    let other = |seed: &str| answered(&[REFERENCE, "--runs", "4", "-q", "-f", "csv", "--seed", seed]);
    assert_ne!(other("1"), other("2"));
}

#[test]
fn csv_and_markdown_are_tables() {
    for args in [&[REFERENCE, "--runs", "8"][..], &[SERVING, "--set", FEW]] {
        let csv = answered(&[args, &["-q", "-f", "csv"]].concat());
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
        assert_eq!(header, ["scenario", "mode", "quantity", "statistic", "value", "unit"]);
        assert!(reader.records().flatten().count() > 30);
        let markdown = answered(&[args, &["-q", "-f", "markdown"]].concat());
        assert!(markdown.starts_with("## Kimi-K2.5") && markdown.contains("|--:|"), "{markdown}");
    }
    let table = answered(&[SERVING, "--set", FEW, "-q"]);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn plots_of_both_modes_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().to_str().expect("UTF-8");
    let machine = json(&[REFERENCE, "--runs", "20", "--plots", to]);
    let serving = json(&[SERVING, "--set", FEW, "--plots", to]);
    for (answer, names) in [
        (machine, ["verify-distribution", "timeline"]),
        (serving, ["latency-distributions", "throughput-against-load"]),
    ] {
        assert_eq!(answer["plots"].as_array().map(Vec::len), Some(4));
        for name in names {
            let svg = std::fs::read_to_string(folder.path().join(format!("{name}.svg"))).expect("written");
            assert!(svg.contains("<svg") && !svg.contains("NaN"), "{name}");
            let png = std::fs::read(folder.path().join(format!("{name}.png"))).expect("written");
            assert_eq!(&png[1..4], b"PNG");
        }
    }
}

// ---------------------------------------------------------------------------------------------- exit codes

#[test]
fn exit_codes_tell_answers_and_bad_input_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let lost = folder.path().join("no/such/trace.json");
    let lost = lost.to_str().expect("UTF-8");
    for (args, code, says) in [
        (&[REFERENCE, "--runs", "2"][..], 0, ""),
        (&["scenarios/observed-only.yaml"], 2, "cannot be simulated: name hardware: and model:"),
        (&[REFERENCE, "--mode", "serving"], 2, "arrivals.interval` is missing"),
        (&[REFERENCE, "--runs", "0"], 2, "--runs"),
        (&[REFERENCE, "--runs", "3", "--trace", "x", "--trace-run", "3"], 2, "runs are 0 to 2"),
        (&[REFERENCE, "--trace", lost], 2, "cannot open"),
        (&[SERVING, "--trace", "x"], 2, "--mode machine"),
        (&[REFERENCE, "--set", "simulation.host_jitter=-1"], 2, "host_jitter"),
        (&[SERVING, "--set", "simulation.serving.token_budget=2"], 2, "do not fit the token budget of 2"),
        (
            &[SERVING, "--set", "simulation.serving.lengths.distribution=trace"],
            2,
            "arrivals.file` is missing",
        ),
        (&[SERVING, "--set", "simulation.serving.arrivals.file=no.csv"], 2, "cannot read scenarios/no.csv"),
        (&["no-such-file.yaml"], 2, "no-such-file.yaml"),
        (&[], 2, "FILE"),
    ] {
        let output = simulate(args);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
        assert!(errors.contains(says), "{args:?}: {errors}");
        assert_eq!(output.stdout.is_empty(), code != 0, "{args:?}");
    }
}

#[test]
fn recorded_requests_are_read_from_beside_the_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = "arrival_s,prompt_tokens,output_tokens\n0,100,20\n1,50,30\n2.5,80,10\n";
    std::fs::write(folder.path().join("requests.csv"), csv).expect("written");
    let scenario =
        std::fs::read_to_string(format!("{}/{SERVING}", env!("CARGO_MANIFEST_DIR"))).expect("there");
    let path = folder.path().join("own.yaml");
    std::fs::write(&path, scenario).expect("written");
    let set = [
        "simulation.serving.arrivals={ process: trace, file: requests.csv, requests: 3 }",
        "simulation.serving.lengths.distribution=trace",
    ];
    let answer = json(&[path.to_str().expect("UTF-8"), "--set", set[0], "--set", set[1]]);
    assert_eq!(answer["output_tokens"], 60);
}

#[test]
fn speculation_can_end_at_a_batch() {
    let passes = |most: &str| {
        let set = format!("simulation.serving.speculate_up_to={most}");
        let answer = json(&[
            SERVING,
            "--set",
            FEW,
            "--set",
            "simulation.serving.arrivals.interval=100 ms",
            "--set",
            &set,
        ]);
        let histogram = answer["accept_histogram"].as_array().expect("a list");
        histogram.iter().map(|n| n.as_u64().expect("a count")).sum::<u64>()
    };
    let (few, many) = (passes("2"), passes("40"));
    assert!(0 < few && few * 4 < many, "{few} and {many} verify passes");
}
