//! NCCL's tuning table: latencies, bandwidths, and the choice between them.
//!
//! ```text
//! bus    = channels · speed                                        from the search
//! Ring   LL: min(llMax, bus/2)   LL128: min(0.92 bus, channels · ringLl128Max)   Simple: bus
//! Tree   t = min(0.92 bus, channels · treeMax)
//!        LL: min(t/3.8, llMax)   LL128: min(7/9 t, channels · treeLl128Max)      Simple: t
//! algbw  = rate · n/steps for Ring (steps 2(n-1); n-1 for gather and scatter) and NVLS, rate/2 for Tree
//! time   = base + steps · hop + bytes / (algbw · tree factor);    NVLS: 25 µs
//! ```
//! Source: NVIDIA/nccl 2.30.7 `src/graph/tuning.cc`. In the table Tree is a chain inside one node, so it has the
//! ring's 2(n-1) steps. The 0.85 that NCCL applies to a two-rooted tree pattern is left out: on PCIe both trees
//! are the same chain.

use super::communicator::{Communicator, Wire};
use crate::collective::environment::NcclSettings;
use crate::collective::policy::{Algorithm, Protocol};
use crate::runtime::CollectiveOp;
use crate::units::{Bandwidth, Bytes, Seconds};

/// Launch latency of Ring by protocol \[µs\].
const RING_BASE: [f64; 3] = [6.6, 14.0, 8.4];
/// Launch latency of Tree by protocol \[µs\].
const TREE_BASE: [f64; 3] = [6.8, 14.0, 8.4];
/// One step of Ring over NVLink and PCIe by protocol \[µs\].
const RING_HOP: [[f64; 3]; 2] = [[0.6, 1.9, 3.4], [1.0, 2.5, 5.7]];
/// One step of Tree over NVLink and PCIe by protocol \[µs\].
const TREE_HOP: [[f64; 3]; 2] = [[0.6, 1.25, 4.0], [1.0, 1.9, 4.0]];
/// Latency of NVLS \[µs\].
const NVLS_LATENCY: f64 = 25.0;

/// Caps in GB/s for Volta, Ampere, Hopper, Blackwell (from compute capability 10.0 on).
const LL_MAX: [f64; 4] = [39.0, 87.7, 141.0, 282.0];
const RING_LL128_MAX: [f64; 4] = [20.0, 20.0, 36.7, 40.0];
const TREE_LL128_MAX: [f64; 4] = [20.0, 20.0, 36.7, 55.6];
const TREE_MAX: [f64; 4] = [26.5, 24.0, 38.7, 70.0];

/// Bandwidth factor of Tree by protocol and log2(bytes / 64).
#[rustfmt::skip]
const TREE_FACTOR: [[f64; 23]; 3] = [
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0],
    [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9],
];

pub(super) const fn order(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Ll => 0,
        Protocol::Ll128 => 1,
        Protocol::Simple => 2,
    }
}

const fn generation(capability: u32) -> usize {
    match capability {
        0..80 => 0,
        80..90 => 1,
        90..100 => 2,
        _ => 3,
    }
}

/// Steps of a ring: 2(n-1) for an all-reduce, n-1 otherwise.
pub(in crate::collective) fn steps(op: CollectiveOp, ranks: u32) -> f64 {
    let once = f64::from(ranks.saturating_sub(1));
    if op == CollectiveOp::AllReduce { 2.0 * once } else { once }
}

/// The bytes that NCCL's table counts, from those of one rank's input: the vector for all-reduce, reduce-scatter and
/// all-to-all (which are given in full), all parts together for all-gather (of which a rank gives its part).
pub(in crate::collective) fn counted_bytes(op: CollectiveOp, ranks: u32, bytes: Bytes) -> Bytes {
    if op == CollectiveOp::AllGather { bytes * f64::from(ranks) } else { bytes }
}

/// The table's latency of a pair; `None` for algorithms that NCCL does not have.
pub fn latency(
    op: CollectiveOp,
    ranks: u32,
    wire: Wire,
    algorithm: Algorithm,
    protocol: Protocol,
) -> Option<Seconds> {
    let (p, w) = (order(protocol), wire as usize);
    let microseconds = match algorithm {
        Algorithm::Ring => RING_BASE[p] + steps(op, ranks) * RING_HOP[w][p],
        Algorithm::Tree => TREE_BASE[p] + 2.0 * f64::from(ranks.saturating_sub(1)) * TREE_HOP[w][p],
        Algorithm::Nvls => NVLS_LATENCY,
        _ => return None,
    };
    Some(Seconds::from_us(microseconds))
}

