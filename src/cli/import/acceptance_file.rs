//! The acceptance file: what `acceptance: { file: ... }` of a scenario reads, with where it came from beside it.

use std::fmt::Write as _;
use std::path::Path;

use super::acceptance::{Acceptances, name};
use super::decoding::compared;
use crate::import::serving::{BatchRow, Digest, DigestBatch, ServerFlags};
use crate::sourced::SPREAD_DEVIATIONS;

/// The deepest histogram that a scenario takes.
const DEEPEST: usize = 65;

/// The largest count that a scenario takes.
const MOST_COUNT: u64 = 1_000_000_000_000_000;

/// The file.
///
/// # Errors
/// What is missing for it.
pub(super) fn yaml(files: &[String], digest: &Digest, fits: &Acceptances) -> Result<String, String> {
    let Some(length) = &fits.length else {
        return Err(
            "these lines tell no acceptance, so they make no acceptance file; -f text shows their times"
                .to_owned(),
        );
    };
    let mut out = String::from(
        "# Acceptance as a server told it. A scenario reads it: `acceptance: { file: this-file.yaml }`.\nacceptance:\n",
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
    if let Some(block) = observed(digest, fits) {
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

/// The keys of a scenario that were observed: at the batch that both sides have, else at the usual one.
pub(super) fn observed(digest: &Digest, fits: &Acceptances) -> Option<String> {
    let throughput = |row: &BatchRow| row.throughput().quantile(0.5).map(|value| format!("{value:.2} tok/s"));
    let plain_line =
        |row: &BatchRow| Some(format!("baseline:\n  observed: {{ throughput: {} }}\n", throughput(row)?));
    let Some((batch, row, plain)) = compared(digest) else {
        let (batch, row) = digest.baseline.usual()?;
        return Some(format!("workload: {{ batch: {batch} }}\n{}", plain_line(row)?));
    };
    let mut block = format!("workload: {{ batch: {batch} }}\n");
    match plain.and_then(plain_line) {
        Some(line) => block += &line,
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
    block += "  acceptance: { file: acceptance.yaml }\n";
    if let Some(throughput) = throughput(row) {
        let _ = writeln!(block, "  observed: {{ throughput: {throughput} }}");
    }
    Some(block)
}

/// A file's name without its folders, which are nobody's business.
fn base(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
