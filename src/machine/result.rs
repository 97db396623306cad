//! What a simulation says.

use super::path::CriticalPath;
use super::statistics::Distribution;

/// All-reduce time of one rank in a pass, mean over the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankAllreduce {
    /// The rank.
    pub rank: u32,
    /// As a profiler books it, from the rank's own arrivals \[ms\].
    pub booked_ms: f64,
    /// From the last arrivals \[ms\].
    pub true_ms: f64,
}

impl RankAllreduce {
    /// What a profiler books over what is needed; 1 where there is no all-reduce.
    pub fn booked_over_true(&self) -> f64 {
        if self.true_ms > 0.0 { self.booked_ms / self.true_ms } else { 1.0 }
    }
}

/// How busy a pass keeps its parts, as shares of its time, mean over ranks and runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Utilisation {
    /// Host threads that issue.
    pub host: f64,
    /// Streams that compute, or move bytes after the last arrival.
    pub gpu: f64,
    /// Directed links by name with the share of their bandwidth, busiest first; empty with priced collectives.
    pub links: Vec<(String, f64)>,
}

/// One pass over all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct PassResult {
    /// From the start of its last rank to its end \[ms\].
    pub time_ms: Distribution,
    /// All-reduces.
    pub allreduces: u32,
    /// All-reduce time by rank.
    pub ranks: Vec<RankAllreduce>,
    /// All-reduce time that the median rank of a run books \[ms\].
    pub booked_ms: Distribution,
    /// The true time of the median rank \[ms\].
    pub true_ms: Distribution,
    /// Booked over true time on the median rank of a run.
    pub booked_over_true: Distribution,
    /// Sum over all-reduces of the least time that any rank books \[ms\]: what a profile of all ranks shows as true.
    pub least_ms: Distribution,
    /// How busy its parts are.
    pub utilisation: Utilisation,
    /// What set the end in the run of median time.
    pub critical_path: CriticalPath,
    /// Share of the pass, mean over the runs, that the critical path spends on a host.
    pub host_share: f64,
}

/// A simulation of a cycle and a baseline step.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineResult {
    /// Ranks simulated.
    pub ranks: u32,
    /// Runs.
    pub runs: u32,
    /// Seed.
    pub seed: u64,
    /// A step without speculation, host work included \[ms\].
    pub decode_ms: Distribution,
    /// The verify pass \[ms\].
    pub verify_ms: Distribution,
    /// A cycle, draft and host work included \[ms\].
    pub cycle_ms: Distribution,
    /// The decode pass of the step.
    pub decode: PassResult,
    /// The verify pass.
    pub verify: PassResult,
    /// Operations issued and run, steps over links, and changes of flows.
    pub events: u64,
    /// What the reader should know about this simulation.
    pub notes: Vec<String>,
}