/// The table's algorithm bandwidth of a pair, without the tree factor; `None` where NCCL has no such pair.
pub fn bandwidth(
    comm: &Communicator,
    op: CollectiveOp,
    algorithm: Algorithm,
    protocol: Protocol,
) -> Option<Bandwidth> {
    let g = generation(comm.capability);
    let (bus, channels) = (comm.plan.bus().gb_s(), f64::from(comm.plan.channels));
    let n = f64::from(comm.ranks);
    let rate = match (algorithm, protocol) {
        (Algorithm::Ring, Protocol::Ll) => (bus / 2.0).min(LL_MAX[g]),
        (Algorithm::Ring, Protocol::Ll128) => (0.92 * bus).min(channels * RING_LL128_MAX[g]),
        (Algorithm::Ring, Protocol::Simple) => bus,
        (Algorithm::Tree, _) if op == CollectiveOp::AllReduce => {
            let tree = (0.92 * bus).min(channels * TREE_MAX[g]);
            match protocol {
                Protocol::Ll => (tree / 3.8).min(LL_MAX[g]),
                Protocol::Ll128 => (tree * 7.0 / 9.0).min(channels * TREE_LL128_MAX[g]),
                Protocol::Simple => tree,
            }
        }
        (Algorithm::Nvls, Protocol::Simple) if op == CollectiveOp::AllReduce => {
            comm.nvls_bus.map(Bandwidth::gb_s)?
        }
        _ => return None,
    };
    let ratio = if algorithm == Algorithm::Tree { 0.5 } else { n / steps(op, comm.ranks) };
    Some(Bandwidth::from_gb_s(rate * ratio))
}

/// The factor by which Tree falls short of its bandwidth at a size.
pub fn tree_factor(protocol: Protocol, bytes: Bytes) -> f64 {
    let units = (bytes.get() / 64.0) as u64;
    let step = units.checked_ilog2().unwrap_or(0) as usize;
    TREE_FACTOR[order(protocol)].get(step).copied().unwrap_or(1.0)
}

/// What NCCL's table says that a collective takes; `None` where NCCL has no such pair.
pub fn tuning_time(
    comm: &Communicator,
    op: CollectiveOp,
    algorithm: Algorithm,
    protocol: Protocol,
    bytes: Bytes,
) -> Option<Seconds> {
    let counted = counted_bytes(op, comm.ranks, bytes);
    let mut rate = bandwidth(comm, op, algorithm, protocol)?;
    if algorithm == Algorithm::Tree {
        rate = rate * tree_factor(protocol, counted);
    }
    Some(latency(op, comm.ranks, comm.wire, algorithm, protocol)? + counted / rate)
}

/// What NCCL takes for a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pick {
    /// Algorithm.
    pub algorithm: Algorithm,
    /// Protocol.
    pub protocol: Protocol,
    /// What NCCL's table expects; not a prediction.
    pub expected: Seconds,
}

const PAIRS: [(Algorithm, Protocol); 7] = [
    (Algorithm::Tree, Protocol::Ll),
    (Algorithm::Tree, Protocol::Ll128),
    (Algorithm::Tree, Protocol::Simple),
    (Algorithm::Ring, Protocol::Ll),
    (Algorithm::Ring, Protocol::Ll128),
    (Algorithm::Ring, Protocol::Simple),
    (Algorithm::Nvls, Protocol::Simple),
];

/// The pair with the least time in the table among those enabled. Where the variables leave none, NCCL keeps the
/// ring with every protocol, and so does this.
pub fn pick(comm: &Communicator, settings: &NcclSettings, op: CollectiveOp, bytes: Bytes) -> Pick {
    let enabled = |algorithm, protocol| {
        let (listed, named) = settings.protocol(op, protocol);
        // LL128 is on by default only over NVLink; naming it forces it.
        let allowed = listed && (protocol != Protocol::Ll128 || named || comm.wire == Wire::Nvlink);
        allowed && settings.algorithm(op, algorithm)
    };
    least(comm, op, bytes, enabled)
        .or_else(|| least(comm, op, bytes, |algorithm, _| algorithm == Algorithm::Ring))
        .unwrap_or(Pick { algorithm: Algorithm::Ring, protocol: Protocol::Simple, expected: Seconds::ZERO })
}

fn least(
    comm: &Communicator,
    op: CollectiveOp,
    bytes: Bytes,
    enabled: impl Fn(Algorithm, Protocol) -> bool,
) -> Option<Pick> {
    let usable = PAIRS.into_iter().filter(|&(algorithm, protocol)| enabled(algorithm, protocol));
    let timed = usable.filter_map(|(algorithm, protocol)| {
        let expected = tuning_time(comm, op, algorithm, protocol, bytes)?;
        Some(Pick { algorithm, protocol, expected })
    });
    // The first of equals, as NCCL's loop has it.
    timed.reduce(|best, next| if next.expected < best.expected { next } else { best })
}

/// The all-reduce size at which Ring goes from LL to Simple, other pairs ignored:
/// S* = (latency of Simple - latency of LL) · bus · n / (2(n-1)); on PCIe 38.6 KB per GB/s of bus at n = 8.
pub fn switch_point(ranks: u32, wire: Wire, bus: Bandwidth) -> Bytes {
    let at = |protocol| latency(CollectiveOp::AllReduce, ranks, wire, Algorithm::Ring, protocol);
    let gap = at(Protocol::Simple).unwrap_or_default() - at(Protocol::Ll).unwrap_or_default();
    let n = f64::from(ranks);
    bus * gap * (n / (2.0 * (n - 1.0).max(1.0)))
}
