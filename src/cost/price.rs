//! From a forward pass to a priced pass: every distinct block once, then the race.

use super::kernel::{self, overlapped};
use super::module;
use super::pass::{CollectiveTotal, PricedBlock, PricedOp, PricedPass};
use super::race::race;
use super::roofline::{Cost, Roofline, demand, kernels};
use super::{communication, race::Race};
use crate::calibration::Calibration;
use crate::collective::Policy;
use crate::forward::{Block, ForwardPass, Op, OpKind, Part};
use crate::hardware::Hardware;
use crate::runtime::{CollectiveOp, Execution, Runtime};
use crate::sourced::{Source, Sourced};
use crate::units::Seconds;

/// What a price depends on besides the pass.
#[derive(Debug, Clone, Copy)]
pub struct Pricing<'a> {
    /// GPUs and links.
    pub hardware: &'a Hardware,
    /// Measured tables and fits.
    pub calibration: &'a Calibration,
    /// The server and its host.
    pub runtime: &'a Runtime,
    /// Graph or eager.
    pub execution: Execution,
    /// How collectives are chosen.
    pub policy: &'a Policy,
}

/// Prices every operation of a pass and runs the race of host and GPU.
///
/// `time` spans in eager mode from the race with the profile's cheapest issue costs to that with its dearest; in a
/// graph from its cheapest to its dearest launch.
pub fn price(pass: &ForwardPass, with: &Pricing) -> PricedPass {
    let roofline = Roofline::of(&with.hardware.gpu, kernel::smallest(with));
    let blocks: Vec<_> = pass.blocks.iter().map(|block| price_block(block, with, &roofline)).collect();
    let times = |runtime: &Issue| {
        let nodes = total_kernels(&blocks, pass);
        race(&blocks, &pass.sequence, with.execution, runtime.launch(with.execution, nodes), |op| {
            runtime.of(op)
        })
    };
    let middle = times(&Issue::middle(with.runtime));
    let (low, high) = (times(&Issue::low(with.runtime)), times(&Issue::high(with.runtime)));
    let (source, extrapolated) = weakest(&blocks);
    let time = Sourced { extrapolated, ..Sourced::new(middle.total, total_source(source, &middle, with)) };
    PricedPass {
        kind: pass.kind,
        batch: pass.batch,
        execution: with.execution,
        sequence: pass.sequence.clone(),
        launch: match with.execution {
            Execution::Graph => middle.total - middle.device,
            Execution::Eager => Seconds::ZERO,
        },
        time: time.with_spread(low.total, high.total),
        device_time: middle.device,
        issue_time: middle.issue,
        allreduce: allreduces(pass, &blocks),
        blocks,
    }
}

/// The weakest source of the operations, and the host's where the host set the time.
fn total_source(ops: Source, race: &Race, with: &Pricing) -> Source {
    match with.execution {
        Execution::Eager if race.waiting() > Seconds::ZERO => {
            ops.combine(with.runtime.issue_kernel.source).combine(with.runtime.issue_collective.source)
        }
        _ => ops,
    }
}

fn price_block(block: &Block, with: &Pricing, roofline: &Roofline) -> PricedBlock {
    let mut ops = Vec::with_capacity(block.ops.len());
    let mut rest = block.ops.as_slice();
    let routed = block.ops.iter().any(|op| matches!(op.kind, OpKind::Experts { .. }));
    while let [op, after @ ..] = rest {
        if let Some(module) = module::at(rest, with, roofline) {
            let label = "attention module";
            ops.push(priced(Op { label, ..*op }, module.kernels, module.cost, with));
            rest = &rest[module.length..];
            continue;
        }
        let beside = routed && runs_beside(op, with);
        ops.push(priced(*op, kernels(&op.kind), op_cost(op, beside, with, roofline), with));
        rest = after;
    }
    PricedBlock { name: block.name, ops }
}

fn op_cost(op: &Op, beside: bool, with: &Pricing, roofline: &Roofline) -> Cost {
    if let OpKind::Collective { op, ranks, bytes } = op.kind {
        return communication::cost(op, ranks, bytes, with);
    }
    if beside && let Some(demand) = demand(&op.kind) {
        return overlapped(&demand, roofline);
    }
    kernel::cost(&op.kind, with, roofline).expect("all but collectives have a kernel cost")
}

