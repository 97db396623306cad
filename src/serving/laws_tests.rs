//! What holds for every configuration.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;
use crate::des::SimTime;
use crate::speculation::{Acceptance, DraftShape, Markov};
use crate::units::Seconds;

fn law() -> impl Strategy<Value = Acceptance> {
    let rate = |a: f64| Acceptance::geometric(a).expect("valid");
    prop_oneof![
        (0.0..=1.0).prop_map(rate),
        prop::collection::vec(0.0..=1.0, 1..5)
            .prop_map(|rates| Acceptance::conditional(&rates).expect("valid")),
        (0.5..5.0, 0.5..5.0).prop_map(|(a, b)| Acceptance::beta(a, b).expect("valid")),
        (0.1..0.9).prop_map(move |share| {
            Acceptance::mixture(vec![(share, rate(0.9)), (1.0 - share, rate(0.2))]).expect("valid")
        }),
        (0.1..0.9).prop_map(move |share| {
            Acceptance::Markov(Markov::two_states(rate(0.9), rate(0.2), share, 0.5).expect("valid"))
        }),
    ]
}

fn drafting() -> impl Strategy<Value = Option<Drafting>> {
    let rows = (0_u32..5, 1_u32..12, 0_u32..5).prop_map(|(small, batch, large)| {
        let shape = |k: u32| (k > 0).then(|| DraftShape::chain(k));
        vec![
            DraftingRow { from_batch: 1, shape: shape(small) },
            DraftingRow { from_batch: 1 + batch, shape: shape(large) },
        ]
    });
    prop::option::of(
        (law(), rows).prop_map(|(law, rows)| Drafting::by_batch(law, rows).expect("the rows rise")),
    )
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let interval = || (1.0..200.0).prop_map(Seconds::from_ms);
    prop_oneof![
        interval().prop_map(|interval| Arrivals::Poisson { interval }),
        (interval(), 0.0..4.0).prop_map(|(interval, variation)| Arrivals::Gamma { interval, variation }),
        interval().prop_map(|interval| Arrivals::Constant { interval }),
        Just(Arrivals::Trace),
        (1_u32..30).prop_map(|users| Arrivals::Closed { users }),
    ]
}

fn length(most: u32) -> impl Strategy<Value = Length> {
    let mean = 1.0..f64::from(most);
    prop_oneof![
        (1..most).prop_map(Length::Fixed),
        (mean.clone(), 0.0..2.0).prop_map(|(mean, variation)| Length::Lognormal { mean, variation }),
        mean.prop_map(|mean| Length::Exponential { mean }),
    ]
}

fn lengths() -> impl Strategy<Value = Lengths> {
    prop_oneof![
        4 => (length(300), length(40)).prop_map(|(prompt, output)| Lengths::Drawn { prompt, output }),
        1 => Just(Lengths::Trace),
    ]
}

fn trace() -> impl Strategy<Value = Trace> {
    let row = (0_u64..200_000_000_000, 1_u32..300, 1_u32..40);
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let mut at = 0;
        let request = |(gap, prompt, output)| {
            at += gap;
            TraceRequest { at: SimTime::from_ps(at), prompt, output }
        };
        Trace::new(rows.into_iter().map(request).collect()).expect("it rises")
    })
}

prop_compose! {
    fn config()(
        (arrivals, lengths, trace, drafting) in (arrivals(), lengths(), trace(), drafting()),
        requests in 0_u64..120,
        max_requests in 1_u32..20,
        token_budget in 6_u32..200,
        blocks in 1_u32..120,
        block_size in 1_u32..20,
        replicas in 1_u32..6,
        router in prop_oneof![Just(Routing::RoundRobin), Just(Routing::LeastRequests), Just(Routing::Random)],
        horizon in prop::option::of((0.01..5.0).prop_map(Seconds::new)),
        seed in any::<u64>(),
    ) -> ServingConfig {
        ServingConfig {
            arrivals, lengths, requests, trace: Some(std::sync::Arc::new(trace)), max_requests, token_budget,
            kv: Kv { blocks, block_size }, replicas, router, drafting, slo: Slo::default(), horizon, seed,
            keep_records: true,
        }
    }
}

fn cost() -> LinearCost {
    LinearCost::new(Seconds::from_ms(3.0), Seconds::from_us(50.0))
}

