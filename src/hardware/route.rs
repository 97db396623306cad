//! Ways through the fabric: routes between two GPUs, and the ring over the first n of them.
//!
//! A route climbs from one GPU to the lowest common node (over the socket link if there is none) and descends to
//! the other. A ring visits the GPUs in rank order; each directed link carries as many ring edges as cross it, so
//! the ring's bandwidth is min over directed links of bandwidth / edges. Boxes number their GPUs along the tree,
//! and so does NCCL's search end on PCIe; other orders are not tried.

use serde::Serialize;

use super::topology::{LinkKind, NodeKind, Nvlink, PathKind, Topology};
use crate::units::{Bandwidth, Bytes, Seconds};

/// One link of a route, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// Index into [`Topology::links`].
    pub link: usize,
    /// From the lower to the upper end.
    pub upward: bool,
}

/// The ring over the first `ranks` GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ring {
    /// GPUs in it.
    pub ranks: u32,
    /// The farthest of *all* pairs of these GPUs; none where the graph is unknown.
    pub worst: Option<PathKind>,
    /// Mean one-way latency of the ring's edges.
    pub hop: Seconds,
    /// One direction, with every edge busy, from measured link figures.
    pub bandwidth: Bandwidth,
    /// The same for bulk copies, where a box was measured to differ.
    pub bulk: Bandwidth,
    /// Vector beyond which a measured box carries small packets at half the rate.
    pub halved_beyond: Option<Bytes>,
    /// The same from the figures that NCCL assumes (Intel root ports loaded with 6/5).
    pub nominal: Bandwidth,
    /// Whether every edge is NVLink.
    pub nvlink: bool,
    /// Whether `bandwidth` and `nominal` were fitted to a measured box instead of computed from its graph.
    pub fitted: bool,
}

impl Topology {
    /// How far two ranks are apart; none if the graph is unknown or a rank is not in the box.
    pub fn path(&self, a: u32, b: u32) -> Option<PathKind> {
        let (from, to) = (*self.gpus.get(a as usize)?, *self.gpus.get(b as usize)?);
        if self.joined_by_nvlink(a, b) {
            return Some(PathKind::Nvlink);
        }
        let (up, down) = (self.ancestors(from), self.ancestors(to));
        let Some(meeting) = up.iter().copied().find(|node| down.contains(node)) else {
            return Some(PathKind::Sys);
        };
        Some(match self.nodes[meeting].kind {
            NodeKind::Socket if self.bridge(&up) == self.bridge(&down) => PathKind::Phb,
            NodeKind::Socket => PathKind::Node,
            NodeKind::RootPort(_) => PathKind::Phb,
            _ => {
                let switches = |way: &[usize]| way.iter().take_while(|&&node| node != meeting).count();
                if switches(&up) + switches(&down) == 2 { PathKind::Pix } else { PathKind::Pxb }
            }
        })
    }

    /// The farthest pair among the first `ranks` GPUs; none if unknown.
    pub fn worst_path(&self, ranks: u32) -> Option<PathKind> {
        self.ring(ranks)?.worst
    }

    /// The links from one rank to another, in order; empty for a rank and itself, none if unknown.
    pub fn route(&self, a: u32, b: u32) -> Option<Vec<Hop>> {
        let (from, to) = (*self.gpus.get(a as usize)?, *self.gpus.get(b as usize)?);
        if a == b {
            return Some(Vec::new());
        }
        if self.joined_by_nvlink(a, b) {
            let port = |rank: u32| self.nvlink_ports[rank as usize];
            return Some(vec![Hop { link: port(a)?, upward: true }, Hop { link: port(b)?, upward: false }]);
        }
        let (up, down) = (self.ancestors(from), self.ancestors(to));
        let meeting = up.iter().copied().find(|node| down.contains(node));
        let climb = |way: &[usize]| -> Vec<usize> {
            let below = way.iter().take_while(|&&node| Some(node) != meeting);
            below.filter_map(|&node| self.nodes[node].uplink).collect()
        };
        let mut hops: Vec<_> = climb(&up).into_iter().map(|link| Hop { link, upward: true }).collect();
        if meeting.is_none() {
            hops.push(self.between_sockets(*up.last()?, *down.last()?)?);
        }
        hops.extend(climb(&down).into_iter().rev().map(|link| Hop { link, upward: false }));
        Some(hops)
    }

