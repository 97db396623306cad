//! The time of a collective where no measured table answers: step by step, by algorithm, protocol and transport.
//!
//! ```text
//! ring, tree    base + steps · hop + factor · moved / rate      moved = steps/n · S (ring), 2S (tree)
//! LL            factor 2 (4 bytes of flag for 4 of data), 4 beyond the vector at which a measured box halves
//! LL128         factor 128/120;   Simple  factor 1, rate at most 11 GB/s per channel over PCIe
//! one-shot      a + b · KiB
//! ```
//! Fitted to (µs): LL over P2P 4.2 + 1.44·steps (6.3 at n = 2, all-reduce) and over host memory 6.6 + 2.4·steps;
//! Simple 8.4 + 2.0·steps over P2P; LL128 14 + 1.9·steps: aiconfigurator-core 0.12.0 tables of 2, 4 and 8 RTX PRO
//! 6000, nccl-tests of 8x RTX 5090 and RTX 4090, rtx6kpro @e2c2b95. Simple over host memory 2.7 a step is the
//! dual-Turin box of rtx6kpro; 11 GB/s per channel are its 22 GB/s with two channels. Staging halves the rate: two
//! H200s with P2P off show 23 (LL) and 29 GB/s (Simple) of 55. One-shot: rtx6kpro, and aiconfigurator's 2-GPU
//! SGLang rows. NVLink figures are assumed but for the 18-19 µs of NCCL on 8x H100.
//! Valid from 1 KiB to a few MiB. Omitted: host issue, waiting for late ranks, peer-write collapse.

use super::classical::{self, StepCost, least_traffic};
use super::nccl;
use super::policy::{Algorithm, Backend, Protocol, Transport};
use super::{Choice, Request};
use crate::hardware::{Hardware, PathKind, Ring};
use crate::runtime::CollectiveOp;
use crate::sourced::{Source, Sourced};
use crate::units::{Bandwidth, Bytes, Seconds};

/// Rate of one channel with Simple over PCIe.
const SIMPLE_CHANNEL: Bandwidth = Bandwidth::from_gb_s(11.0);
/// Rate of one channel with LL over NVLink (4x A100: 0.1 µs per KiB at n = 4).
const LL_CHANNEL_NVLINK: Bandwidth = Bandwidth::from_gb_s(28.0);
/// From here on FlashInfer's `pcie_ipc` uses its staged ring.
pub(super) const STAGED_RING_FROM: Bytes = Bytes::from_kib(32.0);

/// The modelled time of a collective, from the arrival of its last rank. The spread is that of the fit; the
/// source is `fitted`, or `assumed` where neither the fabric nor the backend was measured.
pub fn model_time(hardware: &Hardware, choice: Choice, request: Request) -> Sourced<Seconds> {
    if request.ranks < 2 {
        return Sourced::new(Seconds::ZERO, Source::Derived);
    }
    let (time, source, share) = match choice.backend {
        Backend::Nccl => through_nccl(hardware, choice, request),
        Backend::CustomAllReduce | Backend::OneShot | Backend::TwoShot | Backend::Mscclpp
            if choice.transport != Transport::Nvlink =>
        {
            over_pcie(hardware, choice, request)
        }
        Backend::FlashinferPcie => flashinfer_pcie(hardware, choice, request),
        _ => over_nvlink(hardware, choice, request),
    };
    let assumed =
        hardware.topology.ring(request.ranks).is_none_or(|r| !r.fitted && !hardware.topology.is_known());
    let source = if assumed { Source::Assumed } else { source };
    Sourced::new(time, source).with_spread(time * (1.0 - share), time * (1.0 + share))
}

/// One direction of a ring over these ranks by this transport; staging through host memory costs `staged`.
fn ring_rate(hardware: &Hardware, transport: Transport, ranks: u32, staged: f64) -> Bandwidth {
    rate_of(hardware, transport, ranks, staged, |ring| ring.bandwidth)
}

/// The same for bulk copies.
fn bulk_rate(hardware: &Hardware, transport: Transport, ranks: u32) -> Bandwidth {
    rate_of(hardware, transport, ranks, 0.5, |ring| ring.bulk)
}

fn rate_of(
    hardware: &Hardware,
    transport: Transport,
    ranks: u32,
    staged: f64,
    figure: fn(&Ring) -> Bandwidth,
) -> Bandwidth {
    let ring = hardware.topology.ring(ranks);
    let pcie = match ring {
        Some(ring) if !ring.nvlink => figure(ring),
        _ => hardware.gpu.pcie.measured(),
    };
    match transport {
        Transport::Nvlink => ring.filter(|r| r.nvlink).map_or(pcie, |r| r.bandwidth),
        Transport::P2p => pcie,
        Transport::Shm => pcie * staged,
    }
}

