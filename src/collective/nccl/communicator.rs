//! What NCCL knows about a group of GPUs before the first message.

use super::search::{MOST_CHANNELS, Plan, plan};
use crate::collective::environment::NcclSettings;
use crate::collective::policy::Transport;
use crate::hardware::{Hardware, PathKind};
use crate::units::Bandwidth;

/// The row of the latency table that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// NVLink.
    Nvlink = 0,
    /// PCIe, through peers or through host memory.
    Pci = 1,
}

/// A communicator over the first n GPUs of a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Communicator {
    /// Ranks.
    pub ranks: u32,
    /// Compute capability: 89, 90, 120.
    pub capability: u32,
    /// Result of the graph search, or the graph file.
    pub plan: Plan,
    /// Channels after doubling and after the variables.
    pub channels: u32,
    /// Latency row.
    pub wire: Wire,
    /// Bus of NVLS, where it exists.
    pub nvls_bus: Option<Bandwidth>,
    /// How bytes travel.
    pub transport: Transport,
}

impl Communicator {
    /// The communicator that NCCL would make.
    ///
    /// P2P is used up to a path level: PXB by default (SYS on AMD boxes with at most two GPUs), the box's own
    /// level where it sets one, NCCL_P2P_LEVEL above both; beyond it bytes are staged through host memory. Where
    /// the topology is unknown and P2P works, P2P is taken.
    pub fn new(hardware: &Hardware, settings: &NcclSettings, ranks: u32) -> Self {
        let ring = hardware.topology.ring(ranks);
        let nvlink =
            ring.is_some_and(|ring| ring.nvlink) && !settings.p2p_disable && !no_p2p_at_all(settings);
        let capability = hardware.gpu.capability();
        let plan = match hardware.graph_file {
            Some(file) if !nvlink => Plan { speed: file.speed, channels: file.channels, fallback: false },
            _ => ring.map_or(Plan::fallback(), |ring| {
                // A plan for staged copies on an NVLink box runs over PCIe.
                let over_pcie = ring.nvlink && !nvlink;
                let nominal = if over_pcie { hardware.gpu.pcie.nominal() } else { ring.nominal };
                if ring.fitted { fitted(ring.nominal) } else { plan(nominal, capability) }
            }),
        };
        // A graph file that the box description does not hold is taken to be the published cure for two AMD sockets.
        let plan = if plan.fallback && settings.graph_file { CURE } else { plan };
        let transport = if nvlink {
            Transport::Nvlink
        } else if p2p(hardware, settings, ranks) {
            Transport::P2p
        } else {
            Transport::Shm
        };
        let doubled = (plan.channels * 2).min(MOST_CHANNELS);
        let floored = settings.min_channels.map_or(doubled, |least| doubled.max(least)).min(MOST_CHANNELS);
        let channels = settings.max_channels.map_or(floored, |most| floored.min(most)).max(1);
        let nvls = nvlink && ranks > 2 && hardware.has_multicast() && !settings.nvls_off;
        // Efficiency of NVLS: 0.85 on Hopper, 0.74 on Blackwell.
        let efficiency = if capability >= 100 { 0.74 } else { 0.85 };
        Self {
            ranks,
            capability,
            plan,
            channels,
            wire: if nvlink { Wire::Nvlink } else { Wire::Pci },
            nvls_bus: nvls.then(|| plan.bus() * efficiency),
            transport,
        }
    }
}

/// The graph file that rtx6kpro @e2c2b95 `optimization/nccl-tuning.md` publishes: two channels of 24 GB/s.
const CURE: Plan = Plan { speed: Bandwidth::from_gb_s(24.0), channels: 2, fallback: false };

/// A bus that was fitted to a box is taken as it is, in one channel or, from 25 GB/s on, two.
fn fitted(bus: Bandwidth) -> Plan {
    let channels = if bus >= Bandwidth::from_gb_s(25.0) { 2 } else { 1 };
    Plan { speed: bus / f64::from(channels), channels, fallback: false }
}

fn no_p2p_at_all(settings: &NcclSettings) -> bool {
    settings.p2p_level == Some(None)
}

fn p2p(hardware: &Hardware, settings: &NcclSettings, ranks: u32) -> bool {
    if settings.p2p_disable || !hardware.p2p || no_p2p_at_all(settings) {
        return false;
    }
    let small_amd = hardware.count <= 2 && hardware.topology.cpu().is_amd();
    let default = if small_amd { PathKind::Sys } else { PathKind::Pxb };
    // NCCL's PHB is one CPU: it does not tell host bridges of a socket apart.
    let level = match settings.p2p_level.flatten().or(hardware.p2p_level).unwrap_or(default) {
        PathKind::Phb => PathKind::Node,
        level => level,
    };
    hardware.topology.worst_path(ranks).is_none_or(|worst| worst <= level)
}
