//! One replica: its queue, its batch, its KV blocks, and the steps that it takes.
//!
//! Invariants: requests decode in the order of their admission; at most one prompt is partly computed between steps,
//! and it belongs to the youngest; free blocks and those held add up to all blocks.

use std::collections::VecDeque;

use super::arrivals::Arrival;
use super::cost::{Step, StepCost};
use super::delivery::{Clock, Decode, advance};
use super::drafting::{Law, Plan};
use super::metrics::Metrics;
use super::request::{Request, Requests};
use super::timeline::Level;
use crate::des::{SimTime, Stream, Streams};

/// What a step may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepLimits {
    pub(super) requests: u32,
    pub(super) budget: u32,
    pub(super) blocks: u32,
    pub(super) block_size: u32,
}

/// A request whose prompt is being computed.
#[derive(Debug, Clone, Copy)]
struct Prefill {
    slot: u32,
    /// Tokens computed.
    done: u32,
    /// Tokens to compute.
    target: u32,
    /// Tokens of this step.
    chunk: u32,
    capacity: u32,
}

/// One replica.
#[derive(Debug)]
pub(super) struct Replica<'a> {
    index: u32,
    limits: StepLimits,
    plan: &'a Plan,
    draws: Stream,
    requests: Requests,
    waiting: VecDeque<u32>,
    decoding: Vec<Decode>,
    prefilling: Vec<Prefill>,
    free: u32,
    /// Until when the level was booked.
    observed: SimTime,
    /// When the last step ended.
    delivered: SimTime,
    step: Option<Stepping>,
}

/// A step in progress.
#[derive(Debug, Clone, Copy)]
struct Stepping {
    began: SimTime,
    /// The first so many of those that decode take part.
    decodes: usize,
    draft: usize,
}

impl<'a> Replica<'a> {
    pub(super) fn new(index: u32, limits: StepLimits, plan: &'a Plan, seed: u64) -> Self {
        Self {
            index,
            limits,
            plan,
            draws: Streams::new(seed, 0).stream("acceptance", u64::from(index)),
            requests: Requests::default(),
            waiting: VecDeque::new(),
            decoding: Vec::new(),
            prefilling: Vec::new(),
            free: limits.blocks,
            observed: SimTime::ZERO,
            delivered: SimTime::ZERO,
            step: None,
        }
    }

    /// Requests that run.
    pub(super) const fn running(&self) -> usize {
        self.decoding.len() + self.prefilling.len()
    }

    /// Requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// KV blocks in use.
    pub(super) const fn held(&self) -> u32 {
        self.limits.blocks - self.free
    }

    pub(super) const fn is_stepping(&self) -> bool {
        self.step.is_some()
    }

    /// Books what was there since the last change.
    #[inline]
    pub(super) fn observe(&mut self, now: SimTime, metrics: &mut Metrics) {
        let level =
            Level { waiting: self.waiting.len() as u32, running: self.running() as u32, blocks: self.held() };
        metrics.timeline.add(self.observed, now, level);
        self.observed = now;
    }

    /// Puts a request into the queue, or rejects it if the whole KV cache could not hold it. The answer is whether it
    /// was taken.
    pub(super) fn arrive(&mut self, arrival: Arrival, metrics: &mut Metrics) -> bool {
        metrics.counts.arrived += 1;
        if !self.can_ever_hold(arrival.prompt, arrival.output) {
            metrics.counts.rejected += 1;
            return false;
        }
        self.observe(arrival.at, metrics);
        let slot = self.requests.insert(Request::new(arrival));
        self.waiting.push_back(slot);
        true
    }

    /// The last decode step starts with one token to go, its KV not yet computed, and adds all its rows.
    fn can_ever_hold(&self, prompt: u32, output: u32) -> bool {
        let (prompt, output) = (u64::from(prompt), u64::from(output));
        let rows = if output > 1 { u64::from(self.plan.most_rows()) } else { 0 };
        let most = (prompt + output.saturating_sub(2) + rows).max(prompt + output - 1);
        most < 1 << 31 && most.div_ceil(u64::from(self.limits.block_size)) <= u64::from(self.limits.blocks)
    }

