//! Sums over the traces of a run: per rank the time by class, idle GPUs, gaps of the host, and all-reduces as booked and true.
//!
//! A profiler books an all-reduce from the arrival of its own rank. Its true time is from the arrival of the last rank: with
//! the traces of all ranks, the k-th all-reduce of each is the same one, and true = end − latest start. Where clocks of
//! the traces disagree, the least booked time over the ranks stands for it.

use std::collections::BTreeMap;

use crate::import::{TraceEvent, WorkClass};
use crate::units::Seconds;

/// Gaps between launches that still count as issuing: longer ones are waits \[s\].
const LONGEST_GAP: f64 = 1e-3;

/// Times of one sort that a rank keeps: 32 MiB of them.
const MOST_KEPT: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };
/// Threads of a host that are told apart.
const MOST_THREADS: usize = 1024;

/// Work over time of a stream from which on its timeline cannot be.
const OVERFULL: f64 = 1.1;

/// One rank.
#[derive(Debug, Clone, Default)]
pub(super) struct Rank {
    /// Its number, as the trace, the file name or the order of files has it.
    pub(super) number: u32,
    /// The file.
    pub(super) file: String,
    /// Time and count by class.
    pub(super) classes: BTreeMap<WorkClass, (Seconds, u64)>,
    /// Begin and end of all work, of all-reduces alone \[s\]; work that overlaps may stand as one.
    work: Vec<(f64, f64)>,
    /// Begin and end of the oldest work, once there is more than is kept, and the part of it that was busy \[s\].
    folded: Option<((f64, f64), f64)>,
    allreduces: Vec<(f64, f64)>,
    /// By stream: first begin and last end, and the work between them \[s\].
    streams: BTreeMap<u64, ((f64, f64), f64)>,
    /// Begins of launches by thread, and lengths \[s\].
    launches: BTreeMap<u64, Vec<f64>>,
    launch_times: Vec<f64>,
    /// Launches in all.
    calls: u64,
    /// Launches of graphs.
    pub(super) graphs: u64,
}

/// What the launches of a host say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Issue {
    /// Launches.
    pub(super) count: u64,
    /// Median of a launch call.
    pub(super) call: Seconds,
    /// From one launch to the next, median and 90th percentile; waits left out.
    pub(super) gap: (Seconds, Seconds),
}

