//! Damaged scenarios: whatever stands in a file, there is an answer or a message, and never a panic.

use std::fs;

use proptest::prelude::*;

use crate::diagnostic::render_all;
use crate::scenario::library::Builtin;
use crate::scenario::{Overrides, open};

/// Pieces that matter to YAML, to units, or to the keys.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "  ",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "!!str ",
    "|\n",
    "<<: ",
    "~",
    "null",
    "30",
    "30 ms",
    "-1",
    "1e999",
    ".nan",
    "+-",
    "±",
    "\u{feff}",
    "\u{e9}",
    "\u{1f600}",
    "\r\n",
    "\t",
    "\0",
    "..",
    "=",
    "0x1F",
    "steps",
    "speculation.verify.time",
    "observed",
    "true",
    "what_if",
    "acceptance",
    "tree",
    "ranks",
    "sweep",
];

/// An edit: where (as a share of the text), how many characters go, which piece comes.
type Edit = (f64, usize, usize);

fn damaged(text: &str, edits: &[Edit]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (share, gone, piece) in edits {
        let at = (share * letters.len() as f64) as usize;
        let end = (at + gone).min(letters.len());
        letters.splice(at..end, PIECES[*piece].chars());
    }
    letters.into_iter().collect()
}

fn answered(text: &str, overrides: &Overrides) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("scenario.yaml");
    fs::write(&path, text).expect("a temporary file");
    if let Err(faults) = open(&path, overrides, &Builtin) {
        assert!(!faults.is_empty());
        assert!(!render_all(&faults, true).is_empty());
    }
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((0.0..1.0_f64, 0..12_usize, 0..PIECES.len()), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damaged_scenarios_get_a_message(edits in edits(), which in 0..3_usize) {
        let path = [
            "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml",
            "tests/golden/scenario/probabilities.yaml",
            "tests/golden/scenario/sweep.yaml",
        ][which];
        let text = fs::read_to_string(path).expect("a scenario");
        answered(&damaged(&text, &edits), &Overrides::default());
    }

    #[test]
    fn damaged_overrides_get_a_message(edits in edits(), unset in any::<bool>()) {
        let text = fs::read_to_string("scenarios/observed-only.yaml").expect("a scenario");
        let argument = damaged("speculation.acceptance.tree.ranks=[0.7, 0.1]", &edits);
        let list = vec![argument];
        let overrides = if unset {
            Overrides { set: Vec::new(), unset: list }
        } else {
            Overrides { set: list, unset: Vec::new() }
        };
        answered(&text, &overrides);
    }
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems_are_read() {
    let text = fs::read_to_string("scenarios/observed-only.yaml").expect("a scenario");
    for other in [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), text.trim_end().to_owned()] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("scenario.yaml");
        fs::write(&path, other).expect("a temporary file");
        if let Err(faults) = open(&path, &Overrides::default(), &Builtin) {
            panic!("{faults}");
        }
    }
}