    /// Starts a step and tells when it ends; none if nothing is to be done.
    pub(super) fn start<C: StepCost + ?Sized>(
        &mut self,
        now: SimTime,
        cost: &C,
        metrics: &mut Metrics,
    ) -> Option<SimTime> {
        debug_assert!(self.step.is_none(), "one step at a time");
        if self.running() == 0 && self.waiting.is_empty() {
            return None;
        }
        let draft = self.plan.at(self.decoding.len() as u32);
        let shape = self.plan.draft(draft).shape;
        let preempted = metrics.counts.preemptions;
        let (decodes, decode_context) = self.schedule_decodes(shape.draft_tokens, metrics);
        let budget = self.limits.budget - decodes as u32 * shape.draft_tokens;
        if budget > 0 {
            let may_admit = metrics.counts.preemptions == preempted;
            self.schedule_prefills(budget, may_admit, now, metrics);
        }
        let (mut prefills, mut prefill_tokens, mut prefill_context) = (0, 0, 0);
        for prefill in &self.prefilling {
            prefills += u32::from(prefill.chunk > 0);
            prefill_tokens += prefill.chunk;
            prefill_context += u64::from(prefill.done);
        }
        assert!(decodes > 0 || prefill_tokens > 0, "a replica with requests always has work");
        let decodes_now = decodes as u32;
        let step =
            Step { decodes: decodes_now, shape, decode_context, prefills, prefill_tokens, prefill_context };
        let end = now + cost.time(&step);
        metrics.counts.steps += 1;
        metrics.counts.rows += u64::from(decodes_now) * u64::from(shape.draft_tokens);
        metrics.counts.prefill += u64::from(prefill_tokens);
        metrics.peak_blocks = metrics.peak_blocks.max(self.held());
        self.step = Some(Stepping { began: now, decodes, draft });
        Some(end)
    }

    /// Gives each decoding request, oldest first, its rows and blocks, while the budget lasts. How many take part,
    /// and their context.
    fn schedule_decodes(&mut self, rows: u32, metrics: &mut Metrics) -> (usize, u64) {
        let most = (self.limits.budget / rows) as usize;
        let (mut i, mut context) = (0, 0_u64);
        while i < self.decoding.len().min(most) {
            let decode = self.decoding[i];
            let need = decode.context + rows;
            if need > decode.capacity {
                let blocks = (need - decode.capacity).div_ceil(self.limits.block_size);
                if !self.make_room(i, blocks, metrics) {
                    break;
                }
                self.take(blocks, metrics);
                self.decoding[i].capacity += blocks * self.limits.block_size;
            }
            context += u64::from(decode.context);
            i += 1;
        }
        (i, context)
    }

    /// Preempts the youngest requests until so many blocks are free; false if request `i` itself had to go.
    fn make_room(&mut self, i: usize, blocks: u32, metrics: &mut Metrics) -> bool {
        while self.free < blocks {
            if let Some(prefill) = self.prefilling.pop() {
                self.preempt(prefill.slot, prefill.capacity, metrics);
                continue;
            }
            let decode = self.decoding.pop().expect("request i decodes");
            let request = &mut self.requests[decode.slot];
            request.delivered = request.output - decode.left;
            (request.last, request.late) = (decode.last, decode.late);
            self.preempt(decode.slot, decode.capacity, metrics);
            if self.decoding.len() == i {
                return false;
            }
        }
        true
    }

    /// Takes a request's blocks away and puts it at the head of the queue.
    fn preempt(&mut self, slot: u32, capacity: u32, metrics: &mut Metrics) {
        self.give_back(capacity, metrics);
        self.requests[slot].preemptions += 1;
        metrics.counts.preemptions += 1;
        self.waiting.push_front(slot);
    }

