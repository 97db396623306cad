//! The scenarios that are shipped, and their schema.

use std::fs;

use crate::scenario::library::Builtin;
use crate::scenario::{Overrides, json_schema, open};

#[test]
fn the_committed_schema_is_that_of_the_structs() {
    let path = "scenarios/scenario.schema.json";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, json_schema()).expect("the schema file");
    }
    let committed = fs::read_to_string(path).expect("the schema file");
    assert!(committed == json_schema(), "run `UPDATE_GOLDEN=1 cargo test` and commit {path}");
}

#[test]
fn every_shipped_scenario_resolves_and_starts_with_its_schema() {
    let mut count = 0;
    for file in fs::read_dir("scenarios").expect("the scenarios") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        count += 1;
        let text = fs::read_to_string(&path).expect("a scenario");
        assert!(
            text.starts_with("# yaml-language-server: $schema=scenario.schema.json\n"),
            "{}",
            path.display()
        );
        if let Err(faults) = open(&path, &Overrides::default(), &Builtin) {
            panic!("{}\n{faults}", path.display());
        }
    }
    assert!(count >= 11, "{count} scenarios");
}
