//! A readable window of a timeline: a few all-reduces in the middle of the verify pass, on every rank.

use crate::machine::{Span, Trace, Track};
use crate::units::Seconds;

/// The slice that the machine draws for a rank that waits.
const WAITING: &str = "waiting for the last rank";

/// The name of an all-reduce, as the forward pass has it.
const ALLREDUCE: &str = "allreduce";

/// What a host or a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A host issues, launches or works.
    Host,
    /// A kernel runs.
    Kernel,
    /// A collective has begun here and waits for its last rank.
    Waiting,
    /// A collective moves bytes.
    Collective,
}

/// One rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lane {
    /// Its host: begin, end, what.
    pub host: Vec<(Seconds, Seconds, Activity)>,
    /// Its stream.
    pub stream: Vec<(Seconds, Seconds, Activity)>,
}

/// A part of a timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Its begin.
    pub from: Seconds,
    /// Its end.
    pub to: Seconds,
    /// All-reduces in it.
    pub allreduces: u32,
    /// Share of the streams' time in it that they wait for the last rank of a collective, 0 to 1.
    pub waiting_share: f64,
    /// The ranks.
    pub lanes: Vec<Lane>,
}

/// Cuts `allreduces` of them out of the middle of the longest chain that a timeline holds; none where it holds too few.
pub fn window(trace: &Trace, allreduces: u32) -> Option<Window> {
    let wanted = allreduces as usize;
    let ends: Vec<Seconds> = trace
        .spans
        .iter()
        .filter(|span| span.track == Track::Stream(0))
        .filter(|span| span.name == ALLREDUCE)
        .map(|span| span.end)
        .collect();
    // The verify pass ends the cycle and is most of it.
    let middle = ends.len() / 2;
    let first = middle.min(ends.len().checked_sub(wanted + 1)?);
    let (from, to) = (ends[first], ends[first + wanted]);
    let mut lanes = vec![Lane::default(); trace.ranks as usize];
    for span in trace.spans.iter().filter(|span| span.end > from && span.start < to) {
        let (start, end) = (span.start.max(from), span.end.min(to));
        match span.track {
            Track::Host(rank) => lanes[rank as usize].host.push((start, end, Activity::Host)),
            Track::Stream(rank) => lanes[rank as usize].stream.push((start, end, activity(span))),
            Track::Link(_) => {}
        }
    }
    let waiting = lanes.iter().flat_map(|lane| &lane.stream).filter(|slice| slice.2 == Activity::Waiting);
    let waited: Seconds = waiting.map(|(start, end, _)| *end - *start).sum();
    let waiting_share = waited / ((to - from) * f64::from(trace.ranks.max(1)));
    Some(Window { from, to, allreduces, waiting_share, lanes })
}

fn activity(span: &Span) -> Activity {
    match span.name {
        WAITING => Activity::Waiting,
        name if [ALLREDUCE, "allgather", "reduce_scatter"].iter().any(|c| name.starts_with(c)) => {
            Activity::Collective
        }
        _ => Activity::Kernel,
    }
}
