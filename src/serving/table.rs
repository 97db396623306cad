//! Step times from a table of priced passes: one column of cycle times per draft, by batch and context, and the time of
//! prompt passes by their tokens.
//!
//! Between the entries the table is linear in batch, in context and in prompt tokens; beyond the last it goes on
//! along the last two entries, which [`StepTable::covers`] tells before a run. Every step is rounded to picoseconds once.
//! Left out: the attention of a prompt's chunk over its earlier chunks.

use thiserror::Error;

use super::config::ServingConfig;
use super::cost::{Step, StepCost};
use super::drafting::PLAIN;
use crate::des::SimTime;
use crate::speculation::{Cycle, DraftShape};
use crate::units::Seconds;

/// Whether decode and prompt tokens share a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixing {
    /// Two passes one after the other: their times add. What SGLang does without `--enable-mixed-chunk`.
    Separate,
    /// One pass, as in vLLM: prompt tokens add what they take beyond the shortest prompt pass of the table, since
    /// weights are read and kernels launched once (assumed).
    Shared,
}

/// The times of a cycle, or of a decode step, with one draft.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeTimes {
    /// The draft; a chain of 0 drafted tokens is the decode step without speculation.
    pub shape: DraftShape,
    /// Numbers of decoding requests, rising.
    pub batches: Vec<u32>,
    /// Contexts \[tokens a request\], rising.
    pub contexts: Vec<u32>,
    /// The times: for each context, one per batch.
    pub times: Vec<Seconds>,
}

/// Why a table cannot be, or cannot serve a configuration.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StepTableError {
    /// A list without entries, out of order, or not as long as the others say.
    #[error("the {what} of the step table must rise and match its times")]
    Grid {
        /// Which list.
        what: &'static str,
    },
    /// A time that is none.
    #[error("the time {value} s in the step table is not positive and finite")]
    Time {
        /// The time \[s\].
        value: f64,
    },
    /// A draft of the configuration that the table lacks.
    #[error("the step table has no times for drafts of {steps} steps with {rows} rows")]
    Shape {
        /// Draft steps.
        steps: u32,
        /// Rows verified per request.
        rows: u32,
    },
    /// More than the last entry.
    #[error("the step table ends at {last} {what}, but {needed} may occur")]
    Range {
        /// Of what.
        what: &'static str,
        /// The last entry.
        last: u32,
        /// What the configuration allows.
        needed: u32,
    },
    /// A priced point is missing.
    #[error("no cycle was priced for batch {batch} at context {context}")]
    Hole {
        /// Requests.
        batch: u32,
        /// Tokens.
        context: u32,
    },
}

/// Times for every batch from 0 to the last, per context \[ps\].
#[derive(Debug, Clone, PartialEq)]
struct Dense {
    shape: DraftShape,
    contexts: Vec<u32>,
    last: u32,
    times: Vec<f64>,
}

/// A step cost by table.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTable {
    shapes: Vec<Dense>,
    prefill: Vec<(u32, f64)>,
    mixing: Mixing,
}

impl StepTable {
    /// From cycle times by draft, and the times of prompt passes by tokens, rising.
    pub fn new(
        shapes: &[ShapeTimes],
        prefill: &[(u32, Seconds)],
        mixing: Mixing,
    ) -> Result<Self, StepTableError> {
        rising("prompt tokens", prefill.iter().map(|entry| entry.0))?;
        prefill.iter().try_for_each(|entry| check(entry.1))?;
        let shapes = shapes.iter().map(Dense::new).collect::<Result<_, _>>()?;
        let prefill = prefill.iter().map(|(tokens, time)| (*tokens, time.get() * 1e12)).collect();
        Ok(Self { shapes, prefill, mixing })
    }

    /// From cycles priced at every pair of some batches and contexts, for one or more drafts. Their baselines are the
    /// steps without speculation.
    pub fn from_cycles(
        cycles: &[Cycle],
        prefill: &[(u32, Seconds)],
        mixing: Mixing,
    ) -> Result<Self, StepTableError> {
        let mut shapes: Vec<DraftShape> = Vec::new();
        for cycle in cycles {
            if !shapes.contains(&cycle.shape) {
                shapes.push(cycle.shape);
            }
        }
        let mut columns = Vec::with_capacity(shapes.len() + 1);
        if let Some(first) = shapes.first() {
            columns.push(column(cycles, *first, PLAIN, |cycle| cycle.baseline_time().value)?);
        }
        for shape in shapes.into_iter().filter(|shape| *shape != PLAIN) {
            columns.push(column(cycles, shape, shape, |cycle| cycle.time().value)?);
        }
        Self::new(&columns, prefill, mixing)
    }

    /// Whether every step that a configuration allows lies within the table, contexts aside.
    pub fn covers(&self, config: &ServingConfig) -> Result<(), StepTableError> {
        let drafts: Vec<DraftShape> = match &config.drafting {
            None => vec![PLAIN],
            Some(drafting) => drafting.rows().iter().map(|row| row.shape.unwrap_or(PLAIN)).collect(),
        };
        for shape in drafts {
            let dense = self
                .find(shape)
                .ok_or(StepTableError::Shape { steps: shape.steps, rows: shape.draft_tokens })?;
            if dense.last < config.max_requests {
                let (last, needed) = (dense.last, config.max_requests);
                return Err(StepTableError::Range { what: "requests", last, needed });
            }
        }
        let last = self.prefill[self.prefill.len() - 1].0;
        if last < config.token_budget {
            let needed = config.token_budget;
            return Err(StepTableError::Range { what: "prompt tokens", last, needed });
        }
        Ok(())
    }

