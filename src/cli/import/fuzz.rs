//! Mutated files of every kind: no reader may panic, hang, take memory without bound, or say what cannot be.
//!
//! ```text
//! SPECPLAN_FUZZ_SECONDS=180 SPECPLAN_FUZZ_KIND=sglang-log,trace cargo test --lib fuzz_readers -- --ignored --nocapture
//! ```
//!
//! runs each kind for that long; kinds are those of `import --kinds`, and `calibration`, `box`, `acceptance`, `scenario`,
//! `measurements`, `request-trace`. Corpora lie in `tests/fixtures/fuzz/KIND/`. Seed and corpus decide every input. What fails is
//! written to the temporary folder; an input that takes longer than [`PATIENCE`] is written there too, and ends the process.

mod files;
mod laws;
mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::import::Kind;
use mutate::mutated;

/// The longest that one input may take: a hundred times what any of this size does.
const PATIENCE: Duration = Duration::from_secs(10);

/// Inputs of a kind in an ordinary run of the tests.
const MOMENT: u64 = 60;

/// Memory that a process may ever have held \[KiB\]: inputs are at most 1 MiB.
const MOST_MEMORY: u64 = 1 << 20;

/// A kind of file, and what is done with one.
#[derive(Clone)]
struct Target {
    word: &'static str,
    check: fn(&'static str, &[u8], u64),
}

fn targets() -> Vec<Target> {
    let import = |kind: Kind| Target { word: kind.word(), check: laws::check };
    Kind::all().map(import).chain(files::TARGETS.iter().cloned()).collect()
}

fn corpus(word: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fuzz").join(word);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn keep(word: &str, run: u64, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("specplan-fuzz-{word}-{run}"));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Runs inputs until `more` says no; how many.
fn fuzz(target: &Target, more: impl Fn(u64) -> bool) -> u64 {
    let corpus = corpus(target.word);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed);
    let current = Mutex::new((Instant::now(), 0, Vec::new()));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watchdog = scope.spawn(|| watch(target.word, &current, &done));
        let mut run = 0;
        while more(run) {
            let bytes = match corpus.get(run as usize) {
                Some(bytes) => bytes.clone(),
                None => mutated(&corpus, &mut random),
            };
            *current.lock().unwrap() = (Instant::now(), run, bytes.clone());
            if catch_unwind(AssertUnwindSafe(|| (target.check)(target.word, &bytes, run))).is_err() {
                done.store(true, Ordering::Relaxed);
                panic!("{} fails on {}", target.word, keep(target.word, run, &bytes).display());
            }
            run += 1;
        }
        done.store(true, Ordering::Relaxed);
        watchdog.thread().unpark();
        run
    })
}

/// Ends the process where one input takes too long: a thread that hangs cannot be ended otherwise.
fn watch(word: &str, current: &Mutex<(Instant, u64, Vec<u8>)>, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(PATIENCE / 20);
        let (since, run, bytes) = &*current.lock().unwrap();
        if !done.load(Ordering::Relaxed) && since.elapsed() > PATIENCE {
            let path = keep(word, *run, bytes);
            let memory = peak_memory().map_or(String::new(), |kib| format!("; {} MiB at most", kib / 1024));
            std::fs::write(path.with_extension("hangs"), format!("{word} hangs{memory}\n")).unwrap();
            std::process::exit(99);
        }
    }
}

/// The most memory that the process has held \[KiB\], where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn every_reader_survives_its_corpus_and_a_moment_of_mutations() {
    for target in targets() {
        let files = corpus(target.word).len() as u64;
        fuzz(&target, |run| run < files + MOMENT);
    }
}

#[test]
#[ignore = "takes as long as SPECPLAN_FUZZ_SECONDS says, for each kind"]
fn fuzz_readers() {
    let seconds =
        std::env::var("SPECPLAN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let only = std::env::var("SPECPLAN_FUZZ_KIND").ok();
    let asked = |word: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == word));
    for target in targets().into_iter().filter(|target| asked(target.word)) {
        let begun = Instant::now();
        let runs = fuzz(&target, |_| begun.elapsed() < Duration::from_secs(seconds));
        let memory = peak_memory().unwrap_or(0);
        println!("{}: {runs} inputs in {seconds} s, {} MiB at most", target.word, memory / 1024);
        assert!(memory < MOST_MEMORY, "{}: {memory} KiB", target.word);
    }
}
