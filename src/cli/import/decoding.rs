//! What server logs told about decoding: accept length, cycle times by batch, and which law of acceptance the data support.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::acceptance::Acceptances;
use super::acceptance_file;
use super::decoding_json;
use super::section::{Section, Table};
use crate::cli::args::{ImportArgs, ImportFormat};
use crate::import::serving::{Basis, BatchRow, Counted, DecodeInterval, Digest, DigestBatch, RateForm};
use crate::import::{Observation, What};
use crate::units::{Seconds, TokensPerSecond, significant};

/// Rows of a table for reading; JSON and CSV have all.
const MOST_ROWS: usize = 24;

/// Windows of the timeline for reading.
const MOST_WINDOWS: usize = 8;

/// Everything of all files.
#[derive(Default)]
pub(super) struct Decoding {
    pub(super) digest: Digest,
    pub(super) files: Vec<String>,
    pub(super) facts: Vec<(&'static str, String)>,
    /// The first dump of counters: used where no other makes an interval with it.
    boot: Option<Box<DecodeInterval>>,
    /// Counters at the last dump.
    counters: Option<Counted>,
    /// Intervals between dumps.
    differences: u64,
    /// The acceptance file that is written.
    written: Option<String>,
}

impl Decoding {
    /// None yet.
    pub(super) fn new(args: &ImportArgs) -> Self {
        let yaml = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        let is_yaml = |path: &&PathBuf| args.format.map_or(yaml(path), |format| format == ImportFormat::Yaml);
        let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
        Self { written: args.output.as_ref().filter(is_yaml).and_then(name), ..Self::default() }
    }

    /// The acceptance file as a scenario beside it names it.
    pub(super) fn written(&self) -> &str {
        self.written.as_deref().unwrap_or(acceptance_file::UNNAMED)
    }
}

impl Section for Decoding {
    fn begin(&mut self, file: &str) {
        self.files.push(file.to_owned());
        self.digest.begin();
    }

    fn take(&mut self, observation: &Observation) {
        match &observation.what {
            What::Decode(interval) if self.counters.is_some() || interval.since_boot => self.dump(interval),
            What::Decode(interval) => self.digest.add(interval),
            What::Rate(segment) => self.digest.rate(segment),
            What::Flags(flags) => self.digest.flags(flags),
            What::Fact { name, value } if self.facts.len() < 64 => self.facts.push((name, value.clone())),
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.digest.is_empty() && self.boot.is_none()
    }

    fn text(&self, out: &mut String) {
        let digest = self.closed();
        let fits = Acceptances::of(&digest);
        let _ = writeln!(out, "{}", verdict(&digest, &fits));
        if let Some(length) = &fits.length {
            let ends = length.ends.map_or("its range is not told".to_owned(), |(low, high)| {
                format!("{} to {} nine times in ten", significant(low, 4), significant(high, 4))
            });
            let _ = writeln!(
                out,
                "\nAccept length, bonus token included: {}, {ends}",
                significant(length.value, 4)
            );
            over_time(&digest, &fits, out);
        }
        rates(&digest, out);
        table("Cycle time by batch", &digest.speculation, out);
        table("Decode step by batch, without speculation", &digest.baseline, out);
        fits.text(out);
        paste(&digest, &fits, out);
    }

    fn json(&self, object: &mut Map<String, Value>) {
        let digest = self.closed();
        let fits = Acceptances::of(&digest);
        decoding_json::keys(self, &digest, &fits, object);
    }

    fn table(&self) -> Option<Table> {
        Some(decoding_json::table(&self.closed()))
    }

    fn yaml(&self) -> Option<Result<String, String>> {
        let digest = self.closed();
        let fits = Acceptances::of(&digest);
        Some(acceptance_file::yaml(&self.files, &digest, &fits, self.written()))
    }

    fn notes(&self) -> Vec<String> {
        let digest = self.closed();
        let mut notes = Vec::new();
        if self.boot.is_some() && self.differences == 0 {
            notes.push(
                "one dump alone counts since the start of the server, warm-up included; a second one makes an interval"
                    .to_owned(),
            );
        }
        if digest.flags.iter().any(|flags| flags.synthetic) {
            notes.push(
                "acceptance was forced by the server's flags: this is no acceptance of a model".to_owned(),
            );
        }
        let batch = compared(&digest).map(|(batch, ..)| batch);
        notes.extend(acceptance_file::eager_words(&digest.speculation, batch));
        if digest.runs > 1 {
            notes.push(format!("{} runs of the server are taken together", digest.runs));
        }
        notes
    }
}

impl Decoding {
    /// Counters of a dump: those since boot become the difference to the dump before, in whichever file that was.
    fn dump(&mut self, interval: &DecodeInterval) {
        let Some(counted) = &interval.counted else { return self.digest.add(interval) };
        let before = self.counters.take();
        if !interval.since_boot {
            self.counters = before.map(|before| before.plus(counted));
            self.differences += 1;
            return self.digest.add(interval);
        }
        self.counters = Some(counted.clone());
        let difference = before.and_then(|before| counted.since(&before)).filter(|found| found.drafts > 0);
        match difference {
            Some(found) => {
                self.differences += 1;
                let accept_length = found.accept_length();
                self.digest.add(&DecodeInterval {
                    accept_length,
                    counted: Some(found),
                    since_boot: false,
                    ..interval.clone()
                });
            }
            None => self.boot = Some(Box::new(interval.clone())),
        }
    }

