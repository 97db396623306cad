//! Which replica takes a request.

use crate::des::{Stream, Streams};

/// Routers in front of replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// In turn.
    RoundRobin,
    /// The one with the fewest requests, waiting and running; the first of several.
    LeastRequests,
    /// At random.
    Random,
}

/// A router at work.
#[derive(Debug, Clone)]
pub(super) struct Router {
    routing: Routing,
    replicas: u32,
    next: u32,
    draws: Stream,
}

impl Router {
    pub(super) fn new(routing: Routing, replicas: u32, seed: u64) -> Self {
        Self { routing, replicas, next: 0, draws: Streams::new(seed, 0).stream("router", 0) }
    }

    /// Picks a replica; `load` tells how many requests one has.
    #[inline]
    pub(super) fn choose(&mut self, load: impl Fn(u32) -> usize) -> u32 {
        if self.replicas == 1 {
            return 0;
        }
        match self.routing {
            Routing::RoundRobin => {
                let chosen = self.next;
                self.next = (chosen + 1) % self.replicas;
                chosen
            }
            Routing::LeastRequests => {
                (0..self.replicas).min_by_key(|replica| load(*replica)).expect("there is a replica")
            }
            Routing::Random => {
                ((self.draws.uniform() * f64::from(self.replicas)) as u32).min(self.replicas - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routers_choose_as_they_say() {
        let loads = [3_usize, 1, 4, 1];
        let pick = |routing, n: usize| -> Vec<u32> {
            let mut router = Router::new(routing, 4, 7);
            (0..n).map(|_| router.choose(|i| loads[i as usize])).collect()
        };
        assert_eq!(pick(Routing::RoundRobin, 6), [0, 1, 2, 3, 0, 1]);
        assert_eq!(pick(Routing::LeastRequests, 2), [1, 1]);
        let random = pick(Routing::Random, 8000);
        for replica in 0..4 {
            let share = random.iter().filter(|r| **r == replica).count();
            assert!((1850..2150).contains(&share), "{share}");
        }
    }
}
