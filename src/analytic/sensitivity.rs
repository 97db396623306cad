//! How much the speedup changes with each input.
//!
//! speedup = AL · step / (verify + draft and host), so d ln speedup / d ln x is 1 for the accept length and the
//! baseline step, and minus the share of the cycle for every time in it. Those of all times add up to 0: making the whole
//! machine slower by one factor changes nothing.

use super::parts::Parts;
use super::prediction::Elasticity;

/// d ln speedup / d ln input, as plain numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticities {
    /// Of the accept length: 1.
    pub accept_length: f64,
    /// Of the baseline step: 1.
    pub baseline_step: f64,
    /// Of the verify pass: minus its share of the cycle.
    pub verify: f64,
    /// Of one all-reduce: minus the share of all of them; a part of `verify`, not beside it.
    pub allreduce: Option<f64>,
    /// Of drafting and host work: minus their share.
    pub draft_host: f64,
}

impl Parts {
    /// The elasticities as plain numbers, for sweeps.
    pub fn elasticity_values(&self) -> Elasticities {
        let cycle = self.cycle_value();
        Elasticities {
            accept_length: 1.0,
            baseline_step: 1.0,
            verify: -(self.verify.value / cycle),
            allreduce: self.allreduce.map(|ar| -(ar.each.value * f64::from(ar.count) / cycle)),
            draft_host: -(self.draft_host.value / cycle),
        }
    }

    /// The elasticities by name, most influential first; equal ones in the order accept length, baseline step,
    /// verify, all-reduce, draft and host.
    pub fn elasticities(&self) -> Vec<Elasticity> {
        let values = self.elasticity_values();
        let named = [
            ("accept_length", Some(values.accept_length)),
            ("baseline_step", Some(values.baseline_step)),
            ("verify", Some(values.verify)),
            ("allreduce", values.allreduce),
            ("draft_host", Some(values.draft_host)),
        ];
        let mut list: Vec<Elasticity> =
            named.into_iter().filter_map(|(of, value)| value.map(|value| Elasticity { of, value })).collect();
        list.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        list
    }
}
