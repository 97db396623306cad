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
        assert_eq!(code(&refused_path(&PathBuf::from("/dev/zero"))), Some(Code::Unreadable));
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

/// Three observed numbers, and a part of the acceptance.
fn observed(acceptance: &str, more: &str) -> String {
    format!(
        "baseline: {{ observed: {{ throughput: 82 tok/s }} }}\n\
         speculation: {{ acceptance: {{ {acceptance} }}, verify: {{ observed: {{ time: 30 ms }} }} }}\n{more}"
    )
}

#[test]
fn many_what_ifs_are_refused_and_64_answered() {
    let what_ifs = |count: usize| {
        let item = |n| format!("  - {{ name: w{n}, set: {{ speculation.verify.time: 15 ms }} }}\n");
        format!("what_if:\n{}", (0..count).map(item).collect::<String>())
    };
    let law = "accept_length: 2.0";
    let faults = refused(observed(law, &what_ifs(1000)).as_bytes());
    assert_eq!(code(&faults), Some(Code::OutOfRange), "{faults}");
    assert_eq!(super::opened(&observed(law, &what_ifs(64))).expect("64 are taken").1.what_ifs.len(), 64);
}

#[test]
fn laws_beyond_any_draft_are_refused_before_they_are_computed() {
    for law in [
        "accept_length: 4e9",
        "accept_length: 1e12",
        "histogram: [1e308, 1e308, 1e308]",
        "tree: { ranks: [0.5], nodes: 4096 }",
    ] {
        assert_eq!(code(&refused(observed(law, "").as_bytes())), Some(Code::OutOfRange), "{law}");
    }
}

#[test]
fn the_largest_tree_is_soon_known() {
    let ranks = vec!["0.0156"; 64].join(", ");
    let text = format!(
        "baseline: {{ observed: {{ throughput: 82 tok/s }} }}\nspeculation:\n  steps: 64\n  topk: 64\n  \
         draft_tokens: 1024\n  acceptance: {{ tree: {{ ranks: [{ranks}] }} }}\n  \
         verify: {{ observed: {{ time: 30 ms }} }}\n"
    );
    let begin = Instant::now();
    super::opened(&text).unwrap_or_else(|faults| panic!("{faults}"));
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[cfg(unix)]
#[test]
fn devices_are_never_read_wherever_they_are_named() {
    let keys = "model: kimi-k2.5\nspeculation: { method: ngram, steps: 3, acceptance: { rate: 0.5 } }\n";
    let modelled = |first: &str| format!("{first}\n{keys}");
    for text in [
        "extends: /dev/zero\n".to_owned(),
        modelled("hardware: /dev/zero"),
        modelled("hardware: l40s-x8\ncalibration: /dev/zero"),
        observed("file: /dev/zero", ""),
        "hardware: l40s-x8\nmodel: /dev/zero\n".to_owned(),
    ] {
        let begin = Instant::now();
        let faults = super::opened(&text).expect_err("a device");
        assert!(begin.elapsed() < Duration::from_secs(1), "{text}");
        assert!(faults.list.iter().any(|fault| fault.code == Some(Code::Unreadable)), "{faults}");
    }
}

#[test]
fn texts_of_other_encodings_are_named() {
    let utf_16: Vec<u8> = "name: x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let faults = refused(&utf_16).to_string();
    assert!(faults.contains("UTF-16"), "{faults}");
    let carriage_returns = observed("accept_length: 2.0", "").replace('\n', "\r");
    assert!(super::opened(&format!("# old\r{carriage_returns}")).is_ok());
}
