//! Textbook costs of collectives: α latency of a step, β seconds per byte on a link, γ seconds per byte of sum.
//!
//! ```text
//! ring                        2(n-1)α + 2(n-1)/n·Sβ + (n-1)/n·Sγ
//! recursive doubling          L(α + Sβ + Sγ)                        L = ⌈log2 n⌉
//! recursive halving, doubling 2Lα + 2(n-1)/n·Sβ + (n-1)/n·Sγ
//! binomial reduce, broadcast  2L(α + Sβ) + L·Sγ
//! one-shot                    α + (n-1)Sβ + (n-1)Sγ                 one barrier
//! two-shot                    2α + 2(n-1)/n·Sβ + (n-1)/n·Sγ         two barriers
//! g islands of m              3α + (2(m-1)/m + (g-1)/m)·Sβ
//! lower bounds                L·α with one port, α with n-1; 2(n-1)/n·Sβ
//! ```
//! Source: textbook (Thakur, Rabenseifner, Gropp 2005), and b12x @36bce2c for the islands. Valid for equal links
//! without contention; on GPUs α is a store, a poll (0.1-0.3 µs) and a one-way hop. Omitted: pipelining of chunks.

use super::policy::Algorithm;
use crate::units::{Bandwidth, Bytes, Seconds};

/// What a step costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepCost {
    /// α: latency of one step.
    pub latency: Seconds,
    /// 1/β: one direction of a rank's link.
    pub link: Bandwidth,
    /// 1/γ: rate at which a rank sums.
    pub sum: Bandwidth,
}

/// ⌈log2 n⌉.
pub(super) fn rounds(ranks: u32) -> f64 {
    f64::from(ranks.max(1).next_power_of_two().ilog2())
}

/// Bytes that each rank sends in an all-reduce of least traffic: 2(n-1)/n of the message.
pub fn least_traffic(ranks: u32, bytes: Bytes) -> Bytes {
    let n = f64::from(ranks.max(1));
    bytes * (2.0 * (n - 1.0) / n)
}

/// The time of an all-reduce; `None` for algorithms whose cost is not of this kind (Tree, NVLS).
pub fn allreduce(algorithm: Algorithm, ranks: u32, bytes: Bytes, cost: StepCost) -> Option<Seconds> {
    let (n, l) = (f64::from(ranks.max(1)), rounds(ranks));
    let whole = bytes / cost.link;
    let summed = bytes / cost.sum;
    let scattered = least_traffic(ranks, bytes) / cost.link + summed * ((n - 1.0) / n);
    Some(match algorithm {
        Algorithm::Ring => cost.latency * (2.0 * (n - 1.0)) + scattered,
        Algorithm::RecursiveDoubling => (cost.latency + whole + summed) * l,
        Algorithm::HalvingDoubling => cost.latency * (2.0 * l) + scattered,
        Algorithm::Binomial => (cost.latency + whole) * (2.0 * l) + summed * l,
        Algorithm::OneShot => cost.latency + (whole + summed) * (n - 1.0),
        Algorithm::TwoShot => cost.latency * 2.0 + scattered,
        Algorithm::Tree | Algorithm::Nvls => return None,
    })
}

/// `groups` islands of `members` ranks: reduce-scatter inside, exchange between, all-gather inside. The traffic of
/// a rank is 2(m-1)/m + (g-1)/m of the message: 2.25 for 4 x 4.
pub fn islands(groups: u32, members: u32, bytes: Bytes, cost: StepCost) -> Seconds {
    let (g, m) = (f64::from(groups.max(1)), f64::from(members.max(1)));
    cost.latency * 3.0 + bytes * ((2.0 * (m - 1.0) + (g - 1.0)) / m) / cost.link
}

/// The size at which two-shot overtakes one-shot without the cost of sums: α / ((n-1)(1-2/n)β); none for n = 2,
/// where both move the same bytes and one-shot has one barrier less.
pub fn one_shot_crossover(ranks: u32, cost: StepCost) -> Option<Bytes> {
    let n = f64::from(ranks);
    (ranks > 2).then(|| cost.link * cost.latency / ((n - 1.0) * (1.0 - 2.0 / n)))
}

/// What no all-reduce can beat: every rank's traffic over its link, and one step.
pub fn lower_bound(ranks: u32, bytes: Bytes, cost: StepCost) -> Seconds {
    if ranks < 2 {
        return Seconds::ZERO;
    }
    cost.latency.max(least_traffic(ranks, bytes) / cost.link)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Algorithm; 6] = [
        Algorithm::Ring,
        Algorithm::RecursiveDoubling,
        Algorithm::HalvingDoubling,
        Algorithm::Binomial,
        Algorithm::OneShot,
        Algorithm::TwoShot,
    ];

    fn cost(latency: f64, link: f64) -> StepCost {
        StepCost {
            latency: Seconds::from_us(latency),
            link: Bandwidth::from_gb_s(link),
            sum: Bandwidth::from_gb_s(f64::INFINITY),
        }
    }

    #[test]
    fn a_ring_of_eight_by_hand() {
        // 14 steps of 2 µs and 1.75 · 1 MB at 10 GB/s.
        let time =
            allreduce(Algorithm::Ring, 8, Bytes::new(1e6), cost(2.0, 10.0)).expect("a ring has a cost");
        assert!((time.us() - (28.0 + 175.0)).abs() < 1e-9);
        assert!((islands(4, 4, Bytes::new(1e6), cost(0.0, 1.0)).us() - 2250.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn times_grow_with_bytes_and_fall_with_bandwidth(
            ranks in 2u32..17, size in 1.0..1e9, more in 1.0..10.0, latency in 0.1..50.0, link in 1.0..500.0,
        ) {
            for algorithm in ALL {
                let time = |s: f64, b: f64| allreduce(algorithm, ranks, Bytes::new(s), cost(latency, b)).expect("cost");
                prop_assert!(time(size * more, link) >= time(size, link));
                prop_assert!(time(size, link * more) <= time(size, link));
                let bound = lower_bound(ranks, Bytes::new(size), cost(latency, link));
                prop_assert!(time(size, link).get() >= bound.get() * (1.0 - 1e-12));
            }
        }

        #[test]
        fn a_ring_moves_two_times_n_minus_one_over_n_of_the_bytes(ranks in 2u32..65, size in 1.0..1e9, link in 1.0..500.0) {
            let time = allreduce(Algorithm::Ring, ranks, Bytes::new(size), cost(0.0, link)).expect("cost");
            let moved = Bandwidth::from_gb_s(link) * time;
            let n = f64::from(ranks);
            prop_assert!((moved.get() / (2.0 * (n - 1.0) / n * size) - 1.0).abs() < 1e-12);
        }

        #[test]
        fn one_shot_and_two_shot_cross_where_the_formula_says(ranks in 3u32..33, latency in 0.1..50.0, link in 1.0..500.0) {
            let cost = cost(latency, link);
            let at = one_shot_crossover(ranks, cost).expect("more than two ranks");
            let (one, two) = (Algorithm::OneShot, Algorithm::TwoShot);
            let gap = |s: Bytes| {
                let time = |a| allreduce(a, ranks, s, cost).expect("cost").get();
                time(one) - time(two)
            };
            prop_assert!(gap(at).abs() < 1e-9 * latency);
            prop_assert!(gap(at * 0.99) < 0.0 && gap(at * 1.01) > 0.0);
        }
    }
}