    /// The digest with its last run closed.
    fn closed(&self) -> Digest {
        let mut digest = self.digest.clone();
        if let Some(boot) = self.boot.as_ref().filter(|_| self.differences == 0) {
            digest.add(boot);
        }
        digest.close();
        digest
    }
}

/// The batch where both tables have times, with most intervals of speculation; else the usual one.
pub(super) fn compared(digest: &Digest) -> Option<(u32, &BatchRow, Option<&BatchRow>)> {
    let both = digest.speculation.batches.iter().filter_map(|(batch, row)| {
        let plain = digest.baseline.batches.get(batch)?;
        (row.cycle_times().count() > 0 && plain.cycle_times().count() > 0).then_some((
            *batch,
            row,
            Some(plain),
        ))
    });
    let usual = || digest.speculation.usual().map(|(batch, row)| (batch, row, None));
    both.max_by_key(|(_, row, _)| row.cycle_times().count()).or_else(usual)
}

/// The answer in a sentence.
fn verdict(digest: &Digest, fits: &Acceptances) -> String {
    let server = digest.server().map_or("The server", |server| server.name());
    let Some(length) = &fits.length else {
        return match digest.baseline.usual() {
            Some((batch, row)) => format!(
                "{server}, without speculation: {} per step at batch {batch}{}.",
                ms(row.cycle_times().quantile(0.5)),
                tok_s(row.throughput().quantile(0.5))
            ),
            None => format!("{server}: no times and no acceptance."),
        };
    };
    let length = significant(length.value, 3);
    match compared(digest) {
        Some((batch, row, plain)) => {
            let cycle = row.cycle_times().quantile(0.5);
            let mut text = format!(
                "{server}: {length} tokens per cycle of {} at batch {batch}{}.",
                ms(cycle),
                tok_s(row.throughput().quantile(0.5))
            );
            if let Some((cycle, step)) = cycle.zip(plain.and_then(|plain| plain.cycle_times().quantile(0.5)))
            {
                let _ = write!(
                    text,
                    "\nA step without speculation takes {}: break-even at {} tokens.",
                    ms(Some(step)),
                    significant(cycle / step, 3)
                );
                if cycle < step {
                    text += "\nA cycle is shorter than a step, so the two runs are not comparable.";
                }
            }
            text
        }
        None => format!("{server}: {length} tokens per cycle; the input tells no times."),
    }
}

fn over_time(digest: &Digest, fits: &Acceptances, out: &mut String) {
    let quantile = |q| digest.spread.quantile(q).map_or(String::new(), |value| significant(value, 3));
    let intervals = digest.lengths.intervals;
    if intervals < 2 {
        return;
    }
    let _ = writeln!(
        out,
        "  of {} intervals: 5 % below {}, half below {}, 95 % below {}",
        count(intervals),
        quantile(0.05),
        quantile(0.5),
        quantile(0.95)
    );
    let windows = digest.timeline.windows();
    let each = windows.len().div_ceil(MOST_WINDOWS).max(1);
    let means: Vec<String> = windows
        .chunks(each)
        .map(|part| {
            let total: u64 = part.iter().map(|w| w.intervals).sum();
            let mean: f64 =
                part.iter().map(|w| w.accept_length() * w.intervals as f64).sum::<f64>() / total as f64;
            format!("{mean:.2}")
        })
        .collect();
    let _ = writeln!(out, "  over time: {}", means.join("  "));
    if let Some(steadiness) = fits.steadiness_words() {
        let _ = writeln!(out, "  {steadiness}");
    }
}

fn rates(digest: &Digest, out: &mut String) {
    for segment in digest.rates.iter().take(6) {
        if segment.form != RateForm::Absent {
            let text =
                format!("accept rate, lines {} to {}: {}", segment.from, segment.to, segment.form.words());
            wrapped(&text, "  ", out);
        }
    }
    if digest.rates.len() > 6 {
        let _ = writeln!(out, "  {} more stretches; -f json lists them", digest.rates.len() - 6);
    }
}

fn table(title: &str, side: &DigestBatch, out: &mut String) {
    let rows: Vec<(&u32, &BatchRow)> =
        side.batches.iter().filter(|(_, row)| row.cycle_times().count() > 0).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title} ({})", basis(&rows));
    let _ = writeln!(
        out,
        "{:>6} {:>9} {:>11} {:>11} {:>10} {:>10} {:>10}  graph",
        "batch", "intervals", "accept len", "tok/s", "median", "5 %", "95 %"
    );
    // Those with most intervals, in the order of batches.
    let mut shown: Vec<&(&u32, &BatchRow)> = rows.iter().collect();
    shown.sort_by_key(|(batch, row)| (std::cmp::Reverse(row.intervals), **batch));
    shown.truncate(MOST_ROWS);
    shown.sort_by_key(|(batch, _)| **batch);
    for (batch, row) in shown {
        let length = row.lengths.mean().map_or("-".to_owned(), |mean| format!("{mean:.2}"));
        let time = |q| ms(row.cycle_times().quantile(q));
        let throughput = row.throughput().quantile(0.5).map_or("-".to_owned(), |value| significant(value, 4));
        let _ = writeln!(
            out,
            "{batch:>6} {:>9} {length:>11} {throughput:>11} {:>10} {:>10} {:>10}  {}{}",
            count(row.intervals),
            time(0.5),
            time(0.05),
            time(0.95),
            graph(row),
            if row.is_undisturbed() { "" } else { " *" }
        );
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(out, "  and {} more batches; -f csv lists them", rows.len() - MOST_ROWS);
    }
    if rows.iter().any(|(_, row)| !row.is_undisturbed()) {
        out.push_str(
            "  * too few undisturbed intervals: times include those with prefill or idle\n    \
             time inside, or with another batch before\n",
        );
    }
}

fn basis(rows: &[(&u32, &BatchRow)]) -> &'static str {
    match rows.iter().find_map(|(_, row)| row.basis()) {
        Some(Basis::Step) => "batch / throughput",
        Some(Basis::Throughput) => "batch x accept length / throughput",
        Some(Basis::Drafts) => "batch x interval / drafts",
        Some(Basis::Printed) | None => "as printed",
    }
}