    /// Spends what is left of the budget on prompts: the one begun, then those that wait.
    fn schedule_prefills(&mut self, mut budget: u32, may_admit: bool, now: SimTime, metrics: &mut Metrics) {
        let block_size = self.limits.block_size;
        if let Some(prefill) = self.prefilling.last_mut() {
            // As much as the budget and the free blocks allow; stalled without blocks, until others end.
            let room =
                u64::from(prefill.capacity - prefill.done) + u64::from(self.free) * u64::from(block_size);
            let wanted = (prefill.target - prefill.done).min(budget);
            let chunk = u32::try_from(room).map_or(wanted, |room| wanted.min(room));
            let blocks = (prefill.done + chunk).saturating_sub(prefill.capacity).div_ceil(block_size);
            prefill.chunk = chunk;
            prefill.capacity += blocks * block_size;
            let complete = prefill.done + chunk == prefill.target;
            self.take(blocks, metrics);
            budget -= chunk;
            if !complete {
                return;
            }
        }
        while may_admit && budget > 0 && self.running() < self.limits.requests as usize {
            let Some(&slot) = self.waiting.front() else { return };
            let request = &mut self.requests[slot];
            let target = request.prefill_target();
            let chunk = target.min(budget);
            let blocks = chunk.div_ceil(block_size);
            if blocks > self.free {
                return;
            }
            if request.started == SimTime::MAX {
                request.started = now;
                request.state = self.plan.start(&mut self.draws);
                metrics.started(request, now);
            }
            self.waiting.pop_front();
            self.prefilling.push(Prefill { slot, done: 0, target, chunk, capacity: blocks * block_size });
            self.take(blocks, metrics);
            budget -= chunk;
        }
    }

    fn take(&mut self, blocks: u32, metrics: &mut Metrics) {
        self.free -= blocks;
        metrics.counts.blocks_taken += u64::from(blocks);
    }

    fn give_back(&mut self, capacity: u32, metrics: &mut Metrics) {
        let blocks = capacity / self.limits.block_size;
        self.free += blocks;
        metrics.counts.blocks_returned += u64::from(blocks);
    }

    /// Ends the step: tokens are delivered. How many requests are completed.
    pub(super) fn finish(&mut self, now: SimTime, metrics: &mut Metrics) -> u64 {
        let step = self.step.take().expect("a step ends that began");
        self.observe(now, metrics);
        metrics.counts.busy += u128::from((now - step.began).ps());
        let before = metrics.counts.completed;
        self.finish_decodes(step, now, metrics);
        self.finish_prefills(now, metrics);
        self.delivered = now;
        metrics.counts.completed - before
    }

    /// Delivers what each request that took part gains; those that are done leave, the others keep their order.
    fn finish_decodes(&mut self, step: Stepping, now: SimTime, metrics: &mut Metrics) {
        if step.decodes == 0 {
            return;
        }
        let Self { plan, decoding, requests, draws, delivered, .. } = self;
        let draft = plan.draft(step.draft);
        let decoding = &mut decoding[..step.decodes];
        let clock = Clock { now, before: *delivered, late: metrics.slo.itl };
        let (accepted, itl) = (&mut metrics.accepted, &mut metrics.itl);
        let gained = match &draft.law {
            Law::Off => advance(decoding, clock, itl, |_| 1),
            Law::Alike(tails) => {
                // A copy stays in registers, which a reference does not.
                let mut stream = draws.clone();
                let gained = advance(decoding, clock, itl, |_| {
                    let length = tails.draw(&mut stream);
                    accepted[length as usize] += 1;
                    length
                });
                *draws = stream;
                gained
            }
            Law::Kept(law) => advance(decoding, clock, itl, |slot| {
                let state = requests[slot].state.as_mut().expect("requests that differ are started");
                let length = law.sample_next(state, draft.shape, draws.rng());
                accepted[length as usize] += 1;
                length
            }),
        };
        metrics.counts.output += gained.tokens;
        metrics.counts.decoded += gained.tokens;
        metrics.counts.decodes += step.decodes as u64;
        if gained.done > 0 {
            self.retire(step.decodes, now, metrics);
        }
    }

