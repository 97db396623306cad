//! Channels and threads of one operation.
//!
//! A communicator has more channels than a small message can use. Per operation channels are taken away while
//! bytes < channels · threads · threshold, then threads are halved while bytes < channels · threads · threshold and
//! the threads are a multiple of 128, down to 96. Thresholds: LL 8 bytes (times n for Ring), LL128 8, Simple 64.
//! At n = 8 a Ring LL channel of 512 threads is worth 32 KiB: messages below 64 KiB run on one CTA.
//! Source: NVIDIA/nccl 2.30.7 `src/enqueue.cc`, `src/graph/tuning.cc`.

use super::communicator::Communicator;
use super::tuning::{Pick, counted_bytes};
use crate::collective::environment::NcclSettings;
use crate::collective::policy::{Algorithm, Protocol};
use crate::runtime::CollectiveOp;
use crate::units::{Bandwidth, Bytes};

/// How an operation is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Channels (CTAs).
    pub channels: u32,
    /// Threads in each.
    pub threads: u32,
}

/// Channels and threads of an operation that takes `pick`.
pub fn launch(
    comm: &Communicator,
    settings: &NcclSettings,
    op: CollectiveOp,
    pick: Pick,
    bytes: Bytes,
) -> Launch {
    if pick.algorithm == Algorithm::Nvls {
        return Launch { channels: comm.channels.min(16), threads: 640 };
    }
    let slow_bus = comm.plan.bus() <= Bandwidth::from_gb_s(12.0);
    let (most, threshold) = match pick.protocol {
        Protocol::Ll if pick.algorithm == Algorithm::Ring => (512, 8.0 * f64::from(comm.ranks)),
        Protocol::Ll => (512, 8.0),
        Protocol::Ll128 => (640, 8.0),
        Protocol::Simple => (if slow_bus { 256 } else { 512 }, 64.0),
    };
    let mut threads: u32 = match (settings.threads, pick.protocol) {
        (Some(cap), Protocol::Ll | Protocol::Simple) => cap.min(512),
        _ => most,
    };
    let size = counted_bytes(op, comm.ranks, bytes).get();
    let short = |channels: u32, threads: u32| size < f64::from(channels) * f64::from(threads) * threshold;
    let mut channels = comm.channels.max(1);
    while channels > 1 && short(channels, threads) {
        channels -= 1;
    }
    while short(channels, threads) && threads.is_multiple_of(128) {
        threads /= 2;
    }
    Launch { channels, threads: threads.max(96) }
}
