//! The links of a box as shared resources: each direction of each PCIe port, switch uplink, root port and socket link.
//!
//! A flow between two GPUs uses every directed link of its route. Where a box's graph was not recorded, the GPUs'
//! ports meet in an ideal crossbar with the box's ring bandwidth and mean hop: sharing inside the fabric is then unseen.

mod obvious;
mod share;

pub use obvious::obvious_shares;
pub use share::{FairShare, Flow};

use crate::hardware::{Hardware, LinkKind, NodeKind, PathKind, Topology};
use crate::units::{Bandwidth, Seconds};

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Name in timelines and tables: `GPU 3 out`.
    pub name: String,
    /// What it carries.
    pub bandwidth: Bandwidth,
}

/// The resources of a box and the routes over them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fabrics {
    /// One entry per direction.
    pub resources: Vec<Resource>,
    /// Ranks.
    pub ranks: u32,
    /// Whether the graph of the box is known.
    pub known: bool,
    routes: Vec<Vec<usize>>,
    latencies: Vec<Seconds>,
    mean_hop: Seconds,
}

impl Fabrics {
    /// The fabric between the first `ranks` GPUs of a box.
    pub fn of(hardware: &Hardware, ranks: u32) -> Self {
        let topology = &hardware.topology;
        Self::from_graph(topology, ranks).unwrap_or_else(|| {
            let ring = topology.ring(ranks);
            let port = ring.map_or(hardware.gpu.pcie.measured(), |r| r.bandwidth);
            let hop = ring.map_or(PathKind::Sys.hop_latency(), |r| r.hop);
            Self::crossbar(ranks, port, hop)
        })
    }

    /// An ideal crossbar: only the ports are shared.
    pub fn crossbar(ranks: u32, port: Bandwidth, hop: Seconds) -> Self {
        let name = |rank: u32, way: &str| Resource { name: format!("GPU {rank} {way}"), bandwidth: port };
        let resources = (0..ranks).flat_map(|rank| [name(rank, "out"), name(rank, "in")]).collect();
        let pairs = || (0..ranks as usize).flat_map(move |a| (0..ranks as usize).map(move |b| (a, b)));
        let routes = pairs().map(|(a, b)| if a == b { Vec::new() } else { vec![2 * a, 2 * b + 1] }).collect();
        let latencies = pairs().map(|(a, b)| if a == b { Seconds::ZERO } else { hop }).collect();
        Self { resources, ranks, known: false, routes, latencies, mean_hop: hop }
    }

    fn from_graph(topology: &Topology, ranks: u32) -> Option<Self> {
        if ranks < 2 || !(topology.is_known() || topology.ring(ranks)?.nvlink) {
            return None;
        }
        let mut routes = Vec::new();
        let mut latencies = Vec::new();
        for a in 0..ranks {
            for b in 0..ranks {
                let route = topology.route(a, b)?;
                routes.push(route.iter().map(|hop| 2 * hop.link + usize::from(!hop.upward)).collect());
                latencies.push(topology.latency(a, b)?);
            }
        }
        let resources = topology.links().iter().enumerate().flat_map(|(link, figures)| {
            let (up, down) = names(topology, link);
            [up, down].map(|name| Resource { name, bandwidth: figures.bandwidth })
        });
        let mean_hop = topology.ring(ranks)?.hop;
        Some(Self { resources: resources.collect(), ranks, known: true, routes, latencies, mean_hop })
    }

    /// Resources on the way from one rank to another.
    pub fn route(&self, from: u32, to: u32) -> &[usize] {
        &self.routes[(from * self.ranks + to) as usize]
    }

    /// One-way latency.
    pub fn latency(&self, from: u32, to: u32) -> Seconds {
        self.latencies[(from * self.ranks + to) as usize]
    }

    /// Mean one-way latency of the ring's edges.
    pub const fn mean_hop(&self) -> Seconds {
        self.mean_hop
    }

    /// The narrowest link between two ranks.
    pub fn bandwidth(&self, from: u32, to: u32) -> Bandwidth {
        let widths = self.route(from, to).iter().map(|&r| self.resources[r].bandwidth);
        widths.reduce(Bandwidth::min).unwrap_or(Bandwidth::new(f64::INFINITY))
    }
}

/// Names of a link's two directions.
fn names(topology: &Topology, link: usize) -> (String, String) {
    let figures = &topology.links()[link];
    let index = |kind: fn(&NodeKind) -> bool, node: usize| {
        topology.nodes()[..node].iter().filter(|n| kind(&n.kind)).count()
    };
    let lower = match topology.nodes()[figures.from].kind {
        NodeKind::Gpu(rank) => format!("GPU {rank}"),
        NodeKind::Switch => format!("switch {}", index(|k| matches!(k, NodeKind::Switch), figures.from)),
        NodeKind::RootPort(_) => {
            format!("root port {}", index(|k| matches!(k, NodeKind::RootPort(_)), figures.from))
        }
        NodeKind::Socket => format!("socket {}", index(|k| matches!(k, NodeKind::Socket), figures.from)),
        NodeKind::NvSwitch => "NVSwitch".to_owned(),
    };
    if figures.kind == LinkKind::Socket {
        let other = index(|k| matches!(k, NodeKind::Socket), figures.to);
        return (
            format!("{lower} to {other}"),
            format!("socket {other} to {}", lower.trim_start_matches("socket ")),
        );
    }
    let via = if figures.kind == LinkKind::Nvlink { " NVLink" } else { "" };
    (format!("{lower}{via} out"), format!("{lower}{via} in"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware;

    #[test]
    fn every_direction_of_every_link_is_one_resource() {
        let hardware = hardware::preset("rtx-pro-6000-x8-dual-turin").expect("a preset");
        let fabric = Fabrics::of(&hardware, 8);
        assert!(fabric.known);
        assert_eq!(fabric.resources.len(), 2 * hardware.topology.links().len());
        assert_eq!(fabric.resources[fabric.route(3, 4)[0]].name, "GPU 3 out");
        let across: Vec<_> = fabric.route(0, 7).iter().map(|&r| fabric.resources[r].name.clone()).collect();
        assert!(across.contains(&"socket 0 to 1".to_owned()), "{across:?}");
        assert_eq!(across.last().map(String::as_str), Some("GPU 7 in"));
        let back: Vec<_> = fabric.route(7, 0).iter().map(|&r| fabric.resources[r].name.clone()).collect();
        assert!(back.contains(&"socket 1 to 0".to_owned()), "{back:?}");
        assert!(fabric.route(0, 7).iter().all(|r| !fabric.route(7, 0).contains(r)));
    }

    #[test]
    fn a_box_of_unknown_graph_is_a_crossbar_of_its_ring() {
        let hardware = hardware::preset("rtx-pro-6000-x8").expect("a preset");
        let fabric = Fabrics::of(&hardware, 8);
        assert!(!fabric.known);
        assert_eq!(fabric.resources.len(), 16);
        assert_eq!(fabric.bandwidth(2, 5), hardware.topology.ring(8).expect("a ring").bandwidth);
    }
}
