//! A priced pass as the machine runs it: stretches of kernels that end in a collective, each stored once.
//!
//! Where nothing is random, a stretch folds into the max-plus map (h, g) → (h + I, max(h + X, g + D)) of
//! [`crate::cost::Stretch`], here in whole picoseconds and with the host's share of the crossing path X.

use crate::cost::{Exchange, PricedOp, PricedPass};
use crate::runtime::{CollectiveOp, Execution};
use crate::units::Seconds;

use crate::des::SimTime;

/// A kernel, or a module priced as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kernel {
    pub(super) label: &'static str,
    /// Host time \[ps\].
    pub(super) issue: u64,
    /// GPU time \[ps\].
    pub(super) device: u64,
    pub(super) kernels: u32,
}

/// The collective at the end of a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meeting {
    pub(super) label: &'static str,
    /// Host time \[ps\].
    pub(super) issue: u64,
    /// Priced time from the last arrival \[ps\].
    pub(super) device: u64,
    pub(super) allreduce: bool,
    /// Ranks of a group.
    pub(super) group: u32,
    /// Which exchanger moves it, where steps move over links.
    pub(super) exchanger: Option<usize>,
}

/// A folded stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Fold {
    /// Sum of host times I.
    pub(super) issue: u64,
    /// Longest path that starts on the host X.
    pub(super) crossing: u64,
    /// The host's part of it.
    pub(super) crossing_host: u64,
    /// Sum of GPU times D.
    pub(super) device: u64,
}

impl Fold {
    fn then(self, kernel: Kernel) -> Self {
        let issue = self.issue + kernel.issue;
        // The host binds only where it is later than the GPU, as in the operation-by-operation recurrence.
        let host = issue > self.crossing;
        Self {
            issue,
            crossing: kernel.device + if host { issue } else { self.crossing },
            crossing_host: if host { issue } else { self.crossing_host },
            device: self.device + kernel.device,
        }
    }
}

/// Kernels in order, then perhaps a collective.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    pub(super) kernels: std::ops::Range<usize>,
    pub(super) fold: Fold,
    pub(super) meeting: Option<Meeting>,
}

/// A block as segments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) segments: std::ops::Range<usize>,
    /// Whether it is one of the model's layers, which are numbered.
    pub(super) layer: bool,
}

/// A pass, compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    pub(super) graph: bool,
    /// Host time of the graph launch \[ps\].
    pub(super) launch: u64,
    pub(super) kernels: Vec<Kernel>,
    pub(super) segments: Vec<Segment>,
    pub(super) parts: Vec<Part>,
    /// Part and repetitions.
    pub(super) sequence: Vec<(usize, u32)>,
    /// All-reduces.
    pub(super) allreduces: u32,
    /// Operations of one rank: kernels and collectives.
    pub(super) operations: u64,
}

impl Program {
    /// Compiles a pass. `exchanger` gives the index of what moves an exchange, where steps move over links.
    pub(super) fn new(
        pass: &PricedPass,
        exchanger: &mut impl FnMut(Exchange, Seconds) -> Option<usize>,
    ) -> Self {
        let mut program = Self {
            graph: pass.execution == Execution::Graph,
            launch: SimTime::from_seconds(pass.launch).ps(),
            kernels: Vec::new(),
            segments: Vec::new(),
            parts: Vec::new(),
            sequence: pass.sequence.iter().map(|run| (run.block, run.count)).collect(),
            allreduces: 0,
            operations: 0,
        };
        for block in &pass.blocks {
            let first = program.segments.len();
            program.block(&block.ops, exchanger);
            let segments = first..program.segments.len();
            program.parts.push(Part { name: block.name, segments, layer: block.name.contains("layer") });
        }
        for &(part, count) in &program.sequence {
            for segment in &program.segments[program.parts[part].segments.clone()] {
                let meeting = segment.meeting.as_ref();
                program.allreduces += meeting.map_or(0, |m| count * u32::from(m.allreduce));
                program.operations +=
                    u64::from(count) * (segment.kernels.len() as u64 + u64::from(meeting.is_some()));
            }
        }
        program
    }

    fn block(&mut self, ops: &[PricedOp], exchanger: &mut impl FnMut(Exchange, Seconds) -> Option<usize>) {
        let mut first = self.kernels.len();
        for op in ops {
            let (issue, device) =
                (SimTime::from_seconds(op.issue).ps(), SimTime::from_seconds(op.device).ps());
            match op.exchange {
                None => {
                    self.kernels.push(Kernel { label: op.label, issue, device, kernels: op.kernels });
                }
                Some(exchange) => {
                    let meeting = Meeting {
                        label: op.label,
                        issue,
                        device,
                        allreduce: exchange.op == CollectiveOp::AllReduce,
                        group: exchange.ranks,
                        exchanger: exchanger(exchange, op.device),
                    };
                    self.segment(first, Some(meeting));
                    first = self.kernels.len();
                }
            }
        }
        if first < self.kernels.len() {
            self.segment(first, None);
        }
    }

    fn segment(&mut self, first: usize, meeting: Option<Meeting>) {
        let kernels = first..self.kernels.len();
        let fold = self.kernels[kernels.clone()].iter().fold(Fold::default(), |fold, k| fold.then(*k));
        self.segments.push(Segment { kernels, fold, meeting });
    }

    /// The number of layers.
    pub(super) fn layers(&self) -> u32 {
        self.sequence.iter().filter(|(part, _)| self.parts[*part].layer).map(|(_, count)| count).sum()
    }
}
