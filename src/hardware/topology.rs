//! The fabric of one host as a graph: sockets, root ports, switches, GPUs, and the links between them.
//!
//! ```text
//!   socket ─── socket link ─── socket          NVSwitch
//!     │  └ root port ── GPU                     │ │ │ │
//!     └ root port ── switch ── switch ── GPU    GPUs
//! ```
//! Each link has a bandwidth per direction and a one-way latency; the latencies add up to the hops measured with
//! flag ping-pong and 128-byte reads on RTX PRO 6000 boxes (local-inference-lab/rtx6kpro @e2c2b95 `hardware/`):
//! one switch 0.68 µs, two leaf switches under a root switch 0.72, two root ports 0.80 direct and 1.08 through
//! switches, another socket 1.30. Valid for unloaded links; contention belongs to the simulator.
//! Omitted: IOMMU and ACS detours, posted-write collapse, drivers that stage loads in host memory.

use serde::{Deserialize, Serialize};

use super::gpu::{Gpu, Pcie};
use super::route::{Ring, rings};
use crate::units::{Bandwidth, Seconds};

/// How far two GPUs are apart, nearest first (the words of `nvidia-smi topo -m` and NCCL).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PathKind {
    /// NVLink.
    Nvlink,
    /// Through one PCIe switch.
    Pix,
    /// Through several switches, not through the CPU.
    Pxb,
    /// Through one host bridge of the CPU.
    Phb,
    /// Between host bridges of one socket.
    Node,
    /// Between sockets.
    Sys,
}

impl PathKind {
    /// The word that `nvidia-smi topo -m` prints.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nvlink => "NVL",
            Self::Pix => "PIX",
            Self::Pxb => "PXB",
            Self::Phb => "PHB",
            Self::Node => "NODE",
            Self::Sys => "SYS",
        }
    }

    /// One-way latency of a hop where no graph is known: middle of the measured ranges of the module
    /// documentation; NVLink 0.6 µs is NCCL's own figure.
    pub const fn hop_latency(self) -> Seconds {
        Seconds::from_us(match self {
            Self::Nvlink => 0.60,
            Self::Pix => 0.68,
            Self::Pxb => 0.72,
            Self::Phb | Self::Node => 0.80,
            Self::Sys => 1.30,
        })
    }
}

/// The processors, as far as links between sockets depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cpu {
    /// AMD EPYC Turin.
    AmdTurin,
    /// AMD EPYC Genoa with two xGMI links.
    AmdGenoa,
    /// Another AMD.
    Amd,
    /// Intel Broadwell.
    IntelBroadwell,
    /// Intel Skylake to Cascade Lake.
    IntelSkylake,
    /// Intel Sapphire Rapids.
    IntelSapphireRapids,
    /// Intel Emerald Rapids and newer.
    IntelEmeraldRapids,
    /// Not known.
    Unknown,
}

impl Cpu {
    /// Whether it is one of AMD's, which NCCL treats alike.
    pub const fn is_amd(self) -> bool {
        matches!(self, Self::AmdTurin | Self::AmdGenoa | Self::Amd)
    }

    /// Whether it is one of Intel's, whose root ports cost peer traffic 6/5 in NCCL's search.
    pub const fn is_intel(self) -> bool {
        !self.is_amd() && !matches!(self, Self::Unknown)
    }

    /// The socket link as NCCL's constants have it, one direction: AMD 16, Broadwell 6, Skylake 10, Sapphire
    /// Rapids 22, Emerald Rapids 40 GB/s (NVIDIA/nccl 2.30.7 `src/graph/topo.h`).
    pub const fn nominal_socket_link(self) -> Bandwidth {
        Bandwidth::from_gb_s(match self {
            Self::AmdTurin | Self::AmdGenoa | Self::Amd | Self::Unknown => 16.0,
            Self::IntelBroadwell => 6.0,
            Self::IntelSkylake => 10.0,
            Self::IntelSapphireRapids => 22.0,
            Self::IntelEmeraldRapids => 40.0,
        })
    }

