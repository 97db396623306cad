//! Where a search stands: the cases that were observed, by batch size, and every other point priced from them.

use super::excess::Ratios;
use super::known::{Known, common};
use super::variation::{Varied, vary};
use crate::analytic::{Parts, step_from_throughput};
use crate::scenario::{MeasuredBatch, Setup, Stated};

/// A variation's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variant {
    /// Times and accept length.
    pub parts: Parts,
    /// Whether the model predicted any of the times, rather than the user's observations and hypotheses.
    pub predicted: bool,
    /// Whether the throughput without speculation was observed for this point.
    pub baseline_measured: bool,
    /// Whether the throughput with it was.
    pub speculation_measured: bool,
    /// |ln(observed / modelled time)| of the pass that is furthest from the model, at this batch size.
    pub excess: f64,
}

/// A ratio of observed and modelled time that is carried to predicted points.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// `baseline`, `verify`, `draft and host`.
    pub part: &'static str,
    /// Batch sizes that were observed, and the ratio there.
    pub ratios: Vec<(u32, f64)>,
}

/// The cases that were observed: the scenario's own, and those of the batch sizes that its acceptance file measured.
#[derive(Debug, Clone)]
pub struct Ground {
    cases: Vec<Case>,
    carries: bool,
}

/// One of the ratios.
type RatioOf = fn(&Ratios) -> Option<f64>;

#[derive(Debug, Clone)]
struct Case {
    setup: Setup,
    known: Known,
    ratios: Ratios,
}

impl Case {
    fn of(setup: Setup) -> Self {
        let known = Known::base(&setup);
        let ratios = Ratios::of(&setup, &known);
        Self { setup, known, ratios }
    }

    fn batch(&self) -> u32 {
        common(&self.setup).batch
    }
}

impl Ground {
    /// The ground of a scenario without overrides. `carries`: predicted parts are scaled by what was observed over what was
    /// modelled; otherwise they are the model's.
    pub fn new(base: &Setup, carries: bool) -> Self {
        let own = common(base).batch;
        let rows = &common(base).measured;
        let first = rows.iter().find(|row| row.batch == own);
        let first = Case::of(first.map_or_else(|| base.clone(), |row| measured(base, row)));
        let others = rows.iter().filter(|row| row.batch != own);
        let others = others.map(|row| Case::of(measured(base, row)));
        Self { cases: std::iter::once(first).chain(others).collect(), carries }
    }

    /// The numbers of `setup`: what was observed stays where none of its inputs changed, and all else is predicted.
    pub fn at(&self, setup: &Setup) -> Variant {
        let batch = common(setup).batch;
        let case = self.cases.iter().find(|case| case.batch() == batch).unwrap_or(&self.cases[0]);
        let mut varied = vary(&case.setup, &case.known, setup);
        let ratios = self.ratios(batch);
        if self.carries {
            ratios.carry(&case.setup, setup, &mut varied);
        }
        variant(case, &varied, &ratios)
    }

    /// What is carried, or would be.
    pub fn carried(&self) -> Vec<Carried> {
        let parts: [(&'static str, RatioOf); 3] =
            [("baseline", |r| r.baseline), ("verify", |r| r.verify), ("draft and host", |r| r.draft_host)];
        let of = |(part, of): (&'static str, RatioOf)| {
            let known = self.cases.iter().filter_map(|case| Some((case.batch(), of(&case.ratios)?)));
            let mut ratios: Vec<(u32, f64)> = known.collect();
            ratios.sort_by_key(|(batch, _)| *batch);
            Carried { part, ratios }
        };
        parts.into_iter().map(of).filter(|carried| !carried.ratios.is_empty()).collect()
    }

    /// The ratios at a batch size: between two that were observed linear in ln(batch), beyond them those of the nearest.
    fn ratios(&self, batch: u32) -> Ratios {
        let at = |of: RatioOf| {
            let known = self.cases.iter().filter_map(|case| Some((case.batch(), of(&case.ratios)?)));
            between(known.collect(), batch)
        };
        Ratios { baseline: at(|r| r.baseline), verify: at(|r| r.verify), draft_host: at(|r| r.draft_host) }
    }
}

/// The base at a batch size that was measured, as if the scenario had observed it; what the scenario itself observed stays.
/// A cycle of another number of drafted tokens is not the scenario's.
fn measured(base: &Setup, row: &MeasuredBatch) -> Setup {
    let mut setup = base.clone();
    let common = match &mut setup {
        Setup::Observed(observed) => &mut observed.common,
        Setup::Modelled(modelled) => &mut modelled.common,
    };
    if common.batch != row.batch {
        common.batch = row.batch;
        common.stated = Stated::default();
    }
    let baseline = &mut common.stated.baseline;
    if let Some(rate) = row.without.filter(|_| baseline.observed.is_none()) {
        baseline.observed = Some(step_from_throughput(row.batch, rate));
        baseline.observed_throughput = Some(rate);
    }
    let drafts = row.drafted.is_none_or(|drafted| common.topk == 1 && drafted == common.steps);
    if common.stated.observed_throughput.is_none() && common.stated.verify.observed.is_none() && drafts {
        common.stated.observed_throughput = row.with;
    }
    setup
}

fn variant(case: &Case, varied: &Varied, ratios: &Ratios) -> Variant {
    let stated = &common(&case.setup).stated;
    let kept = |part: &str| !varied.predicted.contains(&part);
    let baseline_measured = stated.baseline.observed.is_some() && kept("baseline");
    let speculation_measured =
        stated.observed_throughput.is_some() && kept("verify") && kept("draft and host");
    let baseline = baseline_measured || stated.baseline.time.is_some() && kept("baseline");
    let verify = stated.verify.observed.is_some() || stated.verify.time.is_some();
    let predicted = !(baseline && (speculation_measured || verify && kept("verify")));
    let logs = [ratios.baseline, ratios.verify].into_iter().flatten().map(|ratio| ratio.ln().abs());
    Variant {
        parts: varied.known.parts(),
        predicted,
        baseline_measured,
        speculation_measured,
        excess: logs.fold(0.0, f64::max),
    }
}

fn between(mut known: Vec<(u32, f64)>, batch: u32) -> Option<f64> {
    known.sort_by_key(|(at, _)| *at);
    let below = known.iter().rev().find(|(at, _)| *at <= batch);
    let above = known.iter().find(|(at, _)| *at >= batch);
    match (below, above) {
        (Some(&(low, a)), Some(&(high, b))) if low < high => {
            let ln = |batch: u32| f64::from(batch).ln();
            let share = (ln(batch) - ln(low)) / (ln(high) - ln(low));
            Some(a + (b - a) * share)
        }
        (Some(&(_, ratio)), _) | (None, Some(&(_, ratio))) => Some(ratio),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_lie_between_those_observed_and_end_where_they_end() {
        let known = || vec![(8, 1.5), (2, 2.0)];
        assert_eq!(between(known(), 1), Some(2.0));
        assert_eq!(between(known(), 2), Some(2.0));
        assert!((between(known(), 4).expect("between") - 1.75).abs() < 1e-12);
        assert_eq!(between(known(), 64), Some(1.5));
        assert_eq!(between(Vec::new(), 4), None);
    }
}
