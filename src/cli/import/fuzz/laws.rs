//! What holds for an import, whatever the file was.

use std::io::{BufReader, Cursor, Write as _};

use super::files;
use crate::cli::args::{ColorChoice, ImportArgs};
use crate::cli::import::group::Group;
use crate::cli::import::render;
use crate::diagnostic::SourceText;
use crate::import::serving::{DecodeInterval, Digest};
use crate::import::{self, Head, Kind, Observation, Summary, What};
use crate::scenario::{FileKind, tree};

type Read = (Vec<Observation>, Summary);

/// All that the program does with a file, short of printing; every fourth one read in other ways too.
pub(super) fn check(word: &'static str, bytes: &[u8], run: u64) {
    let kind = Kind::of_word(word).expect("a kind");
    let _ = Kind::guess(&Head { text: String::from_utf8_lossy(bytes).into_owned() });
    let whole = read(kind, bytes, 1 << 16);
    of_summary(&whole.1, bytes);
    of_intervals(&whole.0);
    results(kind, bytes, &whole, run.is_multiple_of(2).then_some("rtx-4090"));
    match run % 8 {
        0 => assert_eq!(read(kind, bytes, 7), whole, "the size of reads shows"),
        2 => packed(kind, bytes, (run / 8) as usize),
        4 => line_ends(kind, bytes, &whole),
        _ => {}
    }
}

fn read(kind: Kind, bytes: &[u8], chunk: usize) -> Read {
    let mut found = Vec::new();
    let summary = kind.read(BufReader::with_capacity(chunk, bytes), &mut |seen| found.push(seen));
    (found, summary)
}

/// Through the door for files, which unpacks.
fn opened(kind: Kind, bytes: Vec<u8>) -> Option<Read> {
    let mut input = import::open(Cursor::new(bytes)).ok()?;
    let _ = input.head();
    let mut found = Vec::new();
    let summary = kind.read(input.reader(), &mut |seen| found.push(seen));
    Some((found, summary))
}

/// What is counted stands in the file. A line of a log may hold two records, one whole and one cut.
fn of_summary(summary: &Summary, bytes: &[u8]) {
    assert!(summary.skipped.first.len() <= 5, "{summary:?}");
    assert!(summary.lines <= bytes.len() as u64 + 1, "{summary:?}");
    assert!(summary.read + summary.skipped.count <= bytes.len() as u64 + 1, "{summary:?}");
}

fn of_intervals(found: &[Observation]) {
    let mut digest = Digest::default();
    digest.begin();
    for observation in found {
        if let What::Decode(interval) = &observation.what {
            of_interval(interval);
            digest.add(interval);
        }
    }
    digest.close();
    assert!(digest.lengths.mean().is_none_or(|mean| mean.is_finite() && mean > 1.0 - 1e-9), "{digest:?}");
    assert!(digest.lengths.standard_error().is_none_or(|error| error >= 0.0), "{digest:?}");
}

/// An accept length lies in \[1, k + 1\], and counts agree with one another.
fn of_interval(interval: &DecodeInterval) {
    let length = interval.accept_length.map(crate::units::AcceptLength::get);
    assert!(length.is_none_or(|length| (1.0..=1e4).contains(&length)), "{interval:?}");
    if let Some((length, k)) = length.zip(interval.drafted_tokens) {
        assert!(length <= f64::from(k) + 1.0 + interval.rounding + 1e-9, "{interval:?}");
    }
    assert!(interval.throughput.is_none_or(|rate| rate.get() >= 0.0 && rate.is_finite()), "{interval:?}");
    assert!(interval.cycle().is_none_or(|(cycle, _)| cycle.get() > 0.0 && cycle.is_finite()), "{interval:?}");
    if let Some(counted) = &interval.counted {
        assert!(counted.drafts > 0, "{interval:?}");
        assert!(counted.drafted == 0 || counted.accepted <= counted.drafted, "{interval:?}");
        let falls = std::iter::once(&counted.drafts).chain(&counted.positions).is_sorted_by(|a, b| a >= b);
        assert!(falls, "{interval:?}");
        let sum: u128 = counted.positions.iter().copied().map(u128::from).sum();
        assert!(counted.positions.is_empty() || sum == u128::from(counted.accepted), "{interval:?}");
    }
}

/// Every format can be written, and the file is one that specplan takes.
fn results(kind: Kind, bytes: &[u8], whole: &Read, gpu: Option<&str>) {
    let args = ImportArgs {
        gpu: gpu.map(str::to_owned),
        quiet: true,
        color: ColorChoice::Never,
        ..ImportArgs::default()
    };
    let mut group = Group::new(kind, &args);
    group.begin("file");
    whole.0.iter().for_each(|observation| group.take(observation));
    group.end("file".to_owned(), whole.1.clone());
    let groups = [group];
    let text = render::text(&groups, false);
    let told = |words: &[u8]| words.windows(3).any(|word| word.eq_ignore_ascii_case(b"nan"));
    assert!(!told(text.as_bytes()) || told(bytes), "{text}");
    let json = render::json(&groups);
    serde_json::from_str::<serde_json::Value>(&json).expect("the result is JSON");
    let _ = (render::csv(&groups), render::markdown(&groups));
    if let Ok(yaml) = render::yaml(&groups) {
        taken(&yaml);
    }
}

fn taken(yaml: &str) {
    let tree = tree::parse(&SourceText::file("file", yaml.to_owned()))
        .unwrap_or_else(|faults| panic!("{faults:?}\n{yaml}"));
    let found = match FileKind::of(&tree) {
        FileKind::Calibration => files::calibration(yaml),
        FileKind::Box => files::hardware(yaml),
        FileKind::Scenario if tree.entry("acceptance").is_some() && tree.entry("imported").is_some() => {
            files::acceptance(yaml)
        }
        FileKind::Scenario | FileKind::ModelConfig | FileKind::Acceptance => Ok(()),
    };
    found.unwrap_or_else(|error| panic!("{error}\n{yaml}"));
}

/// A file in two gzip members is the file.
fn packed(kind: Kind, bytes: &[u8], at: usize) {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let (first, second) = bytes.split_at(at.wrapping_mul(7919) % (bytes.len() + 1));
    let mut both = Vec::new();
    for part in [first, second] {
        let mut writer = flate2::write::GzEncoder::new(&mut both, flate2::Compression::fast());
        writer.write_all(part).and_then(|()| writer.finish().map(drop)).expect("memory takes all");
    }
    assert_eq!(opened(kind, both), opened(kind, bytes.to_vec()), "packing shows");
}

/// Lines may end with CR LF.
fn line_ends(kind: Kind, bytes: &[u8], whole: &Read) {
    if bytes.contains(&b'\r') || bytes.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let windows: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) })
        .copied()
        .collect();
    let other = read(kind, &windows, 1 << 16);
    assert_eq!(other.0.len(), whole.0.len(), "CR LF shows");
    let pairs = other.0.iter().zip(&whole.0);
    for (other, plain) in pairs.filter(|(_, plain)| !matches!(plain.what, What::ModelConfig(_))) {
        assert_eq!(other, plain, "CR LF shows");
    }
    assert_eq!((other.1.lines, other.1.read), (whole.1.lines, whole.1.read), "CR LF shows");
}