impl Rank {
    /// Takes note of an event.
    pub(super) fn take(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::Work { class, start, time, stream, .. } => {
                let (total, count) = self.classes.entry(*class).or_default();
                (*total, *count) = (*total + *time, *count + 1);
                let span = (start.get(), start.get() + time.get());
                self.work.push(span);
                if self.streams.len() < MOST_THREADS || self.streams.contains_key(stream) {
                    let ((first, end), work) = self.streams.entry(*stream).or_insert((span, 0.0));
                    (*first, *end, *work) = (first.min(span.0), end.max(span.1), *work + time.get());
                }
                if self.work.len() >= MOST_KEPT {
                    self.fold();
                }
                if *class == WorkClass::AllReduce && self.allreduces.len() < MOST_KEPT {
                    self.allreduces.push(span);
                }
            }
            TraceEvent::Launch { thread, graph, start, time, .. } => {
                let known = self.launches.len() < MOST_THREADS || self.launches.contains_key(thread);
                if known && self.launch_times.len() < MOST_KEPT {
                    self.launches.entry(*thread).or_default().push(start.get());
                    self.launch_times.push(time.get());
                }
                self.calls += 1;
                self.graphs += u64::from(*graph);
            }
            TraceEvent::File { .. } | TraceEvent::Step => {}
        }
    }

    /// Joins work that overlaps, and keeps no more than half of what may be kept: of the oldest only how long it was busy.
    /// Work that comes later in the file and began earlier counts as busy only where it reaches beyond.
    fn fold(&mut self) {
        self.work.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joined: Vec<(f64, f64)> = Vec::new();
        for (from, to) in self.work.drain(..) {
            match joined.last_mut().filter(|last| from <= last.1) {
                Some(last) => last.1 = last.1.max(to),
                None => joined.push((from, to)),
            }
        }
        let old = joined.len().saturating_sub(MOST_KEPT / 2);
        for (from, to) in joined.drain(..old) {
            let ((first, end), busy) = self.folded.unwrap_or(((from, from), 0.0));
            self.folded = Some(((first.min(from), end.max(to)), busy + (to - from.max(end)).max(0.0)));
        }
        self.work = joined;
    }

    /// Sorts, once all events are there.
    pub(super) fn finish(&mut self) {
        self.work.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.allreduces.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.launches.values_mut().for_each(|starts| starts.sort_by(f64::total_cmp));
        self.launch_times.sort_by(f64::total_cmp);
    }

    /// Takes over the launches of its host.
    pub(super) fn adopt(&mut self, host: Self) {
        (self.launches, self.launch_times) = (host.launches, host.launch_times);
        (self.calls, self.graphs) = (host.calls, host.graphs);
    }

    /// From the first work to the last, and the part of it in which any stream was busy.
    pub(super) fn span_and_busy(&self) -> (Seconds, Seconds) {
        let begin = |(from, _): &(f64, f64)| ((*from, *from), 0.0);
        let Some(((mut first, mut end), mut busy)) = self.folded.or_else(|| self.work.first().map(begin))
        else {
            return (Seconds::ZERO, Seconds::ZERO);
        };
        for (from, to) in &self.work {
            busy += (to - from.max(end)).max(0.0);
            (first, end) = (first.min(*from), end.max(*to));
        }
        (Seconds::new(end - first), Seconds::new(busy))
    }

    /// What is said where a stream holds more work than time: a stream runs one kernel after the other. Launches that
    /// overlap their neighbour (programmatic dependent launch) do so for a few µs only.
    pub(super) fn overfull(&self) -> Option<String> {
        let most = |((first, end), work): &((f64, f64), f64)| work / (end - first).max(f64::MIN_POSITIVE);
        let (stream, found) = self.streams.iter().max_by(|a, b| most(a.1).total_cmp(&most(b.1)))?;
        let ((first, end), work) = found;
        (most(found) > OVERFULL).then(|| {
            format!(
                "rank {}: stream {stream} holds {} of work within {}, which one stream cannot: shares are of no real timeline",
                self.number,
                Seconds::new(*work),
                Seconds::new(end - first)
            )
        })
    }

    /// All-reduces, as booked.
    pub(super) fn booked(&self) -> (Seconds, u64) {
        self.classes.get(&WorkClass::AllReduce).copied().unwrap_or_default()
    }

    /// What its host's launches say; none where the trace has none.
    pub(super) fn issue(&self) -> Option<Issue> {
        let mut gaps: Vec<f64> = self
            .launches
            .values()
            .flat_map(|starts| starts.windows(2).map(|pair| pair[1] - pair[0]))
            .filter(|gap| *gap <= LONGEST_GAP)
            .collect();
        gaps.sort_by(f64::total_cmp);
        let at = |sorted: &[f64], share: f64| {
            let place = (share * (sorted.len().max(1) - 1) as f64).round() as usize;
            Seconds::new(sorted.get(place).copied().unwrap_or(0.0))
        };
        (!self.launch_times.is_empty()).then(|| Issue {
            count: self.calls,
            call: at(&self.launch_times, 0.5),
            gap: (at(&gaps, 0.5), at(&gaps, 0.9)),
        })
    }
}

/// All-reduces of all ranks together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rendezvous {
    /// From the last arrival, summed, by rank in the order of ranks.
    pub(super) truly: Vec<Seconds>,
    /// Least booked time over the ranks, summed.
    pub(super) least: Seconds,
    /// Share of all-reduces that ended on some rank before another arrived: clocks that disagree.
    pub(super) disagree: f64,
}

