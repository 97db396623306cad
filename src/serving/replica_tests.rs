//! One replica, stepped by hand.

use super::*;
use crate::serving::{Drafting, LinearCost, ServingConfig};
use crate::speculation::{Acceptance, DraftShape};
use crate::units::Seconds;

/// Counts what is asked of it, and takes 1 ms a step.
struct Bench<'a> {
    replica: Replica<'a>,
    metrics: Metrics,
    now: SimTime,
    steps: Vec<Step>,
}

const MS: u64 = 1_000_000_000;

impl<'a> Bench<'a> {
    fn new(plan: &'a Plan, requests: u32, budget: u32, blocks: u32) -> Self {
        let limits = StepLimits { requests, budget, blocks, block_size: 4 };
        Self {
            replica: Replica::new(0, limits, plan, 1),
            metrics: Metrics::new(&ServingConfig::default(), plan.most_accepted()),
            now: SimTime::ZERO,
            steps: Vec::new(),
        }
    }

    fn arrive(&mut self, id: u64, prompt: u32, output: u32) -> bool {
        self.replica.arrive(Arrival { id, at: self.now, prompt, output }, &mut self.metrics)
    }

    /// One step; (decodes, prompt tokens).
    fn step(&mut self) -> Option<(u32, u32)> {
        let seen = std::sync::Mutex::new(None);
        let cost = |step: &Step| {
            *seen.lock().expect("one thread") = Some(*step);
            SimTime::from_ps(MS)
        };
        self.now = self.replica.start(self.now, &cost, &mut self.metrics)?;
        self.replica.finish(self.now, &mut self.metrics);
        self.replica.check();
        let step = seen.into_inner().expect("one thread").expect("it was priced");
        self.steps.push(step);
        Some((step.decodes, step.prefill_tokens))
    }

    fn run(&mut self) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| self.step()).collect()
    }
}

/// Accepts all drafted tokens.
fn always(drafted: u32) -> Plan {
    let law = Acceptance::geometric(1.0).expect("valid");
    Plan::new(Some(&Drafting::fixed(law, DraftShape::chain(drafted))))
}

#[test]
fn a_prompt_is_computed_in_chunks_and_yields_the_first_token() {
    let plan = Plan::new(None);
    let mut bench = Bench::new(&plan, 8, 10, 100);
    bench.arrive(0, 25, 3);
    assert_eq!(bench.run(), [(0, 10), (0, 10), (0, 5), (1, 0), (1, 0)]);
    assert_eq!(bench.steps[2].prefill_context, 20);
    assert_eq!(bench.steps[3].decode_context, 25);
    assert_eq!(bench.steps[4].decode_context, 26);
    let ttft = bench.metrics.ttft.summary();
    assert!((ttft.mean.ms() - 3.0).abs() < 1e-9);
    assert!((bench.metrics.tpot.summary().mean.ms() - 1.0).abs() < 1e-9);
    assert_eq!(bench.replica.held(), 0);
}

#[test]
fn verify_rows_count_against_the_budget_and_decodes_come_first() {
    let plan = always(3);
    let mut bench = Bench::new(&plan, 8, 10, 100);
    bench.arrive(0, 4, 9);
    bench.arrive(1, 4, 9);
    bench.arrive(2, 100, 2);
    // 4 + 4 + 2 prompt tokens; then two requests verify 4 rows each, and 2 tokens are left for the third.
    assert_eq!(bench.step(), Some((0, 10)));
    assert_eq!(bench.step(), Some((2, 2)));
    assert_eq!((bench.steps[1].rows(), bench.steps[1].tokens()), (4, 10));
    assert_eq!(bench.step(), Some((2, 2)), "9 = 1 + 4 + 4 tokens");
    assert_eq!(bench.step(), Some((0, 10)));
    assert_eq!(bench.metrics.counts.completed, 2);
    bench.run();
    assert_eq!(bench.metrics.counts.output, 20);
    assert_eq!(bench.metrics.accepted[4], 5, "the last pass is counted uncut");
}