fn run(config: &ServingConfig) -> ServingResult {
    simulate(config, &cost(), &mut |_| ControlFlow::Continue(())).expect("a valid configuration")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn every_request_token_and_block_is_accounted_for(config in config()) {
        let result = run(&config);
        let RequestCounts { arrived, completed, rejected, running, waiting } = result.requests;
        prop_assert_eq!(arrived, completed + rejected + running + waiting);
        prop_assert!(arrived <= config.requests);
        if result.end == End::Finished {
            prop_assert_eq!((arrived, running, waiting), (config.requests, 0, 0));
            prop_assert_eq!(result.kv.held, 0);
            let outputs: u64 = result.records.iter().map(|r| u64::from(r.output)).sum();
            prop_assert_eq!(result.tokens.output, outputs);
            let prompts: u64 = result.records.iter().map(|r| u64::from(r.prompt)).sum();
            if result.preemptions == 0 {
                prop_assert_eq!(result.tokens.prefill, prompts);
            } else {
                prop_assert!(result.tokens.prefill >= prompts);
            }
        }
        prop_assert_eq!(result.kv.taken, result.kv.returned + result.kv.held);
        prop_assert!(result.kv.peak <= config.kv.blocks);
        prop_assert!(result.kv.mean_share <= 1.0 + 1e-12 && result.busy_share <= 1.0 + 1e-12);
        prop_assert_eq!(result.records.len() as u64, completed);
        prop_assert_eq!((result.e2e.count, result.goodput.requests), (completed, completed));
        prop_assert!(result.ttft.count >= completed);
        prop_assert!(result.timeline.iter().all(|p| p.waiting >= 0.0
            && p.running <= f64::from(config.max_requests * config.replicas) + 1e-9
            && p.kv_blocks <= result.kv.blocks as f64 + 1e-9));
        // Every token is a first one, or the first after a preemption, or comes in a delivery that has a gap before it.
        let deliveries = result.itl.count + result.ttft.count;
        prop_assert!(deliveries <= result.tokens.output);
    }

    #[test]
    fn causes_come_before_effects(config in config()) {
        let result = run(&config);
        let mut before = None;
        for r in &result.records {
            prop_assert!(before.is_none_or(|before| before < r.id), "each request once, in order");
            before = Some(r.id);
            prop_assert!(r.arrived <= r.started && r.started < r.first_token && r.first_token <= r.completed);
            prop_assert_eq!(r.output == 1, r.first_token == r.completed);
            prop_assert!(r.replica < config.replicas);
            prop_assert!(r.completed.seconds() <= result.span);
            // Every chunk and every pass takes a step of 3 ms at least.
            let chunks = u64::from(r.prompt.div_ceil(config.token_budget));
            let most = config.drafting.as_ref().map_or(1, |d| {
                d.rows().iter().filter_map(|row| row.shape).map(|s| s.depth() + 1).max().unwrap_or(1)
            });
            let passes = u64::from((r.output - 1).div_ceil(most));
            prop_assert!((r.completed - r.started).ps() >= (chunks + passes) * 3_000_000_000);
        }
        prop_assert!(result.timeline.windows(2).all(|p| p[0].to == p[1].from && p[0].from < p[0].to));
    }

    #[test]
    fn time_never_runs_back_and_rounds_change_nothing(config in config()) {
        let mut seen = Vec::new();
        let watched = simulate(&config, &cost(), &mut |p| {
            seen.push((p.now, p.events, p.done));
            ControlFlow::Continue(())
        });
        prop_assert!(seen.windows(2).all(|p| p[0].0 <= p[1].0 && p[0].1 <= p[1].1 && p[0].2 <= p[1].2));
        prop_assert_eq!(watched.expect("valid"), run(&config));
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads(config in config()) {
        let pools = pools();
        let texts: Vec<String> = pools.iter().map(|pool| pool.install(|| format!("{:?}", run(&config)))).collect();
        prop_assert_eq!(&texts[0], &texts[1]);
        prop_assert_eq!(&texts[0], &texts[2]);
    }
}

/// Pools of 1, 2 and 4 threads, made once.
fn pools() -> &'static [rayon::ThreadPool; 3] {
    static POOLS: std::sync::OnceLock<[rayon::ThreadPool; 3]> = std::sync::OnceLock::new();
    POOLS.get_or_init(|| {
        [1, 2, 4].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool starts"))
    })
}

/// As above, with enough requests for many rounds and lanes.
#[test]
fn long_runs_and_many_seeds_are_the_same_for_any_number_of_threads() {
    let config = ServingConfig {
        arrivals: Arrivals::Poisson { interval: Seconds::from_us(100.0) },
        lengths: Lengths::Drawn { prompt: Length::Exponential { mean: 30.0 }, output: Length::Fixed(3) },
        requests: 10_000,
        replicas: 40,
        router: Routing::Random,
        drafting: Some(Drafting::fixed(Acceptance::geometric(0.6).expect("valid"), DraftShape::chain(2))),
        ..ServingConfig::default()
    };
    let texts: Vec<String> = pools()
        .iter()
        .map(|pool| {
            pool.install(|| format!("{:?}", simulate_seeds(&config, &[1, 2], &cost()).expect("valid")))
        })
        .collect();
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert_eq!(run(&ServingConfig { seed: 1, ..config.clone() }).requests.completed, 10_000);
    let one = run(&ServingConfig { seed: 1, ..config.clone() });
    let other = run(&ServingConfig { seed: 2, ..config });
    assert_ne!(one.e2e.mean, other.e2e.mean, "seeds differ");
}
