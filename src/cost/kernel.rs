//! GPU time of one compute operation: measured kernel tables first, the roofline last.
//!
//! * Projections: the table of the server, corrected for L2 ([`Roofline::beyond_l2`]) unless no cache held its weights.
//! * Attention: kernel time of a batch of requests. Rows of one request share its cache: see [`super::shared`].
//! * Small operations: rows `small-kernel` of the table `launch`, by the label of the operation, its class, or any.
//! * Experts: the `balanced` rows of the tables touch min(T·K, E) distinct experts; real tokens share experts. So
//!   the table is read at the number of tokens T' = distinct / K that touches the expected number, and what more
//!   tokens cost at full coverage (T > E / K) is added from the rows beyond.
//!
//! Where a server has no rows for a kind of kernel, those of another serve (`calibration`): projections call the same
//! libraries. vLLM's latent attention is held below its own module besides.

use super::launch;
use super::module::REPLAY;
use super::price::Pricing;
use super::roofline::{Cost, Demand, Roofline, demand};
use super::shared::rows_of;
use crate::calibration::{Lookup, MLA_MODULE_SHAPE};
use crate::forward::{Op, OpKind};
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::RuntimeKind;
use crate::units::Seconds;

use super::pass::Bound;

/// The time of a compute operation; none for a collective.
pub(super) fn cost(op: &Op, with: &Pricing, roofline: &Roofline) -> Option<Cost> {
    let kind = &op.kind;
    let demand = demand(kind)?;
    let server = with.runtime.kind;
    let measured = match *kind {
        OpKind::Gemm { rows, n, k, weights } => with
            .calibration
            .gemm(server, weights, rows, n, k)
            .map(|row| beyond_l2(row.into(), row.server, &demand, roofline)),
        OpKind::Attention { requests, rows, context, heads, kv_heads, head_dim, kv } => {
            let at = |requests, rows, context| {
                per_cache_width(kv, |kv| {
                    with.calibration.attention(server, kv, requests, rows, heads, kv_heads, head_dim, context)
                })
            };
            rows_of(requests, rows, context, at, |row, _| Cost::from(row))
        }
        OpKind::MlaAttention { requests, rows, context, heads, kv_lora: 512, rope: 64, kv } => {
            let at = |requests, rows, context| {
                per_cache_width(kv, |kv| {
                    with.calibration.mla_kernel(server, kv, requests, rows, heads, context)
                })
            };
            rows_of(requests, rows, context, at, |row, [batch, context]| {
                within_module(row, [heads, batch, context], with)
            })
        }
        OpKind::Experts { .. } => {
            experts(kind, with).map(|(row, server)| beyond_l2(row, server, &demand, roofline))
        }
        OpKind::Elementwise { bytes } => launch::small(op.label, bytes, with),
        _ => None,
    };
    Some(measured.unwrap_or_else(|| roofline.time(&demand)))
}

/// Corrects rows of the public tables for weights found in L2; `cuda` and `pytorch` rows were measured beyond it.
pub(super) fn beyond_l2(
    row: Cost,
    server: Option<RuntimeKind>,
    demand: &Demand,
    roofline: &Roofline,
) -> Cost {
    if server.is_some_and(is_measured_here) { row } else { roofline.beyond_l2(row, demand) }
}

/// Whether a server's rows are those of specplan's own measurements: weights rotated through more than L2, small
/// operations around a kernel apart.
pub(super) const fn is_measured_here(server: RuntimeKind) -> bool {
    matches!(server, RuntimeKind::Pytorch | RuntimeKind::Cuda)
}

/// A latent-attention kernel of vLLM takes no longer than vLLM's whole module less the module's projections. The
/// tables hold no kernel rows of vLLM, and those of SGLang, taken instead, split a short cache otherwise: with 64
/// heads and 128 requests they take twice as long as that.
fn within_module(row: Lookup, [heads, batch, context]: [u32; 3], with: &Pricing) -> Cost {
    let of_this_box = row.server.is_some_and(is_measured_here);
    let row = Cost::from(row);
    if of_this_box || tables_of(with.runtime.kind) != RuntimeKind::Vllm {
        return row;
    }
    match module_less_projections(heads, batch, context, with) {
        Some(bound) if bound < row.time => Cost { time: bound, ..row },
        _ => row,
    }
}

