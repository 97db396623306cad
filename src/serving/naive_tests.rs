//! A slow, obvious replica, written from the rules alone: every request is looked at in every step, and nothing is
//! kept that can be worked out again. The quick one must give the same times for every request.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;
use crate::des::{SimTime, Streams};
use crate::speculation::{Acceptance, DraftShape};
use crate::units::Seconds;

#[derive(Debug, Clone)]
struct Naive {
    record: RequestRecord,
    delivered: u32,
    /// Tokens in the KV cache.
    computed: u32,
    blocks: u32,
    chunk: u32,
    decodes: bool,
}

impl Naive {
    const fn to_prefill(&self) -> u32 {
        self.record.prompt + self.delivered
    }
}

#[expect(clippy::too_many_lines, reason = "one loop, from top to bottom, is what makes it obvious")]
fn naive(config: &ServingConfig, cost: &LinearCost) -> Vec<RequestRecord> {
    let trace = config.trace.as_ref().expect("it is given").requests();
    let mut draws = Streams::new(config.seed, 0).stream("acceptance", 0);
    let (mut waiting, mut running, mut done) = (VecDeque::new(), Vec::<Naive>::new(), Vec::new());
    let most_rows = config.drafting.as_ref().map_or(1, |d| {
        d.rows().iter().map(|row| row.shape.map_or(1, |shape| shape.draft_tokens)).max().expect("a row")
    });
    let size = config.kv.block_size;
    let (mut now, mut next) = (SimTime::ZERO, 0);
    loop {
        while next < trace.len() && trace[next].at <= now {
            let TraceRequest { at, prompt, output } = trace[next];
            let record = RequestRecord {
                id: next as u64,
                replica: 0,
                prompt,
                output,
                arrived: at,
                started: SimTime::MAX,
                first_token: SimTime::ZERO,
                completed: SimTime::ZERO,
                preemptions: 0,
            };
            next += 1;
            let last_pass = if output > 1 { prompt + output - 2 + most_rows } else { prompt };
            if last_pass.max(prompt + output - 1).div_ceil(size) <= config.kv.blocks {
                waiting.push_back(Naive {
                    record,
                    delivered: 0,
                    computed: 0,
                    blocks: 0,
                    chunk: 0,
                    decodes: false,
                });
            }
        }
        if running.is_empty() && waiting.is_empty() {
            match trace.get(next) {
                Some(request) => now = request.at,
                None => break,
            }
            continue;
        }
        let free = |running: &[Naive]| config.kv.blocks - running.iter().map(|r| r.blocks).sum::<u32>();
        let batch = running.iter().filter(|r| r.decodes).count() as u32;
        let shape = config.drafting.as_ref().and_then(|d| {
            d.rows().iter().rev().find(|row| row.from_batch <= batch.max(1)).expect("row 1").shape
        });
        let shape = shape.unwrap_or(DraftShape::chain(0));
        let (rows, mut budget, mut preempted) = (shape.draft_tokens, config.token_budget, false);
        let mut part = 0;
        'decodes: while part < running.len() && running[part].decodes && budget >= rows {
            let blocks = (running[part].computed + rows).div_ceil(size);
            while free(&running) + running[part].blocks < blocks {
                let mut victim = running.pop().expect("it runs");
                (victim.computed, victim.blocks, victim.chunk, victim.decodes) = (0, 0, 0, false);
                victim.record.preemptions += 1;
                waiting.push_front(victim);
                preempted = true;
                if running.len() == part {
                    break 'decodes;
                }
            }
            running[part].blocks = running[part].blocks.max(blocks);
            budget -= rows;
            part += 1;
        }
        let mut prefill_tokens = 0;
        let mut prompts_done = true;
        for i in 0..running.len() {
            if !running[i].decodes {
                let room = (free(&running) + running[i].blocks) * size - running[i].computed;
                let chunk = (running[i].to_prefill() - running[i].computed).min(budget).min(room);
                running[i].chunk = chunk;
                running[i].blocks = running[i].blocks.max((running[i].computed + chunk).div_ceil(size));
                prompts_done &= running[i].computed + chunk == running[i].to_prefill();
                (budget, prefill_tokens) = (budget - chunk, prefill_tokens + chunk);
            }
        }
        while prompts_done && !preempted && budget > 0 && running.len() < config.max_requests as usize {
            let Some(first) = waiting.front() else { break };
            let chunk = first.to_prefill().min(budget);
            if chunk.div_ceil(size) > free(&running) {
                break;
            }
            let mut admitted: Naive = waiting.pop_front().expect("it was seen");
            admitted.record.started = admitted.record.started.min(now);
            (admitted.chunk, admitted.blocks) = (chunk, chunk.div_ceil(size));
            running.push(admitted);
            (budget, prefill_tokens) = (budget - chunk, prefill_tokens + chunk);
        }
        let tokens = part as u64 * u64::from(rows) + u64::from(prefill_tokens);
        now += SimTime::from_ps(cost_of(cost, tokens));
        for (i, request) in running.iter_mut().enumerate() {
            let gained = if i < part {
                let law = config.drafting.as_ref().map(Drafting::acceptance);
                let drawn = match law {
                    Some(law) if shape.depth() > 0 => law.sample(shape, draws.rng()),
                    _ => 1,
                };
                let gained = drawn.min(request.record.output - request.delivered);
                request.computed += gained;
                gained
            } else {
                request.computed += request.chunk;
                let complete = request.chunk > 0 && request.computed == request.to_prefill();
                request.chunk = 0;
                request.decodes |= complete;
                u32::from(complete)
            };
            if gained > 0 && request.delivered == 0 {
                request.record.first_token = now;
            }
            request.delivered += gained;
            request.record.completed = now;
        }
        done.extend(running.extract_if(.., |r| r.delivered == r.record.output).map(|r| r.record));
    }
    done.sort_by_key(|record| record.id);
    done
}

