//! One point of a search: the parts of a variation, without scans, what-ifs and texts.

use super::known::Known;
use super::variation::vary;
use crate::analytic::Parts;
use crate::scenario::Setup;

/// A variation's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variant {
    /// Times and accept length.
    pub parts: Parts,
    /// Whether the model predicted any of the times, rather than the user's observations and hypotheses.
    pub predicted: bool,
}

/// The parts of `setup`, a variation of `base` whose own parts are `known`: what was observed stays where none of its
/// inputs changed, and is predicted elsewhere.
pub fn variant(base: &Setup, known: &Known, setup: &Setup) -> Variant {
    let varied = vary(base, known, setup);
    let stated = &super::known::common(base).stated;
    let observed = |part: &str, is_observed: bool| is_observed && !varied.predicted.contains(&part);
    let baseline = stated.baseline.observed.is_some() || stated.baseline.time.is_some();
    let verify = stated.verify.observed.is_some() || stated.verify.time.is_some();
    Variant {
        parts: varied.known.parts(),
        predicted: !(observed("baseline", baseline) && observed("verify", verify)),
    }
}
