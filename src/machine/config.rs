//! What a simulation of the machine depends on besides the cycle and the box.

use crate::runtime::Runtime;
use crate::sourced::Sourced;
use crate::units::Seconds;

/// How collectives move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fabric {
    /// From the arrival of the last rank each takes its priced time.
    #[default]
    Priced,
    /// Step by step over the links of the box.
    Links {
        /// Whether flows share links; without it each has its links for itself (its rank's other flows apart).
        contention: bool,
        /// Whether a start-up time is added, or the steps are shrunk, so that ranks that arrive together need the
        /// priced time: a measured time contains its steps. Without it the steps alone count.
        anchored: bool,
    },
}

/// A range of factors around 1 and where in it a run lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The cheapest host.
    pub low: f64,
    /// The dearest.
    pub high: f64,
}

impl Range {
    /// No spread.
    pub const ONE: Self = Self { low: 1.0, high: 1.0 };

    /// The range of a figure, relative to its value.
    pub fn of(figure: Sourced<Seconds>) -> Self {
        match figure.spread {
            Some(spread) if figure.value > Seconds::ZERO => {
                Self { low: spread.low / figure.value, high: spread.high / figure.value }
            }
            _ => Self::ONE,
        }
    }

    /// The factor at the quantile `u` in \[0, 1\]: low at 0, 1 at one half, high at 1, straight in between.
    pub fn at(self, u: f64) -> f64 {
        if u < 0.5 {
            self.low + 2.0 * u * (1.0 - self.low)
        } else {
            1.0 + (2.0 * u - 1.0) * (self.high - 1.0)
        }
    }
}

/// How far hosts of one runtime differ: a run draws one quantile, and all its host costs lie there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostProfile {
    /// Issue of a kernel.
    pub kernel: Range,
    /// Issue of a collective.
    pub collective: Range,
    /// Launch of a graph.
    pub launch: Range,
}

impl HostProfile {
    /// The ranges of a runtime profile.
    pub fn of(runtime: &Runtime) -> Self {
        Self {
            kernel: Range::of(runtime.issue_kernel),
            collective: Range::of(runtime.issue_collective),
            launch: Range::of(runtime.graph_launch),
        }
    }
}

/// Settings of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineConfig {
    /// Cycles (and baseline steps) to simulate, each with draws of its own.
    pub runs: u32,
    /// Seed of all random streams.
    pub seed: u64,
    /// Standard deviation over mean of one host operation (lognormal). 0.3 is assumed until calibrated.
    pub host_jitter: f64,
    /// Standard deviation over mean of a rank's host speed, drawn per run (lognormal). 0.05 is assumed.
    pub rank_speed: f64,
    /// Standard deviation over mean of one kernel (lognormal). 0: repeats of captured graphs differ by 1 %.
    pub device_jitter: f64,
    /// Spread of host costs from box to box and run to run; none: every run has the profile's own values.
    pub profile: Option<HostProfile>,
    /// Fixed factors on the host times of the first ranks, over and above the draws: a profiled or busy host.
    pub host_factors: Vec<f64>,
    /// How collectives move.
    pub fabric: Fabric,
}

impl Default for MachineConfig {
    fn default() -> Self {
        Self {
            runs: 1000,
            seed: 0,
            host_jitter: 0.3,
            rank_speed: 0.05,
            device_jitter: 0.0,
            profile: None,
            host_factors: Vec::new(),
            fabric: Fabric::Priced,
        }
    }
}

impl MachineConfig {
    /// The defaults with the spread of a runtime's host costs.
    pub fn of(runtime: &Runtime) -> Self {
        Self { profile: Some(HostProfile::of(runtime)), ..Self::default() }
    }

    /// One run without anything random: the closed form.
    pub fn exact() -> Self {
        Self { runs: 1, host_jitter: 0.0, rank_speed: 0.0, ..Self::default() }
    }

    /// Whether nothing is random, so that every run is the same.
    pub fn is_exact(&self) -> bool {
        let none = |cv: f64| cv <= 0.0;
        none(self.host_jitter) && none(self.rank_speed) && none(self.device_jitter) && self.profile.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::RuntimeKind;

    #[test]
    fn a_profile_has_its_value_in_the_middle_and_its_ends_at_the_ends() {
        let runtime = Runtime::profile(RuntimeKind::Sglang);
        let kernel = HostProfile::of(&runtime).kernel;
        let us = |u| runtime.issue_kernel.value.us() * kernel.at(u);
        for (u, time) in [(0.0, 10.0), (0.5, 12.5), (0.75, 13.75), (1.0, 15.0)] {
            assert!((us(u) - time).abs() < 1e-9, "{u}: {}", us(u));
        }
    }
}
