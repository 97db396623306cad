//! Mutated files of every kind: no importer may panic, hang or give a file that specplan then refuses.
//!
//! `SPECPLAN_FUZZ_SECONDS=180 cargo test --lib fuzz_import -- --ignored` runs each kind for that long; corpora lie in
//! `tests/fixtures/fuzz/KIND/`. `SPECPLAN_FUZZ_KIND` names one kind. Deterministic in the number of runs: seed and corpus decide
//! every mutation. What fails is written to the temporary folder, and its path printed by the panic.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::group::Group;
use super::render;
use crate::calibration;
use crate::cli::args::{ColorChoice, ImportArgs};
use crate::diagnostic::SourceText;
use crate::hardware;
use crate::import::{self, Head, Kind};
use crate::scenario::{FileKind, tree};

/// Things that stand in such files and things that should not.
const TOKENS: &[&[u8]] = &[
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"1e309",
    b"18446744073709551616",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"#",
    b"%",
    b"N/A",
    b"null",
    b"NaN",
    b"\x1b[4m",
    b"=",
    b"\t",
    b"1",
    b"2",
    b"0.0",
    b"99999",
    b"'",
    b"--",
];

fn args(gpu: Option<&str>) -> ImportArgs {
    ImportArgs {
        inputs: Vec::new(),
        gpu: gpu.map(str::to_owned),
        quiet: true,
        color: ColorChoice::Never,
        ..ImportArgs::default()
    }
}

fn corpus(kind: Kind) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fuzz").join(kind.word());
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// One to eight changes of a file.
fn mutated(corpus: &[Vec<u8>], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = corpus[random.random_range(0..corpus.len())].clone();
    for _ in 0..random.random_range(1..=8) {
        mutate(&mut bytes, corpus, random);
    }
    bytes.truncate(1 << 20);
    bytes
}

fn mutate(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Xoshiro256PlusPlus) {
    let length = bytes.len();
    let at = random.random_range(0..=length);
    let some = random.random_range(0..=(length - at).min(200));
    match random.random_range(0..11u32) {
        0 if at < length => bytes[at] ^= 1 << random.random_range(0..8u32),
        1 if at < length => bytes[at] = random.random(),
        2 => drop(bytes.drain(at..at + some)),
        3 => {
            let copy = bytes[at..at + some].to_vec();
            let to = random.random_range(0..=length);
            bytes.splice(to..to, copy);
        }
        4 => {
            let token = TOKENS[random.random_range(0..TOKENS.len())];
            bytes.splice(at..at, token.iter().copied());
        }
        5 => bytes.truncate(at),
        6 => {
            let other = &corpus[random.random_range(0..corpus.len())];
            let from = random.random_range(0..=other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        7 => number(bytes, at, random),
        8 => lines(bytes, random),
        9 => bytes.splice(at..at, std::iter::repeat_n(b'7', random.random_range(1..400))).for_each(drop),
        _ => bytes.extend_from_slice(&corpus[random.random_range(0..corpus.len())]),
    }
}

/// Puts another number, or no number, in the place of the next one.
fn number(bytes: &mut Vec<u8>, at: usize, random: &mut Xoshiro256PlusPlus) {
    let Some(from) = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) else { return };
    let to = (from..bytes.len())
        .find(|at| !(bytes[*at].is_ascii_digit() || bytes[*at] == b'.'))
        .unwrap_or(bytes.len());
    let token = TOKENS[random.random_range(0..TOKENS.len())];
    bytes.splice(from..to, token.iter().copied());
}

/// Swaps two lines.
fn lines(bytes: &mut Vec<u8>, random: &mut Xoshiro256PlusPlus) {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let (a, b) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
    lines.swap(a, b);
    *bytes = lines.join(&b'\n');
}

/// All that the program does with a file, short of printing.
fn import_all(kind: Kind, bytes: &[u8], gpu: Option<&str>) {
    let begun = Instant::now();
    if let Ok(mut input) = import::open(Cursor::new(bytes.to_vec())) {
        let _ = input.head();
    }
    let _ = Kind::guess(&Head { text: String::from_utf8_lossy(bytes).into_owned() });
    let mut group = Group::new(kind, &args(gpu));
    group.begin("file");
    let summary = kind.read(bytes, &mut |observation| group.take(&observation));
    assert!(summary.skipped.first.len() <= 5);
    assert!(summary.lines == 0 || summary.lines <= bytes.len() as u64 + 1, "{} lines", summary.lines);
    group.end("file".to_owned(), summary);
    let groups = [group];
    let _ = render::text(&groups, false);
    let json = render::json(&groups);
    serde_json::from_str::<serde_json::Value>(&json).expect("the result is JSON");
    let _ = (render::csv(&groups), render::markdown(&groups));
    if let Ok(yaml) = render::yaml(&groups) {
        taken(&yaml);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
}

/// The file is one that specplan takes.
fn taken(yaml: &str) {
    let tree = tree::parse(&SourceText::file("file", yaml.to_owned()))
        .unwrap_or_else(|faults| panic!("{faults:?}\n{yaml}"));
    match FileKind::of(&tree) {
        FileKind::Calibration => {
            let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
            calibration::parse("file", yaml, &none).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        }
        FileKind::Box => {
            hardware::parse("file", &tree.to_json()).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        }
        FileKind::Scenario | FileKind::ModelConfig | FileKind::Acceptance => {}
    }
}

/// Runs a kind for a time.
fn fuzz(kind: Kind, time: Duration) -> u64 {
    let corpus = corpus(kind);
    if corpus.is_empty() {
        return 0;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed);
    let begun = Instant::now();
    let mut runs = 0;
    while begun.elapsed() < time {
        let bytes = if runs < corpus.len() as u64 {
            corpus[runs as usize].clone()
        } else {
            mutated(&corpus, &mut random)
        };
        let gpu = (random.next_u64() % 2 == 0).then_some("rtx-4090");
        if catch_unwind(AssertUnwindSafe(|| import_all(kind, &bytes, gpu))).is_err() {
            let path = std::env::temp_dir().join(format!("specplan-fuzz-{}-{runs}", kind.word()));
            std::fs::write(&path, &bytes).unwrap();
            panic!("{} fails on {} (run {runs})", kind.word(), path.display());
        }
        runs += 1;
    }
    runs
}

#[test]
fn every_kind_survives_its_corpus_and_a_moment_of_mutations() {
    for kind in Kind::all() {
        fuzz(kind, Duration::from_millis(150));
    }
}

#[test]
#[ignore = "takes as long as SPECPLAN_FUZZ_SECONDS says, for each kind"]
fn fuzz_import() {
    let seconds =
        std::env::var("SPECPLAN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let only = std::env::var("SPECPLAN_FUZZ_KIND").ok();
    std::thread::scope(|scope| {
        for kind in Kind::all().filter(|kind| only.as_ref().is_none_or(|only| only == kind.word())) {
            scope.spawn(move || {
                let runs = fuzz(kind, Duration::from_secs(seconds));
                println!("{}: {runs} runs in {seconds} s", kind.word());
            });
        }
    });
}
