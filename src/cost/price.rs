//! From a forward pass to a priced pass: every distinct block once, then the race.

use super::communication::Collectives;
use super::kernel::{self, overlapped};
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
    let pricer = Pricer {
        with,
        roofline: Roofline::of(&with.hardware.gpu, kernel::smallest(with)),
        collectives: Collectives::new(with),
        host,
    };
    let blocks: Vec<_> = pass.blocks.iter().map(|block| pricer.block(block)).collect();
    let nodes = total_kernels(&blocks, &pass.sequence);
    let launch = host.launch(with.execution, nodes);
    let middle = race(&blocks, &pass.sequence, with.execution, launch, |op| (op.issue, op.device));
    let at = |end| {
        let variant = Variant::new(with, end);
        let launch = variant.launch(with.execution, nodes);
        race(&blocks, &pass.sequence, with.execution, launch, |op| variant.times(op)).total
    };
    let (source, extrapolated) = weakest(&blocks);
    let time = Sourced { extrapolated, ..Sourced::new(middle.total, total_source(source, &middle, with)) };
    PricedPass {
        kind: pass.kind,
        batch: pass.batch,
        execution: with.execution,
        sequence: pass.sequence.clone(),
        launch,
        time: time.with_spread(at(End::Low), at(End::High)),
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

/// What all operations of a pass are priced with.
struct Pricer<'a> {
    with: &'a Pricing<'a>,
    roofline: Roofline,
    collectives: Collectives<'a>,
    host: Variant,
}

impl Pricer<'_> {
    fn block(&self, block: &Block) -> PricedBlock {
        let mut ops = Vec::with_capacity(block.ops.len());
        let mut rest = block.ops.as_slice();
        let routed = block.ops.iter().any(|op| matches!(op.kind, OpKind::Experts { .. }));
        while let [op, after @ ..] = rest {
            if let Some(module) = module::at(rest, self.with, &self.roofline) {
                let whole = Op { label: module.label, ..*op };
                ops.push(priced(whole, module.kernels, (module.cost, None), &self.host));
                rest = &rest[module.length..];
            } else {
                ops.push(priced(*op, kernels(&op.kind), self.cost(op, routed), &self.host));
                rest = after;
            }
        }
        PricedBlock { name: block.name, ops }
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
        let cost = kernel::cost(&op.kind, self.with, &self.roofline);
        (cost.expect("all but collectives have a kernel cost"), None)
    }
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

fn priced(op: Op, kernels: u32, (cost, exchange): (Cost, Option<Exchange>), host: &Variant) -> PricedOp {
    PricedOp {
        label: op.label,
        part: op.part,
        device: cost.time.to_picosecond(),
        issue: host.issue(op.is_collective(), kernels).to_picosecond(),
        kernels,
        source: cost.source,
        extrapolated: cost.extrapolated,
        bound: cost.bound,
        exchange,
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
