//! Which speculation, if any, at each batch size and context, and the lines that make a server do it.
//!
//! Every setting of a [`Space`] (off, and steps x topk x draft tokens of each drafting method) is priced by a function
//! that the caller gives, setup by setup; nothing here knows how. A tree of m rows is the best one of that size by
//! Sequoia's recursion (arXiv 2402.12374), so that pricing each (levels, rows) by the verify time of its own row count
//! extends `min (l·draft + target(m)) / AL(m, l)` to measured costs, fixed costs and other batch sizes.
//!
//! Batch sizes are scanned, never bisected: speculation meets each cliff of the step time k + 1 times earlier than
//! the baseline does, so the best setting may come, go and come again.
//!
//! Left out: what a server pays to switch settings, and prefill.

mod confidence;
mod flags;
mod fleet;
mod goal;
mod outlook;
mod plan;
mod search;
mod setting;
mod space;
mod surer;
#[cfg(test)]
mod testing;

pub use confidence::{MODEL_DEVIATION, MOST_PREDICTED, win_probability};
pub use flags::{Paste, paste};
pub use fleet::{Fleet, Side};
pub use goal::{Goal, Objective};
pub use outlook::{Beyond, Outlook, outlook};
pub use plan::{Cell, Fixed, Outcome, Plan, plan};
pub use search::{Strategy, best_shape};
pub use setting::{Service, Setting};
pub use space::{Space, shapes};

use crate::analytic::Parts;
use crate::scenario::ModelledSetup;
use crate::sourced::Spread;
use crate::speculation::DraftShape;

/// A setting's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Times and accept length.
    pub parts: Parts,
    /// Whether a model predicted any of the times.
    pub predicted: bool,
    /// The range that the inputs leave to its speedup, over the causes that both sides share; none where they have none.
    pub speedup: Option<Spread<f64>>,
    /// Whether the throughput without speculation was measured here.
    pub baseline_measured: bool,
    /// Whether the throughput with it was measured here.
    pub speculation_measured: bool,
    /// |ln(observed / modelled time)| of the pass that is furthest from the model.
    pub excess: f64,
}

/// What was observed of one kind of pass over what the model says of it, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// `baseline`, `verify`, `draft and host`.
    pub part: &'static str,
    /// Batch sizes that were observed, rising, and the ratio there.
    pub ratios: Vec<(u32, f64)>,
    /// Whether the host issued the pass kernel by kernel.
    pub eager: bool,
}

impl Carried {
    /// Least and greatest ratio.
    pub fn range(&self) -> (f64, f64) {
        let fold = |start, pick: fn(f64, f64) -> f64| self.ratios.iter().map(|r| r.1).fold(start, pick);
        (fold(f64::INFINITY, f64::min), fold(0.0, f64::max))
    }

    /// Whether the model is further off than it is by itself.
    pub fn is_far(&self) -> bool {
        self.distance() > MODEL_DEVIATION
    }

    /// The greatest |ln ratio|.
    pub fn distance(&self) -> f64 {
        self.ratios.iter().map(|(_, ratio)| ratio.ln().abs()).fold(0.0, f64::max)
    }
}

/// One drafting method, as a scenario describes it: its draft, its acceptance, and what prices a variation of it.
pub struct Candidate<'a> {
    /// The scenario, observed values included.
    pub setup: &'a ModelledSetup,
    /// Name of the drafter, where there is one.
    pub draft: Option<String>,
    /// Prices a variation of it.
    pub evaluate: &'a (dyn Fn(&ModelledSetup) -> Point + Sync),
    /// Says why a variation cannot run at all.
    pub refuse: &'a (dyn Fn(&ModelledSetup) -> Option<String> + Sync),
    /// What was observed of it over what the model says.
    pub carried: Vec<Carried>,
}

impl Candidate<'_> {
    /// The shape that the scenario states.
    fn stated(&self) -> DraftShape {
        let common = &self.setup.common;
        DraftShape { steps: common.steps, topk: common.topk, draft_tokens: common.draft_tokens }
    }

    /// The accept length of a shape, and what it rests on.
    fn outlook(&self, shape: DraftShape) -> Outlook {
        outlook(&self.setup.common.acceptance, self.stated(), shape)
    }
}