#[test]
fn outputs_are_cut_at_their_end() {
    let plan = always(3);
    let mut bench = Bench::new(&plan, 8, 100, 100);
    bench.arrive(0, 4, 7);
    assert_eq!(bench.run(), [(0, 4), (1, 0), (1, 0)]);
    assert_eq!((bench.metrics.counts.output, bench.metrics.counts.decoded), (7, 6));
}

#[test]
fn more_rows_than_the_budget_leave_the_youngest_out() {
    let plan = always(3);
    let mut bench = Bench::new(&plan, 8, 8, 100);
    (0..3).for_each(|id| assert!(bench.arrive(id, 2, 9)));
    assert_eq!(bench.step(), Some((0, 6)));
    assert_eq!(bench.run(), [(2, 0), (2, 0), (1, 0), (1, 0)]);
    let gap = bench.metrics.itl.summary().max;
    assert!((gap.ms() - 3.0).abs() < 1e-9, "the third waited two steps for its turn: {gap:?}");
}

#[test]
fn the_youngest_is_preempted_and_computes_its_tokens_again() {
    let plan = Plan::new(None);
    // 4 blocks of 4 tokens: two requests of 4 + 8 tokens do not fit to their ends.
    let mut bench = Bench::new(&plan, 8, 100, 4);
    bench.arrive(0, 4, 8);
    bench.arrive(1, 4, 8);
    let steps = bench.run();
    // Both grow to 8 tokens in 2 blocks each; the older takes the third block at its 9th.
    assert_eq!(steps[..5], [(0, 8), (2, 0), (2, 0), (2, 0), (2, 0)]);
    assert_eq!(steps[5], (1, 0), "the younger lost its blocks, 5 of 8 tokens delivered");
    assert_eq!(bench.metrics.counts.preemptions, 1);
    assert_eq!(bench.metrics.counts.recomputed, 9, "4 prompt tokens and 5 delivered ones");
    assert_eq!(steps[6..], [(1, 0), (1, 0), (0, 9), (1, 0), (1, 0)]);
    assert_eq!((bench.metrics.counts.output, bench.metrics.counts.completed), (16, 2));
    let counts = bench.metrics.counts;
    assert_eq!(counts.blocks_taken, counts.blocks_returned);
    assert_eq!(bench.metrics.ttft.summary().count, 2, "a request has one first token");
    assert!((bench.metrics.itl.summary().max.ms() - 4.0).abs() < 1e-9);
}

#[test]
fn what_can_never_fit_is_rejected() {
    let plan = always(3);
    let mut bench = Bench::new(&plan, 8, 100, 4);
    assert!(!bench.arrive(0, 17, 1), "17 tokens in 16 places");
    assert!(bench.arrive(1, 16, 1));
    assert!(bench.arrive(2, 4, 10), "4 + 8 tokens and 4 rows");
    assert!(!bench.arrive(3, 4, 11));
    assert!(!bench.arrive(4, u32::MAX, u32::MAX), "no overflow");
    bench.run();
    assert_eq!((bench.metrics.counts.completed, bench.metrics.counts.rejected), (2, 3));
}

#[test]
fn requests_run_together_up_to_the_limit() {
    let plan = Plan::new(None);
    let mut bench = Bench::new(&plan, 2, 100, 100);
    (0..5).for_each(|id| assert!(bench.arrive(id, 1, 2)));
    assert_eq!(bench.run(), [(0, 2), (2, 0), (0, 2), (2, 0), (0, 1), (1, 0)]);
}

#[test]
fn the_linear_cost_counts_every_row() {
    let cost = LinearCost::new(Seconds::from_ms(8.0), Seconds::from_us(20.0));
    let shape = DraftShape::chain(3);
    let step =
        Step { decodes: 100, shape, decode_context: 0, prefills: 1, prefill_tokens: 112, prefill_context: 0 };
    assert!((cost.time(&step).seconds().ms() - 18.24).abs() < 1e-9);
}
