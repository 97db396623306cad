//! Whole passes against the reference figures, and laws.

mod again;
mod laws;
mod measured;
mod reference;
mod twin;

use super::*;
use crate::calibration;
use crate::forward::{Batch, ExpertOverlap, Parallelism, PassKind, build};
use crate::hardware;
use crate::model::{self, KvFormat, Model};
use crate::runtime::RuntimeKind;

const TP8: Parallelism = Parallelism { tensor: 8, expert: 1, data_attention: 1, decode_context: 1 };

/// A setup of which a test changes one thing.
struct Case {
    hardware: Hardware,
    calibration: Calibration,
    model: Model,
    runtime: Runtime,
    policy: Policy,
}

impl Case {
    fn new(model: &str, runtime: RuntimeKind, hardware: &str, calibration: &str) -> Self {
        Self {
            hardware: hardware::preset(hardware).expect("a hardware preset"),
            calibration: calibration::preset(calibration).expect("a calibration preset"),
            model: model::preset(model).expect("a model preset"),
            runtime: Runtime::profile(runtime),
            policy: Policy::default(),
        }
    }

    /// Kimi-K2.5 on the box of the public tables.
    fn kimi(runtime: RuntimeKind) -> Self {
        Self::new("kimi-k2.5", runtime, "rtx-pro-6000-x8", "rtx-pro-6000-x8")
    }

    fn pass(&self, batch: Batch) -> ForwardPass {
        self.pass_over(TP8, batch)
    }

    fn pass_over(&self, parallel: Parallelism, batch: Batch) -> ForwardPass {
        let kind = if batch.rows > 1 { PassKind::Verify } else { PassKind::Decode };
        build(&self.model, parallel, &self.runtime, kind, batch, ExpertOverlap::default())
    }

    const fn pricing(&self, execution: Execution) -> Pricing<'_> {
        Pricing {
            hardware: &self.hardware,
            calibration: &self.calibration,
            runtime: &self.runtime,
            execution,
            policy: &self.policy,
        }
    }

    fn price(&self, batch: Batch, execution: Execution) -> PricedPass {
        price(&self.pass(batch), &self.pricing(execution))
    }
}

const fn batch(requests: u32, rows: u32, context: u32) -> Batch {
    Batch { requests, rows, context }
}
