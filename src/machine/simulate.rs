//! All runs, in parallel, folded in their order: the same result for any number of threads.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::config::{Fabric, MachineConfig};
use super::outcome::Outcome;
use super::pass::PassOutcome;
use super::path::{CriticalPath, Origin, Place, Trail};
use super::program::Program;
use super::record::Nothing;
use super::result::{MachineResult, PassResult, RankAllreduce, Utilisation};
use super::run::Machine;
use super::statistics::Distribution;
use crate::des::SimTime;
use crate::hardware::Hardware;
use crate::speculation::Cycle;

/// Runs worked on at once before they are folded, so that memory does not grow with their number; progress is told after
/// each batch.
const BATCH: u32 = 512;

/// Simulates a cycle and its baseline step on the box that they were priced for.
///
/// Where nothing is random one run stands for all.
pub fn simulate(cycle: &Cycle, hardware: &Hardware, config: &MachineConfig) -> MachineResult {
    simulate_watched(cycle, hardware, config, &mut |_, _| ControlFlow::Continue(()))
}

/// The same; `progress` is told the runs that are done and those wanted, and ends the simulation by breaking: the result
/// is that of the runs done.
pub fn simulate_watched(
    cycle: &Cycle,
    hardware: &Hardware,
    config: &MachineConfig,
    progress: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
) -> MachineResult {
    let machine = Machine::new(cycle, hardware, config);
    let runs = if config.is_exact() { 1 } else { config.runs.max(1) };
    let mut fold = Fold::default();
    let mut done = runs;
    for first in (0..runs).step_by(BATCH as usize) {
        let batch = first..(first.saturating_add(BATCH)).min(runs);
        let outcomes: Vec<Outcome> = batch
            .into_par_iter()
            .map_init(|| machine.worker(), |worker, number| machine.run(number, worker, &mut Nothing))
            .collect();
        for outcome in &outcomes {
            fold.add(outcome);
        }
        let so_far = first.saturating_add(BATCH).min(runs);
        if progress(so_far, runs).is_break() {
            done = so_far;
            break;
        }
    }
    fold.finish(&machine, config, done)
}

#[derive(Default)]
struct Fold {
    decode: Vec<f64>,
    cycle: Vec<f64>,
    decode_pass: PassFold,
    verify_pass: PassFold,
    events: u64,
}

#[derive(Default)]
struct PassFold {
    time: Vec<f64>,
    booked: Vec<f64>,
    truly: Vec<f64>,
    ratio: Vec<f64>,
    least: Vec<f64>,
    rank_sums: Vec<(u64, u64)>,
    issued: u64,
    computed: u64,
    total: u64,
    trails: Vec<Trail>,
    host_share: f64,
}

fn ms(ps: u64) -> f64 {
    SimTime::from_ps(ps).seconds().ms()
}

impl Fold {
    fn add(&mut self, outcome: &Outcome) {
        self.decode.push(ms(outcome.decode));
        self.cycle.push(ms(outcome.cycle));
        self.decode_pass.add(&outcome.decode_pass);
        self.verify_pass.add(&outcome.verify_pass);
        self.events += outcome.events;
    }

    fn finish(self, machine: &Machine, config: &MachineConfig, runs: u32) -> MachineResult {
        let verify = self.verify_pass.finish(machine, &machine.verify);
        MachineResult {
            ranks: machine.ranks,
            runs,
            seed: config.seed,
            decode_ms: Distribution::of(self.decode),
            verify_ms: verify.time_ms.clone(),
            cycle_ms: Distribution::of(self.cycle),
            decode: self.decode_pass.finish(machine, &machine.decode),
            verify,
            events: self.events,
            notes: notes(machine, config),
        }
    }
}