    /// One-way latency between two ranks: the sum over the route's links.
    pub fn latency(&self, a: u32, b: u32) -> Option<Seconds> {
        Some(self.route(a, b)?.iter().map(|hop| self.links[hop.link].latency).sum())
    }

    /// One direction between two ranks with nothing else on the way: the narrowest link.
    pub fn bandwidth(&self, a: u32, b: u32) -> Option<Bandwidth> {
        self.route(a, b)?.iter().map(|hop| self.links[hop.link].bandwidth).reduce(Bandwidth::min)
    }

    fn joined_by_nvlink(&self, a: u32, b: u32) -> bool {
        let port = |rank: u32| self.nvlink_ports.get(rank as usize).copied().flatten();
        match (port(a), port(b)) {
            (Some(a), Some(b)) if a != b => self.links[a].to == self.links[b].to,
            _ => false,
        }
    }

    /// The node itself and all above it.
    fn ancestors(&self, node: usize) -> Vec<usize> {
        std::iter::successors(Some(node), |&at| self.nodes[at].parent).collect()
    }

    fn bridge(&self, way: &[usize]) -> Option<u32> {
        way.iter().find_map(|&node| match self.nodes[node].kind {
            NodeKind::RootPort(bridge) => Some(bridge),
            _ => None,
        })
    }

    fn between_sockets(&self, a: usize, b: usize) -> Option<Hop> {
        self.links.iter().enumerate().find_map(|(link, l)| {
            let upward = (l.from, l.to) == (a, b);
            (l.kind == LinkKind::Socket && (upward || (l.from, l.to) == (b, a)))
                .then_some(Hop { link, upward })
        })
    }
}

/// The rings over the first 2, 3, ... GPUs of a known graph.
pub(super) fn rings(topology: &Topology) -> Vec<Ring> {
    let count = topology.gpus.len() as u32;
    (2..=count).filter_map(|ranks| ring(topology, ranks)).collect()
}

fn ring(topology: &Topology, ranks: u32) -> Option<Ring> {
    // Edges on each link: upward, downward; and how many of them NCCL counts with 6/5.
    let mut load = vec![[0.0_f64; 2]; topology.links.len()];
    let mut counted = load.clone();
    let mut latency = Seconds::ZERO;
    for from in 0..ranks {
        let to = (from + 1) % ranks;
        let path = topology.path(from, to)?;
        let detour = topology.cpu.is_intel() && path >= PathKind::Phb;
        for hop in topology.route(from, to)? {
            latency += topology.links[hop.link].latency;
            load[hop.link][usize::from(hop.upward)] += 1.0;
            counted[hop.link][usize::from(hop.upward)] += if detour { 1.2 } else { 1.0 };
        }
    }
    let narrowest = |edges: &[[f64; 2]], figure: fn(&super::topology::Link) -> Bandwidth| {
        let shares = topology.links.iter().zip(edges).filter_map(|(link, directions)| {
            let most = directions[0].max(directions[1]);
            (most > 0.0).then(|| figure(link) / most)
        });
        shares.reduce(Bandwidth::min)
    };
    let bandwidth = narrowest(&load, |link| link.bandwidth)?;
    let pairs = (0..ranks).flat_map(|a| (0..a).map(move |b| (a, b)));
    Some(Ring {
        ranks,
        worst: pairs.filter_map(|(a, b)| topology.path(a, b)).max(),
        hop: latency / f64::from(ranks),
        bandwidth,
        bulk: bandwidth,
        halved_beyond: None,
        nominal: narrowest(&counted, |link| link.nominal)?,
        nvlink: topology.nvlink == Nvlink::Switch || (topology.nvlink == Nvlink::Pairs && ranks == 2),
        fitted: false,
    })
}