    /// Completes the requests among the first so many that have nothing left to deliver.
    fn retire(&mut self, decodes: usize, now: SimTime, metrics: &mut Metrics) {
        let mut kept = 0;
        for i in 0..decodes {
            let decode = self.decoding[i];
            if decode.left > 0 {
                self.decoding[kept] = decode;
                kept += 1;
            } else {
                self.requests[decode.slot].late |= decode.late;
                self.complete(decode.slot, decode.capacity, now, metrics);
            }
        }
        self.decoding.drain(kept..decodes);
    }

    /// Books the chunks; a prompt that is complete delivers a token and decodes from now on.
    fn finish_prefills(&mut self, now: SimTime, metrics: &mut Metrics) {
        let mut part = None;
        for i in 0..self.prefilling.len() {
            let mut prefill = self.prefilling[i];
            prefill.done += prefill.chunk;
            let request = &mut self.requests[prefill.slot];
            if request.delivered > 0 {
                metrics.counts.recomputed += u64::from(prefill.chunk);
            }
            prefill.chunk = 0;
            if prefill.done < prefill.target {
                part = Some(prefill);
                continue;
            }
            if request.delivered == 0 {
                request.first = now;
                metrics.ttft.record(now - request.arrived);
            } else {
                let gap = now - request.last;
                metrics.itl.record(gap);
                request.late |= gap > metrics.slo.itl;
            }
            request.last = now;
            request.delivered += 1;
            metrics.counts.output += 1;
            let left = request.output - request.delivered;
            if left == 0 {
                self.complete(prefill.slot, prefill.capacity, now, metrics);
                continue;
            }
            let late = request.late;
            self.decoding.push(Decode {
                slot: prefill.slot,
                context: prefill.done,
                left,
                capacity: prefill.capacity,
                last: now,
                late,
            });
        }
        self.prefilling.clear();
        self.prefilling.extend(part);
    }

    /// The invariants of the module, between steps.
    #[cfg(test)]
    pub(super) fn check(&self) {
        let blocks = |capacity: u32| {
            assert_eq!(capacity % self.limits.block_size, 0, "requests hold whole blocks");
            capacity / self.limits.block_size
        };
        let decoding: u32 = self.decoding.iter().map(|d| blocks(d.capacity)).sum();
        let prefilling: u32 = self.prefilling.iter().map(|p| blocks(p.capacity)).sum();
        assert_eq!(self.free + decoding + prefilling, self.limits.blocks, "blocks are conserved");
        assert!(self.prefilling.len() <= 1, "one prompt at most is partly computed");
        assert!(self.running() <= self.limits.requests as usize, "no more run than may");
        assert_eq!(self.requests.len(), self.running() + self.waiting(), "every request is somewhere");
        for decode in &self.decoding {
            let request = &self.requests[decode.slot];
            assert!(decode.left > 0 && decode.left < request.output, "it has delivered, and not all");
            assert_eq!(decode.context + 1, request.prompt + request.output - decode.left);
            assert!(decode.context <= decode.capacity, "its context is held");
        }
        for prefill in &self.prefilling {
            assert!(prefill.done < prefill.target && prefill.done <= prefill.capacity);
        }
    }

    fn complete(&mut self, slot: u32, capacity: u32, now: SimTime, metrics: &mut Metrics) {
        metrics.completed(&self.requests[slot], self.index, now);
        self.requests.remove(slot);
        self.give_back(capacity, metrics);
    }
}

#[cfg(test)]
#[path = "replica_tests.rs"]
mod tests;
