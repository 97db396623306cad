//! One pass on all ranks: stretches up to a collective, the rendezvous, and on.

use super::exchange::Exchanger;
use super::path::Trail;
use super::program::{Meeting, Program};
use super::rank::{Randomness, Rank};
use super::record::{Recorder, Track};

/// What a pass gave.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PassOutcome {
    /// From the start of its last rank to its end \[ps\].
    pub(super) time: u64,
    /// All-reduce time of each rank since its own arrivals \[ps\].
    pub(super) booked: Vec<u64>,
    /// The same since the last arrivals.
    pub(super) truly: Vec<u64>,
    /// Sum over all-reduces of the least time that a rank books.
    pub(super) least: u64,
    /// Host time of all ranks.
    pub(super) issued: u64,
    /// GPU time of all ranks in kernels and, from the last arrival, in collectives.
    pub(super) computed: u64,
    /// What set the end.
    pub(super) trail: Trail,
}

/// Buffers of a run, one entry per rank.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    arrivals: Vec<u64>,
    ends: Vec<u64>,
}

/// Runs a pass that each rank begins when its host and its stream are free.
pub(super) fn run<R: Recorder>(
    program: &Program,
    ranks: &mut [Rank],
    exchangers: &mut [Exchanger],
    scratch: &mut Scratch,
    random: &Randomness,
    record: &mut R,
) -> PassOutcome {
    let eager = !program.graph;
    for rank in &mut *ranks {
        rank.begin_pass();
        if program.graph {
            rank.launch(program.launch, random, record);
        }
    }
    let began = ranks.iter().map(|r| r.began).max().unwrap_or(0);
    let (mut least, mut in_collectives) = (0, 0);
    for (entry, &(part, count)) in program.sequence.iter().enumerate() {
        let segments = &program.segments[program.parts[part].segments.clone()];
        for repetition in 0..count {
            let place = (entry as u32, repetition);
            for segment in segments {
                let kernels = &program.kernels[segment.kernels.clone()];
                for rank in &mut *ranks {
                    rank.stretch(eager, segment, kernels, place, random, record);
                }
                let Some(meeting) = &segment.meeting else { continue };
                scratch.arrivals.clear();
                for rank in &mut *ranks {
                    scratch.arrivals.push(rank.arrive(eager, meeting, place, random, record));
                }
                let met = meet(meeting, ranks, exchangers, scratch, random, record);
                least += met.least;
                in_collectives += met.truly;
            }
        }
    }
    let last = last_of(ranks.iter().map(|r| r.stream));
    PassOutcome {
        time: ranks[last].stream - began,
        booked: ranks.iter().map(|r| r.booked).collect(),
        truly: ranks.iter().map(|r| r.truly).collect(),
        least,
        issued: ranks.iter().map(|r| r.pass_issued).sum(),
        computed: ranks.iter().map(|r| r.computed).sum::<u64>() + in_collectives,
        trail: ranks[last].trail,
    }
}

struct Met {
    least: u64,
    truly: u64,
}

/// The rendezvous of all groups.
fn meet<R: Recorder>(
    meeting: &Meeting,
    ranks: &mut [Rank],
    exchangers: &mut [Exchanger],
    scratch: &mut Scratch,
    random: &Randomness,
    record: &mut R,
) -> Met {
    let mut met = Met { least: 0, truly: 0 };
    let size = (meeting.group as usize).clamp(1, ranks.len());
    scratch.ends.resize(size, 0);
    for (group, members) in ranks.chunks_mut(size).enumerate() {
        let arrivals = &scratch.arrivals[group * size..group * size + members.len()];
        let first_late = last_of(arrivals.iter().copied());
        let last = arrivals[first_late];
        let ends = &mut scratch.ends[..members.len()];
        if let Some(exchanger) = meeting.exchanger.filter(|_| members.len() == size) {
            let exchanger = &mut exchangers[exchanger + group];
            exchanger.run(arrivals, ends);
            if R::ON {
                for (route, begin, end) in exchanger.moved() {
                    for &link in route {
                        record.span(Track::Link(link as u32), meeting.label, begin, end);
                    }
                }
            }
        } else {
            let factor = random.device.of(1).draw(&mut members[0].device_draws);
            let end = last + super::host::whole(meeting.device as f64 * factor);
            ends.fill(end);
            record.span(Track::Link(0), meeting.label, last, end);
        }
        let trail = members[first_late].trail;
        let mut least = u64::MAX;
        for (rank, end) in members.iter_mut().zip(&*ends) {
            record.span(Track::Stream(rank.number), meeting.label, rank.stream, *end);
            if rank.stream < last {
                record.span(Track::Stream(rank.number), "waiting for the last rank", rank.stream, last);
            }
            least = least.min(end - rank.stream);
            met.truly += end - last;
            rank.leave(meeting, last, *end, &trail);
        }
        if meeting.allreduce {
            // Groups work side by side: what counts is one of them.
            met.least = met.least.max(least);
        }
    }
    met
}

/// Where the largest value stands; of equals the first.
fn last_of(values: impl Iterator<Item = u64>) -> usize {
    let mut best = (0, 0);
    for (at, value) in values.enumerate() {
        if at == 0 || value > best.1 {
            best = (at, value);
        }
    }
    best.0
}
