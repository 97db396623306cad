//! A priced pass whose times can be moved: what it would take if the causes of its times were dearer or cheaper.
//!
//! Operations with one cause err together, in this pass and in every other: one score for each [`Cause`] moves them all.
//! A pass keeps the sums that it needs, so that it is raced again in about a microsecond (graph: no operation is touched).
//!
//! | cause | range of its factor | from |
//! |---|---|---|
//! | memory bandwidth | the GPU's achieved share, else ± 4 % | spread between best and median rows |
//! | kernel floor | the GPU's, 3-5 µs by default | tables and a captured PyTorch layer |
//! | expert overlap | ρ from 0.33 to 0.43, by pricing both | [`crate::forward::ExpertOverlap`] |
//! | tables at one pass's sizes | ± 5 %; grouped-query attention ± 6 to 29 % by GPU | rows left out of the tables and predicted |
//! | projections, attention, experts | scatter of their table's samples, where it says | p10 and p90 of the calibration |
//! | NCCL, peer kernels | scatter of the table, else ± 10 %; fitted: 1.645 · 1.4826 · `cv_error`, else ± 15 % | rows of one box in several servers; fits |
//! | host | the runtime profile's | [`crate::runtime`] |

use super::pass::{Bound, CollectiveTotal, PricedOp, PricedPass};
use super::price::Pricing;
use super::race::Stretch;
use crate::calibration::{Calibration, Family};
use crate::collective::Backend;
use crate::forward::{Part, PassKind, Run};
use crate::runtime::{CollectiveOp, Execution};
use crate::sourced::{SPREAD_DEVIATIONS, Source, Sourced};
use crate::units::Seconds;

/// What the times of passes depend on, each wrong in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Kernels limited by memory or arithmetic, measured ones included.
    Bandwidth,
    /// Kernels as short as a kernel can be.
    Floor,
    /// Rows of the projection table.
    Projections,
    /// Rows of the attention tables.
    Attention,
    /// Rows of the expert table.
    Experts,
    /// Collectives of NCCL.
    Nccl,
    /// Collectives of other backends.
    PeerKernels,
    /// Host time to issue operations in eager mode: kernels and collectives, since the speed of the host moves both.
    HostIssue,
    /// Host time to launch a graph, its nodes included.
    GraphLaunch,
    /// How many experts neighbouring rows share: the time of the experts at other overlaps.
    ExpertOverlap,
    /// Rows of tables at the sizes of decode, which lie between measured ones.
    TablesDecode,
    /// The same at the sizes of verify.
    TablesVerify,
    /// The same at the sizes of the draft passes.
    TablesDraft,
}

impl Cause {
    /// All, in the order of [`Scores`].
    pub const ALL: [Self; 13] = [
        Self::Bandwidth,
        Self::Floor,
        Self::Projections,
        Self::Attention,
        Self::Experts,
        Self::Nccl,
        Self::PeerKernels,
        Self::HostIssue,
        Self::GraphLaunch,
        Self::ExpertOverlap,
        Self::TablesDecode,
        Self::TablesVerify,
        Self::TablesDraft,
    ];

    /// The words in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bandwidth => "kernels, memory bandwidth",
            Self::Floor => "kernel floor",
            Self::Projections => "projection table",
            Self::Attention => "attention table",
            Self::Experts => "expert table",
            Self::Nccl => "NCCL times",
            Self::PeerKernels => "peer-to-peer all-reduces",
            Self::HostIssue => "host issue, eager",
            Self::GraphLaunch => "graph launch",
            Self::ExpertOverlap => "expert overlap of rows",
            Self::TablesDecode => "tables at decode's sizes",
            Self::TablesVerify => "tables at verify's sizes",
            Self::TablesDraft => "tables at draft's sizes",
        }
    }
}

/// Scores of all causes in the order of [`Cause::ALL`]: 0 is the plain answer, ±1.645 are the ends of the range.
pub type Scores = [f64; Cause::ALL.len()];

