//! From vLLM's lines to intervals: the acceptance line joined with the throughput line nearest in time.
//!
//! The logger of an engine prints its throughput line and then its acceptance line (`v1/metrics/loggers.py`), so the one
//! before is nearest as a rule. An acceptance line that lies nearer to the next throughput line waits for that one.

use super::clock::clock;
use super::interval::{Counted, DecodeInterval, Server};
use super::scan;
use super::vllm::{self, Engine, Spec, SpecV0};
use crate::import::lines::Seen;
use crate::import::{Observation, Sink, Summary, What};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// Lines further apart belong to different intervals [s]: the interval of the log is 10 s by default.
const FARTHEST: f64 = 15.0;

/// Lines this near belong together without waiting for a nearer one [s].
const TOGETHER: f64 = 1.0;

/// Lines without time stamps belong together up to this many lines apart.
const LINES_APART: u64 = 20;

#[derive(Debug, Clone, Copy)]
struct EngineLine {
    engine: Engine,
    clock: Option<Seconds>,
    line: u64,
    /// Whether an acceptance line was joined with it.
    joined: bool,
    /// Requests of the throughput line before, of the same engine.
    before: Option<u32>,
    /// Time since that line.
    since: Option<Seconds>,
}

/// What was met in this run.
#[derive(Debug, Default)]
pub(super) struct VllmState {
    /// Whether flags tell that it drafts.
    pub(super) speculates: bool,
    last: Option<EngineLine>,
    /// An acceptance line that waits for the next throughput line.
    waiting: Option<Box<DecodeInterval>>,
    /// Counters of V0 at its last line.
    counters: Option<(SpecV0, Option<Seconds>)>,
    /// Throughput lines by engine: requests and clock.
    engines: std::collections::BTreeMap<u32, (u32, Option<Seconds>)>,
}

impl VllmState {
    /// A line with acceptance records of V1.
    pub(super) fn spec(
        &mut self,
        text: &str,
        line: u64,
        run: u32,
        summary: &mut Summary,
        sink: &mut Sink,
    ) -> Seen {
        let mut seen = Seen::Skipped("the beginning of the record was cut".to_owned());
        for (prefix, record) in scan::records(text, vllm::V1) {
            seen = match vllm::spec(record) {
                Ok(found) => {
                    if let Some(found) = found {
                        if let Some(odd) = found.odd {
                            summary.warn("draft-length", line, odd, "");
                        }
                        self.joined(interval(&found, clock(prefix), line, run), sink);
                    }
                    Seen::Read
                }
                Err(why) => Seen::Skipped(why.to_owned()),
            };
        }
        seen
    }

    /// A line with the counters of V0. Falling counters tell of a new run.
    pub(super) fn spec_v0(&mut self, text: &str, line: u64, run: &mut u32, sink: &mut Sink) -> Seen {
        let Some((prefix, record)) = scan::records(text, vllm::V0).last() else {
            return Seen::Skipped("the beginning of the record was cut".to_owned());
        };
        let found = match vllm::spec_v0(record) {
            Ok(Some(found)) => found,
            Ok(None) => return Seen::Read,
            Err(why) => return Seen::Skipped(why.to_owned()),
        };
        let clock = clock(prefix);
        let before = self.counters.replace((found, clock));
        let fell = |before: &SpecV0| {
            found.drafted < before.drafted || found.emitted < before.emitted || found.k != before.k
        };
        let (mut drafted, mut emitted, mut length) = (found.drafted, found.emitted, None);
        match before {
            Some((before, _)) if fell(&before) => *run += 1,
            Some((before, then)) => {
                (drafted, emitted) = (drafted - before.drafted, emitted - before.emitted);
                length = then.zip(clock).map(|(then, now)| now - then).filter(|time| time.get() > 0.0);
            }
            None => {}
        }
        let drafts = drafted / found.k;
        if drafts == 0 {
            return Seen::Read;
        }
        // Each draft emits one token at least, and k + 1 at most; the counters are read one after the other.
        if emitted < drafts || emitted > (found.k + 1).saturating_mul(drafts + 1) {
            return Seen::Skipped("counters since the line before disagree".to_owned());
        }
        let mut interval = DecodeInterval::new(Server::VllmV0, line);
        interval.run = *run;
        interval.clock = clock;
        interval.accept_length = Some(AcceptLength::new(emitted as f64 / drafts as f64));
        interval.length = length;
        interval.drafted_tokens = u32::try_from(found.k).ok();
        // Tokens after the first rejection count as accepted in V0; emitted less one bonus token per draft do not.
        let accepted = emitted.saturating_sub(drafts);
        interval.counted = Some(Counted { drafts, drafted, accepted, ..Counted::default() });
        self.joined(interval, sink);
        Seen::Read
    }

