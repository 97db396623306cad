//! The acceptance file: what `acceptance: { file: ... }` of a scenario reads, with where it came from beside it.

use std::fmt::Write as _;
use std::path::Path;

use super::acceptance::{Acceptances, name};
use super::decoding::compared;
use crate::import::serving::{BatchRow, Digest, DigestBatch, ServerFlags};
use crate::sourced::SPREAD_DEVIATIONS;
use crate::units::significant;

/// The deepest histogram that a scenario takes.
const DEEPEST: usize = 65;

/// The largest count that a scenario takes.
const MOST_COUNT: u64 = 1_000_000_000_000_000;

/// The file.
///
/// # Errors
/// What is missing for it.
pub(super) fn yaml(
    files: &[String],
    digest: &Digest,
    fits: &Acceptances,
    written: &str,
) -> Result<String, String> {
    let Some(length) = &fits.length else {
        return Err(
            "these lines tell no acceptance, so they make no acceptance file; -f text shows their times"
                .to_owned(),
        );
    };
    let mut out = format!(
        "# Acceptance as a server told it. A scenario beside it reads it: `acceptance: {{ file: {} }}`.\nacceptance:\n",
        plain(written)
    );
    let histogram = fits
        .fits
        .as_ref()
        .map(|fits| fits.counts.histogram())
        .filter(|cells| cells.len() <= DEEPEST && cells.iter().all(|count| *count <= MOST_COUNT));
    if let Some(cells) = &histogram {
        let cells: Vec<String> = cells.iter().map(u64::to_string).collect();
        let cells = cells.join(", ");
        let _ = writeln!(out, "  # Cycles by accepted drafted tokens: 0, 1, 2, ...\n  histogram: [{cells}]");
    } else {
        let deviation = length.ends.map(|(low, high)| 0.5 * (high - low) / SPREAD_DEVIATIONS);
        // A scenario refuses a spread that reaches where no accept length can be.
        let places = |value: f64| (value * 1e4).floor() / 1e4;
        let most = places((places(length.value) - 1.0) / SPREAD_DEVIATIONS);
        let deviation = deviation.map(|d| d.min(most));
        let spread = deviation.filter(|d| *d > 0.0).map_or(String::new(), |d| format!(" +- {d:.4}"));
        let _ = writeln!(
            out,
            "  # Bonus token included; only the mean is known.\n  accept_length: \"{:.4}{spread}\"",
            length.value
        );
    }
    source(files, digest, fits, &mut out);
    cycles("cycles", &digest.speculation, &mut out);
    cycles("steps", &digest.baseline, &mut out);
    if let Some(block) = observed(digest, fits, written) {
        out.push_str("# Keys for a scenario, as observed.\nscenario:\n");
        for line in block.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    Ok(out)
}

fn source(files: &[String], digest: &Digest, fits: &Acceptances, out: &mut String) {
    let server = digest.server().map_or("unknown", |server| server.name());
    let names: Vec<String> = files.iter().map(|file| quoted(&base(file))).collect();
    let _ = writeln!(out, "imported:\n  server: {server}\n  files: [{}]", names.join(", "));
    let _ = writeln!(out, "  intervals: {}", digest.lengths.intervals);
    if let Some(length) = &fits.length {
        let _ = write!(out, "  accept_length: {{ value: {:.4}", length.value);
        if let Some((low, high)) = length.ends {
            let _ = write!(out, ", low: {low:.4}, high: {high:.4}");
        }
        out.push_str(" }\n");
    }
    if let Some(k) = fits.depth {
        let _ = writeln!(out, "  drafted_tokens: {k}");
    }
    if let (Some(found), Some(counted)) = (&fits.fits, &fits.counted) {
        let _ = writeln!(out, "  drafts: {}\n  accepted: {}", counted.drafts, counted.accepted);
        let _ = writeln!(out, "  positions_rounded: {}", counted.rounded);
        let _ = writeln!(out, "  supported: {}", name(found.recommended));
    }
}

/// Times by batch, one line each.
fn cycles(key: &str, side: &DigestBatch, out: &mut String) {
    let rows: Vec<(&u32, &BatchRow)> =
        side.batches.iter().filter(|(_, row)| row.cycle_times().count() > 0).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "{key}:");
    for (batch, row) in rows {
        let ms = |q| row.cycle_times().quantile(q).unwrap_or(0.0) * 1e3;
        let _ = write!(
            out,
            "  - {{ batch: {batch}, intervals: {}, median_ms: {:.4}, p5_ms: {:.4}, p95_ms: {:.4}, undisturbed: {}",
            row.intervals,
            ms(0.5),
            ms(0.05),
            ms(0.95),
            row.is_undisturbed()
        );
        if let Some(throughput) = row.throughput().quantile(0.5) {
            let _ = write!(out, ", throughput_tok_s: {throughput:.2}");
        }
        out.push_str(" }\n");
    }
}

/// The name that the snippet gives to the acceptance file where none is written.
pub(super) const UNNAMED: &str = "acceptance.yaml";