/// Relative range of kernel times whose GPU states no range of its bandwidth.
const KERNEL: f64 = 0.04;
/// Relative range of measured collective times on one box.
const COLLECTIVE: f64 = 0.10;
/// Relative range of fitted and modelled collective times.
const FITTED: f64 = 0.15;
/// Relative range of table rows between measured sizes, grouped-query attention apart. Rows left out along rows, tokens,
/// and batch and context of latent attention are missed by 3 to 21 % (p90, `calibration/ACCURACY.md`) at twice the distance
/// of a look-up; half of about the middle of that, for whole passes.
const BETWEEN_ROWS: f64 = 0.05;
/// The same for grouped-query attention, whose contexts lie a factor of four apart and whose times step where the cache
/// leaves L2: by GPU, half the mean of the two p90 along batch and context in `calibration/ACCURACY.md`.
const BETWEEN_ATTENTION: [(&str, f64); 3] =
    [("rtx-pro-6000-server", 0.165), ("l40s", 0.292), ("h200-sxm", 0.057)];
/// Of a GPU without public tables: the middle one of the three.
const BETWEEN_ATTENTION_ELSEWHERE: f64 = 0.165;
/// A normal distribution's standard deviation over the median of its absolute values.
const DEVIATION_OVER_MEDIAN: f64 = 1.482_602_218_505_602;

/// The operation that the tables of grouped-query attention time.
const GROUPED: &str = "attention";

/// A pass that can be moved.
#[derive(Debug, Clone)]
pub struct Elastic {
    /// The pass as priced, without its operations.
    pass: PricedPass,
    groups: Vec<Group>,
    /// Operations by block; empty for a graph, whose time is a sum.
    blocks: Vec<Vec<Item>>,
    host: Host,
    nodes: f64,
    /// Which causes move it.
    moved_by: [bool; Cause::ALL.len()],
    /// The pass with nothing moved, as [`Elastic::at`] gives it.
    middle: Option<PricedPass>,
}

/// Operations that err alike.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    causes: Causes,
    device: Seconds,
    allreduce: Seconds,
    issued_kernels: f64,
    issued_collectives: f64,
    /// Sum of the host times that were measured operation by operation.
    issued_measured: Option<Sourced<Seconds>>,
}

/// What moves an operation.
type Causes = [Option<(Cause, Reach)>; 4];

/// Logarithms of the ends of a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reach {
    low: f64,
    high: f64,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    group: usize,
    device: Seconds,
    kernels: f64,
    collective: bool,
    issue_measured: Option<Sourced<Seconds>>,
}

/// Host costs with their ranges.
#[derive(Debug, Clone, Copy)]
struct Host {
    kernel: Sourced<Seconds>,
    collective: Sourced<Seconds>,
    graph: Sourced<Seconds>,
    node: Sourced<Seconds>,
}

impl Reach {
    fn around(range: f64) -> Self {
        Self { low: -range.ln_1p(), high: range.ln_1p() }
    }

    fn at(self, score: f64) -> f64 {
        let end = if score < 0.0 { self.low } else { self.high };
        end * (score.abs() / SPREAD_DEVIATIONS)
    }
}

impl Group {
    fn factor(&self, scores: &Scores) -> f64 {
        let sum: f64 =
            self.causes.iter().flatten().map(|(cause, reach)| reach.at(scores[*cause as usize])).sum();
        if sum.abs() > 0.0 { sum.exp() } else { 1.0 }
    }
}

impl Elastic {
    /// Of a pass and what it was priced with.
    pub fn new(pass: &PricedPass, with: &Pricing) -> Self {
        Self::with_overlaps(pass, &[], with)
    }

