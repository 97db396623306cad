//! `run --monte-carlo` as a user meets it.

use std::process::{Command, Output};

const GRAPH: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000-graph-verify.yaml";
const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";

fn specplan(args: &[&str], threads: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RAYON_NUM_THREADS", threads)
        .env_remove("CLICOLOR_FORCE")
        .args(args)
        .output()
        .expect("the program starts")
}

fn text(args: &[&str]) -> String {
    let output = specplan(args, "2");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn one_two_and_four_threads_give_the_same_bytes() {
    for format in ["text", "json"] {
        let args = ["run", GRAPH, "-q", "--monte-carlo", "300", "--seed", "7", "-f", format];
        let one = specplan(&args, "1").stdout;
        assert!(!one.is_empty());
        assert_eq!(one, specplan(&args, "2").stdout, "{format}");
        assert_eq!(one, specplan(&args, "4").stdout, "{format}");
    }
}

#[test]
fn every_section_is_there_and_within_80_columns() {
    let out = text(&["run", GRAPH, "-q", "--monte-carlo", "300"]);
    for words in [
        "How sure\n",
        "Speculation wins in over 99.9 % of 300 samples (seed 1,",
        "break-even length, draft free",
        "What the speedup hangs on",
        "NCCL times",
        "Where the winner changes, by the model alone",
        "would decide the accept length against its break-even",
    ] {
        assert!(out.replace("\n  ", " ").contains(words) || out.contains(words), "{words}\n{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn plain_answers_stay_without_a_study_and_keep_their_interval() {
    let out = text(&["run", GRAPH, "-q", "-f", "json"]);
    let plain: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(plain.get("uncertainty").is_none());
    let drawn = text(&["run", GRAPH, "-q", "-f", "json", "--monte-carlo", "2000"]);
    let drawn: serde_json::Value = serde_json::from_str(&drawn).expect("JSON");
    assert_eq!(plain["speedup"], drawn["speedup"], "the plain figures stay");
    let outcome = &drawn["uncertainty"]["outcomes"][0];
    assert_eq!(outcome["name"], "speedup");
    for (sampled, first) in [("low", "first_order_low"), ("high", "first_order_high")] {
        let (a, b) = (outcome[sampled].as_f64().expect("a number"), outcome[first].as_f64().expect("one"));
        assert!((a / b - 1.0).abs() < 0.01, "{sampled}: {a} against {b}");
        assert_eq!(outcome[first], plain["speedup"][sampled], "the interval of the plain answer");
    }
}

#[test]
fn without_any_range_it_says_so() {
    let out = text(&["run", REFERENCE, "-q", "--monte-carlo", "100"]);
    assert!(out.contains("No input that the speedup uses has a range"), "{out}");
    assert!(!out.contains("Spreads of the inputs"), "no interval without ranges");
}

#[test]
fn csv_and_markdown_have_it_too() {
    let csv = text(&["run", GRAPH, "-q", "--monte-carlo", "100", "-f", "csv"]);
    assert!(csv.lines().any(|line| line.contains("uncertainty.break_even.verify,")), "{csv}");
    let markdown = text(&["run", GRAPH, "-q", "--monte-carlo", "100", "-f", "markdown"]);
    assert!(markdown.contains("| What the speedup hangs on |"), "{markdown}");
}

#[test]
fn a_tornado_is_drawn_beside_the_other_plots() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("UTF-8");
    text(&["run", GRAPH, "-q", "--monte-carlo", "100", "--plots", place]);
    let svg = std::fs::read_to_string(folder.path().join("speedup-tornado.svg")).expect("the tornado");
    assert!(svg.contains("What moves the speedup of 1.52x most"), "{svg}");
}

#[test]
fn too_few_samples_are_refused() {
    let output = specplan(&["run", GRAPH, "--monte-carlo", "5"], "1");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("100..=1000000"));
}

#[test]
fn cycles_give_a_bare_accept_length_a_range() {
    let set = ["--set", "speculation.observed.cycles=400"];
    let out = text(&[&["run", "scenarios/observed-only.yaml", "-q", "-f", "json"], &set[..]].concat());
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let length = &json["speculation"]["accept_length"];
    assert!(length["low"].as_f64() < Some(2.0) && length["high"].as_f64() > Some(2.0), "{length}");
    let few = ["--set", "speculation.observed.effective_cycles=100"];
    let all = [&["run", "scenarios/observed-only.yaml", "-q", "-f", "json"], &set[..], &few[..]].concat();
    let fewer: serde_json::Value = serde_json::from_str(&text(&all)).expect("JSON");
    let width = |value: &serde_json::Value| {
        let length = &value["speculation"]["accept_length"];
        length["high"].as_f64().expect("high") - length["low"].as_f64().expect("low")
    };
    assert!((width(&fewer) / width(&json) - 2.0).abs() < 1e-6, "a quarter of the cycles, twice the range");
}