impl PassFold {
    fn add(&mut self, pass: &PassOutcome) {
        self.time.push(ms(pass.time));
        // The median rank by what it books.
        let mut order: Vec<usize> = (0..pass.booked.len()).collect();
        order.sort_unstable_by_key(|&rank| (pass.booked[rank], rank));
        let median = order[order.len() / 2];
        let (booked, truly) = (pass.booked[median], pass.truly[median]);
        self.booked.push(ms(booked));
        self.truly.push(ms(truly));
        self.ratio.push(if truly == 0 { 1.0 } else { booked as f64 / truly as f64 });
        self.least.push(ms(pass.least));
        self.rank_sums.resize(pass.booked.len(), (0, 0));
        for (sum, (booked, truly)) in self.rank_sums.iter_mut().zip(pass.booked.iter().zip(&pass.truly)) {
            sum.0 += booked;
            sum.1 += truly;
        }
        self.issued += pass.issued;
        self.computed += pass.computed;
        self.total += pass.time;
        self.host_share += pass.trail.host as f64 / pass.time.max(1) as f64;
        self.trails.push(pass.trail);
    }

    fn finish(self, machine: &Machine, program: &Program) -> PassResult {
        let runs = self.time.len() as f64;
        let mean = |sum: u64| ms(sum) / runs;
        let ranks = self.rank_sums.iter().enumerate().map(|(rank, (booked, truly))| RankAllreduce {
            rank: rank as u32,
            booked_ms: mean(*booked),
            true_ms: mean(*truly),
        });
        let ranks: Vec<_> = ranks.collect();
        // Of equal times the earliest run.
        let mut order: Vec<usize> = (0..self.time.len()).collect();
        order.sort_by(|&a, &b| self.time[a].total_cmp(&self.time[b]));
        let trail = self.trails[order[(order.len() - 1) / 2]];
        let all = self.total as f64 * f64::from(machine.ranks);
        PassResult {
            allreduces: program.allreduces,
            ranks,
            utilisation: Utilisation {
                host: self.issued as f64 / all,
                gpu: self.computed as f64 / all,
                links: links(machine, program, self.total as f64 / runs),
            },
            critical_path: words(trail, program),
            host_share: self.host_share / runs,
            time_ms: Distribution::of(self.time),
            booked_ms: Distribution::of(self.booked),
            true_ms: Distribution::of(self.truly),
            booked_over_true: Distribution::of(self.ratio),
            least_ms: Distribution::of(self.least),
        }
    }
}

/// Shares of the links' bandwidth over a pass of mean length `ps`, busiest first.
fn links(machine: &Machine, program: &Program, ps: f64) -> Vec<(String, f64)> {
    let Some(fabric) = &machine.fabric else { return Vec::new() };
    let bytes = machine.carried(program);
    let share = |(resource, bytes): (&super::link::Resource, f64)| {
        (resource.name.clone(), bytes / (resource.bandwidth.get() * ps * 1e-12))
    };
    let mut links: Vec<_> = fabric.resources.iter().zip(bytes).map(share).filter(|(_, s)| *s > 0.0).collect();
    links.sort_by(|a, b| b.1.total_cmp(&a.1));
    links
}

fn words(trail: Trail, program: &Program) -> CriticalPath {
    let seconds = |ps| SimTime::from_ps(ps).seconds();
    let until = trail.place.map_or(Place::Start, |(entry, repetition)| {
        let part = |at: usize| &program.parts[program.sequence[at].0];
        let here = part(entry as usize);
        if here.layer {
            let before = (0..entry as usize).filter(|&at| part(at).layer);
            let layers: u32 = before.map(|at| program.sequence[at].1).sum();
            Place::Layer(layers + repetition + 1)
        } else {
            Place::Block(here.name)
        }
    });
    CriticalPath {
        rank: trail.rank,
        origin: if program.graph { Origin::Launch } else { Origin::Issue },
        until,
        layers: program.layers(),
        host: seconds(trail.host),
        kernels: seconds(trail.kernels),
        collectives: seconds(trail.collectives),
    }
}

fn notes(machine: &Machine, config: &MachineConfig) -> Vec<String> {
    let mut notes = Vec::new();
    if config.host_jitter > 0.0 || config.rank_speed > 0.0 {
        notes.push(format!(
            "host jitter (cv {} per operation) and rank speed (sd {} %) are assumed until calibrated",
            config.host_jitter,
            100.0 * config.rank_speed
        ));
    }
    if let (Fabric::Links { .. }, Some(fabric)) = (config.fabric, &machine.fabric)
        && !fabric.known
    {
        notes
            .push("the graph of this box was not recorded: its GPUs' ports meet in an ideal crossbar".into());
    }
    notes
}