/// Brings the all-reduces of all ranks together.
///
/// # Errors
/// Why they cannot be: fewer than two ranks, or different numbers of all-reduces.
pub(super) fn rendezvous(ranks: &[Rank]) -> Result<Rendezvous, String> {
    if ranks.len() < 2 {
        return Err("the traces of all ranks are needed for the true time of all-reduces".to_owned());
    }
    let count = ranks[0].allreduces.len();
    if ranks.iter().any(|rank| rank.allreduces.len() != count) {
        let counts: Vec<String> = ranks.iter().map(|rank| rank.allreduces.len().to_string()).collect();
        return Err(format!(
            "the ranks hold different numbers of all-reduces ({}): they cannot be paired",
            counts.join(", ")
        ));
    }
    if count >= MOST_KEPT {
        return Err("the traces hold more all-reduces than are kept: trace fewer steps for their true time"
            .to_owned());
    }
    if count == 0 {
        return Err("no all-reduces in the traces".to_owned());
    }
    let mut truly = vec![0.0; ranks.len()];
    let (mut least, mut disagree) = (0.0, 0_usize);
    for at in 0..count {
        let spans = || ranks.iter().map(|rank| rank.allreduces[at]);
        let last = spans().map(|(from, _)| from).fold(f64::NEG_INFINITY, f64::max);
        let shortest = spans().map(|(from, to)| to - from).fold(f64::INFINITY, f64::min);
        least += shortest;
        let sound = spans().all(|(_, to)| to >= last);
        disagree += usize::from(!sound);
        for (sum, (_, to)) in truly.iter_mut().zip(spans()) {
            *sum += if sound { to - last } else { shortest };
        }
    }
    Ok(Rendezvous {
        truly: truly.into_iter().map(Seconds::new).collect(),
        least: Seconds::new(least),
        disagree: disagree as f64 / count as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(allreduces: &[(f64, f64)]) -> Rank {
        let mut rank = Rank::default();
        for (start, time) in allreduces {
            rank.take(&TraceEvent::Work {
                process: 0,
                stream: 0,
                class: WorkClass::AllReduce,
                name: String::new(),
                start: Seconds::from_us(*start),
                time: Seconds::from_us(*time),
            });
        }
        rank.finish();
        rank
    }

    fn near(a: Seconds, us: f64) -> bool {
        (a.us() - us).abs() < 1e-6
    }

    /// Rank 1 arrives 90 µs late at the first: rank 0 books 120 µs for an all-reduce of 30.
    #[test]
    fn booked_and_true() {
        let ranks = [rank(&[(0.0, 120.0), (200.0, 30.0)]), rank(&[(90.0, 30.0), (190.0, 40.0)])];
        assert!(near(ranks[0].booked().0, 150.0) && near(ranks[1].booked().0, 70.0));
        let both = rendezvous(&ranks).unwrap();
        assert!(near(both.truly[0], 60.0) && near(both.truly[1], 60.0), "{both:?}");
        assert!(near(both.least, 60.0));
        assert!(both.disagree < 1e-9);
    }

    #[test]
    fn clocks_that_disagree_fall_back_to_the_least() {
        let ranks = [rank(&[(0.0, 120.0)]), rank(&[(1e6, 30.0)])];
        let both = rendezvous(&ranks).unwrap();
        assert!(near(both.truly[0], 30.0) && (both.disagree - 1.0).abs() < 1e-9);
        assert!(rendezvous(&ranks[..1]).is_err());
        assert!(rendezvous(&[rank(&[(0.0, 1.0)]), rank(&[])]).unwrap_err().contains("(1, 0)"));
    }

    #[test]
    fn a_trace_without_end_takes_no_more_memory() {
        let mut rank = Rank::default();
        let event = |start: f64| TraceEvent::Work {
            process: 0,
            stream: 0,
            class: WorkClass::AllReduce,
            name: String::new(),
            start: Seconds::new(start),
            time: Seconds::new(0.25),
        };
        let launch = |thread| TraceEvent::Launch {
            process: 0,
            thread,
            graph: false,
            start: Seconds::ZERO,
            time: Seconds::ZERO,
        };
        let count = 2 * MOST_KEPT + 5;
        for at in 0..count {
            // Two by two in the wrong order, as several streams leave them.
            rank.take(&event((at ^ 1) as f64));
            rank.take(&launch(at as u64));
        }
        rank.finish();
        assert!(rank.work.len() < MOST_KEPT && rank.allreduces.len() == MOST_KEPT);
        assert!(rank.launches.len() == MOST_THREADS && rank.launch_times.len() == MOST_THREADS);
        assert_eq!(rank.issue().unwrap().count, count as u64);
        let (span, busy) = rank.span_and_busy();
        assert!((busy.get() - 0.25 * count as f64).abs() < 1.0, "{busy}");
        assert!((span.get() - count as f64).abs() < 3.0, "{span}");
        assert!(rendezvous(&[rank.clone(), rank]).unwrap_err().contains("more all-reduces"));
    }

    #[test]
    fn a_stream_holds_no_more_work_than_time() {
        assert_eq!(rank(&[(0.0, 10.0), (10.0, 10.0), (19.0, 10.0)]).overfull(), None);
        let why = rank(&[(0.0, 5000.0), (1000.0, 5000.0), (2000.0, 5000.0)]).overfull().unwrap();
        assert!(why.contains("stream 0 holds 15.0 ms of work within 7.00 ms"), "{why}");
    }

    #[test]
    fn overlapping_streams_are_busy_once() {
        let (span, busy) = rank(&[(0.0, 10.0), (5.0, 10.0), (40.0, 10.0)]).span_and_busy();
        assert!(near(span, 50.0) && near(busy, 25.0), "{span:?} {busy:?}");
    }
}
