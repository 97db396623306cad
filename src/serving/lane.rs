//! Replicas that share a clock: a model of the event kernel.
//!
//! Replicas that nothing couples are spread over several lanes, which run in parallel; a closed loop or a router that looks
//! at the load keeps all replicas in one.

use std::collections::VecDeque;

use super::arrivals::{Arrival, Source};
use super::cost::StepCost;
use super::metrics::Metrics;
use super::replica::Replica;
use super::router::Router;
use crate::des::{End, Kernel, Limits, Model, SimTime, run};

/// What happens in a lane.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// The requests at the head of the inbox arrive.
    Arrived,
    /// A replica's step ends.
    StepEnded(u32),
}

/// The model.
struct Floor<'a, C: ?Sized> {
    cost: &'a C,
    replicas: Vec<Replica<'a>>,
    /// Requests to come, each with its replica if that is settled.
    inbox: VecDeque<(Arrival, Option<u32>)>,
    router: Router,
    /// Where the users of a closed loop get their next request from.
    users: Option<Source>,
    metrics: Metrics,
    touched: Vec<u32>,
}

/// A model with its clock.
pub(super) struct Lane<'a, C: ?Sized> {
    floor: Floor<'a, C>,
    kernel: Kernel<Event>,
    is_awaiting: bool,
}

impl<'a, C: StepCost + ?Sized> Lane<'a, C> {
    pub(super) fn new(
        cost: &'a C,
        replicas: Vec<Replica<'a>>,
        router: Router,
        users: Option<Source>,
        metrics: Metrics,
    ) -> Self {
        let inbox = VecDeque::new();
        let floor = Floor { cost, replicas, inbox, router, users, metrics, touched: Vec::new() };
        Self { floor, kernel: Kernel::default(), is_awaiting: false }
    }

    /// Adds a request that will arrive, not before those already in the inbox; `replica` counts within the lane.
    pub(super) fn expect(&mut self, arrival: Arrival, replica: Option<u32>) {
        self.floor.inbox.push_back((arrival, replica));
    }

    /// The first requests of so many users of a closed loop.
    pub(super) fn seat(&mut self, users: u32) {
        (0..users).for_each(|_| self.floor.next_of_user(SimTime::ZERO));
    }

    /// Handles events up to the horizon, at most so many. Whether the horizon, or the end, was reached.
    pub(super) fn run(&mut self, horizon: SimTime, events: u64) -> bool {
        // The model schedules the arrivals that follow one another; an inbox that ran empty needs a start.
        if !self.is_awaiting
            && let Some((next, _)) = self.floor.inbox.front()
        {
            self.kernel.schedule(next.at, Event::Arrived);
        }
        let limits = Limits { horizon, events: self.kernel.handled().saturating_add(events) };
        let end = run(&mut self.floor, &mut self.kernel, limits);
        self.is_awaiting = !self.floor.inbox.is_empty();
        match end {
            End::EventLimit => false,
            End::Finished | End::Horizon => true,
            End::Deadlock(waiting) => {
                panic!("requests wait and nothing will serve them: {}", waiting.join("; "))
            }
        }
    }

    pub(super) const fn now(&self) -> SimTime {
        self.kernel.now()
    }

    pub(super) const fn events(&self) -> u64 {
        self.kernel.handled()
    }

    pub(super) const fn metrics(&self) -> &Metrics {
        &self.floor.metrics
    }

    /// Whether something is still to happen.
    pub(super) fn is_open(&self) -> bool {
        self.kernel.pending() > 0 || !self.floor.inbox.is_empty()
    }

    /// Books everything up to `end`; what was counted, with the requests that run and that wait, and the blocks held.
    pub(super) fn close(mut self, end: SimTime) -> (Metrics, [u64; 3]) {
        let mut left = [0; 3];
        for replica in &mut self.floor.replicas {
            replica.observe(end, &mut self.floor.metrics);
            left[0] += replica.running() as u64;
            left[1] += replica.waiting() as u64;
            left[2] += u64::from(replica.held());
        }
        (self.floor.metrics, left)
    }
}

impl<C: StepCost + ?Sized> Floor<'_, C> {
    /// Routes a request and puts it into its queue.
    fn arrive(&mut self, arrival: Arrival, replica: Option<u32>) {
        let Self { replicas, router, .. } = self;
        let load = |i: u32| replicas[i as usize].running() + replicas[i as usize].waiting();
        let chosen = replica.unwrap_or_else(|| router.choose(load));
        if self.replicas[chosen as usize].arrive(arrival, &mut self.metrics) {
            self.touched.push(chosen);
        } else {
            self.next_of_user(arrival.at);
        }
    }

    /// A user whose request is answered, or rejected, sends the next one.
    fn next_of_user(&mut self, now: SimTime) {
        if let Some(arrival) = self.users.as_mut().and_then(|source| source.next_at(now)) {
            self.inbox.push_back((arrival, None));
        }
    }

    fn start(&mut self, replica: u32, kernel: &mut Kernel<Event>) {
        let idle = &mut self.replicas[replica as usize];
        if idle.is_stepping() {
            return;
        }
        if let Some(end) = idle.start(kernel.now(), self.cost, &mut self.metrics) {
            kernel.schedule(end, Event::StepEnded(replica));
        }
    }

    /// Takes in all requests that arrive now, then starts the replicas that they woke.
    fn take_in(&mut self, now: SimTime, kernel: &mut Kernel<Event>) {
        while let Some(&(arrival, replica)) = self.inbox.front().filter(|(arrival, _)| arrival.at <= now) {
            self.inbox.pop_front();
            self.arrive(arrival, replica);
        }
        while let Some(replica) = self.touched.pop() {
            self.start(replica, kernel);
        }
    }
}

impl<C: StepCost + ?Sized> Model for Floor<'_, C> {
    type Event = Event;

    fn handle(&mut self, event: Event, kernel: &mut Kernel<Event>) {
        let now = kernel.now();
        match event {
            Event::Arrived => {
                self.take_in(now, kernel);
                if let Some((next, _)) = self.inbox.front() {
                    kernel.schedule(next.at, Event::Arrived);
                }
            }
            Event::StepEnded(replica) => {
                let completed = self.replicas[replica as usize].finish(now, &mut self.metrics);
                if self.users.is_some() {
                    (0..completed).for_each(|_| self.next_of_user(now));
                    self.take_in(now, kernel);
                }
                self.start(replica, kernel);
            }
        }
    }

    fn waiting(&self) -> Vec<String> {
        let stuck = |replica: &Replica| replica.waiting() + replica.running() > 0;
        let words = |(i, replica): (usize, &Replica)| {
            format!("replica {i}: {} run, {} wait", replica.running(), replica.waiting())
        };
        self.replicas.iter().enumerate().filter(|(_, replica)| stuck(replica)).map(words).collect()
    }
}
