//! One rank: a host that issues in order and never waits, a stream that runs in order.

use super::host::{Factor, Jitter, whole};
use super::path::Trail;
use super::program::{Kernel, Meeting, Segment};
use super::record::{Recorder, Track};
use crate::des::Stream;

/// Factors on the host times of a rank in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HostSpeed {
    pub(super) kernel: f64,
    pub(super) collective: f64,
    pub(super) launch: f64,
    pub(super) work: f64,
}

/// The state of one rank; all times in picoseconds since the run began.
#[derive(Debug, Clone)]
pub(super) struct Rank {
    pub(super) number: u32,
    pub(super) speed: HostSpeed,
    pub(super) draws: Stream,
    pub(super) device_draws: Stream,
    /// When the present pass began on this rank.
    pub(super) began: u64,
    /// The host has issued up to here.
    pub(super) host: u64,
    /// The stream is busy up to here.
    pub(super) stream: u64,
    pub(super) trail: Trail,
    /// Host time spent since the run began.
    pub(super) issued: u64,
    /// GPU time spent in kernels during the present pass.
    pub(super) computed: u64,
    /// Host time spent during the present pass.
    pub(super) pass_issued: u64,
    /// All-reduce time since the own arrival and since the last one, in the present pass.
    pub(super) booked: u64,
    pub(super) truly: u64,
}

/// What is random in a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Randomness {
    pub(super) host: Jitter,
    pub(super) device: Jitter,
    pub(super) speed: Factor,
}

impl Rank {
    pub(super) fn begin_pass(&mut self) {
        self.host = self.host.max(self.stream);
        self.began = self.host;
        self.stream = self.host;
        self.trail = Trail::start(self.number);
        (self.computed, self.pass_issued, self.booked, self.truly) = (0, 0, 0, 0);
    }

    /// Issue of `ps`, times a factor; the host's clock afterwards.
    #[inline]
    fn issue(&mut self, ps: u64, speed: f64, factor: Factor) -> u64 {
        let spent = whole(ps as f64 * speed * factor.draw(&mut self.draws));
        self.host += spent;
        self.pass_issued += spent;
        self.issued += spent;
        self.host
    }

    /// Work around a pass.
    pub(super) fn work<R: Recorder>(&mut self, ps: f64, random: &Randomness, record: &mut R) {
        if ps > 0.0 {
            let spent = whole(random.host.work(ps * self.speed.work, &mut self.draws));
            let from = self.host.max(self.stream);
            self.host = from + spent;
            record.span(Track::Host(self.number), "scheduler, sampling, copies", from, self.host);
            self.issued += spent;
        }
    }

    /// Launches a graph: the stream may start when the launch is done.
    pub(super) fn launch<R: Recorder>(&mut self, ps: u64, random: &Randomness, record: &mut R) {
        let from = self.host;
        self.issue(ps, self.speed.launch, random.host.of(1));
        record.span(Track::Host(self.number), "graph launch", from, self.host);
        self.trail.host = self.host - self.began;
        self.stream = self.host;
    }

    /// Runs the kernels of a segment up to its collective.
    #[inline]
    pub(super) fn stretch<R: Recorder>(
        &mut self,
        eager: bool,
        segment: &Segment,
        kernels: &[Kernel],
        place: (u32, u32),
        random: &Randomness,
        record: &mut R,
    ) {
        let still = random.device.is_one();
        if !R::ON && !eager && still {
            self.stream += segment.fold.device;
            self.trail.kernels += segment.fold.device;
            self.computed += segment.fold.device;
        } else if !R::ON && still && random.host.is_one() && (self.speed.kernel - 1.0).abs() < f64::EPSILON {
            self.folded(segment, place);
        } else {
            for kernel in kernels {
                self.kernel(eager, kernel, place, random, record);
            }
        }
    }

    fn folded(&mut self, segment: &Segment, place: (u32, u32)) {
        let fold = segment.fold;
        let crossing = self.host + fold.crossing;
        let free = self.stream + fold.device;
        if crossing > free {
            self.trail.late(self.number, place, self.host + fold.crossing_host - self.began);
            self.trail.kernels = fold.crossing - fold.crossing_host;
        } else {
            self.trail.kernels += fold.device;
        }
        self.stream = crossing.max(free);
        self.host += fold.issue;
        self.pass_issued += fold.issue;
        self.issued += fold.issue;
        self.computed += fold.device;
    }

    #[inline]
    fn kernel<R: Recorder>(
        &mut self,
        eager: bool,
        kernel: &Kernel,
        place: (u32, u32),
        random: &Randomness,
        record: &mut R,
    ) {
        if eager {
            self.issue_at(
                kernel.label,
                kernel.issue,
                self.speed.kernel,
                kernel.kernels,
                place,
                random,
                record,
            );
        }
        let factor = random.device.of(kernel.kernels).draw(&mut self.device_draws);
        let spent = whole(kernel.device as f64 * factor);
        record.span(Track::Stream(self.number), kernel.label, self.stream, self.stream + spent);
        self.stream += spent;
        self.trail.kernels += spent;
        self.computed += spent;
    }

    #[inline]
    #[expect(clippy::too_many_arguments, reason = "one operation, its factors and where it is")]
    fn issue_at<R: Recorder>(
        &mut self,
        label: &'static str,
        ps: u64,
        speed: f64,
        kernels: u32,
        place: (u32, u32),
        random: &Randomness,
        record: &mut R,
    ) {
        let from = self.host;
        let issued = self.issue(ps, speed, random.host.of(kernels));
        record.span(Track::Host(self.number), label, from, issued);
        if issued > self.stream {
            self.trail.late(self.number, place, issued - self.began);
            self.stream = issued;
        }
    }

    /// Arrives at a collective; from here its kernel spins.
    #[inline]
    pub(super) fn arrive<R: Recorder>(
        &mut self,
        eager: bool,
        meeting: &Meeting,
        place: (u32, u32),
        random: &Randomness,
        record: &mut R,
    ) -> u64 {
        if eager {
            let speed = self.speed.collective;
            self.issue_at(meeting.label, meeting.issue, speed, 1, place, random, record);
        }
        self.stream
    }

    /// Leaves a collective that began with the arrival of the last rank at `last`, whose path is `trail`.
    pub(super) fn leave(&mut self, meeting: &Meeting, last: u64, end: u64, trail: &Trail) {
        if meeting.allreduce {
            self.booked += end - self.stream;
            self.truly += end - last;
        }
        self.trail = *trail;
        self.trail.collectives += end - last;
        self.stream = end;
    }
}
