//! Where the time of a pass goes, by part.

use super::pass::PricedPass;
use crate::forward::Part;
use crate::sourced::Source;
use crate::units::Seconds;

/// The parts that a breakdown shows, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// Collectives, from the arrival of their last rank.
    Collectives,
    /// Attention with its projections.
    Attention,
    /// Router, routed and shared experts.
    Experts,
    /// Dense feed-forward, embedding, fusion of features.
    Dense,
    /// Head and token selection.
    Head,
    /// The GPU has nothing to run: it waits for the host, or for the graph to start.
    Waiting,
}

impl Share {
    /// All, in order.
    pub const ALL: [Self; 6] =
        [Self::Collectives, Self::Attention, Self::Experts, Self::Dense, Self::Head, Self::Waiting];

    /// The share that a part belongs to.
    pub const fn of(part: Part) -> Self {
        match part {
            Part::Collective => Self::Collectives,
            Part::Attention => Self::Attention,
            Part::Experts => Self::Experts,
            Part::Mlp | Part::Embedding | Part::Fusion => Self::Dense,
            Part::Head | Part::Sampling => Self::Head,
        }
    }

    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Collectives => "collectives",
            Self::Attention => "attention",
            Self::Experts => "experts",
            Self::Dense => "dense",
            Self::Head => "head",
            Self::Waiting => "waiting",
        }
    }
}

/// One row of a breakdown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartTime {
    /// Which.
    pub share: Share,
    /// Operations of it (kernels or collectives).
    pub count: u32,
    /// Their time; all rows add up to the time of the pass.
    pub time: Seconds,
    /// The weakest source among them.
    pub source: Source,
}

impl PricedPass {
    /// Times by part, in the order of [`Share::ALL`], parts without operations left out. They add up to `time`.
    pub fn breakdown(&self) -> Vec<PartTime> {
        let mut rows: [Option<PartTime>; 6] = [None; 6];
        for run in &self.sequence {
            for op in &self.blocks[run.block].ops {
                let share = Share::of(op.part);
                let row = rows[share as usize].get_or_insert(PartTime {
                    share,
                    count: 0,
                    time: Seconds::ZERO,
                    source: op.source,
                });
                row.count += run.count * op.kernels;
                row.time += f64::from(run.count) * op.device;
                row.source = row.source.combine(op.source);
            }
        }
        if self.waiting() > Seconds::ZERO {
            let source = self.host_source;
            rows[Share::Waiting as usize] =
                Some(PartTime { share: Share::Waiting, count: 1, time: self.waiting(), source });
        }
        rows.into_iter().flatten().collect()
    }
}
