//! The best setting of each cell, and what follows for the whole server.

use rayon::prelude::*;

use super::confidence::win_probability;
use super::fleet::{Fleet, fleets};
use super::goal::Goal;
use super::outlook::Outlook;
use super::search::{Strategy, price_all};
use super::setting::{Service, Setting};
use super::space::{Space, services, shapes};
use super::{Candidate, Carried, Point};
use crate::scenario::Method;
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// A setting in a cell, with its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The setting.
    pub setting: Setting,
    /// Output over all requests.
    pub throughput: TokensPerSecond,
    /// Mean time per token of one request: cycle / accept length.
    pub per_token: Seconds,
    /// The cycle, or the step when off.
    pub cycle: Seconds,
    /// The accept length and what it rests on; none when off.
    pub accept: Option<Outlook>,
    /// The accept length of the throughput; none when off.
    pub length: Option<AcceptLength>,
    /// Whether its throughput was measured.
    pub measured: bool,
    /// Throughput over that of the best setting without speculation.
    pub gain: f64,
    /// The gain with the least accept length that the scenario leaves open.
    pub gain_low: f64,
    /// The gain with the greatest.
    pub gain_high: f64,
    /// Probability that it beats no speculation; none when off.
    pub win_probability: Option<f64>,
    /// Whether it keeps the limit on the time per token.
    pub keeps_slo: bool,
}

/// One batch size and context.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Requests.
    pub batch: u32,
    /// Context per request \[tokens\].
    pub context: u32,
    /// Why nothing was priced: it does not fit the memory.
    pub refused: Option<String>,
    /// All that was priced, the best first; then by rank.
    pub tried: Vec<Outcome>,
}

impl Cell {
    /// The best setting; none where nothing was priced.
    pub fn best(&self) -> Option<&Outcome> {
        self.tried.first()
    }

    /// The best without speculation.
    pub fn off(&self) -> Option<&Outcome> {
        self.tried.iter().find(|outcome| outcome.setting.draft.is_none())
    }

    /// The best with speculation.
    pub fn on(&self) -> Option<&Outcome> {
        self.tried.iter().find(|outcome| outcome.setting.draft.is_some())
    }

    /// What to compare the best with: off, if it speculates, else the best that does.
    pub fn rival(&self) -> Option<&Outcome> {
        self.tried.get(1)
    }

    /// A setting among those that were tried.
    pub fn of(&self, setting: &Setting) -> Option<&Outcome> {
        self.tried.iter().find(|outcome| outcome.setting == *setting)
    }
}

/// One setting for all batch sizes of a context.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// The context \[tokens\].
    pub context: u32,
    /// The setting with the greatest mean of ln(gain) over the batch sizes.
    pub setting: Setting,
    /// Geometric mean of its gains.
    pub mean_gain: f64,
    /// Its least gain, and the batch size of it.
    pub worst: (u32, f64),
}

/// The answer of `tune`.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Contexts, then batch sizes.
    pub cells: Vec<Cell>,
    /// The best single setting of each context.
    pub fixed: Vec<Fixed>,
    /// GPUs for the load, of each context.
    pub fleets: Vec<Fleet>,
    /// What was sought.
    pub goal: Goal,
    /// Methods of the candidates.
    pub methods: Vec<Method>,
    /// Settings priced over all cells.
    pub priced: usize,
    /// Settings there are over all cells that fit.
    pub possible: usize,
    /// What was observed over what the model says.
    pub carried: Vec<Carried>,
    /// Whether predicted times were left as the model has them.
    pub as_modelled: bool,
    /// What was assumed, each once.
    pub assumed: Vec<String>,
    /// What would make the choice surer.
    pub measure: Vec<String>,
}

