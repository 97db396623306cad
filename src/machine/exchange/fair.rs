//! A plan over links that are shared fairly, as events.
//!
//! A transfer whose waits are done spends α, then joins the flows of its links, and is done when its last byte is through
//! and summed. All flows that come or go at one instant change the rates together.

use super::Timed;
use crate::des::{self, Kernel, Limits, Model, SimTime, Token};
use crate::machine::link::{Fabrics, FairShare};
use crate::machine::plan::Plan;

/// What happens to transfers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Event {
    /// α is over.
    Begin(u32),
    /// All that comes or goes at this instant did: new rates.
    Settle,
    /// The next flow has moved its last byte.
    Landed,
    /// Received and summed.
    Done(u32),
}

/// A flow under way.
#[derive(Debug, Clone, Copy)]
struct Moving {
    transfer: u32,
    flow: usize,
    /// Bytes to go at `since`.
    left: f64,
}

/// The state, kept from run to run so that nothing is allocated anew.
#[derive(Debug, Clone)]
pub(super) struct Fair {
    shares: FairShare,
    routes: Vec<Vec<usize>>,
    /// Transfers that wait for each one.
    followers: Vec<Vec<u32>>,
    /// Transfers that each one waits for, its sender's arrival not counted.
    waits: Vec<u32>,
    open: Vec<u32>,
    begun: Vec<u64>,
    moving: Vec<Moving>,
    since: u64,
    settling: bool,
    landing: Option<Token>,
}

/// The model while it runs.
struct Run<'a> {
    fair: &'a mut Fair,
    timed: &'a [Timed],
    ready: &'a [u64],
    done: &'a mut [u64],
}

impl Fair {
    pub(super) fn new(plan: &Plan, fabric: &Fabrics, first: u32) -> Self {
        let count = plan.transfers().len();
        let mut followers = vec![Vec::new(); count];
        for at in 0..count {
            for &wait in plan.waits(at) {
                followers[wait as usize].push(at as u32);
            }
        }
        let route = |t: &super::super::plan::Transfer| fabric.route(first + t.from, first + t.to).to_vec();
        Self {
            // Bytes per picosecond.
            shares: FairShare::new(fabric.resources.iter().map(|r| r.bandwidth.get() * 1e-12).collect()),
            routes: plan.transfers().iter().map(route).collect(),
            followers,
            waits: (0..count).map(|at| plan.waits(at).len() as u32).collect(),
            open: Vec::new(),
            begun: vec![0; count],
            moving: Vec::new(),
            since: 0,
            settling: false,
            landing: None,
        }
    }

    pub(super) fn route(&self, transfer: usize) -> &[usize] {
        &self.routes[transfer]
    }

    /// When a transfer of the last run joined its links.
    pub(super) fn begun(&self, transfer: usize) -> u64 {
        self.begun[transfer]
    }

    /// Runs the plan on a kernel that it resets.
    pub(super) fn run(
        &mut self,
        plan: &Plan,
        timed: &[Timed],
        start: u64,
        arrivals: &[u64],
        done: &mut [u64],
        kernel: &mut Kernel<Event>,
    ) {
        let ready: Vec<u64> = arrivals.iter().map(|arrival| arrival + start).collect();
        self.open.clone_from(&self.waits);
        self.since = 0;
        self.landing = None;
        kernel.reset();
        for (at, timed) in timed.iter().enumerate() {
            if plan.waits(at).is_empty() {
                let begin = ready[timed.from as usize] + timed.latency;
                kernel.schedule(SimTime::from_ps(begin), Event::Begin(at as u32));
            }
        }
        let mut run = Run { fair: self, timed, ready: &ready, done };
        let end = des::run(&mut run, kernel, Limits::default());
        assert_eq!(end, des::End::Finished, "a plan has no cycles, so all its transfers end");
    }
}

