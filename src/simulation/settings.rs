//! The keys of `simulation` as the simulators want them.

use crate::machine::{Fabric, HostProfile, MachineConfig};
use crate::runtime::Runtime;
use crate::scenario::written::{FabricWord, SimulationKeys};

/// What the command line sets over the keys of the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Cycles to simulate.
    pub runs: Option<u32>,
    /// Seed.
    pub seed: Option<u64>,
}

/// Settings of the machine; where neither hosts nor ranks vary and nothing else is said, nothing does.
pub fn machine_config(keys: &SimulationKeys, runtime: &Runtime, over: Settings) -> MachineConfig {
    let default = MachineConfig::default();
    let host_jitter = keys.host_jitter.unwrap_or(runtime.host_jitter.value);
    let rank_speed = keys.rank_speed.unwrap_or(default.rank_speed);
    let spread = keys.profile_spread.unwrap_or(host_jitter > 0.0 || rank_speed > 0.0);
    MachineConfig {
        runs: over.runs.or(keys.runs).unwrap_or(default.runs),
        seed: over.seed.or(keys.seed).unwrap_or(default.seed),
        host_jitter,
        rank_speed,
        device_jitter: keys.device_jitter.unwrap_or(default.device_jitter),
        profile: spread.then(|| HostProfile::of(runtime)),
        host_factors: Vec::new(),
        fabric: match keys.fabric.unwrap_or(FabricWord::Priced) {
            FabricWord::Priced => Fabric::Priced,
            FabricWord::Links => Fabric::Links { contention: true, anchored: true },
            FabricWord::UnsharedLinks => Fabric::Links { contention: false, anchored: true },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::RuntimeKind;

    #[test]
    fn no_jitter_is_no_spread_unless_asked_for() {
        let runtime = Runtime::profile(RuntimeKind::Sglang);
        let with = |keys: SimulationKeys| machine_config(&keys, &runtime, Settings::default());
        assert!(with(SimulationKeys::default()).profile.is_some());
        let still = SimulationKeys { host_jitter: Some(0.0), rank_speed: Some(0.0), ..Default::default() };
        assert!(with(still.clone()).is_exact());
        assert!(!with(SimulationKeys { profile_spread: Some(true), ..still }).is_exact());
    }

    #[test]
    fn the_command_line_stands_above_the_scenario() {
        let runtime = Runtime::profile(RuntimeKind::Vllm);
        let keys = SimulationKeys { runs: Some(7), seed: Some(3), ..Default::default() };
        let config = machine_config(&keys, &runtime, Settings { runs: Some(9), seed: None });
        assert_eq!((config.runs, config.seed), (9, 3));
    }
}
