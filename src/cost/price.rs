//! From a forward pass to a priced pass: every distinct block once, then the race.

use super::communication::Collectives;
use super::kernel::{self, overlapped};
use super::launch;
use super::module;
use super::pass::{CollectiveTotal, Exchange, PricedBlock, PricedOp, PricedPass};
use super::race::{Race, race};
use super::roofline::{Cost, Roofline, demand, kernels};
use super::spread::{End, Variant};
use crate::calibration::Calibration;
use crate::collective::Policy;
use crate::forward::{Block, ForwardPass, Op, OpKind, Run};
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
/// The spread of `time` is that of the same race with everything as cheap and as dear as its range allows
/// (`cost::spread`).
pub fn price(pass: &ForwardPass, with: &Pricing) -> PricedPass {
    let host = Variant::host(with.runtime, End::Middle);
    let pricer = Pricer::new(pass, with);
    let blocks = pricer.blocks(&pass.blocks);
    let nodes = total_kernels(&blocks, &pass.sequence);
    let launch = host.launch(with.execution, nodes);
    let middle = race(&blocks, &pass.sequence, with.execution, launch, |op| (op.issue, op.device));
    let at = |end| {
        let variant = Variant::new(with, end);
        let launch = variant.launch(with.execution, nodes);
        race(&blocks, &pass.sequence, with.execution, launch, |op| variant.times(op)).total
    };
    let (source, extrapolated) = weakest(&blocks);
    let host_source = host_source(&blocks, with);
    let source = total_source(source, host_source, &middle, with);
    let time = Sourced { extrapolated, ..Sourced::new(middle.total, source) };
    PricedPass {
        kind: pass.kind,
        batch: pass.batch,
        execution: with.execution,
        sequence: pass.sequence.clone(),
        launch,
        host_source,
        time: time.with_spread(at(End::Low), at(End::High)),
        device_time: middle.device,
        issue_time: middle.issue,
        allreduce: allreduces(pass, &blocks),
        blocks,
    }
}

/// The priced pass `like` with experts as `pass`, which differs from it in nothing else: blocks without experts come back
/// empty, and times and totals of the whole are those of `like`.
pub fn price_experts(pass: &ForwardPass, like: &PricedPass, with: &Pricing) -> PricedPass {
    let pricer = Pricer::new(pass, with);
    let blocks = pass.blocks.iter().zip(&like.blocks).map(|(block, like)| pricer.experts(block, like));
    PricedPass {
        blocks: blocks.collect(),
        sequence: Vec::new(),
        kind: like.kind,
        batch: like.batch,
        execution: like.execution,
        launch: like.launch,
        host_source: like.host_source,
        time: like.time,
        device_time: like.device_time,
        issue_time: like.issue_time,
        allreduce: like.allreduce,
    }
}

/// The weakest source of the operations, and the host's where the host set the time.
fn total_source(ops: Source, host: Source, race: &Race, with: &Pricing) -> Source {
    match with.execution {
        Execution::Eager if race.waiting() > Seconds::ZERO => ops.combine(host),
        _ => ops,
    }
}

/// The weakest source of the host times.
fn host_source(blocks: &[PricedBlock], with: &Pricing) -> Source {
    let runtime = with.runtime;
    if with.execution == Execution::Graph {
        return runtime.graph_launch.source;
    }
    let of = |op: &PricedOp| match op.issue_measured {
        Some(issue) => issue.source,
        None if op.is_collective() => runtime.issue_collective.source,
        None => runtime.issue_kernel.source,
    };
    let sources = blocks.iter().flat_map(|block| &block.ops).map(of);
    sources.reduce(Source::combine).unwrap_or(runtime.issue_kernel.source)
}

/// What all operations of a pass are priced with.
struct Pricer<'a> {
    with: &'a Pricing<'a>,
    roofline: Roofline,
    collectives: Collectives<'a>,
    host: Variant,
    /// What an operation timed alone takes longer amid others.
    amid: Seconds,
}

/// Where each priced operation of a block begins among its operations, and where the block ends.
type Starts = Vec<usize>;

impl<'a> Pricer<'a> {
    fn new(pass: &ForwardPass, with: &'a Pricing<'a>) -> Self {
        Self {
            with,
            roofline: Roofline::of(&with.hardware.gpu, kernel::smallest(with)),
            collectives: Collectives::new(with),
            host: Variant::host(with.runtime, End::Middle),
            amid: launch::amid(pass, with),
        }
    }

    /// Layers of several kinds begin with the same operations (attention): these are priced once.
    fn blocks(&self, blocks: &[Block]) -> Vec<PricedBlock> {
        let mut priced: Vec<PricedBlock> = Vec::with_capacity(blocks.len());
        let mut starts: Vec<Starts> = Vec::with_capacity(blocks.len());
        for block in blocks {
            let common = |other: &Block| block.ops.iter().zip(&other.ops).take_while(|(a, b)| a == b).count();
            let alike = (0..priced.len()).map(|at| (common(&blocks[at]), at)).max();
            let mut ops = Vec::with_capacity(block.ops.len());
            let mut begins = Starts::with_capacity(block.ops.len() + 1);
            begins.push(0);
            if let Some((common, at)) = alike {
                // A module is the same where the operation after it is; streams depend on what else is in the block.
                let ends = starts[at].iter().skip(1).zip(&priced[at].ops);
                let same = ends.take_while(|(end, op)| **end < common && is_alone(op.label));
                for (end, op) in same {
                    ops.push(op.clone());
                    begins.push(*end);
                }
            }
            self.rest_of(block, &mut ops, &mut begins);
            priced.push(PricedBlock { name: block.name, ops });
            starts.push(begins);
        }
        priced
    }

