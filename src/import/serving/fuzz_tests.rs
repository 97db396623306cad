//! Mutated inputs: nothing panics, and nothing inconsistent comes out.
//!
//! Each reader gets its corpus from `tests/fixtures/fuzz`, mutated by a seeded generator: bytes flipped, cut out,
//! doubled, replaced by digits and marks, lines swapped and glued. `SPECPLAN_FUZZ_ROUNDS` says how many inputs each reader
//! gets; the few of an ordinary test run keep what was found from coming back.

use std::io::BufReader;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{DUMPS, DecodeInterval, Digest, ITERATIONS, LLAMA_CPP, RESPONSES, SGLANG, VLLM};
use crate::import::{Importer, Summary, What};

/// Inputs of an ordinary run.
const ROUNDS: u64 = 300;

fn rounds() -> u64 {
    std::env::var("SPECPLAN_FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

/// The corpus of a kind, which the fuzzer of the command line shares.
fn corpus(kind: &str) -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fuzz").join(kind);
    let mut files: Vec<std::path::PathBuf> =
        std::fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

/// One to eight changes.
fn mutated(corpus: &[Vec<u8>], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = corpus[rng.random_range(0..corpus.len())].clone();
    for _ in 0..rng.random_range(1..=8) {
        change(&mut bytes, corpus, rng);
        bytes.truncate(1 << 16);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut Xoshiro256PlusPlus) {
    const MARKS: [&[u8]; 24] = [
        b"0",
        b"9",
        b"99999999999999999999",
        b"-1",
        b"nan",
        b"1e308",
        b".",
        b",",
        b":",
        b"=",
        b"\n",
        b"\r",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b"\x1b[",
        b"\xff",
        b"\0",
        b"tokens",
        b"Decode batch",
        b"\xe2\x82",
    ];
    if bytes.is_empty() {
        bytes.push(b'x');
    }
    let at = rng.random_range(0..bytes.len());
    let end = (at + rng.random_range(1..=60)).min(bytes.len());
    match rng.random_range(0..7_u32) {
        0 => bytes[at] = rng.random(),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        3 => {
            bytes.splice(at..at, MARKS[rng.random_range(0..MARKS.len())].iter().copied());
        }
        4 => {
            // Another digit keeps the shape and changes the number.
            if let Some(digit) = bytes[at..].iter_mut().find(|b| b.is_ascii_digit()) {
                *digit = b'0' + rng.random_range(0..10_u8);
            }
        }
        5 => bytes.truncate(at),
        _ => {
            let other = &corpus[rng.random_range(0..corpus.len())];
            let from = rng.random_range(0..=other.len());
            bytes.splice(at..at, other[from..].iter().take(400).copied());
        }
    }
}

fn import(importer: &Importer, bytes: &[u8], chunk: usize) -> (Vec<DecodeInterval>, Summary) {
    let mut found = Vec::new();
    let mut reader = BufReader::with_capacity(chunk, bytes);
    let summary = (importer.read)(&mut reader, &mut |observation| {
        if let What::Decode(interval) = observation.what {
            found.push(*interval);
        }
    });
    (found, summary)
}

/// What holds for every record, whatever the input was.
fn check(found: &[DecodeInterval], summary: &Summary) {
    assert!(summary.read <= summary.lines.max(1) * 4096, "{summary:?}");
    let mut digest = Digest::default();
    digest.begin();
    for interval in found {
        assert!(
            interval.accept_length.is_none_or(|length| length.get() >= 1.0 && length.is_finite()),
            "{interval:?}"
        );
        assert!(interval.throughput.is_none_or(|rate| rate.get() >= 0.0 && rate.is_finite()));
        assert!(
            interval.cycle().is_none_or(|(cycle, _)| cycle.get() > 0.0 && cycle.is_finite()),
            "{interval:?}"
        );
        if let Some(counted) = &interval.counted {
            assert!(counted.drafts > 0);
            let falls =
                std::iter::once(&counted.drafts).chain(&counted.positions).is_sorted_by(|a, b| a >= b);
            assert!(falls, "{interval:?}");
            assert!(
                counted.positions.is_empty() || counted.positions.iter().sum::<u64>() == counted.accepted,
                "{interval:?}"
            );
        }
        digest.add(interval);
    }
    digest.close();
    assert!(digest.lengths.mean().is_none_or(f64::is_finite), "{digest:?}");
    assert!(digest.lengths.standard_error().is_none_or(|error| error >= 0.0), "{digest:?}");
}

fn fuzz(importer: &Importer, seed: u64) {
    let corpus = corpus(importer.kind);
    for round in 0..rounds() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(1 << 40).wrapping_add(round));
        let bytes = mutated(&corpus, &mut rng);
        let (found, summary) = import(importer, &bytes, 1 << 16);
        check(&found, &summary);
        if round % 16 == 0 {
            let pieces = import(importer, &bytes, 7);
            assert_eq!(pieces, (found, summary), "the size of reads shows");
        }
    }
}

#[test]
fn sglang_logs() {
    fuzz(&SGLANG, 1);
}

#[test]
fn vllm_logs() {
    fuzz(&VLLM, 2);
}

#[test]
fn llama_cpp_logs() {
    fuzz(&LLAMA_CPP, 3);
}

#[test]
fn metrics() {
    fuzz(&DUMPS, 4);
}

#[test]
fn iterations() {
    fuzz(&ITERATIONS, 5);
}

#[test]
fn answers() {
    fuzz(&RESPONSES, 6);
}