    fn find(&self, shape: DraftShape) -> Option<&Dense> {
        self.shapes.iter().find(|dense| dense.shape == shape)
    }

    /// A pass over prompt tokens alone \[ps\]; at least the shortest one.
    fn prefill_time(&self, tokens: u32) -> f64 {
        let after = self.prefill.partition_point(|entry| entry.0 < tokens);
        let (first, last) = (self.prefill[0], self.prefill.len() - 1);
        if after == 0 || last == 0 {
            return first.1;
        }
        let (a, b) = (self.prefill[after.min(last) - 1], self.prefill[after.min(last)]);
        along(f64::from(tokens), (f64::from(a.0), a.1), (f64::from(b.0), b.1)).max(first.1)
    }
}

impl StepCost for StepTable {
    /// # Panics
    /// If the step's draft is not in the table: [`StepTable::covers`] tells so before a run.
    fn time(&self, step: &Step) -> SimTime {
        let mut ps = 0.0;
        if step.decodes > 0 {
            let dense = self.find(step.shape).expect("the table has times for every draft of the run");
            ps += dense.time(step.decodes, step.mean_context());
        }
        if step.prefill_tokens > 0 {
            let prefill = self.prefill_time(step.prefill_tokens);
            let shared = step.decodes > 0 && self.mixing == Mixing::Shared;
            ps += if shared { prefill - self.prefill[0].1 } else { prefill };
        }
        SimTime::from_ps(ps.round() as u64)
    }
}

impl Dense {
    fn new(given: &ShapeTimes) -> Result<Self, StepTableError> {
        rising("batches", given.batches.iter().copied())?;
        rising("contexts", given.contexts.iter().copied())?;
        let n = given.batches.len();
        if given.times.len() != n * given.contexts.len() {
            return Err(StepTableError::Grid { what: "times" });
        }
        given.times.iter().try_for_each(|time| check(*time))?;
        let last = given.batches[n - 1];
        let mut times = Vec::with_capacity((last as usize + 1) * given.contexts.len());
        for row in given.times.chunks(n) {
            let point = |i: usize| (f64::from(given.batches[i]), row[i].get() * 1e12);
            let mut at = 0;
            for batch in 0..=last {
                while at + 2 < n && given.batches[at + 1] < batch {
                    at += 1;
                }
                let time = if batch <= given.batches[0] || n == 1 {
                    point(0).1
                } else {
                    along(f64::from(batch), point(at), point(at + 1))
                };
                times.push(time);
            }
        }
        Ok(Self { shape: given.shape, contexts: given.contexts.clone(), last, times })
    }

    fn time(&self, batch: u32, context: f64) -> f64 {
        let n = self.contexts.len();
        let after = self.contexts.partition_point(|entry| f64::from(*entry) < context);
        if after == 0 || n == 1 {
            return self.row(0, batch);
        }
        let i = after.min(n - 1);
        let (a, b) = (f64::from(self.contexts[i - 1]), f64::from(self.contexts[i]));
        along(context, (a, self.row(i - 1, batch)), (b, self.row(i, batch)))
    }

    fn row(&self, context: usize, batch: u32) -> f64 {
        let row = &self.times[context * (self.last as usize + 1)..][..=self.last as usize];
        match row.get(batch as usize) {
            Some(time) => *time,
            None if self.last == 0 => row[0],
            None => {
                let end = row[self.last as usize];
                let slope = end - row[self.last as usize - 1];
                end + slope.max(0.0) * f64::from(batch - self.last)
            }
        }
    }
}

/// On the line through two points.
fn along(x: f64, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> f64 {
    (y1 - y0).mul_add((x - x0) / (x1 - x0), y0)
}

fn check(time: Seconds) -> Result<(), StepTableError> {
    let is_time = time.is_finite() && time > Seconds::ZERO && time < Seconds::new(1e6);
    if is_time { Ok(()) } else { Err(StepTableError::Time { value: time.get() }) }
}

fn rising(what: &'static str, values: impl Iterator<Item = u32>) -> Result<(), StepTableError> {
    let mut before = None;
    for value in values {
        if before.is_some_and(|before| before >= value) {
            return Err(StepTableError::Grid { what });
        }
        before = Some(value);
    }
    if before.is_some() { Ok(()) } else { Err(StepTableError::Grid { what }) }
}

/// The column of one draft, named after `named`.
fn column(
    cycles: &[Cycle],
    shape: DraftShape,
    named: DraftShape,
    time: impl Fn(&Cycle) -> Seconds,
) -> Result<ShapeTimes, StepTableError> {
    let of_shape = || cycles.iter().filter(|cycle| cycle.shape == shape);
    let context = |cycle: &Cycle| cycle.verify.batch.context;
    let sorted = |mut list: Vec<u32>| {
        list.sort_unstable();
        list.dedup();
        list
    };
    let batches = sorted(of_shape().map(Cycle::batch).collect());
    let contexts = sorted(of_shape().map(context).collect());
    let mut times = Vec::with_capacity(batches.len() * contexts.len());
    for c in &contexts {
        for batch in &batches {
            let cycle = of_shape().find(|cycle| cycle.batch() == *batch && context(cycle) == *c);
            times.push(time(cycle.ok_or(StepTableError::Hole { batch: *batch, context: *c })?));
        }
    }
    Ok(ShapeTimes { shape: named, batches, contexts, times })
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
