//! What the model says of a row.

use super::Measurement;
use super::given::Given;
use super::setup::Machine;
use crate::analytic::Parts;
use crate::cost::{self, PricedPass, Pricing};
use crate::evaluate;
use crate::runtime::CollectiveOp;
use crate::scenario::ModelledSetup;
use crate::speculation::Cycle;
use crate::units::Bytes;
use crate::validation::Comparison;

impl Measurement {
    /// The prediction beside the measurement.
    ///
    /// # Errors
    /// Why the row cannot be predicted.
    pub(in crate::cli) fn compare(&self, machine: &Machine) -> Result<Comparison, String> {
        let needed = self.needed()?;
        let setup = self.setup(machine)?;
        let given = Given::parse(self.given.as_deref().unwrap_or_default())?;
        let predicted = self.predicted(&setup, &given)?;
        let calibrated = setup.calibration.facts.is_some();
        let mut inputs = if calibrated {
            format!("tables of {}", setup.calibration.name)
        } else {
            "presets, no tables".to_owned()
        };
        if self.accept_length.is_some() {
            inputs.push_str(", accept length");
        }
        if given.any() {
            inputs.push_str(", given ");
            inputs.push_str(self.given.as_deref().unwrap_or_default());
        }
        Ok(Comparison {
            id: self.id.clone(),
            group: if given.any() { format!("{} (arithmetic)", self.group) } else { self.group.clone() },
            level: self.level,
            quantity: self.quantity.clone(),
            measured: needed.measured,
            predicted,
            inputs,
            held_out: !given.any() && self.r#use.starts_with("held out"),
            arithmetic: given.any(),
            repeat: self.repeat_percent.map(|percent| percent / 100.0),
            source: self.source.clone(),
            note: match self.r#use.strip_prefix("held out; ") {
                Some(more) => format!("{more}; {}", self.note),
                None => self.note.clone(),
            },
        })
    }

    fn predicted(&self, setup: &ModelledSetup, given: &Given) -> Result<f64, String> {
        if self.quantity == "allreduce_us" {
            return self.allreduce(setup);
        }
        let cycle = evaluate::cycle(setup);
        let speculates = self.method.is_some();
        if given.any() {
            return self.arithmetic(&cycle, given);
        }
        let parts = Parts::from_cycle(&cycle);
        match (self.quantity.as_str(), speculates) {
            ("step_ms", _) => Ok(cycle.baseline_time().value.ms()),
            ("pass_ms", _) => Ok(self.pass(&cycle).time.value.ms()),
            ("cycle_ms", true) => Ok(cycle.time().value.ms()),
            ("speedup", true) => Ok(parts.speedup_value()),
            ("throughput_tok_s", true) => Ok(parts.throughput().value.get()),
            ("throughput_tok_s", false) => Ok(parts.baseline_throughput().value.get()),
            _ => Err(self.unknown()),
        }
    }

    fn unknown(&self) -> String {
        format!("quantity `{}` is not known, or needs a method", self.quantity)
    }

    /// A pass of several rows per request is a verify pass, whether or not anything was drafted.
    fn pass<'a>(&self, cycle: &'a Cycle) -> &'a PricedPass {
        if self.draft_tokens.unwrap_or(2) > 1 { &cycle.verify } else { &cycle.baseline }
    }

    fn allreduce(&self, setup: &ModelledSetup) -> Result<f64, String> {
        let bytes = self.bytes.ok_or("an `allreduce_us` needs its `bytes`")?;
        let with = Pricing {
            hardware: &setup.hardware,
            calibration: &setup.calibration,
            runtime: &setup.runtime,
            execution: setup.baseline.execution,
            policy: &setup.baseline.policy,
        };
        let bytes = Bytes::new(f64::from(bytes));
        Ok(cost::collective(CollectiveOp::AllReduce, setup.parallel.tensor, bytes, &with).value.us())
    }

    /// The same with observed parts in place of the model's.
    fn arithmetic(&self, cycle: &Cycle, given: &Given) -> Result<f64, String> {
        let with_allreduce = |pass: &PricedPass| {
            let own = pass.allreduce;
            let each = given.allreduce.map_or(own.total.ms(), |us| f64::from(own.count) * us / 1e3);
            pass.time.value.ms() - own.total.ms() + each
        };
        let cycle_batch = self.batch.unwrap_or(1);
        let host = (cycle.baseline_time().value - cycle.baseline.time.value).ms();
        let step = given.step.unwrap_or_else(|| with_allreduce(&cycle.baseline) + host);
        let verify = given.verify.unwrap_or_else(|| with_allreduce(&cycle.verify));
        let whole = verify + given.draft_host.unwrap_or_else(|| cycle.draft_host_time().value.ms());
        let (batch, length) = (f64::from(cycle_batch), cycle.accept_length().value.get());
        match (self.quantity.as_str(), self.method.is_some()) {
            ("step_ms", _) => Ok(step),
            ("pass_ms", _) => Ok(with_allreduce(self.pass(cycle))),
            ("cycle_ms", true) => Ok(whole),
            ("throughput_tok_s", true) => Ok(1e3 * batch * length / whole),
            ("throughput_tok_s", false) => Ok(1e3 * batch / step),
            _ => Err(self.unknown()),
        }
    }
}
