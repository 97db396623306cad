//! GPUs for a load, without and with the best settings.

use super::confidence::MODEL_DEVIATION;
use super::goal::{Goal, Objective};
use super::plan::{Cell, Outcome};
use super::setting::Setting;
use crate::units::{Seconds, TokensPerSecond};

/// One way to serve the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Requests that run together on each replica.
    pub batch: u32,
    /// The setting.
    pub setting: Setting,
    /// Output of one replica.
    pub throughput: TokensPerSecond,
    /// Mean time per token of one request.
    pub per_token: Seconds,
    /// Replicas.
    pub replicas: u32,
    /// GPUs of all replicas.
    pub gpus: u32,
}

/// The load served without speculation and with the best setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    /// The context \[tokens\].
    pub context: u32,
    /// Tokens per second over all replicas.
    pub load: TokensPerSecond,
    /// Without speculation; none where no batch size keeps the limit.
    pub off: Option<Side>,
    /// With the best setting.
    pub tuned: Option<Side>,
    /// GPUs saved if speculation were slower, and faster, by the model's own deviation; none where both sides do not
    /// speculate or one cannot serve.
    pub saved_range: Option<(i64, i64)>,
}

impl Fleet {
    /// GPUs that the best setting saves; none where one side cannot serve at all.
    pub fn saved(&self) -> Option<i64> {
        Some(i64::from(self.off?.gpus) - i64::from(self.tuned?.gpus))
    }
}

pub(super) fn fleets(cells: &[&Cell], contexts: &[u32], goal: &Goal, gpus: u32) -> Vec<Fleet> {
    let Some(load) = goal.load else { return Vec::new() };
    let of = |context: u32| {
        let here: Vec<&Cell> = cells.iter().copied().filter(|cell| cell.context == context).collect();
        let side = |pick: fn(&Cell) -> Option<&Outcome>| side(&here, pick, goal, load, gpus);
        let (off, tuned) = (side(Cell::off), side(Cell::best));
        let saved = |tuned: &Side, share: f64| {
            let replicas = replicas(load, tuned.throughput * share);
            Some(i64::from(off?.gpus) - i64::from(replicas.saturating_mul(gpus)))
        };
        let speculating = tuned.filter(|side| side.setting.draft.is_some());
        let saved_range = speculating.and_then(|side| {
            Some((saved(&side, (-MODEL_DEVIATION).exp())?, saved(&side, MODEL_DEVIATION.exp())?))
        });
        Fleet { context, load, off, tuned, saved_range }
    };
    contexts.iter().map(|&context| of(context)).collect()
}

/// Settings priced between the batch sizes that were asked for, at most.
const MOST: usize = 30_000;

/// Batch sizes between those of `places` (context, batch), so that a fleet does not depend on the list: each, or every n-th where
/// that were too many.
pub(super) fn between(places: &[(u32, u32)], per_cell: usize) -> Vec<(u32, u32)> {
    let batches = || places.iter().map(|(_, batch)| *batch);
    let (Some(low), Some(high)) = (batches().min(), batches().max()) else { return Vec::new() };
    let mut contexts: Vec<u32> = places.iter().map(|(context, _)| *context).collect();
    contexts.dedup();
    let all = (high - low + 1) as usize * contexts.len() * per_cell;
    let each = (low..=high).step_by(all.div_ceil(MOST).max(1));
    let every = contexts.iter().flat_map(|&context| each.clone().map(move |batch| (context, batch)));
    every.filter(|place| !places.contains(place)).collect()
}

fn replicas(load: TokensPerSecond, throughput: TokensPerSecond) -> u32 {
    (load.get() / throughput.get()).ceil().max(1.0) as u32
}

/// The batch size that needs the fewest replicas among those that keep the limit; for latency the fastest per request.
fn side(
    cells: &[&Cell],
    pick: fn(&Cell) -> Option<&Outcome>,
    goal: &Goal,
    load: TokensPerSecond,
    gpus: u32,
) -> Option<Side> {
    let sides = cells.iter().filter_map(|cell| {
        let outcome = pick(cell).filter(|outcome| outcome.keeps_slo)?;
        let replicas = replicas(load, outcome.throughput);
        Some(Side {
            batch: cell.batch,
            setting: outcome.setting,
            throughput: outcome.throughput,
            per_token: outcome.per_token,
            replicas,
            gpus: replicas.saturating_mul(gpus),
        })
    });
    let better = |a: &Side, b: &Side| match goal.objective {
        Objective::Latency => a.per_token.get().total_cmp(&b.per_token.get()),
        // Of equal fleets the one whose requests are faster.
        _ => a.gpus.cmp(&b.gpus).then(a.per_token.get().total_cmp(&b.per_token.get())),
    };
    sides.min_by(better)
}
