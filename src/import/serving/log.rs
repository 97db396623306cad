//! Server logs as text: SGLang, vLLM and llama.cpp, which one reader takes together, since files mix.
//!
//! A start line begins a new run: flags, definitions and counters of the run before are forgotten. Lines that another rank
//! also printed count once and are told as `repeated`.

use std::io::BufRead;

use super::clock::clock;
use super::flags::ServerFlags;
use super::interval::{DecodeInterval, Server};
use super::llama_cpp;
use super::printed::Printed;
use super::scan::{self, Family};
use super::sglang_state::SglangState;
use super::vllm_state::VllmState;
use crate::import::lines::{Line, Seen, each_line};
use crate::import::{Claim, Head, Importer, Observation, Sink, Summary, What};
use crate::units::AcceptLength;

/// SGLang server logs.
pub(in crate::import) static SGLANG: Importer = Importer {
    kind: "sglang-log",
    about: "SGLang server log: accept length, throughput, cycle times",
    claim: |head| claim(head, &["Decode batch", "Prefill batch", "server_args=ServerArgs("]),
    read,
};

/// vLLM server logs.
pub(in crate::import) static VLLM: Importer = Importer {
    kind: "vllm-log",
    about: "vLLM server log: acceptance per position, throughput, cycle times",
    claim: |head| {
        claim(head, &["SpecDecoding metrics:", "Speculative metrics:", "Avg generation throughput:"])
    },
    read,
};

/// llama.cpp server logs.
pub(in crate::import) static LLAMA_CPP: Importer = Importer {
    kind: "llama-cpp-log",
    about: "llama.cpp log: acceptance of requests",
    claim: |head| claim(head, &["draft acceptance =", "draft acceptance rate =", "#calls(b,g,a) ="]),
    read,
};

fn claim(head: &Head, words: &[&str]) -> Claim {
    // JSON documents may quote log lines; their own importers know them better.
    let json =
        head.text.trim_start().starts_with('[') && head.text.trim_start()[1..].trim_start().starts_with('{');
    if json { Claim::No } else { head.sure_if(words) }
}

/// Reads a log to its end.
fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let mut log = Log::default();
    each_line(input, &mut summary, |summary, line| log.line(line, summary, sink));
    log.finish(summary.lines, &mut summary, sink);
    summary
}

/// What was met so far.
#[derive(Default)]
struct Log {
    /// Starts of the server met before this run.
    run: u32,
    /// Whether this run decoded.
    decoded: bool,
    sglang: SglangState,
    vllm: VllmState,
}

impl Log {
    fn line(&mut self, line: &Line, summary: &mut Summary, sink: &mut Sink) -> Seen {
        let Some(family) = scan::family(line.text) else { return Seen::Other };
        let text = scan::unwrapped(line.text);
        let number = line.number;
        match family {
            Family::SglangDecode => {
                self.decoded = true;
                self.sglang.decode(&text, number, self.run, summary, sink)
            }
            Family::SglangPrefill => self.sglang.prefill(&text),
            Family::SglangFlags => {
                self.start(number, summary, sink);
                self.sglang.flags = ServerFlags::sglang(&text);
                flags(number, &self.sglang.flags, sink)
            }
            Family::VllmSpec => {
                self.decoded = true;
                self.vllm.spec(&text, number, self.run, summary, sink)
            }
            Family::VllmV0Spec => {
                self.decoded = true;
                self.vllm.spec_v0(&text, number, &mut self.run, sink)
            }
            Family::VllmEngine => {
                self.decoded = true;
                self.vllm.engine(&text, number, self.run, sink)
            }
            Family::VllmFlags => {
                self.start(number, summary, sink);
                let found = ServerFlags::vllm(&text);
                self.vllm.speculates = found.steps.is_some();
                flags(number, &found, sink)
            }
            Family::LlamaAcceptance => request(&text, number, self.run, sink),
            Family::LlamaStatistics => statistics(&text, number, sink),
        }
    }

    /// A start line: a new run, unless nothing was decoded since the last one.
    fn start(&mut self, line: u64, summary: &mut Summary, sink: &mut Sink) {
        if std::mem::take(&mut self.decoded) {
            self.finish(line, summary, sink);
            self.run += 1;
            (self.sglang, self.vllm) = (SglangState::default(), VllmState::default());
        }
    }

    /// Hands on what waited for lines that do not come.
    fn finish(&mut self, line: u64, summary: &mut Summary, sink: &mut Sink) {
        self.sglang.finish(line, summary, sink);
        self.vllm.finish(self.run, sink);
    }
}

fn flags(line: u64, flags: &ServerFlags, sink: &mut Sink) -> Seen {
    sink(Observation::at(line, What::Flags(flags.clone())));
    Seen::Read
}

/// One request of llama.cpp.
fn request(text: &str, line: u64, run: u32, sink: &mut Sink) -> Seen {
    match llama_cpp::acceptance(text) {
        Ok(Some(found)) => {
            let mut interval = DecodeInterval::new(Server::LlamaCpp, line);
            interval.run = run;
            interval.clock = clock(text);
            // As counted: the printed mean was checked against it, and is rounded.
            interval.accept_length = found.counted.accept_length();
            interval.counted = Some(found.counted);
            sink(Observation::at(line, What::Decode(Box::new(interval))));
            Seen::Read
        }
        Ok(None) => Seen::Read,
        Err(why) => Seen::Skipped(why.to_owned()),
    }
}

fn statistics(text: &str, line: u64, sink: &mut Sink) -> Seen {
    match llama_cpp::draft_time(text) {
        Some((ms, drafts)) => {
            let value = format!("{ms:.3} ms over {drafts} drafts");
            sink(Observation::at(line, What::Fact { name: "draft time per cycle", value }));
            Seen::Read
        }
        None => Seen::Other,
    }
}

/// The accept length of a printed number.
pub(super) const fn accept_length(printed: Printed) -> AcceptLength {
    AcceptLength::new(printed.value)
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
