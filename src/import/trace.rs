//! Traces of the PyTorch profiler (Kineto), and other Chrome traces: what ran on the GPUs, and when the host issued it.
//!
//! The format is the Trace Event Format: an object with `traceEvents`, or a bare list; of it complete events (`ph` X) with
//! `ts` and `dur` in µs are read. Work of a GPU has the category `kernel`, `gpu_memcpy`, `gpu_memset` (or `gpu`, as
//! specplan's own traces), launches of the host `cuda_runtime` and `cuda_driver` (or `host`). Events are read one at a time: a
//! file may be larger than memory. Sources: pytorch/kineto `libkineto/src/output_json.cpp`; sgl-project/sglang profiler files.
//! Omitted: CPU operators, Python frames, flows.

mod class;
mod event;
mod scan;

use std::io::BufRead;

use serde::Serialize;

use super::{Claim, Head, Importer, Sink, Summary};
use crate::units::Seconds;

pub use class::WorkClass;

/// The importer.
pub(super) const IMPORTER: Importer = Importer {
    kind: "trace",
    about: "traces of the PyTorch profiler, one per rank, or a Chrome trace",
    claim,
    read,
};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceEvent {
    /// Of the whole file.
    File {
        /// The rank that wrote it.
        rank: Option<u32>,
        /// Where its clock begins.
        clock: Option<Seconds>,
    },
    /// Work of a GPU.
    Work {
        /// Process or device that the trace books it under.
        process: u64,
        /// Stream.
        stream: u64,
        /// What it is, by its name.
        class: WorkClass,
        /// Its name, cut.
        name: String,
        /// Begin.
        start: Seconds,
        /// Length.
        time: Seconds,
    },
    /// A call of the host that gives work to a GPU.
    Launch {
        /// Process that the trace books it under.
        process: u64,
        /// Thread.
        thread: u64,
        /// Whether it launches a whole graph.
        graph: bool,
        /// Begin.
        start: Seconds,
        /// Length.
        time: Seconds,
    },
    /// A step of the profiler's schedule.
    Step,
}

fn claim(head: &Head) -> Claim {
    if head.sure_if(&["\"traceEvents\"", "\"schemaVersion\""]) == Claim::Sure {
        return Claim::Sure;
    }
    let listed = head.text.trim_start().starts_with('[') && head.has("\"ph\"") && head.has("\"ts\"");
    if listed { Claim::Sure } else { Claim::No }
}

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    event::read(input, &mut summary, sink);
    summary
}

#[cfg(test)]
mod tests;
