//! By how much what was observed exceeds the model, carried to what has to be predicted.
//!
//! ```text
//! r(pass)               = observed / modelled time of the pass, in the case that was observed
//! time of a variation   = kept, where its inputs are the same
//!                         r(pass) · modelled time, where they changed
//! ```
//!
//! Without it the case that was observed competes with neighbours that are spared what it suffers, and the neighbours
//! win. One exception: the excess of an eager pass is not carried to a graph, since it is mostly the host's, which does
//! not issue a graph's kernels.

use super::known::{Known, common};
use super::variation::Varied;
use crate::analytic::Figure;
use crate::runtime::Execution;
use crate::scenario::{ModelledSetup, PassSettings, Setup};
use crate::units::Seconds;

/// Observed over modelled time of each part; none where nothing was observed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Ratios {
    pub(super) baseline: Option<f64>,
    pub(super) verify: Option<f64>,
    pub(super) draft_host: Option<f64>,
}

impl Ratios {
    /// Those of a case. A hypothesis (`time`) is no observation.
    pub(super) fn of(setup: &Setup, known: &Known) -> Self {
        let stated = &common(setup).stated;
        let ratio = |figure: Figure<Seconds>, is_observed: bool| {
            let ratio = figure.used.value / figure.predicted.filter(|_| is_observed)?.value;
            (ratio.is_finite() && ratio > 0.0).then_some(ratio)
        };
        let verify_is_stated = stated.verify.observed.is_some() || stated.verify.time.is_some();
        let cycle = stated.observed_throughput.is_some();
        let verify = stated.verify.time.is_none() && (stated.verify.observed.is_some() || cycle);
        Self {
            baseline: ratio(
                known.baseline_step,
                stated.baseline.observed.is_some() && stated.baseline.time.is_none(),
            ),
            verify: ratio(known.verify, verify),
            draft_host: ratio(known.draft_host, stated.observed_draft.is_some() || cycle && verify_is_stated),
        }
    }

    /// Scales the parts of `varied`, a variation of `base`, that the model predicted outright. Gives the ratio of verify,
    /// where it was scaled.
    pub(super) fn carry(&self, base: &Setup, setup: &Setup, varied: &mut Varied) -> Option<f64> {
        let (Setup::Modelled(from), Setup::Modelled(to)) = (base, setup) else { return None };
        let stated = &to.common.stated;
        let kept = |of: fn(&ModelledSetup) -> &PassSettings| lasts(of(from).execution, of(to).execution);
        let predicted = |part: &str| varied.predicted.contains(&part);
        let baseline = self
            .baseline
            .filter(|_| predicted("baseline") && stated.baseline.time.is_none() && kept(|s| &s.baseline));
        let verify = self
            .verify
            .filter(|_| predicted("verify") && stated.verify.time.is_none() && kept(|s| &s.verify));
        let draft_host = self
            .draft_host
            .filter(|_| predicted("draft and host") && stated.draft.is_none() && stated.host.is_none())
            .filter(|_| kept(|s| &s.draft_pass) && from.overlap == to.overlap);
        let known = &mut varied.known;
        scale(&mut known.baseline_step, baseline);
        scale(&mut known.draft_host, draft_host);
        scale(&mut known.verify, verify).and(verify)
    }
}

/// Whether what exceeds the model in one execution mode is expected in the other.
fn lasts(from: Execution, to: Execution) -> bool {
    (from, to) != (Execution::Eager, Execution::Graph)
}

/// Scales what is the model's own. A time that was moved by the model's difference holds the excess already.
fn scale(figure: &mut Figure<Seconds>, ratio: Option<f64>) -> Option<()> {
    let ratio = ratio?;
    let own = figure.predicted.is_some_and(|predicted| predicted.value == figure.used.value);
    own.then(|| figure.used = figure.used.map(|time| time * ratio))
}