fn through_nccl(hardware: &Hardware, choice: Choice, request: Request) -> (Seconds, Source, f64) {
    // The fits hold to 15 % on the boxes they come from; between boxes 8 GPUs vary from 17 to 57 µs.
    let own = hardware.topology.ring(request.ranks).is_some_and(|ring| ring.fitted);
    let (source, share) = match choice.transport {
        Transport::P2p => (Source::Fitted, if own { 0.15 } else { 0.25 }),
        Transport::Shm => (Source::Fitted, 0.25),
        Transport::Nvlink => (Source::Assumed, 0.25),
    };
    let time = match choice.algorithm {
        Algorithm::Ring | Algorithm::Tree => ring_or_tree(hardware, choice, request),
        Algorithm::Nvls => {
            let rate = ring_rate(hardware, choice.transport, request.ranks, 1.0) * 0.85;
            Seconds::from_us(25.0) + least_traffic(request.ranks, request.bytes) / rate
        }
        Algorithm::OneShot if request.op != CollectiveOp::AllReduce => {
            // Every rank sends each other one its part at once.
            let n = f64::from(request.ranks);
            let rate = ring_rate(hardware, choice.transport, request.ranks, 0.5);
            return (
                Seconds::from_us(8.4 + 2.0)
                    + nccl::counted_bytes(request.op, request.ranks, request.bytes) * ((n - 1.0) / n) / rate,
                Source::Assumed,
                0.4,
            );
        }
        algorithm => {
            let cost = step_cost(hardware, choice, request.ranks);
            let classical = classical::allreduce(algorithm, request.ranks, request.bytes, cost);
            return (Seconds::from_us(4.2) + classical.unwrap_or_default(), Source::Assumed, 0.3);
        }
    };
    (time, source, share)
}

/// One step of a hypothetical algorithm that NCCL lacks: LL's step and rate, sums at a third of memory bandwidth
/// (two reads and a write).
fn step_cost(hardware: &Hardware, choice: Choice, ranks: u32) -> StepCost {
    let hop = match choice.transport {
        Transport::Nvlink => 0.85,
        Transport::P2p => 1.44,
        Transport::Shm => 2.4,
    };
    StepCost {
        latency: Seconds::from_us(hop),
        link: ring_rate(hardware, choice.transport, ranks, 0.45) / 2.0,
        sum: hardware.gpu.bandwidth / 3.0,
    }
}

fn ring_or_tree(hardware: &Hardware, choice: Choice, request: Request) -> Seconds {
    let n = f64::from(request.ranks);
    let protocol = choice.protocol.unwrap_or(Protocol::Ll);
    let tree = choice.algorithm == Algorithm::Tree;
    let steps = if tree { 2.0 * (n - 1.0) } else { nccl::steps(request.op, request.ranks) };
    let vector = nccl::counted_bytes(request.op, request.ranks, request.bytes);
    let share = if tree { 2.0 } else { steps / n };
    let pcie = choice.transport != Transport::Nvlink;
    let (base, hop) = latency(protocol, choice.transport, request.ranks);
    let latency = Seconds::from_us(base + steps * hop);
    let transfer = match protocol {
        Protocol::Ll => {
            let rate = ring_rate(hardware, choice.transport, request.ranks, 0.45);
            let rate = if pcie { rate } else { rate.min(LL_CHANNEL_NVLINK * f64::from(choice.channels)) };
            let knee = hardware.topology.ring(request.ranks).and_then(|ring| ring.halved_beyond);
            let beyond = knee.map_or(Bytes::ZERO, |knee| (vector - knee).max(Bytes::ZERO));
            (vector + beyond) * (2.0 * share) / rate
        }
        Protocol::Ll128 => {
            let rate = ring_rate(hardware, choice.transport, request.ranks, 0.45);
            vector * (share * 128.0 / 120.0) / rate
        }
        Protocol::Simple => {
            let rate = bulk_rate(hardware, choice.transport, request.ranks);
            let rate = if pcie { rate.min(SIMPLE_CHANNEL * f64::from(choice.channels)) } else { rate };
            vector * share / rate
        }
    };
    latency + transfer
}

