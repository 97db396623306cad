//! From SGLang's lines to intervals: which rank counts, what ran before, what the rate means.

use std::collections::BTreeMap;

use super::clock::clock;
use super::flags::ServerFlags;
use super::interval::{DecodeInterval, Server};
use super::log::accept_length;
use super::ranks::{Rank, Ranks};
use super::rate::Readings;
use super::scan;
use super::sglang::{self, Decode};
use crate::import::lines::Seen;
use crate::import::{Observation, Sink, Summary, What};
use crate::units::TokensPerSecond;

/// Decode passes between two lines, unless `--decode-log-interval` says otherwise (`server_args.py`).
const LOG_INTERVAL: u32 = 40;

/// Stretches of one definition that are told apart in a file.
const MOST_SEGMENTS: u32 = 64;

/// What was met in this run.
#[derive(Debug, Default)]
pub(super) struct SglangState {
    /// Its flags.
    pub(super) flags: ServerFlags,
    ranks: Ranks,
    readings: Readings,
    segments: u32,
    /// By replica: requests at the last line, and whether prompts were prefilled since.
    before: BTreeMap<u32, (u32, bool)>,
}

impl SglangState {
    /// A line with decode records in it.
    pub(super) fn decode(
        &mut self,
        text: &str,
        line: u64,
        run: u32,
        summary: &mut Summary,
        sink: &mut Sink,
    ) -> Seen {
        let (mut read, mut refused) = (false, None);
        for (prefix, record) in scan::records(text, sglang::DECODE) {
            match sglang::decode(record, &mut |name| summary.unknown_key(name)) {
                Ok(found) => {
                    read = true;
                    self.record(prefix, record, &found, line, run, summary, sink);
                }
                Err(why) => refused = Some(why),
            }
        }
        match (read, refused) {
            (true, None) => Seen::Read,
            (true, Some(why)) => {
                summary.skipped.note(line, why, text);
                Seen::Read
            }
            (false, Some(why)) => Seen::Skipped(why.to_owned()),
            (false, None) => Seen::Skipped("the beginning of the record was cut".to_owned()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a record with its place, and where results go")]
    fn record(
        &mut self,
        prefix: &str,
        record: &str,
        found: &Decode,
        line: u64,
        run: u32,
        summary: &mut Summary,
        sink: &mut Sink,
    ) {
        let (rank, clock) = (Rank::of(prefix), clock(prefix));
        if !self.ranks.counts(rank, prefix, record, clock) {
            once(summary, "repeated", line, "another rank printed it too, or the same line came again");
            return;
        }
        let before = self.before.insert(rank.replica, (found.running, false));
        if let Some(length) = found.accept_length {
            self.rate(line, length, found, summary, sink);
        }
        let mut interval = DecodeInterval::new(Server::Sglang, line);
        interval.run = run;
        interval.replica = rank.replica;
        interval.clock = clock;
        interval.running = Some(found.running);
        interval.queued = Some(found.queued);
        interval.throughput = Some(TokensPerSecond::new(found.throughput));
        interval.accept_length = found.accept_length.map(accept_length);
        interval.rounding = found.accept_length.map_or(0.0, |length| length.half);
        interval.graph = found.graph;
        interval.passes = Some(self.flags.log_interval.unwrap_or(LOG_INTERVAL));
        interval.steady = before.is_some_and(|(running, _)| running == found.running);
        interval.prefill = before.is_some_and(|(_, prefill)| prefill);
        if found.accept_length.is_some() && found.graph == Some(false) {
            once(summary, "eager", line, "the verify pass ran outside a CUDA graph");
        }
        sink(Observation::at(line, What::Decode(Box::new(interval))));
    }

    /// Narrows down what the rate means.
    fn rate(
        &mut self,
        line: u64,
        length: super::Printed,
        found: &Decode,
        summary: &mut Summary,
        sink: &mut Sink,
    ) {
        if self.readings.add(line, length, found.accept_rate, found.jax) {
            return;
        }
        let mut fresh = Readings::default();
        if !fresh.add(line, length, found.accept_rate, found.jax) {
            summary.warn("rate", line, "the accept rate follows none of the known definitions", "");
        } else if self.segments < MOST_SEGMENTS {
            self.close(sink);
            self.readings = fresh;
        } else {
            summary.warn("rate", line, "the accept rate changed its meaning too often to follow", "");
        }
    }

    fn close(&mut self, sink: &mut Sink) {
        if let Some(segment) = self.readings.close(&self.flags) {
            self.segments += 1;
            sink(Observation::at(segment.to, What::Rate(segment)));
        }
        self.readings = Readings::default();
    }

    /// A line with a prefill record: the next interval holds it.
    pub(super) fn prefill(&mut self, text: &str) -> Seen {
        let Some((prefix, record)) = scan::records(text, sglang::PREFILL).next() else {
            return Seen::Skipped("the beginning of the record was cut".to_owned());
        };
        let replica = Rank::of(prefix).replica;
        if let Some((_, prefill)) = self.before.get_mut(&replica) {
            *prefill = true;
        }
        match sglang::prefill(record) {
            Ok(_) => Seen::Read,
            Err(why) => Seen::Skipped(why.to_owned()),
        }
    }

    /// The run ends.
    pub(super) fn finish(&mut self, _line: u64, _summary: &mut Summary, sink: &mut Sink) {
        self.close(sink);
    }
}

/// Notes the first of many alike, and counts the others.
fn once(summary: &mut Summary, code: &'static str, line: u64, why: &str) {
    let found = summary.warnings.entry(code).or_default();
    if found.count == 0 {
        found.note(line, why, "");
    } else {
        found.count += 1;
    }
}