fn cost_of(cost: &LinearCost, tokens: u64) -> u64 {
    let prefill_tokens = u32::try_from(tokens).expect("small");
    let shape = DraftShape::chain(0);
    let step = Step { decodes: 0, shape, decode_context: 0, prefills: 1, prefill_tokens, prefill_context: 0 };
    cost.time(&step).ps()
}

prop_compose! {
    /// Tight enough that requests queue, are preempted and rejected.
    fn tight()(
        rows in prop::collection::vec((0_u64..30_000_000_000, 1_u32..80, 1_u32..60), 1..40),
        drafted in prop::option::of((0_u32..5, 2_u32..6, 0_u32..5)),
        rates in prop::collection::vec(0.0..=1.0, 1..5),
        max_requests in 1_u32..12,
        token_budget in 5_u32..80,
        blocks in 8_u32..40,
        block_size in 1_u32..8,
        seed in any::<u64>(),
    ) -> ServingConfig {
        let mut at = 1;
        let request = |(gap, prompt, output)| {
            at += gap;
            TraceRequest { at: SimTime::from_ps(at), prompt, output }
        };
        let trace = Trace::new(rows.into_iter().map(request).collect()).expect("it rises");
        let law = Acceptance::conditional(&rates).expect("rates");
        let shape = |k: u32| (k > 0).then(|| DraftShape::chain(k));
        let drafting = drafted.map(|(small, from_batch, large)| {
            let rows = vec![
                DraftingRow { from_batch: 1, shape: shape(small) },
                DraftingRow { from_batch, shape: shape(large) },
            ];
            Drafting::by_batch(law, rows).expect("the rows rise")
        });
        ServingConfig {
            arrivals: Arrivals::Trace,
            lengths: Lengths::Trace,
            requests: trace.requests().len() as u64,
            trace: Some(std::sync::Arc::new(trace)),
            max_requests,
            token_budget,
            kv: Kv { blocks, block_size },
            drafting,
            seed,
            keep_records: true,
            ..ServingConfig::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_quick_replica_does_what_the_obvious_one_does(config in tight()) {
        let cost = LinearCost::new(Seconds::from_us(3001.0), Seconds::from_us(17.0));
        let quick = simulate(&config, &cost, &mut |_| ControlFlow::Continue(())).expect("valid");
        prop_assert_eq!(quick.records, naive(&config, &cost));
    }
}