/// The best setting of each cell. The first candidate is also the baseline.
///
/// # Panics
/// Without a candidate.
pub fn plan(candidates: &[Candidate<'_>], space: &Space, goal: Goal, strategy: Strategy) -> Plan {
    let first = candidates.first().expect("there is a method to tune");
    let contexts = if space.contexts.is_empty() { vec![first.setup.context] } else { space.contexts.clone() };
    let places: Vec<(u32, u32)> = contexts
        .iter()
        .flat_map(|&context| space.batches.iter().map(move |&batch| (context, batch)))
        .collect();
    let price = |places: &[(u32, u32)]| -> Vec<Cell> {
        let one = |&(context, batch): &(u32, u32)| cell(candidates, space, &goal, strategy, batch, context);
        places.par_iter().map(one).collect()
    };
    let cells = price(&places);
    let per_cell = super::space::settings(candidates, space).len();
    let mut plan = Plan {
        fixed: fixed(&cells, &contexts),
        fleets: Vec::new(),
        goal,
        methods: candidates.iter().map(|c| c.setup.common.method).collect(),
        priced: cells.iter().map(|cell| cell.tried.len()).sum(),
        possible: per_cell * cells.iter().filter(|cell| cell.refused.is_none()).count(),
        carried: candidates.iter().flat_map(|c| c.carried.clone()).collect(),
        as_modelled: space.as_modelled,
        assumed: Vec::new(),
        measure: Vec::new(),
        cells,
    };
    if plan.goal.load.is_some() {
        let between = super::fleet::between(&places, per_cell);
        let more = price(&between);
        let all: Vec<&Cell> = plan.cells.iter().chain(&more).collect();
        plan.fleets = fleets(&all, &contexts, &goal, first.setup.parallel.tensor);
    }
    plan.assumed = super::surer::assumed(&plan, candidates);
    plan.measure = super::surer::measure(&plan, candidates);
    plan
}

fn cell(
    candidates: &[Candidate<'_>],
    space: &Space,
    goal: &Goal,
    strategy: Strategy,
    batch: u32,
    context: u32,
) -> Cell {
    let mut cell = Cell { batch, context, refused: None, tried: Vec::new() };
    let first = &candidates[0];
    cell.refused = (first.refuse)(&Setting::OFF.apply(first.setup, batch, context));
    if cell.refused.is_some() {
        return cell;
    }
    let mut points: Vec<(Setting, Point)> = Vec::new();
    for service in services(first.setup, space) {
        let setting = Setting { draft: None, service };
        points.push((setting, (first.evaluate)(&setting.apply(first.setup, batch, context))));
    }
    for (at, candidate) in candidates.iter().enumerate() {
        for service in services(candidate.setup, space) {
            points.extend(method(candidate, at, service, space, strategy, batch, context));
        }
    }
    let rate = |point: &Point| point.parts.baseline_throughput().value.get();
    let off = points.iter().filter(|(setting, _)| setting.draft.is_none()).map(|(_, point)| *point);
    let off = off.max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let predicted = off.is_some_and(|off| off.predicted && !off.baseline_measured);
    let off = off.as_ref().map_or(0.0, rate);
    for (_, point) in &mut points {
        // A gain is over the best without speculation, which may be another way to serve than the point's own.
        point.predicted |= predicted;
    }
    cell.tried = points
        .iter()
        .map(|(setting, point)| outcome(candidates, space, goal, *setting, point, batch, off))
        .collect();
    // A stable sort: of equals the earlier stays first, and off is the earliest.
    cell.tried.sort_by(|a, b| {
        let rank = |o: &Outcome| goal.rank(o.throughput, o.per_token);
        let ((keeps_a, a), (keeps_b, b)) = (rank(a), rank(b));
        keeps_b.cmp(&keeps_a).then(b.total_cmp(&a))
    });
    cell
}

fn method(
    candidate: &Candidate<'_>,
    at: usize,
    service: Service,
    space: &Space,
    strategy: Strategy,
    batch: u32,
    context: u32,
) -> Vec<(Setting, Point)> {
    let shapes = shapes(candidate.setup, space);
    let accept = |shape| candidate.outlook(shape).used(space.beyond).get();
    let priced = price_all(&shapes, strategy, accept, |shape| {
        let setting = Setting { draft: Some((at, shape)), service };
        let point = (candidate.evaluate)(&setting.apply(candidate.setup, batch, context));
        (point.parts.cycle().value.get(), (setting, point))
    });
    priced.list.into_iter().map(|(_, priced)| priced).collect()
}

fn outcome(
    candidates: &[Candidate<'_>],
    space: &Space,
    goal: &Goal,
    setting: Setting,
    point: &Point,
    batch: u32,
    off: f64,
) -> Outcome {
    let parts = &point.parts;
    let Some((at, shape)) = setting.draft else {
        let throughput = parts.baseline_throughput().value;
        let gain = throughput.get() / off;
        let per_token = Seconds::new(f64::from(batch) / throughput.get());
        return Outcome {
            setting,
            throughput,
            per_token,
            cycle: parts.baseline_step.value,
            accept: None,
            length: None,
            measured: point.baseline_measured,
            gain,
            gain_low: gain,
            gain_high: gain,
            win_probability: None,
            keeps_slo: goal.keeps(per_token),
        };
    };
    let accept = candidates[at].outlook(shape);
    let by_law = parts.throughput().value;
    let scaled = |length: AcceptLength| by_law.get() * (length.get() / accept.mean.get());
    let length = accept.used(space.beyond);
    let throughput = TokensPerSecond::new(scaled(length));
    let gain = throughput.get() / off;
    let per_token = Seconds::new(f64::from(batch) / throughput.get());
    Outcome {
        setting,
        throughput,
        per_token,
        cycle: parts.cycle().value,
        gain,
        gain_low: scaled(accept.low) / off,
        gain_high: scaled(accept.high) / off,
        accept: Some(accept),
        length: Some(length),
        measured: point.speculation_measured,
        win_probability: Some(win_probability(gain, point)),
        keeps_slo: goal.keeps(per_token),
    }
}

/// The single setting of each context that loses least against the best of each batch size.
fn fixed(cells: &[Cell], contexts: &[u32]) -> Vec<Fixed> {
    contexts.iter().filter_map(|&context| fixed_at(cells, context)).collect()
}

fn fixed_at(cells: &[Cell], context: u32) -> Option<Fixed> {
    let cells: Vec<&Cell> = cells.iter().filter(|c| c.context == context && c.refused.is_none()).collect();
    let mut best: Option<Fixed> = None;
    for outcome in &cells.first()?.tried {
        let gains: Option<Vec<(u32, f64)>> =
            cells.iter().map(|c| Some((c.batch, c.of(&outcome.setting)?.gain))).collect();
        let Some(gains) = gains else { continue };
        let mean_gain = (gains.iter().map(|(_, gain)| gain.ln()).sum::<f64>() / gains.len() as f64).exp();
        let worst = gains.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        if best.as_ref().is_none_or(|b| mean_gain > b.mean_gain * (1.0 + 1e-9)) {
            best = Some(Fixed { context, setting: outcome.setting, mean_gain, worst });
        }
    }
    best
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
