//! Runs the plan of a collective from the arrivals of its ranks to their ends.
//!
//! * [`Sharing::Own`]: each flow has its route for itself, apart from the flows that its sender sends at the same time.
//!   A transfer then takes a known time, and one pass over the plan in topological order gives all ends.
//! * [`Sharing::Fair`]: flows share every directed link max-min fairly; events of the `des` kernel begin and end them,
//!   and rates change whenever a flow comes or goes.
//!
//! A rank may leave when all transfers that it takes part in are done. Buffers are there before: a sender does not wait
//! for its receiver's arrival, only for what it passes on.

mod fair;

use super::host::whole;
use super::link::Fabrics;
use super::plan::Plan;
use crate::des::Kernel;
use crate::units::{Bandwidth, Seconds};

/// Whether flows share links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// No.
    Own,
    /// Max-min fairly.
    Fair,
}

/// A transfer with times.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Timed {
    from: u32,
    to: u32,
    /// α \[ps\].
    latency: u64,
    /// Bytes on the wire.
    wire: f64,
    /// Sum of the receiver \[ps\].
    sum: u64,
    /// All three with the route for itself \[ps\].
    own: u64,
}

/// A collective over given links.
#[derive(Debug, Clone)]
pub struct Exchanger {
    plan: Plan,
    timed: Vec<Timed>,
    sharing: Sharing,
    /// Time before the first step \[ps\].
    start: u64,
    /// Wire bytes on each resource.
    carried: Vec<f64>,
    done: Vec<u64>,
    fair: fair::Fair,
    kernel: Kernel<fair::Event>,
    /// Steps and changes of flows handled.
    events: u64,
}

impl Exchanger {
    /// A plan over the ranks of a fabric from rank `first` on. `software` adds to the latency of every step; `wire` is the
    /// number of bytes on the wire per byte of payload.
    pub fn new(
        plan: Plan,
        fabric: &Fabrics,
        first: u32,
        software: Seconds,
        wire: f64,
        sum: Bandwidth,
        sharing: Sharing,
    ) -> Self {
        let mut carried = vec![0.0; fabric.resources.len()];
        let ps = |time: Seconds| time.get() * 1e12;
        let timed: Vec<_> = plan
            .transfers()
            .iter()
            .map(|transfer| {
                let (from, to) = (first + transfer.from, first + transfer.to);
                let away = from != to;
                let latency = if away { whole(ps(fabric.latency(from, to) + software)) } else { 0 };
                let bytes = transfer.bytes * if away { wire } else { 0.0 };
                for &link in fabric.route(from, to) {
                    carried[link] += bytes.get();
                }
                let sum = whole(ps(transfer.sum / sum));
                let alone = bytes * f64::from(transfer.fan) / fabric.bandwidth(from, to);
                let own = latency + if away { whole(ps(alone)) } else { 0 } + sum;
                Timed { from: transfer.from, to: transfer.to, latency, wire: bytes.get(), sum, own }
            })
            .collect();
        let fair = fair::Fair::new(&plan, fabric, first);
        let done = vec![0; timed.len()];
        Self { plan, timed, sharing, start: 0, carried, done, fair, kernel: Kernel::default(), events: 0 }
    }

    /// Anchors the steps to a known time: ranks that arrive together then need exactly `time`. What the steps do not
    /// need is spent before the first; if they need more, all of them shrink.
    #[must_use]
    pub fn anchored(mut self, time: Seconds) -> Self {
        let target = whole(time.get() * 1e12);
        let mut steps = self.together();
        if steps > target {
            let shrink = target as f64 / steps as f64;
            for timed in &mut self.timed {
                timed.latency = (timed.latency as f64 * shrink) as u64;
                timed.sum = (timed.sum as f64 * shrink) as u64;
                timed.own = (timed.own as f64 * shrink) as u64;
                timed.wire *= shrink;
            }
            steps = self.together();
        }
        self.start = target.saturating_sub(steps);
        self.events = 0;
        self
    }

    /// The time of ranks that arrive together, without what comes before the first step \[ps\].
    fn together(&mut self) -> u64 {
        let start = std::mem::replace(&mut self.start, 0);
        let arrivals = vec![0; self.plan.ranks as usize];
        let mut ends = arrivals.clone();
        self.run(&arrivals, &mut ends);
        self.start = start;
        ends.into_iter().max().unwrap_or(0)
    }

    /// From the arrival of each rank \[ps\] to its end \[ps\].
    pub fn run(&mut self, arrivals: &[u64], ends: &mut [u64]) {
        match self.sharing {
            Sharing::Own => self.own(arrivals),
            Sharing::Fair => {
                let Self { fair, plan, timed, done, kernel, .. } = self;
                fair.run(plan, timed, self.start, arrivals, done, kernel);
                self.events += kernel.handled();
            }
        }
        for (end, arrival) in ends.iter_mut().zip(arrivals) {
            *end = arrival + self.start;
        }
        for (timed, done) in self.timed.iter().zip(&self.done) {
            for rank in [timed.from, timed.to] {
                let end = &mut ends[rank as usize];
                *end = (*end).max(*done);
            }
        }
    }

    fn own(&mut self, arrivals: &[u64]) {
        for (at, timed) in self.timed.iter().enumerate() {
            let mut ready = arrivals[timed.from as usize] + self.start;
            for &wait in self.plan.waits(at) {
                ready = ready.max(self.done[wait as usize]);
            }
            self.done[at] = ready + timed.own;
        }
        self.events += self.timed.len() as u64;
    }

    /// Ranks of the group.
    pub const fn ranks(&self) -> u32 {
        self.plan.ranks
    }

    /// Wire bytes that one run puts on each resource.
    pub fn carried(&self) -> &[f64] {
        &self.carried
    }

    /// Events since the last call.
    pub(super) const fn take_events(&mut self) -> u64 {
        std::mem::replace(&mut self.events, 0)
    }

    /// When each transfer of the last run was on the wire \[ps\]: resources, begin, end.
    pub(super) fn moved(&self) -> impl Iterator<Item = (&[usize], u64, u64)> {
        self.timed.iter().zip(&self.done).enumerate().filter(|(_, (timed, _))| timed.from != timed.to).map(
            |(at, (timed, done))| {
                let landed = done - timed.sum;
                let begun = match self.sharing {
                    Sharing::Own => landed - (timed.own - timed.latency - timed.sum),
                    Sharing::Fair => self.fair.begun(at),
                };
                (self.fair.route(at), begun.min(landed), landed)
            },
        )
    }
}

#[cfg(test)]
mod tests;