    /// The socket link between two GPUs, one direction: Turin 44 (36-51 measured), Genoa with two xGMI links 39
    /// (rtx6kpro @e2c2b95); elsewhere NCCL's figure, for want of a measurement.
    pub const fn measured_socket_link(self) -> Bandwidth {
        match self {
            Self::AmdTurin => Bandwidth::from_gb_s(44.0),
            Self::AmdGenoa => Bandwidth::from_gb_s(39.0),
            _ => self.nominal_socket_link(),
        }
    }
}

/// What a node of the graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum NodeKind {
    /// A CPU socket.
    Socket,
    /// A root port; the number is that of its host bridge within the socket.
    RootPort(u32),
    /// A PCIe switch.
    Switch,
    /// A GPU with its rank.
    Gpu(u32),
    /// An NVSwitch, or the bridge between two GPUs.
    NvSwitch,
}

/// A node and the way up from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The node above it; none for sockets and NVSwitches.
    pub parent: Option<usize>,
    /// The link to the node above.
    pub uplink: Option<usize>,
}

/// What a link is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum LinkKind {
    /// PCIe lanes.
    Pcie,
    /// Root port to the inside of its socket.
    Internal,
    /// Between two sockets.
    Socket,
    /// NVLink of one GPU.
    Nvlink,
}

/// A full-duplex link between two nodes. Both directions have the same figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Link {
    /// The lower end (for socket links the lower socket number).
    pub from: usize,
    /// The upper end.
    pub to: usize,
    /// What it is made of.
    pub kind: LinkKind,
    /// One direction, as measured or assumed.
    pub bandwidth: Bandwidth,
    /// One direction, as NCCL's topology reader assumes it.
    pub nominal: Bandwidth,
    /// One way.
    pub latency: Seconds,
}

/// NVLink of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nvlink {
    /// None.
    #[default]
    None,
    /// Bridges between GPUs 0-1, 2-3, ...
    Pairs,
    /// All GPUs behind NVSwitches.
    Switch,
}

/// The fabric of a box.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Topology {
    pub(super) cpu: Cpu,
    pub(super) nvlink: Nvlink,
    pub(super) known: bool,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// Node of each GPU, by rank.
    pub(super) gpus: Vec<usize>,
    /// NVLink port link of each GPU, if it has one.
    pub(super) nvlink_ports: Vec<Option<usize>>,
    /// Rings over the first 2, 3, ... GPUs.
    pub(super) rings: Vec<Ring>,
}

impl Topology {
    /// Whether the PCIe graph is known. Without it there are no routes, and rings rest on measured or assumed
    /// figures of the whole box.
    pub const fn is_known(&self) -> bool {
        self.known
    }

    /// The processors.
    pub const fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// NVLink between the GPUs.
    pub const fn nvlink(&self) -> Nvlink {
        self.nvlink
    }

    /// The nodes; links and parents refer to their indices.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The ring over the first `ranks` GPUs; none for fewer than 2 or more than the box has.
    pub fn ring(&self, ranks: u32) -> Option<&Ring> {
        self.rings.get((ranks as usize).checked_sub(2)?)
    }

    /// Sockets with at least one GPU.
    pub fn sockets_in_use(&self) -> usize {
        let mut sockets: Vec<_> = self.gpus.iter().map(|&gpu| self.root_of(gpu)).collect();
        sockets.sort_unstable();
        sockets.dedup();
        sockets.len()
    }

    pub(super) fn root_of(&self, mut node: usize) -> usize {
        while let Some(parent) = self.nodes[node].parent {
            node = parent;
        }
        node
    }
}

/// Puts a graph together.
pub(super) struct Builder {
    topology: Topology,
    gpu: (Pcie, Option<Bandwidth>),
}

impl Builder {
    pub(super) fn new(cpu: Cpu, gpu: &Gpu) -> Self {
        let topology = Topology {
            cpu,
            nvlink: Nvlink::None,
            known: true,
            nodes: Vec::new(),
            links: Vec::new(),
            gpus: Vec::new(),
            nvlink_ports: Vec::new(),
            rings: Vec::new(),
        };
        Self { topology, gpu: (gpu.pcie, gpu.nvlink) }
    }

    fn node(&mut self, kind: NodeKind, parent: Option<usize>) -> usize {
        self.topology.nodes.push(Node { kind, parent, uplink: None });
        self.topology.nodes.len() - 1
    }

