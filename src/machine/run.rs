//! One run: a baseline step, then a cycle, on hosts drawn for this run.
//!
//! ```text
//! step    host work, decode pass
//! cycle   host work, draft passes (or a lookup), verify pass
//! end     of a rank: its stream, or host work + issue + hidden work where an overlap scheduler hides some
//! ```
//! All ranks begin together; the run ends with the last rank. A rank's next pass begins when its host and stream are free.

use super::config::{Fabric, MachineConfig, Range};
use super::exchange::{Exchanger, Sharing};
use super::host::{Factor, Jitter};
use super::link::Fabrics;
use super::outcome::Outcome;
use super::pass::{self, PassOutcome, Scratch};
use super::plan::Plan;
use super::program::Program;
use super::rank::{HostSpeed, Randomness, Rank};
use super::record::Recorder;
use crate::collective::step_terms;
use crate::cost::{Exchange, PricedPass};
use crate::des::Streams;
use crate::hardware::Hardware;
use crate::sourced::Sourced;
use crate::speculation::{Cycle, DraftWork, HostWork};
use crate::units::Seconds;

/// Host work around passes \[ps\].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Work {
    time: f64,
    range: Range,
}

impl Work {
    fn new(time: Sourced<Seconds>) -> Self {
        Self { time: time.value.get() * 1e12, range: Range::of(time) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Around {
    exposed: Work,
    hidden: Work,
}

impl Around {
    fn new(host: HostWork) -> Self {
        Self { exposed: Work::new(host.exposed), hidden: Work::new(host.hidden) }
    }
}

/// How a cycle drafts.
#[derive(Debug, Clone, PartialEq)]
enum Draft {
    Lookup(Work),
    Passes(Box<DraftPasses>),
}

/// Draft steps, then an extend.
#[derive(Debug, Clone, PartialEq)]
struct DraftPasses {
    step: Option<Program>,
    repeats: u32,
    extend: Program,
}

/// A cycle compiled for a box.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) ranks: u32,
    pub(super) decode: Program,
    pub(super) verify: Program,
    pub(super) fabric: Option<Fabrics>,
    draft: Draft,
    around_step: Around,
    around_cycle: Around,
    config: MachineConfig,
    random: Randomness,
    exchangers: Vec<Exchanger>,
}

/// What a worker keeps between runs.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    exchangers: Vec<Exchanger>,
    scratch: Scratch,
}

impl Machine {
    pub(super) fn new(cycle: &Cycle, hardware: &Hardware, config: &MachineConfig) -> Self {
        let ranks = ranks_of(cycle);
        let fabric = match config.fabric {
            Fabric::Priced => None,
            Fabric::Links { .. } => Some(Fabrics::of(hardware, ranks)),
        };
        let mut builder =
            Builder { hardware, config, fabric: fabric.as_ref(), ranks, exchangers: Vec::new() };
        let decode = builder.program(&cycle.baseline);
        let verify = builder.program(&cycle.verify);
        let draft = match &cycle.draft {
            DraftWork::Lookup(time) => Draft::Lookup(Work::new(*time)),
            DraftWork::Passes { step, extend } => Draft::Passes(Box::new(DraftPasses {
                step: step.as_ref().map(|step| builder.program(step)),
                repeats: cycle.shape.steps.saturating_sub(1),
                extend: builder.program(extend),
            })),
        };
        let exchangers = builder.exchangers;
        Self {
            ranks,
            decode,
            verify,
            draft,
            fabric,
            exchangers,
            around_step: Around::new(cycle.baseline_host),
            around_cycle: Around::new(cycle.host),
            random: Randomness {
                host: Jitter::new(config.host_jitter),
                device: Jitter::new(config.device_jitter),
                speed: Factor::new(config.rank_speed),
            },
            config: config.clone(),
        }
    }

    pub(super) fn worker(&self) -> Worker {
        Worker { exchangers: self.exchangers.clone(), scratch: Scratch::default() }
    }

    /// Run number `number`.
    pub(super) fn run<R: Recorder>(&self, number: u32, worker: &mut Worker, record: &mut R) -> Outcome {
        let mut events = 0;
        // The timeline shows the cycle.
        let mut quiet = super::record::Nothing;
        let mut step = Run::new(self, number, "step", worker);
        step.work(self.around_step.exposed, &mut quiet);
        let decode_pass = step.pass(&self.decode, &mut quiet);
        let decode = step.end(self.around_step.hidden);
        events += step.events;
        let mut cycle = Run::new(self, number, "cycle", worker);
        cycle.work(self.around_cycle.exposed, record);
        match &self.draft {
            Draft::Lookup(work) => cycle.work(*work, record),
            Draft::Passes(draft) => {
                if let Some(step) = &draft.step {
                    for _ in 0..draft.repeats {
                        cycle.pass(step, record);
                    }
                }
                cycle.pass(&draft.extend, record);
            }
        }
        let verify_pass = cycle.pass(&self.verify, record);
        let cycle_time = cycle.end(self.around_cycle.hidden);
        events += cycle.events;
        Outcome { decode, cycle: cycle_time, decode_pass, verify_pass, events }
    }

