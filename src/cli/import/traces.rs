//! Traces of profilers: where the time of each rank went, beside the model's breakdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::profile::{Rank, Rendezvous, rendezvous};
use super::section::{Section, Table};
use crate::import::{Observation, TraceEvent, What, WorkClass};
use crate::units::Seconds;

/// Devices, ranks and hosts of one file that are told apart: garbage names more than any box has.
const MOST_PROCESSES: usize = 256;

/// Traces of all files.
#[derive(Default)]
pub(super) struct Traces {
    file: String,
    /// Events of the open file by the process they are booked under: devices, or ranks.
    open: BTreeMap<u64, Rank>,
    /// Launches stand under the host's process: one host per file, unless a file holds several ranks.
    hosts: BTreeMap<u64, Rank>,
    rank: Option<u32>,
    clock: Seconds,
    steps: BTreeSet<u64>,
    file_steps: u64,
    ranks: Vec<Rank>,
    /// Numbers of ranks that files told, with the file of each.
    told: BTreeMap<u32, String>,
    /// A number that two files told.
    twice: Option<String>,
}

/// A rank in the name of a file: `rank3`, `TP-3`, `TP3`.
fn rank_in(name: &str) -> Option<u32> {
    let name = std::path::Path::new(name).file_name()?.to_string_lossy().to_ascii_lowercase();
    ["rank", "tp"].iter().find_map(|word| {
        let rest = &name[name.rfind(word)? + word.len()..];
        let digits: String =
            rest.trim_start_matches(['-', '_', '.']).chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

fn take(ranks: &mut BTreeMap<u64, Rank>, process: u64, event: &TraceEvent) {
    if ranks.len() < MOST_PROCESSES || ranks.contains_key(&process) {
        ranks.entry(process).or_default().take(event);
    }
}

impl Traces {
    fn event(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::File { rank, clock } => {
                self.rank = rank.or(self.rank);
                self.clock = clock.unwrap_or(self.clock);
            }
            TraceEvent::Step => self.file_steps += 1,
            TraceEvent::Work { process, .. } => take(&mut self.open, *process, event),
            TraceEvent::Launch { process, .. } => take(&mut self.hosts, *process, event),
        }
    }

    fn clocked(&self, event: &TraceEvent) -> TraceEvent {
        let mut event = event.clone();
        if let TraceEvent::Work { start, .. } | TraceEvent::Launch { start, .. } = &mut event {
            *start += self.clock;
        }
        event
    }

    fn sorted(&self) -> Vec<&Rank> {
        let mut ranks: Vec<&Rank> = self.ranks.iter().collect();
        ranks.sort_by_key(|rank| rank.number);
        ranks
    }

    fn together(&self) -> Result<Rendezvous, String> {
        let ranks: Vec<Rank> = self.sorted().into_iter().cloned().collect();
        rendezvous(&ranks)
    }

    /// Steps of the profiler's schedule, where all files agree.
    fn steps(&self) -> Option<u64> {
        match self.steps.iter().collect::<Vec<_>>()[..] {
            [steps] if *steps > 0 => Some(*steps),
            _ => None,
        }
    }
}

impl Section for Traces {
    fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
        (self.rank, self.clock, self.file_steps) = (None, Seconds::ZERO, 0);
    }

    fn take(&mut self, observation: &Observation) {
        if let What::Trace(event) = &observation.what {
            let event = self.clocked(event);
            self.event(&event);
        }
    }

    fn end(&mut self) {
        let devices = std::mem::take(&mut self.open);
        let mut hosts = std::mem::take(&mut self.hosts);
        if devices.is_empty() {
            return;
        }
        self.steps.insert(self.file_steps);
        let alone = devices.len() == 1;
        for (process, mut rank) in devices {
            // A file of several ranks books host and stream of a rank under one process.
            let host = hosts
                .remove(&process)
                .or_else(|| if alone { hosts.pop_first().map(|(_, h)| h) } else { None });
            if let Some(host) = host {
                rank.adopt(host);
            }
            let told =
                if alone { self.rank.or_else(|| rank_in(&self.file)) } else { u32::try_from(process).ok() };
            if let Some(number) = told
                && let Some(other) = self.told.insert(number, self.file.clone())
            {
                self.twice.get_or_insert(format!(
                    "{other} and {} both say rank {number}: a trace of each rank is needed once",
                    self.file
                ));
            }
            // One more number than there are ranks: one of them is free.
            let most = self.ranks.len() as u32;
            let free = (0..=most).find(|n| self.ranks.iter().all(|rank| rank.number != *n)).unwrap_or(most);
            let taken = |n: &u32| self.ranks.iter().any(|rank| rank.number == *n);
            rank.number = told.filter(|n| !taken(n)).unwrap_or(free);
            self.file.clone_into(&mut rank.file);
            rank.finish();
            self.ranks.push(rank);
        }
    }

    fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    fn fault(&self) -> Option<String> {
        self.twice.clone()
    }

    fn text(&self, out: &mut String) {
        let ranks = self.sorted();
        let shown = ranks[0];
        let (span, busy) = shown.span_and_busy();
        let _ = writeln!(out, "Rank {} of {}, from its first kernel to its last", shown.number, ranks.len());
        let _ = writeln!(out, "  {:<20} {:>10}   share    count   each", "", "time");
        let share = |time: Seconds| {
            if span.get() > 0.0 {
                format!("{:.0} %", time.get() / span.get() * 100.0)
            } else {
                "-".to_owned()
            }
        };
        let mut classes: Vec<(&WorkClass, &(Seconds, u64))> = shown.classes.iter().collect();
        classes.sort_by(|a, b| b.1.0.get().total_cmp(&a.1.0.get()));
        let _ = writeln!(out, "  {:<20} {:>10}   100 %", "all of it", span.to_string());
        for (class, (time, count)) in classes {
            let each = Seconds::new(time.get() / (*count).max(1) as f64);
            let (word, time_word) = (class.word(), time.to_string());
            let _ = writeln!(out, "  {word:<20} {time_word:>10} {:>7} {count:>8}   {each}", share(*time));
        }
        let idle = Seconds::new((span.get() - busy.get()).max(0.0));
        let _ = writeln!(out, "  {:<20} {:>10} {:>7}", "GPU idle", idle.to_string(), share(idle));
        if let Some(steps) = self.steps() {
            let _ = writeln!(out, "  {steps} steps of {} each", Seconds::new(span.get() / steps as f64));
        }
        self.allreduce_text(&ranks, out);
        issue_text(&ranks, out);
    }

    fn json(&self, object: &mut Map<String, Value>) {
        let together = self.together().ok();
        let ranks: Vec<Value> = self
            .sorted()
            .iter()
            .enumerate()
            .map(|(at, rank)| rank_json(rank, together.as_ref().map(|all| all.truly[at])))
            .collect();
        object.insert("ranks".to_owned(), json!(ranks));
        object.insert("steps".to_owned(), json!(self.steps()));
        object.insert("allreduce_least_ms".to_owned(), json!(together.as_ref().map(|all| ms(all.least))));
        object.insert("clocks_disagree".to_owned(), json!(together.map(|all| all.disagree)));
    }

    fn table(&self) -> Option<Table> {
        let mut rows = Vec::new();
        for rank in self.sorted() {
            for (class, (time, count)) in &rank.classes {
                let cells = [
                    rank.number.to_string(),
                    class.word().to_owned(),
                    ms(*time).to_string(),
                    count.to_string(),
                ];
                rows.push(cells.to_vec());
            }
        }
        Some(Table { header: vec!["rank", "class", "time_ms", "count"], rows })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.sorted().into_iter().filter_map(Rank::overfull).collect();
        match self.together() {
            Err(why) => notes.push(why),
            Ok(all) if all.disagree > 0.01 => notes.push(format!(
                "clocks of the traces disagree on {:.0} % of the all-reduces: the least over the ranks stands for the true time there",
                all.disagree * 100.0
            )),
            Ok(_) => {}
        }
        notes
    }
}

impl Traces {
    fn allreduce_text(&self, ranks: &[&Rank], out: &mut String) {
        if ranks.iter().all(|rank| rank.booked().1 == 0) {
            return;
        }
        let together = self.together().ok();
        let _ = writeln!(out, "\nAll-reduces     count   as booked        true   booked / true");
        for (at, rank) in ranks.iter().enumerate() {
            let (booked, count) = rank.booked();
            let (truly, ratio) = match together.as_ref().map(|all| all.truly[at]) {
                Some(time) if time.get() > 0.0 => {
                    (time.to_string(), format!("{:.2}x", booked.get() / time.get()))
                }
                Some(time) => (time.to_string(), "-".to_owned()),
                None => ("-".to_owned(), "-".to_owned()),
            };
            let (name, booked) = (format!("rank {}", rank.number), booked.to_string());
            let _ = writeln!(out, "  {name:<10} {count:>8}  {booked:>10}  {truly:>10}   {ratio:>13}");
        }
        if let Some(all) = together {
            let least = all.least.to_string();
            let _ = writeln!(out, "  {:<10} {:>8}  {least:>10}", "least", "");
        }
    }
}

fn issue_text(ranks: &[&Rank], out: &mut String) {
    let issues: Vec<_> = ranks.iter().filter_map(|rank| rank.issue().map(|issue| (rank, issue))).collect();
    if issues.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nHost         launches     graphs   one call   gap p50   gap p90");
    for (rank, issue) in issues {
        let _ = writeln!(
            out,
            "  {:<10} {:>8} {:>10} {:>10} {:>9} {:>9}",
            format!("rank {}", rank.number),
            issue.count,
            rank.graphs,
            issue.call.to_string(),
            issue.gap.0.to_string(),
            issue.gap.1.to_string(),
        );
    }
}

fn ms(time: Seconds) -> f64 {
    (time.ms() * 1e6).round() / 1e6
}

fn rank_json(rank: &Rank, truly: Option<Seconds>) -> Value {
    let (span, busy) = rank.span_and_busy();
    let (booked, count) = rank.booked();
    let classes: Map<String, Value> = rank
        .classes
        .iter()
        .map(|(class, (time, count))| {
            let key = serde_json::to_value(class).expect("a word");
            (key.as_str().unwrap_or_default().to_owned(), json!({ "time_ms": ms(*time), "count": count }))
        })
        .collect();
    let issue = rank.issue().map(|issue| {
        json!({
            "launches": issue.count,
            "graph_launches": rank.graphs,
            "call_us": (issue.call.us() * 1e3).round() / 1e3,
            "gap_us": { "p50": (issue.gap.0.us() * 1e3).round() / 1e3, "p90": (issue.gap.1.us() * 1e3).round() / 1e3 },
        })
    });
    json!({
        "rank": rank.number,
        "file": rank.file,
        "span_ms": ms(span),
        "busy_ms": ms(busy),
        "classes": classes,
        "allreduces": count,
        "allreduce_booked_ms": ms(booked),
        "allreduce_true_ms": truly.map(ms),
        "host": issue,
    })
}

#[cfg(test)]
mod tests {
    use super::rank_in;

    #[test]
    fn ranks_in_names_of_files() {
        assert_eq!(rank_in("/tmp/1726000000.12-TP-3.trace.json.gz"), Some(3));
        assert_eq!(rank_in("out/rank12.1758.pt.trace.json"), Some(12));
        assert_eq!(rank_in("trace.json"), None);
        assert_eq!(rank_in("rank7/trace.json"), None);
    }
}