/// `yes`, `no`, or a share.
fn graph(row: &BatchRow) -> String {
    match (row.graph, row.eager) {
        (0, 0) => "-".to_owned(),
        (_, 0) => "yes".to_owned(),
        (0, _) => "no".to_owned(),
        (graph, eager) => format!("{} %", significant(100.0 * graph as f64 / (graph + eager) as f64, 2)),
    }
}

fn paste(digest: &Digest, fits: &Acceptances, out: &mut String) {
    if let Some(block) = acceptance_file::observed(digest, fits, acceptance_file::UNNAMED) {
        out.push_str("\nFor a scenario (-o acceptance.yaml writes the acceptance):\n");
        for line in block.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
}

/// A whole number with its thousands apart.
pub(super) fn count(count: u64) -> String {
    if count < 1000 { count.to_string() } else { significant(count as f64, 3) }
}

/// A time of so many seconds.
pub(super) fn ms(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| Seconds::new(seconds).to_string())
}

fn tok_s(rate: Option<f64>) -> String {
    rate.map_or(String::new(), |rate| format!(", {}", TokensPerSecond::new(rate)))
}

/// Words in lines of 78 columns.
pub(super) fn wrapped(text: &str, indent: &str, out: &mut String) {
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 78 {
            out.push('\n');
            width = 0;
        }
        if width == 0 {
            let lead = if out.ends_with('\n') { indent } else { "" };
            out.push_str(lead);
            width = lead.len();
        } else {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out.push('\n');
}

/// `{value, low, high}`.
pub(super) fn range(value: f64, low: f64, high: f64) -> Value {
    json!({"value": value, "low": low, "high": high})
}
