//! Server logs and statistics as a user imports them: published samples give their published numbers.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const FOLDER: &str = "tests/fixtures/import/serving/";

fn specplan(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("CLICOLOR_FORCE");
    command.args(args).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn json(files: &[&str]) -> Value {
    let paths: Vec<String> = files.iter().map(|file| format!("{FOLDER}{file}")).collect();
    let mut args = vec!["import", "-q", "-f", "json"];
    args.extend(paths.iter().map(String::as_str));
    serde_json::from_str(&stdout(&specplan(&args))).expect("JSON")
}

#[track_caller]
fn near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[test]
fn sglang_samples_of_three_ages() {
    let early = json(&["sglang-mid-2025.log"]);
    assert_eq!(early["kind"], "sglang-log");
    near(&early["step_ms"]["value"], 10.25, 0.005);
    assert!(early["accept_length"].is_null());

    let four = json(&["sglang-0.5.3.log"]);
    assert_eq!((&four["read"], &four["skipped"]), (&4.into(), &0.into()));
    near(&four["accept_length"]["value"], 1.90, 1e-9);
    // Median of the three whose batch ran before too: 10.88, 10.86, 10.87.
    near(&four["cycle_ms"]["value"], 10.87, 0.005);
    let (low, high) = (&four["cycle_ms"]["low"], &four["cycle_ms"]["high"]);
    assert!(high.as_f64().unwrap() / low.as_f64().unwrap() < 1.004, "within 0.4 %: {low} {high}");
    assert_eq!(four["accept_rate"][0]["definition"]["length-over-rows"]["rows"], 4);
    assert_eq!(four["drafted_tokens"], 3);

    let new = json(&["sglang-2026.log"]);
    near(&new["cycle_ms"]["value"], 48.9, 0.05);
    assert_eq!(new["batch"], 48);
    assert_eq!(new["accept_rate"][0]["definition"]["drafts-over-drafted"]["rows"], 4);
}

#[test]
fn a_log_with_both_runs_tells_the_break_even() {
    let both = json(&["sglang-two-runs.log"]);
    assert_eq!((&both["runs"], &both["skipped"]), (&2.into(), &1.into()));
    assert_eq!(both["files"][0]["warnings"]["repeated"]["count"], 42, "six lines, each by seven other ranks");
    near(&both["baseline_throughput_tok_s"]["value"], 84.0, 1.0);
    near(&both["throughput_tok_s"]["value"], 64.0, 1.0);
    near(&both["cycle_ms"]["value"], 2035.0 / 64.0, 0.5);
    let observed = both["observed"].as_str().expect("a block");
    assert!(observed.contains("draft_tokens: 3") && observed.contains("throughput: \"84.00 tok/s +- "));
    assert!(observed.contains("baseline:\n  execution: graph\n"), "{observed}");
    assert!(observed.contains("  verify: { execution: eager }\n"), "{observed}");
}

#[test]
fn vllm_samples_of_every_version() {
    let all = json(&["vllm-every-version.log"]);
    assert_eq!((&all["kind"], &all["read"], &all["skipped"]), (&"vllm-log".into(), &4.into(), &0.into()));
    assert_eq!(all["histogram"], serde_json::json!([59 + 49, 24 + 96, 12 + 88, 34 + 64]));
    // V0's 13429 drafts of 34244 tokens, and the two of V1.
    near(
        &all["accept_length"]["value"],
        (34244.0 + 129.0 + 150.0 + 297.0 + 464.0) / (13429.0 + 129.0 + 297.0),
        1e-9,
    );

    let paired = json(&["vllm-v1.log"]);
    near(&paired["cycle_ms"]["value"], 33.7, 0.05);
    near(&paired["accept_length"]["value"], 2.562, 5e-4);
    for (value, printed) in paired["cumulative"].as_array().expect("a list").iter().zip([0.835, 0.512, 0.215])
    {
        near(value, printed, 5e-4);
    }
    assert_eq!(paired["accepted"], 464);
}

#[test]
fn counters_gauges_statistics_and_answers() {
    let dumps = json(&["vllm-metrics-1.prom", "vllm-metrics-2.prom"]);
    assert_eq!((&dumps["kind"], &dumps["drafts"]), (&"prometheus".into(), &297.into()));
    near(&dumps["accept_length"]["value"], 1.0 + 464.0 / 297.0, 1e-9);
    let one = specplan(&["import", &format!("{FOLDER}vllm-metrics-1.prom")]);
    assert!(String::from_utf8_lossy(&one.stderr).contains("since the start of the server"));
    assert!(stdout(&one).contains("100 drafts"));
    near(&json(&["sglang.prom"])["cycle_ms"]["value"], 49.5, 0.05);
    let iterations = json(&["tensorrt-llm.jsonl"]);
    near(&iterations["cycle_ms"]["value"], 31.1, 1e-9);
    near(&iterations["accept_length"]["value"], 2.5, 1e-9);
    assert_eq!(iterations["drafted_tokens"], 3);
    let llama = json(&["llama-cpp.log"]);
    near(&llama["accept_length"]["value"], 2.92, 0.005);
    assert_eq!((&llama["drafts"], &llama["accepted"]), (&87.into(), &167.into()));
    assert!(llama["facts"][0]["value"].as_str().expect("text").starts_with("3.742 ms"));
    let answers = json(&["sglang-answers.jsonl"]);
    assert_eq!(answers["histogram"], serde_json::json!([20, 35, 10, 25]));
}

#[test]
fn the_acceptance_file_is_read_by_a_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for (log, length) in [("vllm-v1.log", 2.5623), ("sglang-two-runs.log", 2.035)] {
        let imported = specplan(&["import", "-q", &format!("{FOLDER}{log}"), "-o", &at("acceptance.yaml")]);
        assert_eq!(stdout(&imported), "");
        let steps = if log.starts_with("vllm") { 3 } else { 2 };
        let scenario = format!(
            "baseline:\n  observed: {{ throughput: 84 tok/s }}\nspeculation:\n  draft_tokens: {}\n  acceptance: {{ file: \
             acceptance.yaml }}\n  observed: {{ throughput: 64 tok/s }}\n",
            steps + 1
        );
        std::fs::write(at("scenario.yaml"), scenario).expect("written");
        let run = specplan(&["run", "-q", "-f", "json", &at("scenario.yaml")]);
        let result: Value = serde_json::from_str(&stdout(&run)).expect("JSON");
        near(&result["speculation"]["accept_length"]["value"], length, 1e-4);
    }
    // The file names itself as a scenario beside it would, `check` knows it, and its keys make a scenario.
    let own = specplan(&["import", "-q", &format!("{FOLDER}sglang-two-runs.log"), "-o", &at("own.yaml")]);
    assert_eq!(stdout(&own), "");
    let text = std::fs::read_to_string(at("own.yaml")).expect("the file");
    let keys = text.split_once("\nscenario:\n").expect("keys").1.replace("\n  ", "\n");
    assert!(keys.contains("acceptance: { file: own.yaml }"), "{keys}");
    std::fs::write(at("keys.yaml"), keys.trim_start()).expect("written");
    let checked = stdout(&specplan(&["check", &at("own.yaml"), &at("keys.yaml")]));
    assert!(
        checked.contains("own.yaml: sound (acceptance)") && checked.contains("keys.yaml: sound (scenario)")
    );
    std::fs::write(at("wrong.yaml"), "acceptance: { accept_lenght: 2 }\nimportd: 1\n").expect("written");
    let wrong = specplan(&["check", &at("wrong.yaml")]);
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert!(said.contains("unknown key `importd`") && said.contains("accept_lenght"), "{said}");
    // Without acceptance there is no such file, and the reason is told.
    let plain = specplan(&["import", &format!("{FOLDER}sglang-mid-2025.log"), "-o", &at("none.yaml")]);
    assert_eq!(plain.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&plain.stderr).contains("no acceptance"));
    assert!(!Path::new(&at("none.yaml")).exists());
}

#[test]
fn reports_stay_within_80_columns_and_are_the_same_each_time() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let path = format!("{FOLDER}{name}");
        let text = stdout(&specplan(&["import", &path, "-q"]));
        for line in text.lines().filter(|line| !line.contains(FOLDER)) {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
        for format in ["text", "json", "csv", "markdown"] {
            let once = stdout(&specplan(&["import", &path, "-q", "-f", format]));
            assert_eq!(once, stdout(&specplan(&["import", &path, "-q", "-f", format])));
        }
    }
}
