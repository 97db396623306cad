//! Max-min fair shares, incrementally: a change touches only the flows that are joined to it through shared links.
//!
//! Flows that come or go mark their links; when rates are next asked for, the connected part of the sharing graph
//! around the marked links is filled anew, all else keeps its rate. Within the part the next link to fill up comes from
//! a heap: freezing flows at the smallest share never makes another link's share smaller, so stale entries are found by
//! looking again. Equal to [`obvious_shares`](super::obvious_shares) to rounding.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow's number; numbers of flows that went are used again.
pub type Flow = usize;

/// Flows that share links fairly.
#[derive(Debug, Clone)]
pub struct FairShare {
    capacity: Vec<f64>,
    /// Flows on each link.
    users: Vec<Vec<Flow>>,
    routes: Vec<Vec<usize>>,
    rates: Vec<f64>,
    free: Vec<Flow>,
    marked: Vec<usize>,
    // Scratch of a refill.
    link_seen: Vec<bool>,
    flow_open: Vec<bool>,
    left: Vec<f64>,
    unfrozen: Vec<u32>,
    part: Vec<usize>,
    heap: BinaryHeap<Reverse<(Share, usize)>>,
}

/// A share as an ordered number; shares are never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Share(f64);

impl Eq for Share {}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl FairShare {
    /// No flows yet over links of these capacities.
    pub fn new(capacity: Vec<f64>) -> Self {
        let links = capacity.len();
        Self {
            users: vec![Vec::new(); links],
            link_seen: vec![false; links],
            left: capacity.clone(),
            unfrozen: vec![0; links],
            capacity,
            routes: Vec::new(),
            rates: Vec::new(),
            free: Vec::new(),
            marked: Vec::new(),
            flow_open: Vec::new(),
            part: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// Adds a flow over these links, each at most once.
    pub fn add(&mut self, route: &[usize]) -> Flow {
        let flow = self.free.pop().unwrap_or_else(|| {
            self.routes.push(Vec::new());
            self.rates.push(f64::INFINITY);
            self.flow_open.push(false);
            self.routes.len() - 1
        });
        self.routes[flow].clear();
        self.routes[flow].extend_from_slice(route);
        self.rates[flow] = f64::INFINITY;
        for &link in route {
            self.users[link].push(flow);
            self.marked.push(link);
        }
        flow
    }

    /// Takes a flow out.
    pub fn remove(&mut self, flow: Flow) {
        for at in 0..self.routes[flow].len() {
            let link = self.routes[flow][at];
            let place = self.users[link].iter().position(|&f| f == flow).expect("a flow is on its links");
            self.users[link].swap_remove(place);
            self.marked.push(link);
        }
        self.free.push(flow);
    }

    /// The present rate of a flow, after [`Self::settle`].
    pub fn rate(&self, flow: Flow) -> f64 {
        self.rates[flow]
    }

    /// Whether rates are out of date.
    pub fn is_unsettled(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Brings all rates up to date.
    pub fn settle(&mut self) {
        if self.marked.is_empty() {
            return;
        }
        self.collect();
        for at in 0..self.part.len() {
            let link = self.part[at];
            self.left[link] = self.capacity[link];
            self.unfrozen[link] = self.users[link].len() as u32;
            if self.unfrozen[link] > 0 {
                self.heap.push(Reverse((Share(self.share(link)), link)));
            }
        }
        while let Some(Reverse((share, link))) = self.heap.pop() {
            if self.unfrozen[link] == 0 {
                continue;
            }
            let now = self.share(link);
            if now > share.0 {
                self.heap.push(Reverse((Share(now), link)));
            } else {
                self.freeze(link, now);
            }
        }
        for link in self.part.drain(..) {
            self.link_seen[link] = false;
        }
    }

    fn share(&self, link: usize) -> f64 {
        self.left[link] / f64::from(self.unfrozen[link])
    }

    /// All links that are joined to a marked one through flows; opens their flows.
    fn collect(&mut self) {
        for link in self.marked.drain(..) {
            if !std::mem::replace(&mut self.link_seen[link], true) {
                self.part.push(link);
            }
        }
        let mut next = 0;
        while next < self.part.len() {
            let link = self.part[next];
            next += 1;
            for &flow in &self.users[link] {
                if std::mem::replace(&mut self.flow_open[flow], true) {
                    continue;
                }
                for &other in &self.routes[flow] {
                    if !std::mem::replace(&mut self.link_seen[other], true) {
                        self.part.push(other);
                    }
                }
            }
        }
    }

    /// Gives every open flow of a full link its share.
    fn freeze(&mut self, link: usize, share: f64) {
        for &flow in &self.users[link] {
            if !std::mem::replace(&mut self.flow_open[flow], false) {
                continue;
            }
            self.rates[flow] = share;
            for &other in &self.routes[flow] {
                self.left[other] -= share;
                self.unfrozen[other] -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::obvious_shares;
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
    }

    /// A flow's route; or, if the last is set, that the flow at some place goes instead.
    type Change = (Vec<usize>, usize, bool);

    fn changes() -> impl Strategy<Value = (Vec<f64>, Vec<Change>)> {
        (2usize..12).prop_flat_map(|links| {
            let capacity = prop::collection::vec(prop_oneof![Just(1.0), 0.01..100.0f64], links);
            let route = prop::collection::vec(0..links, 1..5).prop_map(|mut route| {
                route.sort_unstable();
                route.dedup();
                route
            });
            (capacity, prop::collection::vec((route, any::<usize>(), any::<bool>()), 1..60))
        })
    }

    proptest! {
        #[test]
        fn incremental_shares_equal_the_obvious_ones((capacity, changes) in changes()) {
            let mut fast = FairShare::new(capacity.clone());
            let mut flows: Vec<(Flow, Vec<usize>)> = Vec::new();
            for (route, place, goes) in changes {
                if goes && !flows.is_empty() {
                    let (flow, _) = flows.swap_remove(place % flows.len());
                    fast.remove(flow);
                } else {
                    flows.push((fast.add(&route), route));
                }
                fast.settle();
                let routes: Vec<_> = flows.iter().map(|(_, route)| route.as_slice()).collect();
                let slow = obvious_shares(&capacity, &routes);
                for ((flow, _), slow) in flows.iter().zip(slow) {
                    prop_assert!(close(fast.rate(*flow), slow), "{} against {slow}", fast.rate(*flow));
                }
            }
        }

        /// No link carries more than it can, and every flow meets a full link on which nobody gets more.
        #[test]
        fn shares_are_max_min_fair((capacity, changes) in changes()) {
            let routes: Vec<_> = changes.iter().map(|(route, _, _)| route.as_slice()).collect();
            let mut fast = FairShare::new(capacity.clone());
            let flows: Vec<_> = routes.iter().map(|route| fast.add(route)).collect();
            fast.settle();
            let on = |link: usize| -> Vec<f64> {
                let users = (0..flows.len()).filter(|&f| routes[f].contains(&link));
                users.map(|f| fast.rate(flows[f])).collect()
            };
            let load = |link: usize| on(link).into_iter().sum::<f64>();
            for (link, limit) in capacity.iter().enumerate() {
                prop_assert!(load(link) <= limit * (1.0 + 1e-9));
            }
            for (f, route) in routes.iter().enumerate() {
                let mine = fast.rate(flows[f]);
                let bound = route.iter().any(|&link| {
                    load(link) >= capacity[link] * (1.0 - 1e-9)
                        && on(link).into_iter().all(|other| other <= mine * (1.0 + 1e-9))
                });
                prop_assert!(bound);
            }
        }
    }

    #[test]
    fn flows_over_one_link_share_it_exactly() {
        for k in 1..=64_u32 {
            let mut shared = FairShare::new(vec![64.0]);
            let flows: Vec<_> = (0..k).map(|_| shared.add(&[0])).collect();
            shared.settle();
            for flow in flows {
                assert_eq!(shared.rate(flow).to_bits(), (64.0 / f64::from(k)).to_bits());
            }
        }
    }
}
