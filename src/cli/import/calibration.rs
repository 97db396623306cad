//! Collective rows as a calibration file.
//!
//! Taken are the times out of place. One whose in-place sibling took less than half of it is flagged `spike`. Where a size
//! was measured several times its median counts, with the range beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::collectives::{Run, Said, microseconds, mode};
use super::gpu_name;
use crate::calibration::FORMAT;
use crate::hardware::{Gpu, gpu_entries, gpu_preset};
use crate::import::Collective;
use crate::validation;

/// Operations that calibrations know.
const OPS: [&str; 4] = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all"];
/// The largest message of a calibration \[B\].
const LARGEST: f64 = u32::MAX as f64;

/// What tells one point from another.
type Key = (String, u32, &'static str, &'static str, u64);

/// Times of one point \[µs\], with whether each stands out of its sibling.
type Point = Vec<(f64, bool)>;

/// The file.
///
/// # Errors
/// What is missing or contradicts itself.
pub(super) fn yaml(runs: &[Run], said: &Said) -> Result<String, String> {
    let gpu = gpu(runs, said)?;
    let mut points: BTreeMap<Key, Point> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.facts.cpu_time) {
        collect(run, &gpu, said, &mut points)?;
    }
    if points.is_empty() {
        return Err("no row can go into a calibration".to_owned());
    }
    let count = points.keys().map(|key| key.1).max().unwrap_or(2);
    let mut out = format!("# Imported from nccl-tests by specplan {}.\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(out, "format: {FORMAT}");
    facts(runs, &gpu, count, &mut out);
    provenance(runs, &mut out);
    let notes = notes(runs, said);
    if !notes.is_empty() {
        out.push_str("notes:\n");
        for note in &notes {
            let _ = writeln!(out, "  - {}", quoted(note));
        }
    }
    out.push_str("tables:\n  collectives: |\n");
    rows(&points, &mut out);
    Ok(out)
}

/// The preset: as said, else by the driver's name; all runs agree.
fn gpu(runs: &[Run], said: &Said) -> Result<Gpu, String> {
    let known = || gpu_entries().iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = &said.gpu {
        return gpu_preset(name).ok_or_else(|| format!("--gpu {name}: presets are {}", known()));
    }
    let mut names: Vec<&str> = runs.iter().filter_map(|run| run.facts.gpu.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [] => Err(format!("the files do not name the GPU: say it with --gpu, one of {}", known())),
        [name] => gpu_name::preset_of(name).ok_or_else(|| {
            format!("`{name}` is no preset: say which is nearest with --gpu, one of {}", known())
        }),
        _ => Err(format!("the files are of several boxes ({}): import each apart", names.join(", "))),
    }
}

fn collect(run: &Run, gpu: &Gpu, said: &Said, points: &mut BTreeMap<Key, Point>) -> Result<(), String> {
    let file = &run.file;
    if run.facts.hosts > 1 {
        return Err(format!(
            "{file}: the ranks stand on {} hosts; a calibration is of one box",
            run.facts.hosts
        ));
    }
    if !run.facts.other_gpus.is_empty() {
        return Err(format!(
            "{file}: the ranks stand on GPUs of several kinds ({}); a calibration is of one",
            kinds(run)
        ));
    }
    let op = run.op(said).ok_or_else(|| {
        format!("{file}: the table does not tell its operation: say it with --op, one of {}", OPS.join(", "))
    })?;
    if !OPS.contains(&op) {
        return Err(format!("{file}: calibrations know {}, not {op}", OPS.join(", ")));
    }
    let ranks = run.facts.ranks.filter(|ranks| (2..=1024).contains(ranks)).ok_or_else(|| {
        format!("{file}: the number of ranks is not told (lines `# Rank ...` are missing or contradict each other), or fewer than 2")
    })?;
    let transport = transport(run, gpu, said);
    if transport == "net" {
        return Err(format!(
            "{file}: NCCL went over the network interface; say what stands for it with --transport"
        ));
    }
    for row in &run.rows {
        let bytes = per_rank(op, ranks, row);
        let Some(time) = row.out_of_place.filter(|_| (1.0..=LARGEST).contains(&bytes)) else { continue };
        let spike = row.in_place.is_some_and(|other| time.get() > 2.0 * other.get());
        let key = (op.to_owned(), ranks, mode(&run.facts), transport, bytes as u64);
        points.entry(key).or_default().push((microseconds(time), spike));
    }
    Ok(())
}

