//! GPUs for a load, without and with the best settings.

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
}

impl Fleet {
    /// GPUs that the best setting saves; none where one side cannot serve at all.
    pub fn saved(&self) -> Option<i64> {
        Some(i64::from(self.off?.gpus) - i64::from(self.tuned?.gpus))
    }
}

pub(super) fn fleets(cells: &[Cell], contexts: &[u32], goal: &Goal, gpus: u32) -> Vec<Fleet> {
    let Some(load) = goal.load else { return Vec::new() };
    let of = |context: u32| {
        let here: Vec<&Cell> = cells.iter().filter(|cell| cell.context == context).collect();
        let side = |pick: fn(&Cell) -> Option<&Outcome>| side(&here, pick, goal, load, gpus);
        Fleet { context, load, off: side(Cell::off), tuned: side(Cell::best) }
    };
    contexts.iter().map(|&context| of(context)).collect()
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
        let replicas = (load.get() / outcome.throughput.get()).ceil().max(1.0) as u32;
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
