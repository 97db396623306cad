//! Predictions against the shipped measurements: each group within its budget, which may only shrink.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

fn validate() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_specplan"))
        .args(["validate", "-q", "-f", "json"])
        .output()
        .expect("the program starts");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn summaries(of: &Value) -> BTreeMap<String, (f64, f64)> {
    let number = |group: &Value, key: &str| group[key].as_f64().expect("a number") * 100.0;
    of["summaries"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|g| (g["group"].as_str().expect("named").to_owned(), (number(g, "median"), number(g, "worst"))))
        .collect()
}

#[test]
fn every_group_stays_within_its_budget() {
    let found = summaries(&validate());
    let path = format!("{}/docs/validation/budget.csv", env!("CARGO_MANIFEST_DIR"));
    let mut budget = csv::Reader::from_path(path).expect("the budget is readable");
    let mut groups = 0;
    for row in budget.records() {
        let row = row.expect("a row");
        let number = |at: usize| row[at].parse::<f64>().expect("a number");
        let (median, worst) = found.get(&row[0]).unwrap_or_else(|| panic!("no group `{}` any more", &row[0]));
        assert!(*median <= number(1), "{}: median {median:.2} %, budget {} %", &row[0], number(1));
        assert!(*worst <= number(2), "{}: worst {worst:.2} %, budget {} %", &row[0], number(2));
        groups += 1;
    }
    assert_eq!(groups, found.len(), "every group has a budget");
}

/// The bounds that the project set itself for predictions from presets and public tables alone.
#[test]
fn the_stated_bounds_hold() {
    let found = summaries(&validate());
    for (group, median, worst) in [
        ("k2.6 step", 8.0, 20.0),
        ("k2.6 cycle (fabric chosen)", 15.0, f64::INFINITY),
        ("all-reduce, graph and stream", 3.0, f64::INFINITY),
    ] {
        let (m, w) = found[group];
        assert!(m <= median && w <= worst, "{group}: median {m:.1} %, worst {w:.1} %");
    }
    let value = validate();
    let list = value["summaries"].as_array().expect("a list");
    let allreduce = list.iter().find(|g| g["group"] == "all-reduce, graph and stream").expect("there");
    assert!(allreduce["p90"].as_f64().expect("a number") <= 0.25);
}

#[test]
fn measurements_of_a_user_are_compared_and_faults_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let shipped = std::fs::read_to_string(format!(
        "{}/docs/validation/data/measurements.csv",
        env!("CARGO_MANIFEST_DIR")
    ))
    .expect("readable");
    let head: Vec<&str> = shipped.lines().take(2).collect();
    let file = folder.path().join("mine.csv");
    let run = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
        command.args(["validate", file.to_str().expect("UTF-8")]).args(more);
        command.output().expect("the program starts")
    };
    let good = run(&head.join("\n"), &["-f", "csv"]);
    assert!(good.status.success());
    assert_eq!(String::from_utf8_lossy(&good.stdout).lines().count(), 2, "one row, without the shipped ones");
    let worse = run(&head.join("\n").replace(",10.823,", ",1.0,"), &["--max-error", "10 %"]);
    assert!(!worse.status.success() || !head[1].contains("held out"));
    for (text, says) in [
        ("", "no row"),
        ("id,group\na,b\n", "row 1"),
        (&head.join("\n").replace("kimi-k2.6", "no-such-model"), "no-such-model"),
    ] {
        let bad = run(text, &[]);
        let errors = String::from_utf8_lossy(&bad.stderr).into_owned();
        assert!(errors.contains(says), "{text}: {errors}");
    }
}
