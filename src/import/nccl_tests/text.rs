//! The printed tables, line by line.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use super::header::Header;
use super::names;
use super::row::{self, Found, Preamble};
use super::table::Table;
use crate::import::lines::{Line, Seen, each_line};
use crate::import::{Sink, Summary};

/// Reads all tables of a stream.
pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let mut reader = Reader::default();
    each_line(input, &mut summary, |summary, line| reader.line(line, summary, sink));
    let open = !reader.table.rows.is_empty() && !reader.table.closed;
    if let Some(beginning) = reader.beginning.take() {
        summary.skipped.note(beginning.0, "the row has no figures", &beginning.2);
    }
    reader.finish(&mut summary, sink);
    if open && summary.cut.is_none() {
        summary.cut = Some("the last table has no footer: the run or the file was cut".to_owned());
    }
    summary
}

#[derive(Default)]
struct Reader {
    table: Table,
    header: Option<Header>,
    /// Programs named before the table: the next table is theirs.
    named: Option<&'static str>,
    /// Ranks with the place of each.
    ranks: BTreeMap<u32, String>,
    /// Whether lines of ranks are broken or contradict each other: then their number is not told.
    doubtful: bool,
    processes: BTreeSet<String>,
    hosts: BTreeSet<String>,
    /// A row whose figures are still to come: line, what is known, text.
    beginning: Option<(u64, Preamble, String)>,
}

impl Reader {
    fn line(&mut self, line: &Line, summary: &mut Summary, sink: &mut Sink) -> Seen {
        let text = line.text;
        if self.comment(text, summary, sink) || self.info(text) {
            return Seen::Other;
        }
        let header = self.header.clone().unwrap_or_else(Header::usual);
        let row = match row::find(text, &header) {
            Found::Row(row) => row,
            Found::Beginning(preamble) => {
                self.beginning = Some((line.number, preamble, text.to_owned()));
                return Seen::Other;
            }
            Found::Broken(why) => return Seen::Skipped(why),
            Found::Nothing => {
                let Some((_, beginning, _)) = &self.beginning else {
                    self.named = names::in_line(text).or(self.named);
                    return Seen::Other;
                };
                let Some(row) = row::finish(beginning, text, &header) else { return Seen::Other };
                self.beginning = None;
                row
            }
        };
        if row.preamble.size == 0 {
            summary.warn("size-0", line.number, "a message of no bytes is no measurement", text);
            return Seen::Other;
        }
        match self.table.push(line.number, row, text) {
            Ok(()) => Seen::Read,
            Err(why) => Seen::Skipped(why),
        }
    }

    /// Whether it is a line of the program itself, beginning with `#` behind whatever MPI puts before it.
    fn comment(&mut self, text: &str, summary: &mut Summary, sink: &mut Sink) -> bool {
        let Some(at) = text.find('#') else { return false };
        let comment = text[at + 1..].trim();
        if comment.starts_with("nThread ") {
            self.next_table(summary, sink);
            self.table.run.op = self.table.run.op.or(self.named.take());
            self.table.run.command = Some(comment.to_owned());
            self.table.run.graph = value_after(comment, "graph:").is_some_and(|graph| graph != "0");
        } else if let Some(rest) = comment.strip_prefix("nccl-tests version") {
            self.next_table(summary, sink);
            self.table.run.nccl = value_after(rest, "nccl-library=").and_then(version_of_number);
        } else if let Some(rest) = comment.strip_prefix("Collective test starting:") {
            self.table.run.op = names::of_program(rest.trim());
        } else if comment.starts_with("Rank ") {
            self.device(comment, summary);
        } else if let Some(header) = Header::of(&text[at..], &mut |name| summary.unknown_key(name)) {
            // A header without a line of settings before it begins a table too.
            self.next_table(summary, sink);
            self.table.run.op = self.table.run.op.or(self.named.take());
            self.table.run.cpu_time |= header.cpu_time;
            self.header = Some(header);
        } else if let Some(rest) = comment.strip_prefix("Out of bounds values") {
            self.table.closed = true;
            if rest.contains("FAILED") {
                summary.warn(
                    "out-of-bounds",
                    summary.lines,
                    "the run itself says that results are wrong",
                    text,
                );
            }
        } else if comment.starts_with("Avg bus bandwidth") || comment.starts_with("Collective test concluded")
        {
            self.table.closed = true;
        } else {
            return text.trim_start().starts_with('#');
        }
        true
    }