/// Most tokens for which shared experts get a stream of their own: vLLM's
/// `VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD`; SGLang goes up to 1,024.
const BESIDE_TOKENS: u32 = 256;

/// Whether an operation runs on a second stream beside others of its layer: a shared expert beside the routed
/// ones (SGLang inside graph capture, `forward_normal_dual_stream`; vLLM by default).
fn runs_beside(op: &Op, with: &Pricing) -> bool {
    with.runtime.overlaps_shared_experts
        && with.execution == Execution::Graph
        && op.part == Part::Experts
        && matches!(op.label, "shared_gate_up" | "shared_act" | "shared_down")
        && !matches!(op.kind, OpKind::Gemm { rows, .. } if rows > BESIDE_TOKENS)
}

fn priced(op: Op, kernels: u32, cost: Cost, with: &Pricing) -> PricedOp {
    let mut priced = PricedOp {
        label: op.label,
        part: op.part,
        device: cost.time.to_picosecond(),
        issue: Seconds::ZERO,
        kernels,
        source: cost.source,
        extrapolated: cost.extrapolated,
        bound: cost.bound,
    };
    priced.issue = Issue::middle(with.runtime).of(&priced);
    priced
}

/// One host: what it needs for a kernel, a collective and a graph.
struct Issue {
    kernel: Seconds,
    collective: Seconds,
    graph: Seconds,
    node: Seconds,
}

impl Issue {
    fn middle(runtime: &Runtime) -> Self {
        Self::with(runtime, |figure| figure.value)
    }

    fn low(runtime: &Runtime) -> Self {
        Self::with(runtime, |figure| figure.spread.map_or(figure.value, |spread| spread.low))
    }

    fn high(runtime: &Runtime) -> Self {
        Self::with(runtime, |figure| figure.spread.map_or(figure.value, |spread| spread.high))
    }

    fn with(runtime: &Runtime, pick: impl Fn(Sourced<Seconds>) -> Seconds) -> Self {
        Self {
            kernel: pick(runtime.issue_kernel),
            collective: pick(runtime.issue_collective),
            graph: pick(runtime.graph_launch),
            node: pick(runtime.graph_node),
        }
    }

    /// Host time of an operation in eager mode.
    fn of(&self, op: &PricedOp) -> Seconds {
        if op.is_collective() {
            self.collective.to_picosecond()
        } else {
            (self.kernel * f64::from(op.kernels)).to_picosecond()
        }
    }

    /// Time before the first operation can start.
    fn launch(&self, execution: Execution, nodes: f64) -> Seconds {
        match execution {
            Execution::Graph => (self.graph + self.node * nodes).to_picosecond(),
            Execution::Eager => Seconds::ZERO,
        }
    }
}

fn total_kernels(blocks: &[PricedBlock], pass: &ForwardPass) -> f64 {
    let each = |block: usize| blocks[block].ops.iter().map(|op| f64::from(op.kernels)).sum::<f64>();
    pass.sequence.iter().map(|run| f64::from(run.count) * each(run.block)).sum()
}

fn weakest(blocks: &[PricedBlock]) -> (Source, bool) {
    let mut ops = blocks.iter().flat_map(|block| &block.ops);
    let Some(first) = ops.next() else { return (Source::Derived, false) };
    ops.fold((first.source, first.extrapolated), |(source, edge), op| {
        (source.combine(op.source), edge || op.extrapolated)
    })
}

/// Number and GPU time of the all-reduces.
fn allreduces(pass: &ForwardPass, blocks: &[PricedBlock]) -> CollectiveTotal {
    let mut total = CollectiveTotal { count: 0, total: Seconds::ZERO, source: Source::Derived };
    for run in &pass.sequence {
        let kinds = pass.blocks[run.block].ops.iter().filter(|op| op.is_collective());
        let times = blocks[run.block].ops.iter().filter(|op| op.is_collective());
        for (kind, time) in kinds.zip(times) {
            if !matches!(kind.kind, OpKind::Collective { op: CollectiveOp::AllReduce, .. }) {
                continue;
            }
            total.source = if total.count == 0 { time.source } else { total.source.combine(time.source) };
            total.count += run.count;
            total.total += f64::from(run.count) * time.device;
        }
    }
    total
}

#[cfg(test)]
mod tests;