    /// Bytes that a pass puts on each resource.
    pub(super) fn carried(&self, program: &Program) -> Vec<f64> {
        let resources = self.fabric.as_ref().map_or(0, |f| f.resources.len());
        let mut total = vec![0.0; resources];
        for &(part, count) in &program.sequence {
            for segment in &program.segments[program.parts[part].segments.clone()] {
                let Some((first, meeting)) = segment.meeting.and_then(|m| Some((m.exchanger?, m))) else {
                    continue;
                };
                for group in 0..(self.ranks / meeting.group.max(1)) as usize {
                    for (sum, bytes) in total.iter_mut().zip(self.exchangers[first + group].carried()) {
                        *sum += f64::from(count) * bytes;
                    }
                }
            }
        }
        total
    }
}

fn ranks_of(cycle: &Cycle) -> u32 {
    let most = |pass: &PricedPass| {
        let ops = pass.blocks.iter().flat_map(|block| &block.ops);
        ops.filter_map(|op| op.exchange).map(|e| e.ranks).max().unwrap_or(1)
    };
    let draft = match &cycle.draft {
        DraftWork::Lookup(_) => 1,
        DraftWork::Passes { extend, .. } => most(extend),
    };
    most(&cycle.baseline).max(most(&cycle.verify)).max(draft)
}

/// Compiles passes and what moves their collectives.
struct Builder<'a> {
    hardware: &'a Hardware,
    config: &'a MachineConfig,
    fabric: Option<&'a Fabrics>,
    ranks: u32,
    exchangers: Vec<Exchanger>,
}

impl Builder<'_> {
    fn program(&mut self, pass: &PricedPass) -> Program {
        Program::new(pass, &mut |exchange, time| self.exchanger(exchange, time))
    }

    /// One exchanger per group of consecutive ranks; the number of the first.
    fn exchanger(&mut self, exchange: Exchange, time: Seconds) -> Option<usize> {
        let (Fabric::Links { contention, anchored }, Some(fabric)) = (self.config.fabric, self.fabric) else {
            return None;
        };
        let plan = Plan::of(&exchange)?;
        let terms = step_terms(self.hardware, exchange.choice, exchange.ranks);
        let software = (terms.latency - fabric.mean_hop()).max(Seconds::ZERO);
        let sharing = if contention { Sharing::Fair } else { Sharing::Own };
        let number = self.exchangers.len();
        for group in 0..self.ranks / exchange.ranks.max(1) {
            let first = group * exchange.ranks;
            let steps = Exchanger::new(plan.clone(), fabric, first, software, terms.wire, terms.sum, sharing);
            self.exchangers.push(if anchored { steps.anchored(time) } else { steps });
        }
        Some(number)
    }
}

/// The ranks of one run on their way.
struct Run<'a> {
    machine: &'a Machine,
    ranks: Vec<Rank>,
    worker: &'a mut Worker,
    quantile: f64,
    events: u64,
}

impl<'a> Run<'a> {
    fn new(machine: &'a Machine, number: u32, purpose: &str, worker: &'a mut Worker) -> Self {
        let streams = Streams::new(machine.config.seed, u64::from(number));
        let quantile = match machine.config.profile {
            Some(_) => streams.stream("host profile", 0).uniform(),
            None => 0.5,
        };
        let ranks = (0..machine.ranks).map(|rank| machine.rank(rank, streams, purpose, quantile)).collect();
        Self { machine, ranks, worker, quantile, events: 0 }
    }

    fn pass<R: Recorder>(&mut self, program: &Program, record: &mut R) -> PassOutcome {
        let Worker { exchangers, scratch } = &mut *self.worker;
        let random = &self.machine.random;
        let outcome = pass::run(program, &mut self.ranks, exchangers, scratch, random, record);
        // Each operation is issued and run; a graph is launched once.
        let issued = if program.graph { 1 } else { program.operations };
        self.events += u64::from(self.machine.ranks) * (issued + program.operations);
        self.events += exchangers.iter_mut().map(Exchanger::take_events).sum::<u64>();
        outcome
    }

    fn work<R: Recorder>(&mut self, work: Work, record: &mut R) {
        let ps = self.amount(work);
        for rank in &mut self.ranks {
            rank.work(ps, &self.machine.random, record);
        }
    }

    fn amount(&self, work: Work) -> f64 {
        match self.machine.config.profile {
            Some(_) => work.time * work.range.at(self.quantile),
            None => work.time,
        }
    }

    /// When the last rank is through.
    fn end(&mut self, hidden: Work) -> u64 {
        let hidden = self.amount(hidden);
        let ends = self.ranks.iter_mut().map(|rank| {
            let own = rank.stream.max(rank.host);
            if hidden > 0.0 {
                rank.work(hidden, &self.machine.random, &mut super::record::Nothing);
                // One thread did all of it, whenever it did.
                own.max(rank.issued)
            } else {
                own
            }
        });
        ends.max().unwrap_or(0)
    }
}

impl Machine {
    fn rank(&self, rank: u32, streams: Streams, purpose: &str, quantile: f64) -> Rank {
        let index = u64::from(rank);
        let own = self.random.speed.draw(&mut streams.stream("rank speed", index));
        let fixed = self.config.host_factors.get(rank as usize).copied().unwrap_or(1.0);
        let speed = own * fixed;
        let profile = |range: fn(&super::config::HostProfile) -> Range| {
            speed * self.config.profile.as_ref().map_or(1.0, |profile| range(profile).at(quantile))
        };
        Rank {
            number: rank,
            speed: HostSpeed {
                kernel: profile(|p| p.kernel),
                collective: profile(|p| p.collective),
                launch: profile(|p| p.launch),
                work: speed,
            },
            draws: streams.stream(&format!("{purpose} host"), index),
            device_draws: streams.stream(&format!("{purpose} device"), index),
            began: 0,
            host: 0,
            stream: 0,
            trail: super::path::Trail::start(rank),
            issued: 0,
            computed: 0,
            pass_issued: 0,
            booked: 0,
            truly: 0,
        }
    }
}