fn module_less_projections(heads: u32, batch: u32, context: u32, with: &Pricing) -> Option<Seconds> {
    let shape = MLA_MODULE_SHAPE;
    let server = RuntimeKind::Vllm;
    let module = with.calibration.mla_module(server, KvFormat::Bf16, batch, heads, context)?.time;
    let products = [
        (shape.q_lora + shape.kv_lora + shape.rope, shape.hidden),
        (heads * (shape.nope + shape.rope), shape.q_lora),
        (heads * shape.kv_lora, shape.nope),
        (heads * shape.value, shape.kv_lora),
        (shape.hidden, heads * shape.value),
    ];
    let mut rest = module - REPLAY;
    for (n, k) in products {
        rest = rest - with.calibration.gemm(server, WeightFormat::Bf16, batch, n, k)?.time;
    }
    (rest > Seconds::ZERO).then_some(rest)
}

/// The smallest kernel that the tables hold, one row through a 32 x 32 matrix: launch and latency, hardly work.
pub(super) fn smallest(with: &Pricing) -> Option<Seconds> {
    with.calibration.gemm(with.runtime.kind, WeightFormat::Bf16, 1, 32, 32).map(|row| row.time)
}

/// The server whose public tables time a runtime's kernels: plain PyTorch and CUDA call the same cuBLAS as vLLM.
pub(super) const fn tables_of(kind: RuntimeKind) -> RuntimeKind {
    match kind {
        RuntimeKind::Sglang => RuntimeKind::Sglang,
        RuntimeKind::Vllm | RuntimeKind::Pytorch | RuntimeKind::Cuda => RuntimeKind::Vllm,
    }
}

/// A look-up for a cache width, or else for bf16, whose reads are an upper bound for the narrower ones.
pub(super) fn per_cache_width(kv: KvFormat, look_up: impl Fn(KvFormat) -> Option<Lookup>) -> Option<Lookup> {
    let exact = look_up(kv).filter(|row| !row.extrapolated);
    exact.or_else(|| {
        let row = look_up(KvFormat::Bf16)?;
        Some(Lookup { extrapolated: row.extrapolated || kv != KvFormat::Bf16, ..row })
    })
}

/// Routed experts, from the tables at the expected number of distinct experts, and whose rows they are.
pub(super) fn experts(kind: &OpKind, with: &Pricing) -> Option<(Cost, Option<RuntimeKind>)> {
    let OpKind::Experts { tokens, hidden, width, shards, experts, per_token, distinct, weights, .. } = *kind
    else {
        return None;
    };
    let at = |tokens: u32| {
        let row = with.calibration.moe(
            with.runtime.kind,
            weights,
            tokens,
            hidden,
            width,
            per_token,
            experts,
            shards,
        );
        row.map(|row| row.lookup)
    };
    let equivalent = (distinct / f64::from(per_token)).max(1.0);
    let below = equivalent.floor();
    let row = at(below as u32)?;
    let share = equivalent - below;
    let mut time = row.time;
    if share > 1e-9 {
        let above = at(below as u32 + 1)?;
        time = row.time * (1.0 - share) + above.time * share;
    }
    time += beyond_coverage(tokens, experts, per_token, at)?;
    if tables_of(with.runtime.kind) == RuntimeKind::Vllm && !row.server.is_some_and(is_measured_here) {
        time = (time - REPLAY).max(Seconds::ZERO);
    }
    Some((Cost { time, ..Cost::from(row) }, row.server))
}

/// What `tokens` cost over the fewest that touch every expert.
fn beyond_coverage(
    tokens: u32,
    experts: u32,
    per_token: u32,
    at: impl Fn(u32) -> Option<Lookup>,
) -> Option<Seconds> {
    let covering = experts.div_ceil(per_token);
    if tokens <= covering {
        return Some(Seconds::ZERO);
    }
    Some((at(tokens)?.time - at(covering)?.time).max(Seconds::ZERO))
}

impl From<Lookup> for Cost {
    fn from(row: Lookup) -> Self {
        let extrapolated = row.extrapolated || row.unshared;
        let alone = row.server.is_some_and(is_measured_here);
        Self { time: row.time, bound: Bound::Table, source: row.source, extrapolated, alone }
    }
}

/// The cost of an operation that hides behind another stream: its bytes, without floors.
pub(super) fn overlapped(demand: &Demand, roofline: &Roofline) -> Cost {
    Cost {
        time: roofline.stream(demand.weights + demand.other),
        bound: Bound::Memory,
        source: roofline.source,
        extrapolated: false,
        alone: false,
    }
}

/// Whether tables of whole bf16 modules stand for projections in this format.
pub(super) fn is_plain(weights: WeightFormat) -> bool {
    weights == WeightFormat::Bf16
}
