//! Files that are no scenario: each is refused with a sentence, soon, and without using memory.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::diagnostic::{Code, Diagnostics};
use crate::scenario::load;

/// The faults of a file with this content, and that they came soon.
fn refused(content: &[u8]) -> Diagnostics {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("scenario.yaml");
    fs::write(&path, content).expect("a temporary file");
    refused_path(&path)
}

fn refused_path(path: &PathBuf) -> Diagnostics {
    let begin = Instant::now();
    let faults = load(path).expect_err("such a file is refused");
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?} for {}", begin.elapsed(), path.display());
    assert!(faults.to_string().len() < 20_000, "{:.3000}", faults.to_string());
    faults
}

fn code(faults: &Diagnostics) -> Option<Code> {
    faults.list.first().and_then(|fault| fault.code)
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (this, last) in "bcdefghijkl".chars().zip("abcdefghijk".chars()) {
        let nine = vec![format!("*{last}"); 9].join(", ");
        bomb = format!("{bomb}{this}: &{this} [{nine}]\n");
    }
    assert_eq!(code(&refused(bomb.as_bytes())), Some(Code::TooLarge), "{}", refused(bomb.as_bytes()));
}

#[test]
fn deep_nesting_is_refused() {
    let flow = format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(code(&refused(flow.as_bytes())), Some(Code::TooLarge), "{}", refused(flow.as_bytes()));
    let maps = "{a: ".repeat(100_000);
    assert_eq!(code(&refused(maps.as_bytes())), Some(Code::TooLarge), "{}", refused(maps.as_bytes()));
    let block = (0..1000).map(|depth| format!("{}a:", " ".repeat(depth))).collect::<Vec<_>>().join("\n");
    assert_eq!(code(&refused(block.as_bytes())), Some(Code::TooLarge), "{}", refused(block.as_bytes()));
}

#[test]
fn many_values_are_refused() {
    let many = (0..60_000).map(|n| format!("k{n}: 1")).collect::<Vec<_>>().join("\n");
    assert_eq!(code(&refused(many.as_bytes())), Some(Code::TooLarge));
}

#[test]
fn large_files_are_refused_before_they_are_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("large.yaml");
    let file = fs::File::create(&path).expect("a temporary file");
    file.set_len(100_000_000).expect("a sparse file");
    let faults = refused_path(&path);
    assert_eq!(code(&faults), Some(Code::TooLarge));
    assert!(faults.to_string().contains("100.0 MB"), "{faults}");
    if cfg!(unix) {
        assert_eq!(code(&refused_path(&PathBuf::from("/dev/zero"))), Some(Code::TooLarge));
    }
}

#[test]
fn what_is_no_file_of_text_is_refused() {
    assert_eq!(code(&refused_path(&PathBuf::from("scenarios"))), Some(Code::Unreadable));
    assert_eq!(code(&refused_path(&PathBuf::from("scenarios/no-such-file.yaml"))), Some(Code::Unreadable));
    assert_eq!(code(&refused(b"")), Some(Code::Unreadable));
    assert_eq!(code(&refused(b"# only a remark\n\n---\n")), Some(Code::Unreadable));
    let faults = refused(b"name: x\nmodel: \xff\xfe\n");
    assert_eq!(code(&faults), Some(Code::Unreadable));
    assert!(faults.to_string().contains("line 2"), "{faults}");
    assert_eq!(code(&refused(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0])), Some(Code::Syntax));
    for text in
        ["just words", "- a\n- list\n", "42", "true", "\"\"", "? {a: b}\n: c\n", "a: *b", "a: 1\n---\nb: 2\n"]
    {
        assert!(!refused(text.as_bytes()).is_empty(), "{text}");
    }
}

#[test]
fn a_similar_name_is_offered_for_a_missing_file() {
    let faults = refused_path(&PathBuf::from("scenarios/observed_only.yaml"));
    assert!(faults.to_string().contains("scenarios/observed-only.yaml"), "{faults}");
}

#[test]
fn a_long_line_and_a_thousand_faults_stay_readable() {
    let long = format!("name: x\nspeculation: {{ metod: {} }}\n", "y".repeat(500_000));
    assert_eq!(code(&refused(long.as_bytes())), Some(Code::UnknownKey));
    let many = (0..5_000).map(|n| format!("k{n}: 1")).collect::<Vec<_>>().join("\n");
    let faults = refused(many.as_bytes());
    assert_eq!(faults.list.len(), 5_000);
    assert!(faults.to_string().contains("and 4980 more"), "{faults}");
}