    /// Joins an acceptance line with the throughput line before, or lets it wait for the next.
    fn joined(&mut self, mut interval: DecodeInterval, sink: &mut Sink) {
        if let Some(waiting) = self.waiting.take() {
            hand_on(*waiting, sink);
        }
        let near = self.last.as_mut().filter(|last| {
            !last.joined && distance(last.clock, last.line, interval.clock, interval.line) <= TOGETHER
        });
        if let Some(last) = near {
            join(&mut interval, last);
            hand_on(interval, sink);
        } else {
            self.waiting = Some(Box::new(interval));
        }
    }

    /// A throughput line.
    pub(super) fn engine(&mut self, text: &str, line: u64, run: u32, sink: &mut Sink) -> Seen {
        let engine = match vllm::engine(text) {
            Ok(engine) => engine,
            Err(why) => return Seen::Skipped(why.to_owned()),
        };
        let at = text.find(vllm::ENGINE).unwrap_or(0);
        let clock = clock(&text[..at]);
        if self.engines.len() > 1024 && !self.engines.contains_key(&engine.replica) {
            return Seen::Skipped("more engines than any server has".to_owned());
        }
        let before = self.engines.insert(engine.replica, (engine.running, clock));
        let mut next = EngineLine {
            engine,
            clock,
            line,
            joined: false,
            before: before.map(|(running, _)| running),
            since: before.and_then(|(_, then)| Some(clock? - then?)),
        };
        if let Some(mut waiting) = self.waiting.take() {
            let to_next = distance(Some(next.clock).flatten(), next.line, waiting.clock, waiting.line);
            let to_last =
                self.last.as_ref().filter(|last| !last.joined).map_or(f64::INFINITY, |last| {
                    distance(last.clock, last.line, waiting.clock, waiting.line)
                });
            if to_last <= to_next && to_last <= FARTHEST {
                join(&mut waiting, self.last.as_mut().expect("it was measured to"));
            } else if to_next <= FARTHEST {
                join(&mut waiting, &mut next);
            }
            hand_on(*waiting, sink);
        }
        self.plain(run, sink);
        self.last = Some(next);
        Seen::Read
    }

    /// The last throughput line, where no acceptance line came with it: decoding without speculation, unless the server drafts.
    fn plain(&mut self, run: u32, sink: &mut Sink) {
        let Some(last) = self.last.take() else { return };
        if last.joined || self.speculates || last.engine.running == 0 || last.engine.generation <= 0.0 {
            return;
        }
        let mut interval = DecodeInterval::new(Server::Vllm, last.line);
        interval.run = run;
        interval.clock = last.clock;
        join(&mut interval, &mut { last });
        hand_on(interval, sink);
    }

    /// The run ends.
    pub(super) fn finish(&mut self, run: u32, sink: &mut Sink) {
        if let Some(mut waiting) = self.waiting.take() {
            if let Some(last) = self.last.as_mut().filter(|last| !last.joined)
                && distance(last.clock, last.line, waiting.clock, waiting.line) <= FARTHEST
            {
                join(&mut waiting, last);
            }
            hand_on(*waiting, sink);
        }
        self.plain(run, sink);
    }
}

fn interval(found: &Spec, clock: Option<Seconds>, line: u64, run: u32) -> DecodeInterval {
    let mut interval = DecodeInterval::new(Server::Vllm, line);
    interval.run = run;
    interval.clock = clock;
    // As counted: the printed mean was checked against it, and is rounded.
    let counted = &found.counted;
    interval.accept_length = Some(AcceptLength::new(1.0 + counted.accepted as f64 / counted.drafts as f64));
    interval.drafted_tokens = u32::try_from(found.counted.positions.len()).ok();
    interval.length =
        found.accepted_rate.map(|rate| Seconds::new(found.counted.accepted as f64 / rate.value));
    interval.counted = Some(found.counted.clone());
    interval
}

/// Takes over what a throughput line says.
fn join(interval: &mut DecodeInterval, line: &mut EngineLine) {
    line.joined = true;
    interval.replica = line.engine.replica;
    interval.running = Some(line.engine.running);
    interval.queued = Some(line.engine.queued);
    interval.throughput = Some(TokensPerSecond::new(line.engine.generation));
    interval.prefill = line.engine.prompt > 0.0;
    // An interval of acceptance much longer than that of throughput holds idle time.
    let idle =
        interval.length.zip(line.since).is_some_and(|(length, since)| length.get() > 1.5 * since.get());
    interval.steady = line.before == Some(line.engine.running) && !idle;
}

/// How far apart two lines are [s]; without time stamps lines near one another are together and others far.
fn distance(clock: Option<Seconds>, line: u64, other: Option<Seconds>, other_line: u64) -> f64 {
    match clock.zip(other) {
        Some((a, b)) => (a - b).get().abs(),
        None if line.abs_diff(other_line) <= LINES_APART => TOGETHER,
        None => f64::INFINITY,
    }
}

fn hand_on(interval: DecodeInterval, sink: &mut Sink) {
    sink(Observation::at(interval.line, What::Decode(Box::new(interval))));
}