    /// Prices what follows the operations of a block that are priced already.
    fn rest_of(&self, block: &Block, ops: &mut Vec<PricedOp>, begins: &mut Starts) {
        let routed = is_routed(block);
        let mut at = begins.last().copied().unwrap_or(0);
        while let [op, ..] = &block.ops[at..] {
            let (priced, length) = self.next(op, &block.ops[at..], routed);
            ops.push(priced);
            at += length;
            begins.push(at);
        }
    }

    /// The first of some operations, alone or as the module that it begins, and how many it stands for.
    fn next(&self, op: &Op, rest: &[Op], routed: bool) -> (PricedOp, usize) {
        if let Some(module) = module::at(rest, self.with, &self.roofline) {
            let whole = Op { label: module.label, ..*op };
            return (self.priced(whole, module.kernels, (module.cost, None)), module.length);
        }
        (self.priced(*op, kernels(&op.kind), self.cost(op, routed)), 1)
    }

    /// The block `like` with the experts of `block`, which differs from it in nothing else.
    fn experts(&self, block: &Block, like: &PricedBlock) -> PricedBlock {
        let mut priced = PricedBlock { name: block.name, ops: Vec::new() };
        let Some(at) = block.ops.iter().position(|op| matches!(op.kind, OpKind::Experts { .. })) else {
            return priced;
        };
        // A module may begin one operation before, with their selection, and has their name.
        let before = at.saturating_sub(1);
        let first = &block.ops[before..];
        let (whole, length) = match &first[0] {
            op if op.label == "topk" => self.next(op, first, true),
            op => (self.priced(*op, kernels(&op.kind), self.cost(op, true)), 1),
        };
        let experts = if length > 1 { whole } else { self.next(&block.ops[at], &block.ops[at..], true).0 };
        priced.ops.clone_from(&like.ops);
        let place = priced.ops.iter().position(|op| op.label == experts.label);
        match place {
            Some(place) => priced.ops[place] = experts,
            None => priced.ops.clear(),
        }
        priced
    }

    fn cost(&self, op: &Op, routed: bool) -> (Cost, Option<Exchange>) {
        if let OpKind::Collective { op, ranks, bytes } = op.kind {
            return self.collectives.cost(op, ranks, bytes);
        }
        if runs_beside(op, routed, self.with)
            && let Some(demand) = demand(&op.kind)
        {
            return (overlapped(&demand, &self.roofline), None);
        }
        let cost = kernel::cost(op, self.with, &self.roofline);
        (cost.expect("all but collectives have a kernel cost"), None)
    }

    fn priced(&self, op: Op, kernels: u32, (cost, exchange): (Cost, Option<Exchange>)) -> PricedOp {
        let measured = launch::issue(&op, self.with);
        let issue =
            measured.map_or_else(|| self.host.issue(op.is_collective(), kernels), |issue| issue.value);
        PricedOp {
            label: op.label,
            part: op.part,
            device: if cost.alone { cost.time + self.amid } else { cost.time }.to_picosecond(),
            issue: issue.to_picosecond(),
            issue_measured: measured,
            kernels,
            source: cost.source,
            extrapolated: cost.extrapolated,
            bound: cost.bound,
            exchange,
        }
    }
}

fn is_routed(block: &Block) -> bool {
    block.ops.iter().any(|op| matches!(op.kind, OpKind::Experts { .. }))
}

/// Whether an operation takes the same time whatever else its block holds.
fn is_alone(label: &str) -> bool {
    !label.starts_with("shared")
}

/// Most tokens for which shared experts get a stream of their own: vLLM's
/// `VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD`; SGLang goes up to 1,024.
const BESIDE_TOKENS: u32 = 256;

/// Whether an operation runs on a second stream beside others of its layer, so that its floor is hidden: a shared
/// expert beside the routed ones (vLLM by default; SGLang inside graph capture, `forward_normal_dual_stream`), and
/// there the norm of the compressed keys beside that of the queries (`forward_absorb_prepare`).
fn runs_beside(op: &Op, routed: bool, with: &Pricing) -> bool {
    if !with.runtime.overlaps_shared_experts || with.execution != Execution::Graph {
        return false;
    }
    match (op.label, op.kind) {
        ("shared_gate_up" | "shared_down", OpKind::Gemm { rows, .. }) => routed && rows <= BESIDE_TOKENS,
        ("shared_act", _) => routed,
        ("kv_a_norm", _) => true,
        _ => false,
    }
}

fn total_kernels(blocks: &[PricedBlock], sequence: &[Run]) -> f64 {
    let each = |block: usize| blocks[block].ops.iter().map(|op| f64::from(op.kernels)).sum::<f64>();
    sequence.iter().map(|run| f64::from(run.count) * each(run.block)).sum()
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
