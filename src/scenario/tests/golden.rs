//! What a person sees: each bad scenario in `tests/golden/scenario` beside the message it gets.
//!
//! `UPDATE_GOLDEN=1 cargo test golden` writes the messages anew. A line `# --set key=value` or `# --unset key` at the top of
//! a scenario is an override that it is opened with.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Code, codes, render_all};
use crate::scenario::library::Builtin;
use crate::scenario::{Overrides, open};

const FOLDER: &str = "tests/golden/scenario";

fn scenarios() -> Vec<PathBuf> {
    let files = fs::read_dir(FOLDER).expect("the folder of golden files");
    let mut paths: Vec<PathBuf> = files
        .map(|file| file.expect("a file of the folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_')))
        .collect();
    paths.sort();
    paths
}

fn overrides(path: &Path) -> Overrides {
    let text = fs::read_to_string(path).expect("a scenario");
    let mut overrides = Overrides::default();
    for line in text.lines() {
        if let Some(set) = line.strip_prefix("# --set ") {
            overrides.set.push(set.to_owned());
        }
        if let Some(unset) = line.strip_prefix("# --unset ") {
            overrides.unset.push(unset.to_owned());
        }
    }
    overrides
}

fn message(path: &Path) -> String {
    match open(path, &overrides(path), &Builtin) {
        Ok(_) => panic!("{} is accepted", path.display()),
        Err(faults) => render_all(&faults, false),
    }
}

#[test]
fn golden_messages_are_as_committed() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut changed = Vec::new();
    for path in scenarios() {
        let is = message(&path);
        let golden = path.with_extension("txt");
        let was = fs::read_to_string(&golden).unwrap_or_default();
        if is != was {
            if update {
                fs::write(&golden, &is).expect("a golden file");
            } else {
                changed.push(format!("{}\n--- was\n{was}\n--- is\n{is}", golden.display()));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn every_golden_message_marks_a_place_and_says_what_to_do() {
    for path in scenarios() {
        let text = message(&path);
        assert!(text.contains("error[S"), "{}: no code\n{text}", path.display());
        let nothing = path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("nothing"));
        let marked = text.contains('━') || nothing;
        assert!(marked, "{}: no place is marked\n{text}", path.display());
        // Notes may quote another reader's sentence whole.
        for line in text.lines().filter(|line| !line.contains(" note: ")) {
            assert!(line.chars().count() <= 140, "{}: a line is too long\n{line}", path.display());
        }
    }
}

#[test]
fn every_code_has_a_golden_message() {
    let all: String = scenarios().iter().map(|path| message(path)).collect();
    for entry in codes::ENTRIES {
        // These concern files that no repository should hold; the tests of limits make them.
        if [Code::Unreadable, Code::TooLarge].contains(&entry.code) {
            continue;
        }
        assert!(all.contains(&format!("[{}]", entry.code)), "{}: {}", entry.code, entry.title);
    }
}
