use proptest::prelude::*;

use super::super::exchange::{Exchanger, Sharing};
use super::super::link::Fabrics;
use super::*;
use crate::collective::{StepCost, allreduce};
use crate::units::{Bandwidth, Seconds};

const ALL: [Algorithm; 6] = [
    Algorithm::Ring,
    Algorithm::RecursiveDoubling,
    Algorithm::HalvingDoubling,
    Algorithm::Binomial,
    Algorithm::OneShot,
    Algorithm::TwoShot,
];

/// A byte takes 1 ns on a link and 0.25 ns to sum, a step 2 µs: every textbook time is a whole number of ps.
fn cost() -> StepCost {
    StepCost {
        latency: Seconds::from_us(2.0),
        link: Bandwidth::from_gb_s(1.0),
        sum: Bandwidth::from_gb_s(4.0),
    }
}

/// The simulated time of ranks that arrive together on an ideal crossbar \[ps\].
fn simulated(plan: Plan, sharing: Sharing) -> u64 {
    let n = plan.ranks;
    let fabric = Fabrics::crossbar(n, cost().link, cost().latency);
    let mut exchanger = Exchanger::new(plan, &fabric, 0, Seconds::ZERO, 1.0, cost().sum, sharing);
    let mut ends = vec![0; n as usize];
    exchanger.run(&vec![0; n as usize], &mut ends);
    assert!(ends.iter().all(|end| *end <= ends[0].max(*ends.iter().max().expect("ranks"))));
    *ends.iter().max().expect("there are ranks")
}

fn formula(algorithm: Algorithm, ranks: u32, bytes: Bytes) -> u64 {
    let time = allreduce(algorithm, ranks, bytes, cost()).expect("a textbook algorithm");
    (time.get() * 1e12).round() as u64
}

#[test]
fn steps_over_an_uncontended_fabric_take_the_textbook_times() {
    for sharing in [Sharing::Own, Sharing::Fair] {
        for ranks in [2, 4, 8, 16] {
            for algorithm in ALL {
                let bytes = Bytes::new(65_536.0);
                let plan = Plan::allreduce(algorithm, ranks, bytes).expect("it has a plan");
                let (steps, textbook) = (simulated(plan, sharing), formula(algorithm, ranks, bytes));
                assert_eq!(steps, textbook, "{algorithm:?} over {ranks}, {sharing:?}");
            }
        }
    }
}

#[test]
fn rings_direct_and_binomial_hold_for_any_number_of_ranks() {
    for ranks in [3, 5, 6, 7, 10] {
        let bytes = Bytes::new(f64::from(ranks) * 7_000.0);
        for algorithm in [Algorithm::Ring, Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Binomial] {
            let plan = Plan::allreduce(algorithm, ranks, bytes).expect("it has a plan");
            assert_eq!(
                simulated(plan, Sharing::Own),
                formula(algorithm, ranks, bytes),
                "{algorithm:?} {ranks}"
            );
        }
    }
}

#[test]
fn a_chain_in_chunks_takes_a_step_for_each_hop_and_each_further_chunk() {
    for ranks in [2_u32, 3, 8] {
        for chunks in [1_u32, 2, 8] {
            let plan = Plan { ..Plan::chain(ranks, Bytes::new(64_000.0), chunks) };
            let fabric = Fabrics::crossbar(ranks, cost().link, cost().latency);
            let infinite = Bandwidth::new(f64::INFINITY);
            let mut exchanger = Exchanger::new(plan, &fabric, 0, Seconds::ZERO, 1.0, infinite, Sharing::Own);
            let mut ends = vec![0; ranks as usize];
            exchanger.run(&vec![0; ranks as usize], &mut ends);
            let step = 2_000_000 + 64_000_000 / u64::from(chunks);
            let steps = u64::from(2 * (ranks - 1) + chunks - 1);
            assert_eq!(ends.iter().max(), Some(&(steps * step)), "{ranks} ranks, {chunks} chunks");
        }
    }
}

proptest! {
    /// Least traffic for algorithms that have it; every vector is summed n - 1 times in all.
    #[test]
    fn plans_move_and_sum_what_they_must(ranks in 2u32..17, size in 1.0..1e9f64) {
        let bytes = Bytes::new(size);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        for algorithm in ALL {
            let plan = Plan::allreduce(algorithm, ranks, bytes).expect("it has a plan");
            let summed: f64 = plan.transfers().iter().map(|t| t.sum.get()).sum();
            prop_assert!(summed >= f64::from(ranks - 1) * size * (1.0 - 1e-9), "{:?}", algorithm);
        }
        let n = f64::from(ranks);
        for algorithm in [Algorithm::Ring, Algorithm::TwoShot] {
            let plan = Plan::allreduce(algorithm, ranks, bytes).expect("it has a plan");
            for rank in 0..ranks {
                prop_assert!(close(plan.sent(rank).get(), 2.0 * (n - 1.0) / n * size));
            }
        }
    }
}
