use proptest::prelude::*;

use super::*;
use crate::collective::Algorithm;
use crate::des::Streams;
use crate::machine::link::obvious_shares;
use crate::units::Bytes;

fn exchanger(plan: Plan, sharing: Sharing) -> Exchanger {
    let fabric = Fabrics::crossbar(plan.ranks, Bandwidth::from_gb_s(1.0), Seconds::from_us(1.0));
    Exchanger::new(plan, &fabric, 0, Seconds::ZERO, 1.0, Bandwidth::new(f64::INFINITY), sharing)
}

fn ends(exchanger: &mut Exchanger, arrivals: &[u64]) -> Vec<u64> {
    let mut ends = vec![0; arrivals.len()];
    exchanger.run(arrivals, &mut ends);
    ends
}

/// The plan as it stands in the module's first lines, in floating point, with shares computed from nothing whenever
/// a flow comes or goes.
fn slow(plan: &Plan, fabric: &Fabrics, arrivals: &[u64]) -> Vec<f64> {
    let capacity: Vec<f64> = fabric.resources.iter().map(|r| r.bandwidth.get() * 1e-12).collect();
    let count = plan.transfers().len();
    let mut begin: Vec<Option<f64>> = vec![None; count];
    let mut left: Vec<f64> = plan.transfers().iter().map(|t| t.bytes.get()).collect();
    let mut done: Vec<Option<f64>> = vec![None; count];
    let mut now = 0.0;
    while done.iter().any(Option::is_none) {
        for (at, transfer) in plan.transfers().iter().enumerate() {
            let waits = plan.waits(at).iter().map(|&w| done[w as usize]);
            if begin[at].is_none()
                && let Some(ready) = waits.collect::<Option<Vec<_>>>()
            {
                let arrival = arrivals[transfer.from as usize] as f64;
                let ready = ready.into_iter().fold(arrival, f64::max);
                begin[at] = Some(ready + fabric.latency(transfer.from, transfer.to).get() * 1e12);
            }
        }
        let flowing: Vec<usize> =
            (0..count).filter(|&at| begin[at].is_some_and(|b| b <= now) && done[at].is_none()).collect();
        let routes: Vec<_> = flowing
            .iter()
            .map(|&at| fabric.route(plan.transfers()[at].from, plan.transfers()[at].to))
            .collect();
        let rates = obvious_shares(&capacity, &routes);
        let lands = flowing.iter().zip(&rates).map(|(&at, rate)| now + left[at] / rate);
        let begins = begin.iter().flatten().copied().filter(|b| *b > now);
        let next = lands.chain(begins).fold(f64::INFINITY, f64::min);
        for (&at, rate) in flowing.iter().zip(&rates) {
            if rate.is_infinite() || left[at] - (next - now) * rate <= 1e-6 * rate {
                left[at] = 0.0;
                done[at] = Some(next);
            } else {
                left[at] -= (next - now) * rate;
            }
        }
        now = next;
    }
    done.into_iter().flatten().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Events and the loop over all flows agree to the rounding of picoseconds, one for each step of the plan.
    #[test]
    fn events_agree_with_the_obvious_loop(
        algorithm in prop::sample::select(vec![Algorithm::Ring, Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Tree]),
        hardware in prop::sample::select(vec!["rtx-pro-6000-x8-dual-turin", "rtx-pro-6000-x8-switch", "rtx-pro-6000-x8"]),
        bytes in 1e3..1e6f64,
        arrivals in prop::collection::vec(0u64..50_000_000, 8),
    ) {
        let hardware = crate::hardware::preset(hardware).expect("a preset");
        let fabric = Fabrics::of(&hardware, 8);
        let plan = Plan::allreduce(algorithm, 8, Bytes::new(bytes)).expect("a plan");
        let truth = slow(&plan, &fabric, &arrivals);
        let infinite = Bandwidth::new(f64::INFINITY);
        let mut exchanger = Exchanger::new(plan, &fabric, 0, Seconds::ZERO, 1.0, infinite, Sharing::Fair);
        ends(&mut exchanger, &arrivals);
        for (fast, slow) in exchanger.done.iter().zip(truth) {
            prop_assert!((*fast as f64 - slow).abs() < 200.0, "{fast} against {slow}");
        }
    }

    /// Nobody ends before the last has arrived and all have its part, whatever the algorithm.
    #[test]
    fn an_allreduce_ends_after_its_last_arrival(
        algorithm in prop::sample::select(vec![
            Algorithm::Ring, Algorithm::Tree, Algorithm::Binomial, Algorithm::OneShot, Algorithm::TwoShot,
            Algorithm::RecursiveDoubling, Algorithm::HalvingDoubling]),
        ranks in 2u32..10,
        arrivals in prop::collection::vec(0u64..50_000_000, 10),
        fair in any::<bool>(),
    ) {
        let plan = Plan::allreduce(algorithm, ranks, Bytes::new(40_000.0)).expect("a plan");
        let sharing = if fair { Sharing::Fair } else { Sharing::Own };
        let mut exchanger = exchanger(plan, sharing);
        let arrivals = &arrivals[..ranks as usize];
        let together = ends(&mut exchanger, &vec![0; ranks as usize]).into_iter().max().expect("ranks");
        let last = *arrivals.iter().max().expect("ranks");
        for (rank, end) in ends(&mut exchanger, arrivals).into_iter().enumerate() {
            prop_assert!(end >= last, "rank {rank} ends at {end}");
            // Without sharing, earlier arrivals can only help. With it, a flow that starts early may meet another.
            let bound = if fair { 2 * together } else { together };
            prop_assert!(end <= last + bound, "rank {rank}: {end} > {last} + {bound}");
        }
    }
}