    fn next_table(&mut self, summary: &mut Summary, sink: &mut Sink) {
        // Two lines of settings, and a new version line, belong to one table.
        if self.table.rows.is_empty() {
            return;
        }
        let number = self.table.run.table + 1;
        self.finish(summary, sink);
        self.table = Table::after(number);
    }

    fn finish(&mut self, summary: &mut Summary, sink: &mut Sink) {
        let mut table = std::mem::take(&mut self.table);
        if !table.rows.is_empty() {
            if self.ranks.keys().copied().ne(0..self.ranks.len() as u32) {
                let shown = self.ranks.keys().map(u32::to_string).collect::<Vec<_>>().join(", ");
                let why = "the lines of the ranks leave some out: how many took part is not told";
                summary.warn("ranks", 0, why, &shown);
                self.doubtful = true;
            }
            let ranks = u32::try_from(self.ranks.len()).ok();
            table.run.ranks = ranks.filter(|ranks| *ranks > 0 && !self.doubtful);
            table.run.processes = self.processes.len() as u32;
            table.run.hosts = self.hosts.len() as u32;
            table.emit(summary, sink);
        }
        self.ranks.clear();
        self.doubtful = false;
        self.processes.clear();
        self.hosts.clear();
    }

    /// `Rank  0 Group  0 Pid  27238 on host device  0 [0000:01:00] NVIDIA GeForce RTX 5090`.
    fn device(&mut self, comment: &str, summary: &mut Summary) {
        let words: Vec<&str> = comment.split_whitespace().collect();
        let after = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1));
        let Some(rank) = after("Rank").and_then(|rank| rank.parse().ok()).filter(|rank| *rank < 65_536)
        else {
            let why = "a rank whose number cannot be: how many took part is not told";
            summary.warn("ranks", summary.lines, why, comment);
            self.doubtful = true;
            return;
        };
        // Another process may print the same line again; another GPU under the same number is another rank.
        let place = comment.split_once(" device").map_or("", |(_, place)| place.trim()).to_owned();
        let twice = self.ranks.get(&rank).is_some_and(|other| *other != place);
        if twice {
            let why = format!("rank {rank} stands on several GPUs: how many ranks took part is not told");
            summary.warn("ranks", summary.lines, &why, comment);
            self.doubtful = true;
        }
        self.ranks.insert(rank, place);
        let host = after("on").filter(|host| **host != "device").copied().unwrap_or_default();
        self.hosts.insert(host.to_owned());
        let process = after("Pid").copied().unwrap_or_default();
        self.processes.insert(format!("{host} {process}"));
        if let Some((_, name)) = comment.rsplit_once(']') {
            self.table.run.take_gpu(name.trim());
        }
    }

    /// Whether it is a line of NCCL_DEBUG; version, transport and channels are taken from it.
    fn info(&mut self, text: &str) -> bool {
        if let Some(rest) = after(text, "NCCL version ") {
            let version = rest.split(['+', ' ', ',']).next().unwrap_or_default();
            if version.starts_with(|c: char| c.is_ascii_digit()) {
                self.table.run.nccl = Some(version.to_owned());
            }
            return true;
        }
        let Some(info) = after(text, "NCCL INFO ") else { return false };
        if let Some(via) = after(info, " via ") {
            let transport = match via.split(['/', ' ']).next().unwrap_or_default() {
                "SHM" => Some("shm"),
                "P2P" => Some("p2p"),
                "NET" => Some("net"),
                "NVLS" => Some("nvlink"),
                _ => None,
            };
            self.table.run.transport = transport.or(self.table.run.transport);
        }
        if let Some(channels) =
            info.split(" coll channels").next().filter(|_| info.contains(" coll channels"))
        {
            self.table.run.channels = channels.trim().parse().ok().or(self.table.run.channels);
        }
        // A row may be glued to the end of such a line.
        matches!(row::find(text, &self.header.clone().unwrap_or_else(Header::usual)), Found::Nothing)
    }
}

fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.split_once(word).map(|(_, rest)| rest)
}

fn value_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    after(text, key)?.split_whitespace().next()
}

/// 22907 is 2.29.7; up to 2.8, 2804 was 2.8.4.
pub(super) fn version_of_number(number: &str) -> Option<String> {
    let code: u32 = number.parse().ok()?;
    let (major, rest) =
        if code >= 10_000 { (code / 10_000, code % 10_000) } else { (code / 1000, code % 1000) };
    Some(format!("{major}.{}.{}", rest / 100, rest % 100))
}