impl Model for Run<'_> {
    type Event = Event;

    fn handle(&mut self, event: Event, kernel: &mut Kernel<Event>) {
        match event {
            Event::Begin(transfer) => self.begin(transfer, kernel),
            Event::Landed => {
                self.fair.landing = None;
                self.advance(kernel.now().ps());
                self.land(kernel);
            }
            Event::Settle => self.settle(kernel),
            Event::Done(transfer) => self.finish(transfer, kernel),
        }
    }

    fn waiting(&self) -> Vec<String> {
        let open = self.fair.open.iter().enumerate().filter(|(_, open)| **open > 0);
        open.map(|(at, open)| format!("transfer {at} waits for {open} others")).collect()
    }
}

impl Run<'_> {
    fn begin(&mut self, transfer: u32, kernel: &mut Kernel<Event>) {
        let at = transfer as usize;
        self.fair.begun[at] = kernel.now().ps();
        if self.fair.routes[at].is_empty() {
            kernel.schedule_in(SimTime::from_ps(self.timed[at].sum), Event::Done(transfer));
            return;
        }
        self.advance(kernel.now().ps());
        let flow = self.fair.shares.add(&self.fair.routes[at]);
        self.fair.moving.push(Moving { transfer, flow, left: self.timed[at].wire });
        self.unsettled(kernel);
    }

    /// New rates once everything of this instant has happened.
    fn unsettled(&mut self, kernel: &mut Kernel<Event>) {
        if !std::mem::replace(&mut self.fair.settling, true) {
            kernel.schedule_in(SimTime::ZERO, Event::Settle);
        }
    }

    /// Moves all flows up to now.
    fn advance(&mut self, now: u64) {
        let elapsed = (now - self.fair.since) as f64;
        if elapsed > 0.0 {
            for moving in &mut self.fair.moving {
                moving.left -= elapsed * self.fair.shares.rate(moving.flow);
            }
        }
        self.fair.since = now;
    }

    /// Takes out the flows that have moved all but what half a picosecond moves.
    fn land(&mut self, kernel: &mut Kernel<Event>) {
        let mut at = 0;
        while at < self.fair.moving.len() {
            let Moving { transfer, flow, left } = self.fair.moving[at];
            // A flow that began at this very instant has no rate yet.
            let rate = self.fair.shares.rate(flow);
            if rate.is_infinite() || left > 0.500_001 * rate {
                at += 1;
                continue;
            }
            // Their order must not depend on the order of others' ends: keep the list in order of beginning.
            self.fair.moving.remove(at);
            self.fair.shares.remove(flow);
            let sum = SimTime::from_ps(self.timed[transfer as usize].sum);
            kernel.schedule_in(sum, Event::Done(transfer));
        }
        self.unsettled(kernel);
    }

    fn settle(&mut self, kernel: &mut Kernel<Event>) {
        self.fair.settling = false;
        self.fair.shares.settle();
        if let Some(token) = self.fair.landing.take() {
            kernel.cancel(token);
        }
        let soonest = self.fair.moving.iter().map(|m| m.left / self.fair.shares.rate(m.flow));
        if let Some(wait) = soonest.reduce(f64::min) {
            let at = kernel.now() + SimTime::from_ps(wait.max(0.0).round() as u64);
            self.fair.landing = Some(kernel.schedule_cancellable(at, Event::Landed));
        }
    }

    fn finish(&mut self, transfer: u32, kernel: &mut Kernel<Event>) {
        let at = transfer as usize;
        let now = kernel.now();
        self.done[at] = now.ps();
        for &follower in &self.fair.followers[at] {
            let open = &mut self.fair.open[follower as usize];
            *open -= 1;
            if *open == 0 {
                let timed = &self.timed[follower as usize];
                let ready = now.ps().max(self.ready[timed.from as usize]);
                kernel.schedule(SimTime::from_ps(ready + timed.latency), Event::Begin(follower));
            }
        }
    }
}