    /// The same with the pass at the low and the high end of the experts' overlap; none: it does not matter.
    pub fn with_overlaps(pass: &PricedPass, overlaps: &[PricedPass], with: &Pricing) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut blocks = vec![Vec::new(); pass.blocks.len()];
        let mut nodes = 0.0;
        for run in &pass.sequence {
            let first_time = blocks[run.block].is_empty();
            for (place, op) in pass.blocks[run.block].ops.iter().enumerate() {
                let mut causes = causes(op, pass.kind, with);
                causes[3] = overlap(op, overlaps, run.block, place);
                let group = groups.iter().position(|g| g.causes == causes).unwrap_or_else(|| {
                    groups.push(Group::new(causes));
                    groups.len() - 1
                });
                groups[group].add(op, f64::from(run.count));
                nodes += f64::from(run.count) * f64::from(op.kernels);
                if first_time && pass.execution == Execution::Eager {
                    blocks[run.block].push(Item {
                        group,
                        device: op.device,
                        kernels: f64::from(op.kernels),
                        collective: op.is_collective(),
                        issue_measured: op.issue_measured,
                    });
                }
            }
        }
        let runtime = with.runtime;
        let eager = pass.execution == Execution::Eager;
        let mut moved_by = [false; Cause::ALL.len()];
        for (cause, _) in groups.iter().flat_map(|group| group.causes.iter().flatten()) {
            moved_by[*cause as usize] = true;
        }
        moved_by[Cause::HostIssue as usize] = eager;
        moved_by[Cause::GraphLaunch as usize] = !eager;
        let mut elastic = Self {
            pass: PricedPass {
                blocks: Vec::new(),
                sequence: match pass.execution {
                    Execution::Eager => pass.sequence.clone(),
                    Execution::Graph => Vec::new(),
                },
                time: Sourced { spread: None, ..pass.time },
                kind: pass.kind,
                batch: pass.batch,
                execution: pass.execution,
                launch: pass.launch,
                host_source: pass.host_source,
                device_time: pass.device_time,
                issue_time: pass.issue_time,
                allreduce: pass.allreduce,
            },
            groups,
            blocks,
            host: Host {
                kernel: runtime.issue_kernel,
                collective: runtime.issue_collective,
                graph: runtime.graph_launch,
                node: runtime.graph_node,
            },
            nodes,
            moved_by,
            middle: None,
        };
        elastic.middle = Some(elastic.at(&[0.0; Cause::ALL.len()]));
        elastic
    }

    /// The pass with its causes moved: times and totals, no operations, no range.
    pub fn at(&self, scores: &Scores) -> PricedPass {
        let moves = |(moved, score): (&bool, &f64)| *moved && score.abs() > 0.0;
        if let Some(middle) = &self.middle
            && !self.moved_by.iter().zip(scores).any(moves)
        {
            return middle.clone();
        }
        let moved = |cost: Sourced<Seconds>, cause: Cause| {
            cost.at_score(scores[cause as usize], Seconds::get, Seconds::new).value
        };
        let kernel = moved(self.host.kernel, Cause::HostIssue);
        let collective = moved(self.host.collective, Cause::HostIssue);
        let (mut device, mut issue, mut allreduce) = (Seconds::ZERO, Seconds::ZERO, Seconds::ZERO);
        let factors = self.groups.iter().map(|group| group.factor(scores));
        let factors: Vec<f64> = factors.collect();
        for (group, factor) in self.groups.iter().zip(&factors) {
            device += group.device * *factor;
            allreduce += group.allreduce * *factor;
            issue += kernel * group.issued_kernels + collective * group.issued_collectives;
            issue += group.issued_measured.map_or(Seconds::ZERO, |sum| moved(sum, Cause::HostIssue));
        }
        let (launch, time) = match self.pass.execution {
            Execution::Graph => {
                let launch = moved(self.host.graph, Cause::GraphLaunch)
                    + moved(self.host.node, Cause::GraphLaunch) * self.nodes;
                (launch, launch + device)
            }
            Execution::Eager => {
                (Seconds::ZERO, self.race(&factors, kernel, collective, scores[Cause::HostIssue as usize]))
            }
        };
        PricedPass {
            kind: self.pass.kind,
            batch: self.pass.batch,
            execution: self.pass.execution,
            blocks: Vec::new(),
            sequence: Vec::new(),
            launch,
            time: Sourced { value: time, ..self.pass.time },
            device_time: device,
            issue_time: issue,
            host_source: self.pass.host_source,
            allreduce: CollectiveTotal { total: allreduce, ..self.pass.allreduce },
        }
    }

    fn race(&self, factors: &[f64], kernel: Seconds, collective: Seconds, host: f64) -> Seconds {
        let block = |items: &[Item]| {
            items.iter().fold(Stretch::default(), |sum, item| {
                let issue = match item.issue_measured {
                    Some(issue) => issue.at_score(host, Seconds::get, Seconds::new).value,
                    None if item.collective => collective,
                    None => kernel * item.kernels,
                };
                sum.then(Stretch::operation(issue, item.device * factors[item.group]))
            })
        };
        let pass = |sum: Stretch, run: &Run| sum.then(block(&self.blocks[run.block]).repeated(run.count));
        self.pass.sequence.iter().fold(Stretch::default(), pass).crossing
    }

    /// The widest range of a cause's factor on any operation, 5th and 95th percentile; none where the pass does not
    /// depend on it or it has no range. The host answers with the range of one kernel, or of one graph, over its value.
    pub fn range(&self, cause: Cause) -> Option<(f64, f64)> {
        let relative = |cost: Sourced<Seconds>| {
            cost.spread.map(|s| (s.low / cost.value, s.high / cost.value)).filter(|(low, high)| low < high)
        };
        match cause {
            Cause::HostIssue => {
                let measured = self.groups.iter().find_map(|group| relative(group.issued_measured?));
                relative(self.host.kernel).or(measured).filter(|_| self.is_eager())
            }
            Cause::GraphLaunch => relative(self.host.graph).filter(|_| !self.is_eager()),
            _ => {
                let reaches = self.groups.iter().flat_map(|group| group.causes.iter().flatten());
                let own = reaches.filter(|(of, _)| *of == cause).map(|(_, reach)| reach);
                own.map(|reach| (reach.low.min(reach.high).exp(), reach.high.max(reach.low).exp()))
                    .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }

    fn is_eager(&self) -> bool {
        self.pass.execution == Execution::Eager
    }
}

impl Group {
    fn new(causes: Causes) -> Self {
        let zero = Seconds::ZERO;
        Self {
            causes,
            device: zero,
            allreduce: zero,
            issued_kernels: 0.0,
            issued_collectives: 0.0,
            issued_measured: None,
        }
    }

    fn add(&mut self, op: &PricedOp, count: f64) {
        self.device += count * op.device;
        if op.exchange.is_some_and(|exchange| exchange.op == CollectiveOp::AllReduce) {
            self.allreduce += count * op.device;
        }
        if let Some(issue) = op.issue_measured {
            let more = issue.map(|time| time * count);
            self.issued_measured = Some(self.issued_measured.map_or(more, |sum| added(sum, more)));
        } else if op.is_collective() {
            self.issued_collectives += count;
        } else {
            self.issued_kernels += count * f64::from(op.kernels);
        }
    }
}

/// The sum of two host times that are long or short together.
fn added(a: Sourced<Seconds>, b: Sourced<Seconds>) -> Sourced<Seconds> {
    let ends = |time: Sourced<Seconds>| time.spread.map_or((time.value, time.value), |s| (s.low, s.high));
    let ((low_a, high_a), (low_b, high_b)) = (ends(a), ends(b));
    Sourced::new(a.value + b.value, a.source.combine(b.source)).with_spread(low_a + low_b, high_a + high_b)
}

fn causes(op: &PricedOp, kind: PassKind, with: &Pricing) -> Causes {
    let gpu = &with.hardware.gpu;
    match op.bound {
        Bound::Communication => [collective(op, with), None, None, None],
        Bound::Floor => {
            let floor = gpu.kernel_floor;
            let reach = floor
                .spread
                .map(|s| Reach { low: (s.low / floor.value).ln(), high: (s.high / floor.value).ln() });
            [reach.map(|reach| (Cause::Floor, reach)), None, None, None]
        }
        Bound::Memory | Bound::Compute | Bound::Table => {
            let achieved = gpu.achieved_bandwidth;
            // Memory is slow where bandwidth is low.
            let reach = achieved.spread.map_or(Reach::around(KERNEL), |s| Reach {
                low: (achieved.value / s.high).ln(),
                high: (achieved.value / s.low).ln(),
            });
            let of_table = op.bound == Bound::Table;
            let scatter = of_table.then(|| table(op.part, with.calibration)).flatten();
            let between = of_table.then(|| (tables_of(kind), Reach::around(between(op.label, &gpu.name))));
            [Some((Cause::Bandwidth, reach)), scatter, between, None]
        }
    }
}

/// The look-ups of one kind of pass are made at sizes of their own.
const fn tables_of(kind: PassKind) -> Cause {
    match kind {
        PassKind::Decode | PassKind::Prefill => Cause::TablesDecode,
        PassKind::Verify => Cause::TablesVerify,
        PassKind::DraftStep | PassKind::DraftExtend => Cause::TablesDraft,
    }
}

/// How far a look-up between rows of a table may be off.
fn between(label: &str, gpu: &str) -> f64 {
    if label != GROUPED {
        return BETWEEN_ROWS;
    }
    let known = BETWEEN_ATTENTION.iter().find(|(name, _)| *name == gpu);
    known.map_or(BETWEEN_ATTENTION_ELSEWHERE, |(_, range)| *range)
}

/// What the overlap of experts does to an operation, which stands at the same place in every pass.
fn overlap(op: &PricedOp, passes: &[PricedPass], block: usize, place: usize) -> Option<(Cause, Reach)> {
    let [low, high] = passes else { return None };
    let end = |pass: &PricedPass| {
        let other = pass.blocks.get(block)?.ops.get(place)?;
        (other.label == op.label && op.device > Seconds::ZERO).then(|| (other.device / op.device).ln())
    };
    let reach = Reach { low: end(low)?, high: end(high)? };
    (reach.low.abs() > 1e-12 || reach.high.abs() > 1e-12).then_some((Cause::ExpertOverlap, reach))
}

/// The scatter of the table that timed a kernel.
fn table(part: Part, calibration: &Calibration) -> Option<(Cause, Reach)> {
    let (cause, scatter) = match part {
        Part::Attention => {
            (Cause::Attention, calibration.scatter("mla").or_else(|| calibration.scatter("attention")))
        }
        Part::Experts => (Cause::Experts, calibration.scatter("moe")),
        _ => (Cause::Projections, calibration.scatter("gemm")),
    };
    scatter.map(|s| (cause, Reach { low: s.low.ln(), high: s.high.ln() }))
}

fn collective(op: &PricedOp, with: &Pricing) -> Option<(Cause, Reach)> {
    let exchange = op.exchange?;
    let cause = if exchange.choice.backend == Backend::Nccl { Cause::Nccl } else { Cause::PeerKernels };
    let calibration = with.calibration;
    let reach = if op.source == Source::Measured {
        let scatter = calibration.scatter("collectives");
        scatter.map_or(Reach::around(COLLECTIVE), |s| Reach { low: s.low.ln(), high: s.high.ln() })
    } else {
        let fit = calibration.fits.iter().find(|fit| {
            fit.of.op == exchange.op
                && fit.of.ranks == exchange.ranks
                && fit.of.family == Family::from(exchange.choice.backend)
                && fit.of.transport == exchange.choice.transport
        });
        // `cv_error` is a median absolute error.
        let deviation = fit.and_then(|fit| fit.cv_error).map(|error| error * DEVIATION_OVER_MEDIAN);
        let error = deviation.map(|deviation| deviation * SPREAD_DEVIATIONS);
        Reach::around(error.unwrap_or(FITTED))
    };
    Some((cause, reach))
}

#[cfg(test)]
#[path = "elastic_tests.rs"]
mod tests;