fn kinds(run: &Run) -> String {
    run.facts.gpu.iter().chain(&run.facts.other_gpus).cloned().collect::<Vec<_>>().join(", ")
}

/// nccl-tests counts all parts of an all-gather, calibrations this rank's.
fn per_rank(op: &str, ranks: u32, row: &Collective) -> f64 {
    let parts = if op == "all-gather" { f64::from(ranks) } else { 1.0 };
    (row.bytes.get() / parts).floor()
}

/// The transport as told or said; empty where neither is: such rows serve whatever way NCCL takes by itself.
fn transport(run: &Run, gpu: &Gpu, said: &Said) -> &'static str {
    // SXM cards have NVLink; other cards seldom wear a bridge.
    let sxm = gpu.nvlink.is_some() && (gpu.name.ends_with("sxm") || gpu.multicast);
    said.transport.unwrap_or(match run.facts.transport {
        // NCCL calls it P2P whether it runs over NVLink or PCIe.
        Some("p2p") if sxm => "nvlink",
        told => told.unwrap_or_default(),
    })
}

/// What was assumed, and what the reader of the numbers should know.
pub(super) fn notes(runs: &[Run], said: &Said) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    let gpu = gpu(runs, said).ok();
    for run in runs {
        overridden(run, gpu.as_ref(), said, &mut add);
        if gpu.as_ref().is_some_and(|gpu| transport(run, gpu, said).is_empty()) {
            add("what carried the bytes is not told: the rows count as the way that NCCL takes by itself on the box of \
                 the scenario. --transport says it, and NCCL_DEBUG=INFO makes nccl-tests tell"
                .to_owned());
        }
        if run.facts.cpu_time {
            add(format!("{}: CPU times (-C 1) are no times of collectives and are left out", named(run)));
        }
        if run.facts.processes == 1 && run.facts.ranks.is_some_and(|ranks| ranks > 1) {
            add("one process drove all GPUs: its launches are skewed, which one process per GPU is not"
                .to_owned());
        }
        if !run.facts.other_gpus.is_empty() {
            add(format!("{}: the ranks stand on GPUs of several kinds ({})", named(run), kinds(run)));
        }
        let larger = run.rows.iter().filter(|row| row.bytes.get() > LARGEST).count();
        if larger > 0 {
            add(format!("{larger} rows of 4 GiB and more are left out"));
        }
    }
    if let Some(gpu) = &gpu {
        notes.extend(contradicting(runs, gpu, said));
    }
    notes
}

/// Where the command line says something else than the file.
fn overridden(run: &Run, gpu: Option<&Gpu>, said: &Said, add: &mut dyn FnMut(String)) {
    let file = named(run);
    if let (Some(gpu), Some(told)) = (gpu.filter(|_| said.gpu.is_some()), &run.facts.gpu)
        && gpu_name::preset_of(told).is_some_and(|preset| preset.name != gpu.name)
    {
        add(format!("{file} was measured on {told}: --gpu books it as {}", gpu.name));
    }
    if let Some(word) = said.transport {
        let nvlink = run.facts.transport == Some("p2p") && word == "nvlink";
        if let Some(told) = run.facts.transport.filter(|told| *told != word && !nvlink) {
            add(format!("{file} tells {told} as its transport: --transport books it as {word}"));
        }
        if let Some(gpu) = gpu.filter(|gpu| word == "nvlink" && gpu.nvlink.is_none()) {
            add(format!("--transport nvlink: {} has no NVLink", gpu.name));
        }
    }
    if let (Some(told), Some(op)) = (run.facts.op, &said.op)
        && told != op
    {
        add(format!("{file} tells {told} as its operation: --op {op} is passed over"));
    }
}