/// The keys of a scenario that were observed: at the batch that both sides have, else at the usual one. `written` is the
/// acceptance file, as a scenario beside it names it.
pub(super) fn observed(digest: &Digest, fits: &Acceptances, written: &str) -> Option<String> {
    let Some((batch, row, plain_row)) = compared(digest) else {
        let (batch, row) = digest.baseline.usual()?;
        return Some(format!("workload: {{ batch: {batch} }}\n{}", baseline(row)?));
    };
    let mut block = format!("workload: {{ batch: {batch} }}\n");
    match plain_row.and_then(baseline) {
        Some(lines) => block += &lines,
        None => block += "# baseline: { observed: { throughput: ... } } from a run without speculation\n",
    }
    block += "speculation:\n";
    match &digest.flags[..] {
        [ServerFlags { steps: Some(steps), topk: Some(topk), draft_tokens: Some(rows), .. }] => {
            let _ = writeln!(block, "  steps: {steps}\n  topk: {topk}\n  draft_tokens: {rows}");
        }
        _ => {
            if let Some(k) = fits.depth {
                let _ = writeln!(block, "  draft_tokens: {}", k + 1);
            }
        }
    }
    let _ = writeln!(block, "  acceptance: {{ file: {} }}", plain(written));
    if let Some(execution) = execution(row) {
        let _ = writeln!(block, "  verify: {{ execution: {execution} }}");
        block += &elsewhere(&digest.speculation, batch, execution);
    }
    if let Some(throughput) = throughput(row) {
        let _ = writeln!(block, "  observed: {{ throughput: {throughput} }}");
    }
    Some(block)
}

fn baseline(row: &BatchRow) -> Option<String> {
    let execution = execution(row).map_or(String::new(), |word| format!("  execution: {word}\n"));
    Some(format!("baseline:\n{execution}  observed: {{ throughput: {} }}\n", throughput(row)?))
}

/// The median, with one standard deviation between intervals where there are several: `"61.72 tok/s +- 0.89 tok/s"`.
fn throughput(row: &BatchRow) -> Option<String> {
    let at = |q| row.throughput().quantile(q);
    let median = at(0.5)?;
    let deviation = (at(0.95)? - at(0.05)?) / 2.0 / SPREAD_DEVIATIONS;
    Some(if row.throughput().count() > 1 && deviation > 5e-4 * median {
        format!("\"{median:.2} tok/s +- {} tok/s\"", significant(deviation, 2))
    } else {
        format!("{median:.2} tok/s")
    })
}

/// How most passes of a batch ran, where the log tells: `eager` or `graph`.
fn execution(row: &BatchRow) -> Option<&'static str> {
    match row.eager.cmp(&row.graph) {
        std::cmp::Ordering::Less => Some("graph"),
        std::cmp::Ordering::Greater => Some("eager"),
        std::cmp::Ordering::Equal => (row.eager > 0).then_some("eager"),
    }
}

/// Batches that ran otherwise than the one of the snippet, as a comment.
fn elsewhere(side: &DigestBatch, batch: u32, word: &str) -> String {
    let other = |(at, row): (&u32, &BatchRow)| (*at != batch && execution(row)? != word).then_some(*at);
    let others: Vec<u32> = side.batches.iter().filter_map(other).collect();
    if others.is_empty() {
        return String::new();
    }
    let inverse = if word == "eager" { "in a CUDA graph" } else { "eagerly" };
    format!("  # batch {batch} alone: verify ran {inverse} at batch {}\n", batches(&others))
}

/// Where verify ran outside a CUDA graph, for people: a sentence for each way; none where it never did.
pub(super) fn eager_words(side: &DigestBatch, batch: Option<u32>) -> Option<String> {
    let of = |wanted: fn(&BatchRow) -> bool| -> Vec<u32> {
        side.batches.iter().filter(|(_, row)| wanted(row)).map(|(batch, _)| *batch).collect()
    };
    let eager = of(|row| row.eager > 0 && row.graph == 0);
    let graph = of(|row| row.graph > 0 && row.eager == 0);
    let mixed = of(|row| row.graph > 0 && row.eager > 0);
    if eager.is_empty() && mixed.is_empty() {
        return None;
    }
    let all: u64 = side.batches.values().map(|row| row.intervals).sum();
    let count: u64 = side.batches.values().map(|row| row.eager).sum();
    let mut text = format!("{count} of {all} intervals verified outside a CUDA graph");
    let mut part = |list: &[u32], words: &str| {
        if !list.is_empty() {
            let _ = write!(text, "; {words} at batch {}", batches(list));
        }
    };
    part(&eager, "eager");
    part(&mixed, "now eager, now in a graph");
    part(&graph, "in a graph");
    if let (Some(largest), Some(smallest)) = (graph.last(), eager.first())
        && largest < smallest
    {
        let _ = write!(text, ": graphs are captured up to batch {largest} at least, not up to {smallest}");
    }
    if let Some(word) = batch.and_then(|batch| execution(side.batches.get(&batch)?)) {
        let _ = write!(text, ". The keys say `verify: {{ execution: {word} }}`");
    }
    Some(text)
}

/// `1, 4 and 8`; long lists are cut.
fn batches(list: &[u32]) -> String {
    let mut words: Vec<String> = list.iter().take(8).map(u32::to_string).collect();
    if list.len() > 8 {
        return format!("{} and {} more", words.join(", "), list.len() - 8);
    }
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

/// A file's name as a value inside braces.
fn plain(name: &str) -> String {
    let safe = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    if safe && !name.is_empty() { name.to_owned() } else { quoted(name) }
}

/// A file's name without its folders, which are nobody's business.
fn base(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
