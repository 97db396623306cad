//! The timeline of one run, and its Chrome trace.
//!
//! The format is the JSON object of the Trace Event Format, which Perfetto and chrome://tracing open: complete events
//! (`ph` X) with `ts` and `dur` in µs, one process per rank with the threads `host` and `stream`, one process for the links.
//! An all-reduce on a stream lasts from the rank's own arrival; the wait for the last rank lies inside it. On a link, flows
//! that overlap are drawn as one.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::config::MachineConfig;
use super::record::Recorder;
use super::run::Machine;
use crate::des::SimTime;
use crate::hardware::Hardware;
use crate::speculation::Cycle;
use crate::units::Seconds;

pub use super::record::Track;

/// Something that took time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Where.
    pub track: Track,
    /// What.
    pub name: &'static str,
    /// When it began.
    pub start: Seconds,
    /// When it ended.
    pub end: Seconds,
}

/// The timeline of one cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// In the order of track, begin and length, the longest first: what lies inside comes after.
    pub spans: Vec<Span>,
    /// Names of the link tracks.
    pub links: Vec<String>,
    /// Ranks.
    pub ranks: u32,
}

/// Simulates run number `run` once more and keeps what happened in its cycle.
pub fn trace(cycle: &Cycle, hardware: &Hardware, config: &MachineConfig, run: u32) -> Trace {
    let machine = Machine::new(cycle, hardware, config);
    let mut timeline = Timeline::default();
    machine.run(run, &mut machine.worker(), &mut timeline);
    let links = match &machine.fabric {
        Some(fabric) => fabric.resources.iter().map(|r| r.name.clone()).collect(),
        None => vec!["all links".to_owned()],
    };
    Trace { spans: timeline.sorted(), links, ranks: machine.ranks }
}

/// Keeps every span.
#[derive(Debug, Default)]
struct Timeline {
    spans: Vec<(Track, u64, std::cmp::Reverse<u64>, &'static str)>,
}

impl Recorder for Timeline {
    const ON: bool = true;
    fn span(&mut self, track: Track, name: &'static str, start: u64, end: u64) {
        if end > start {
            self.spans.push((track, start, std::cmp::Reverse(end), name));
        }
    }
}

impl Timeline {
    fn sorted(mut self) -> Vec<Span> {
        self.spans.sort();
        let mut spans: Vec<Span> = Vec::with_capacity(self.spans.len());
        let seconds = |ps| SimTime::from_ps(ps).seconds();
        for (track, start, end, name) in self.spans {
            let (start, end) = (seconds(start), seconds(end.0));
            match spans.last_mut() {
                Some(last) if matches!(track, Track::Link(_)) && last.track == track && start <= last.end => {
                    last.end = last.end.max(end);
                }
                _ => spans.push(Span { track, name, start, end }),
            }
        }
        spans
    }
}

impl Trace {
    /// The process and thread of a track.
    fn ids(&self, track: Track) -> (u32, u32) {
        match track {
            Track::Host(rank) => (rank, 0),
            Track::Stream(rank) => (rank, 1),
            Track::Link(link) => (self.ranks, link),
        }
    }

    /// The name of a track's thread.
    fn thread(&self, track: Track) -> &str {
        match track {
            Track::Host(_) => "host",
            Track::Stream(_) => "stream",
            Track::Link(link) => &self.links[link as usize],
        }
    }

    /// Writes the Chrome trace.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_chrome(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
        let mut separator = "";
        let mut line = |event: &Value| -> io::Result<()> {
            out.write_all(separator.as_bytes())?;
            separator = ",\n";
            serde_json::to_writer(&mut *out, event).map_err(io::Error::from)
        };
        for process in 0..=self.ranks {
            let name = if process < self.ranks { format!("rank {process}") } else { "links".to_owned() };
            line(&metadata("process_name", process, 0, &json!({ "name": name })))?;
            line(&metadata("process_sort_index", process, 0, &json!({ "sort_index": process })))?;
        }
        let tracks: BTreeSet<Track> = self.spans.iter().map(|span| span.track).collect();
        for &track in &tracks {
            let (process, thread) = self.ids(track);
            line(&metadata("thread_name", process, thread, &json!({ "name": self.thread(track) })))?;
            line(&metadata("thread_sort_index", process, thread, &json!({ "sort_index": thread })))?;
        }
        for span in &self.spans {
            let (process, thread) = self.ids(span.track);
            line(&json!({
                "name": span.name, "cat": category(span.track), "ph": "X", "pid": process, "tid": thread,
                "ts": rounded(span.start), "dur": rounded(span.end - span.start),
            }))?;
        }
        out.write_all(b"\n]}\n")
    }
}

const fn category(track: Track) -> &'static str {
    match track {
        Track::Host(_) => "host",
        Track::Stream(_) => "gpu",
        Track::Link(_) => "link",
    }
}

/// In µs, to the picosecond.
fn rounded(time: Seconds) -> f64 {
    (time.get() * 1e12).round() / 1e6
}

fn metadata(name: &str, process: u32, thread: u32, args: &Value) -> Value {
    json!({ "name": name, "ph": "M", "pid": process, "tid": thread, "args": args })
}