/// Repeats of one point that differ more than twofold: they are hardly of one thing.
fn contradicting(runs: &[Run], gpu: &Gpu, said: &Said) -> Option<String> {
    let mut points: BTreeMap<Key, Point> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.facts.cpu_time) {
        collect(run, gpu, said, &mut points).ok()?;
    }
    let ends = |times: &Point| {
        let sound = || times.iter().map(|(time, _)| *time);
        (sound().fold(f64::INFINITY, f64::min), sound().fold(0.0, f64::max))
    };
    let apart: Vec<(&Key, (f64, f64))> = points
        .iter()
        .map(|(key, times)| (key, ends(times)))
        .filter(|(_, (low, high))| *high > 2.0 * *low)
        .collect();
    let ((op, ranks, _, _, bytes), (low, high)) = apart.first()?;
    Some(format!(
        "repeats differ more than twofold at {} of {} points, as {op} of {bytes} B over {ranks} ranks: {low} to {high} \
         µs; their median counts",
        apart.len(),
        points.len()
    ))
}

fn named(run: &Run) -> String {
    Path::new(&run.file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn facts(runs: &[Run], gpu: &Gpu, count: u32, out: &mut String) {
    let _ = writeln!(out, "box:\n  gpu: {}\n  count: {count}", gpu.name);
    let mut versions: Vec<&str> = runs.iter().filter_map(|run| run.facts.nccl.as_deref()).collect();
    versions.dedup();
    if !versions.is_empty() {
        let _ = writeln!(out, "  nccl: {}", quoted(&versions.join(", ")));
    }
    let variables: BTreeMap<&String, &String> =
        runs.iter().flat_map(|run| run.facts.environment.iter().map(|(name, value)| (name, value))).collect();
    if !variables.is_empty() {
        out.push_str("  environment:\n");
        for (name, value) in variables {
            let _ = writeln!(out, "    {name}: {}", quoted(value));
        }
    }
}

fn provenance(runs: &[Run], out: &mut String) {
    let mut files: Vec<String> = runs.iter().map(named).collect();
    files.dedup();
    let source = format!("nccl-tests, imported from {}", files.join(", "));
    let mut commands: Vec<&str> = runs.iter().filter_map(|run| run.facts.command.as_deref()).collect();
    commands.dedup();
    let _ = writeln!(out, "provenance:\n  source: {}\n  licence: not stated", quoted(&source));
    if !commands.is_empty() {
        let _ = writeln!(out, "  command: {}", quoted(&commands.join("; ")));
    }
}

fn rows(points: &BTreeMap<Key, Point>, out: &mut String) {
    let repeated = points.values().any(|times| times.len() > 1);
    out.push_str("    op,ranks,family,mode,transport,bytes,median_us");
    out.push_str(if repeated { ",p10_us,p90_us,samples,flag\n" } else { ",flag\n" });
    let curve = |key: &Key| (key.0.clone(), key.1, key.2, key.3);
    for (key, times) in points {
        let (op, ranks, mode, transport, bytes) = key;
        let spike = |times: &Point| times.iter().all(|(_, spike)| *spike);
        // A curve of spikes alone would have no knot.
        let sound = points.iter().any(|(other, times)| curve(other) == curve(key) && !spike(times));
        let flag = if spike(times) && sound { "spike" } else { "" };
        let mut sorted: Vec<f64> = times.iter().map(|(time, _)| *time).collect();
        sorted.sort_by(f64::total_cmp);
        let median = quantile(&sorted, 0.5);
        let _ = write!(out, "    {op},{ranks},nccl,{mode},{transport},{bytes},{median}");
        if repeated {
            let _ = write!(out, ",{},{},{}", quantile(&sorted, 0.1), quantile(&sorted, 0.9), sorted.len());
        }
        let _ = writeln!(out, ",{flag}");
    }
}

/// Linear between order statistics, to the nanosecond.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    (validation::quantile(sorted, share) * 1e3).round() / 1e3
}

/// A text as YAML takes it whatever it holds: JSON's double quotes, and escapes for what YAML calls unprintable.
pub(super) fn quoted(text: &str) -> String {
    let unprintable = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let json = serde_json::Value::from(text).to_string();
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        if unprintable(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
        out
    })
}