    fn link(&mut self, link: Link) -> usize {
        self.topology.links.push(link);
        self.topology.links.len() - 1
    }

    pub(super) fn socket(&mut self) -> usize {
        self.node(NodeKind::Socket, None)
    }

    /// Joins every pair of sockets; `measured` replaces the bandwidth known for the processor.
    pub(super) fn join_sockets(&mut self, measured: Option<Bandwidth>) {
        let sockets: Vec<_> = (0..self.topology.nodes.len())
            .filter(|&at| self.topology.nodes[at].kind == NodeKind::Socket)
            .collect();
        let cpu = self.topology.cpu;
        for (i, &from) in sockets.iter().enumerate() {
            for &to in &sockets[i + 1..] {
                self.link(Link {
                    from,
                    to,
                    kind: LinkKind::Socket,
                    bandwidth: measured.unwrap_or(cpu.measured_socket_link()),
                    nominal: cpu.nominal_socket_link(),
                    latency: Seconds::from_us(0.50),
                });
            }
        }
    }

    pub(super) fn root_port(&mut self, socket: usize, bridge: u32, pcie: Pcie) -> usize {
        let port = self.node(NodeKind::RootPort(bridge), Some(socket));
        let link = self.link(Link {
            from: port,
            to: socket,
            kind: LinkKind::Internal,
            bandwidth: pcie.measured(),
            nominal: pcie.nominal(),
            latency: Seconds::from_us(0.06),
        });
        self.topology.nodes[port].uplink = Some(link);
        port
    }

    /// A switch under a root port (0.14 µs up) or under another switch (0.02 µs up; a switch alone adds 0.105 to
    /// 0.115, most of which the 0.34 µs of its GPUs' links contain).
    pub(super) fn switch(&mut self, parent: usize, pcie: Pcie) -> usize {
        let under_root = matches!(self.topology.nodes[parent].kind, NodeKind::RootPort(_));
        self.child(NodeKind::Switch, parent, pcie, Seconds::from_us(if under_root { 0.14 } else { 0.02 }))
    }

    pub(super) fn gpu(&mut self, parent: usize) {
        let rank = self.topology.gpus.len() as u32;
        let node = self.child(NodeKind::Gpu(rank), parent, self.gpu.0, Seconds::from_us(0.34));
        self.topology.gpus.push(node);
        self.topology.nvlink_ports.push(None);
    }

    fn child(&mut self, kind: NodeKind, parent: usize, pcie: Pcie, latency: Seconds) -> usize {
        let node = self.node(kind, Some(parent));
        let link = self.link(Link {
            from: node,
            to: parent,
            kind: LinkKind::Pcie,
            bandwidth: pcie.measured(),
            nominal: pcie.nominal(),
            latency,
        });
        self.topology.nodes[node].uplink = Some(link);
        node
    }

    /// Adds NVLink: one switch for all, or a bridge for each pair. Nothing happens to GPUs without NVLink.
    pub(super) fn nvlink(&mut self, kind: Nvlink) {
        let Some(datasheet) = self.gpu.1 else { return };
        self.topology.nvlink = kind;
        let group = match kind {
            Nvlink::None => return,
            Nvlink::Pairs => 2,
            Nvlink::Switch => self.topology.gpus.len().max(1),
        };
        let mut bridge = 0;
        for rank in 0..self.topology.gpus.len() {
            if rank % group == 0 {
                bridge = self.node(NodeKind::NvSwitch, None);
            }
            let port = self.link(Link {
                from: self.topology.gpus[rank],
                to: bridge,
                kind: LinkKind::Nvlink,
                // Eight tenths of the datasheet: what NCCL's constants grant (20 of 25, 20.6 of 25, 40.1 of 50).
                bandwidth: datasheet * 0.8,
                nominal: datasheet * 0.8,
                latency: Seconds::from_us(0.30),
            });
            self.topology.nvlink_ports[rank] = Some(port);
        }
    }

    pub(super) fn finish(mut self) -> Topology {
        self.topology.rings = rings(&self.topology);
        self.topology
    }

    /// A box whose graph nobody recorded: its rings must be given.
    pub(super) fn unknown(self, rings: Vec<Ring>) -> Topology {
        Topology { known: false, rings, ..self.topology }
    }
}
