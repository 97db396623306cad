//! Eager passes of several ranks: each rank's host issues at its own pace, and every all-reduce waits for the last one. The
//! closed form knows one host; the machine is simulated instead, with the jitter that the calibration measured.

use super::Measurement;
use crate::machine::{MachineConfig, MachineResult, simulate};
use crate::runtime::Execution;
use crate::scenario::ModelledSetup;
use crate::speculation::Cycle;

/// Runs of which the median is the prediction; an odd number, so that it is one of them.
const RUNS: u32 = 101;

/// The simulation of a row whose hosts race, and its settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hosts {
    batch: u32,
    config: MachineConfig,
    result: MachineResult,
}

impl Hosts {
    /// Of a row that is issued operation by operation on several ranks; none for other rows.
    pub(super) fn of(setup: &ModelledSetup, cycle: &Cycle) -> Option<Self> {
        if setup.baseline.execution != Execution::Eager || setup.parallel.tensor < 2 {
            return None;
        }
        let config = MachineConfig {
            runs: RUNS,
            host_jitter: setup.runtime.host_jitter.value,
            ..MachineConfig::default()
        };
        let result = simulate(cycle, &setup.hardware, &config);
        Some(Self { batch: setup.common.batch, config, result })
    }

    /// What the simulation says of a quantity, with the tokens that a cycle yields: medians; rates, like measured ones, from
    /// the mean.
    pub(super) fn predicted(&self, row: &Measurement, tokens: f64) -> Option<f64> {
        let result = &self.result;
        match (row.quantity.as_str(), row.method.is_some()) {
            ("step_ms", _) => Some(result.decode_ms.p50()),
            ("pass_ms", _) if row.draft_tokens.unwrap_or(2) > 1 => Some(result.verify_ms.p50()),
            ("pass_ms", _) => Some(result.decode.time_ms.p50()),
            ("cycle_ms", true) => Some(result.cycle_ms.p50()),
            ("throughput_tok_s", true) => Some(1e3 * tokens / result.cycle_ms.mean()),
            ("throughput_tok_s", false) => Some(1e3 * f64::from(self.batch) / result.decode_ms.mean()),
            ("speedup", true) => {
                Some(tokens / f64::from(self.batch) * result.decode_ms.mean() / result.cycle_ms.mean())
            }
            _ => None,
        }
    }

    /// The settings, for the row's inputs.
    pub(super) fn words(&self) -> String {
        let config = &self.config;
        format!(
            "hosts simulated ({} runs, seed {}, jitter {:.2}, rank speed {:.2})",
            config.runs, config.seed, config.host_jitter, config.rank_speed
        )
    }
}
