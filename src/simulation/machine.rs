//! The machine: a cycle simulated, beside the closed form and what was observed.

use std::ops::ControlFlow;

use super::beside::{Beside, Observed};
use super::watch::{Stage, Watch};
use crate::evaluate;
use crate::machine::{MachineConfig, MachineResult, Trace, simulate_watched, trace};
use crate::runtime::Execution;
use crate::scenario::{ModelledSetup, Setup};
use crate::sourced::{Source, Sourced};
use crate::speculation::Cycle;
use crate::units::Seconds;

/// A simulated machine and what it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineAnswer {
    /// The simulation.
    pub result: MachineResult,
    /// Runs that were wanted; fewer were done where it was interrupted.
    pub wanted: u32,
    /// The step without speculation.
    pub decode: Beside,
    /// The verify pass.
    pub verify: Beside,
    /// The cycle.
    pub cycle: Beside,
    /// The all-reduces of the verify pass, as priced and as a profiler booked them.
    pub allreduce: Beside,
    /// How the step is issued: `graph` or `eager`.
    pub decode_execution: &'static str,
    /// How the verify pass is issued, likewise.
    pub verify_execution: &'static str,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// Simulates the cycle of `setup`. What `observed` says of passes other than those simulated is left out.
pub fn simulate_machine(
    setup: &ModelledSetup,
    observed: &Setup,
    config: &MachineConfig,
    watch: Watch,
) -> MachineAnswer {
    let cycle = evaluate::cycle(setup);
    let result = simulate_watched(&cycle, &setup.hardware, config, &mut |done, wanted| {
        let go_on = watch(Stage::Cycles, f64::from(done) / f64::from(wanted));
        if done == wanted { ControlFlow::Continue(()) } else { go_on }
    });
    let times = Times::of(observed, &cycle);
    let beside = |closed, time: Option<Sourced<Seconds>>, simulated| Beside {
        closed,
        observed: time.map(|time| Observed::among(time, simulated)),
    };
    MachineAnswer {
        wanted: if config.is_exact() { 1 } else { config.runs },
        decode: beside(cycle.baseline_time().value, times.decode, &result.decode_ms),
        verify: beside(cycle.verify.time.value, times.verify, &result.verify_ms),
        cycle: beside(cycle.time().value, times.cycle, &result.cycle_ms),
        allreduce: beside(cycle.allreduce().total, times.allreduce, &result.verify.booked_ms),
        decode_execution: word(cycle.baseline.execution),
        verify_execution: word(cycle.verify.execution),
        notes: notes(setup, &result),
        result,
    }
}

fn notes(setup: &ModelledSetup, result: &MachineResult) -> Vec<String> {
    let mut notes = result.notes.clone();
    let stated = &setup.common.stated;
    let hypotheses = [
        ("speculation.verify.time", stated.verify.time.is_some()),
        ("speculation.verify.allreduce.time", stated.verify.allreduce_each.is_some()),
        ("baseline.time", stated.baseline.time.is_some()),
        ("baseline.allreduce.time", stated.baseline.allreduce_each.is_some()),
        ("speculation.draft_pass.time", stated.draft.is_some()),
        ("speculation.host.time", stated.host.is_some()),
    ];
    let given: Vec<&str> = hypotheses.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
    if !given.is_empty() {
        notes.push(format!(
            "{} is for `run`: simulated operations take the times that they are priced with",
            given.join(", ")
        ));
    }
    notes
}

const fn word(execution: Execution) -> &'static str {
    match execution {
        Execution::Graph => "graph",
        Execution::Eager => "eager",
    }
}

/// The timeline of one run.
pub fn trace_machine(setup: &ModelledSetup, config: &MachineConfig, run: u32) -> Trace {
    trace(&evaluate::cycle(setup), &setup.hardware, config, run)
}

/// Observed times of the passes of one cycle.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    decode: Option<Sourced<Seconds>>,
    verify: Option<Sourced<Seconds>>,
    cycle: Option<Sourced<Seconds>>,
    allreduce: Option<Sourced<Seconds>>,
}

impl Times {
    /// What was observed of a setup, as far as its passes are those of `cycle`.
    fn of(setup: &Setup, cycle: &Cycle) -> Self {
        let Setup::Modelled(modelled) = setup else { return Self::default() };
        let stated = &modelled.common.stated;
        let own = evaluate::cycle(modelled);
        let same_decode = own.baseline == cycle.baseline && own.baseline_host == cycle.baseline_host;
        let same_verify = own.verify == cycle.verify;
        let same_cycle = same_verify && own.draft == cycle.draft && own.host == cycle.host;
        let tokens = own.accept_length().value.tokens(f64::from(own.batch()));
        let observed_cycle =
            stated.observed_throughput.map(|rate| Sourced::new(tokens / rate.value, Source::Derived));
        Self {
            decode: stated.baseline.observed.filter(|_| same_decode),
            verify: stated.verify.observed.filter(|_| same_verify),
            cycle: observed_cycle.filter(|_| same_cycle),
            allreduce: stated.verify.observed_allreduce.map(|a| a.total).filter(|_| same_verify),
        }
    }
}