/// Launch and step latency \[µs\].
fn latency(protocol: Protocol, transport: Transport, ranks: u32) -> (f64, f64) {
    match (protocol, transport) {
        (Protocol::Ll, Transport::P2p) if ranks == 2 => (3.42, 1.44),
        (Protocol::Ll, Transport::P2p) => (4.2, 1.44),
        (Protocol::Ll, Transport::Shm) => (6.6, 2.4),
        (Protocol::Ll, Transport::Nvlink) => (6.6, 0.85),
        (Protocol::Ll128, Transport::Shm) => (14.0, 2.7),
        (Protocol::Ll128, _) => (14.0, 1.9),
        (Protocol::Simple, Transport::Shm) => (8.4, 2.7),
        (Protocol::Simple, _) => (8.4, 2.0),
    }
}

/// a \[µs\] and b \[µs/KiB\] of a one-shot all-reduce over PCIe peers, and the share of error.
fn one_shot_fit(hardware: &Hardware, ranks: u32) -> (f64, f64, f64) {
    let switched = hardware.topology.worst_path(ranks).is_some_and(|path| path <= PathKind::Pxb);
    match ranks {
        0..=2 => (4.4, 0.0255, 0.15),
        3..=4 if switched => (7.07, 0.277 * f64::from(ranks - 1) / 3.0, 0.15),
        3..=4 => (6.05, 0.092 * f64::from(ranks - 1) / 3.0, 0.15),
        // Between sockets loads may be staged or writes collapse: the fit is that of switches, the range wide.
        _ => (6.9, 0.298 * f64::from(ranks - 1) / 7.0, if switched { 0.15 } else { 0.30 }),
    }
}

fn over_pcie(hardware: &Hardware, choice: Choice, request: Request) -> (Seconds, Source, f64) {
    let (a, b, share) = one_shot_fit(hardware, request.ranks);
    // Narrower slots than the x16 Gen5 of the fit take longer for each byte.
    let slower = (Bandwidth::from_gb_s(55.0) / hardware.gpu.pcie.measured()).max(1.0);
    let kib = request.bytes.get() / 1024.0;
    let b = b * slower;
    if choice.algorithm == Algorithm::OneShot {
        let source = if slower > 1.0 { Source::Assumed } else { Source::Fitted };
        return (Seconds::from_us(a + b * kib), source, share);
    }
    // Two barriers, and each peer's link carries 2/n of the message instead of all of it.
    let per_link = b / f64::from(request.ranks - 1);
    let n = f64::from(request.ranks);
    let time = 2.0 * a + per_link * 2.0 * (n - 1.0) / n * kib;
    (Seconds::from_us(time), Source::Assumed, 0.30)
}

fn flashinfer_pcie(hardware: &Hardware, choice: Choice, request: Request) -> (Seconds, Source, f64) {
    if choice.algorithm == Algorithm::OneShot {
        return over_pcie(hardware, choice, request);
    }
    // A store, a poll and a one-way hop for each step of the staged ring.
    let hop = hardware.topology.ring(request.ranks).map_or(PathKind::Sys.hop_latency(), |ring| ring.hop);
    let cost = StepCost {
        latency: hop + Seconds::from_us(0.3),
        link: ring_rate(hardware, choice.transport, request.ranks, 0.5),
        sum: hardware.gpu.bandwidth / 3.0,
    };
    let ring = classical::allreduce(Algorithm::Ring, request.ranks, request.bytes, cost);
    (Seconds::from_us(4.2) + ring.unwrap_or_default(), Source::Assumed, 0.40)
}

/// Backends over NVLink: custom all-reduce on 8x H100 takes 5-8 µs in a graph, 3.7-5.9 up to 4 KB (sglang PR
/// 2904); the others are assumed to be like it, those with multicast to move each byte once in and once out.
fn over_nvlink(hardware: &Hardware, choice: Choice, request: Request) -> (Seconds, Source, f64) {
    let n = f64::from(request.ranks);
    let rate = ring_rate(hardware, choice.transport, request.ranks, 1.0);
    let start = 4.0 + 0.25 * n;
    let multicast = matches!(choice.backend, Backend::TorchSymmMem | Backend::NcclSymmetric);
    let (start, moved) = match choice.algorithm {
        _ if multicast => (start + 1.0, request.bytes * ((n + 1.0) / n)),
        Algorithm::OneShot => (start, request.bytes * (n - 1.0)),
        _ => (start + 1.5, least_traffic(request.ranks, request.bytes)),
    };
    let custom = choice.backend == Backend::CustomAllReduce;
    let source = if custom { Source::Fitted } else { Source::Assumed };
    (Seconds::from_us(start) + moved / rate, source, if custom { 0.3 } else { 0.4 })
}