#[test]
fn flows_over_one_link_share_it_exactly() {
    // Everybody sends to everybody: each port carries n-1 flows, so each takes n-1 times as long as alone.
    for ranks in 2..=16_u32 {
        let mut exchanger = exchanger(Plan::one_shot(ranks, Bytes::new(1_000.0)), Sharing::Fair);
        let alone = 1_000_000;
        let expected = 1_000_000 + u64::from(ranks - 1) * alone;
        assert_eq!(ends(&mut exchanger, &vec![0; ranks as usize]), vec![expected; ranks as usize]);
    }
}

#[test]
fn an_anchored_exchange_takes_the_known_time() {
    for (us, sharing) in
        [(5.0, Sharing::Own), (500.0, Sharing::Own), (5.0, Sharing::Fair), (500.0, Sharing::Fair)]
    {
        let time = Seconds::from_us(us);
        let mut exchanger = exchanger(Plan::ring(8, Bytes::new(43_008.0)), sharing).anchored(time);
        let end = ends(&mut exchanger, &[7; 8]).into_iter().max().expect("ranks");
        assert_eq!(end - 7, (us * 1e6) as u64, "{us} us, {sharing:?}");
    }
}

/// E\[max of n exponentials\] = H_n / λ: how long a rendezvous of ranks with exponential delays takes.
#[test]
fn a_rendezvous_of_exponential_arrivals_takes_the_harmonic_number() {
    let runs = 40_000_u32;
    for ranks in [2_u32, 8] {
        let harmonic: f64 = (1..=ranks).map(|i| 1.0 / f64::from(i)).sum();
        let variance: f64 = (1..=ranks).map(|i| 1.0 / f64::from(i * i)).sum();
        let empty = Plan::one_shot(ranks, Bytes::ZERO);
        let fabric = Fabrics::crossbar(ranks, Bandwidth::from_gb_s(1.0), Seconds::ZERO);
        let infinite = Bandwidth::new(f64::INFINITY);
        let mut exchanger = Exchanger::new(empty, &fabric, 0, Seconds::ZERO, 1.0, infinite, Sharing::Own);
        let mut total = 0.0;
        for run in 0..runs {
            let mut stream = Streams::new(5, u64::from(run)).stream("arrival", 0);
            let arrivals: Vec<u64> = (0..ranks).map(|_| whole(stream.exponential(1e9))).collect();
            total += ends(&mut exchanger, &arrivals)[0] as f64;
        }
        let mean = total / f64::from(runs) / 1e9;
        let error = (variance / f64::from(runs)).sqrt();
        assert!((mean - harmonic).abs() < 4.0 * error, "{ranks} ranks: {mean} against {harmonic}");
    }
}
