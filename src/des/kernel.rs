//! The clock, the queue, and the loop that takes one event after the other.

use super::SimTime;
use super::queue::{EventQueue, Heap4, Key};

/// What reacts to events.
pub trait Model {
    /// Its events; small and `Copy` keeps the queue fast.
    type Event;

    /// Handles one event at the kernel's present time; may schedule and cancel others.
    fn handle(&mut self, event: Self::Event, kernel: &mut Kernel<Self::Event>);

    /// What still waits when no event is left: if anything, the run ended in a deadlock. One line per entity.
    fn waiting(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Names a scheduled event, so that it can be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    slot: u32,
    generation: u32,
}

/// Where a run stops at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// No event after this time is handled.
    pub horizon: SimTime,
    /// No more events than these are handled.
    pub events: u64,
}

impl Default for Limits {
    /// No limits.
    fn default() -> Self {
        Self { horizon: SimTime::MAX, events: u64::MAX }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// No event and nobody waiting.
    Finished,
    /// The next event lies beyond the horizon.
    Horizon,
    /// As many events as allowed were handled.
    EventLimit,
    /// No event is left, yet these entities wait.
    Deadlock(Vec<String>),
}

/// Clock and queue of one run.
#[derive(Debug, Clone)]
pub struct Kernel<E, Q = Heap4<Entry<E>>> {
    queue: Q,
    now: SimTime,
    scheduled: u64,
    handled: u64,
    cancelled: u64,
    generations: Vec<u32>,
    free: Vec<u32>,
    event: std::marker::PhantomData<E>,
}

/// An event in the queue with its cancellation slot.
#[derive(Debug, Clone, Copy)]
pub struct Entry<E> {
    event: E,
    slot: u32,
    generation: u32,
}

/// Slot of events that cannot be cancelled.
const FIXED: u32 = u32::MAX;

impl<E, Q: EventQueue<Entry<E>>> Default for Kernel<E, Q> {
    fn default() -> Self {
        Self {
            queue: Q::new(),
            now: SimTime::ZERO,
            scheduled: 0,
            handled: 0,
            cancelled: 0,
            generations: Vec::new(),
            free: Vec::new(),
            event: std::marker::PhantomData,
        }
    }
}

impl<E, Q: EventQueue<Entry<E>>> Kernel<E, Q> {
    /// The present.
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// Events handled so far.
    pub const fn handled(&self) -> u64 {
        self.handled
    }

    /// Schedules an event.
    ///
    /// # Panics
    /// If `at` lies in the past: causality is an invariant.
    #[inline]
    pub fn schedule(&mut self, at: SimTime, event: E) {
        self.push(at, Entry { event, slot: FIXED, generation: 0 });
    }

    /// Schedules an event after a delay.
    #[inline]
    pub fn schedule_in(&mut self, delay: SimTime, event: E) {
        self.schedule(self.now + delay, event);
    }

    /// Schedules an event that can be cancelled.
    pub fn schedule_cancellable(&mut self, at: SimTime, event: E) -> Token {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.generations.push(0);
            u32::try_from(self.generations.len() - 1)
                .expect("fewer than 2^32 cancellable events wait at once")
        });
        let generation = self.generations[slot as usize];
        self.push(at, Entry { event, slot, generation });
        Token { slot, generation }
    }

    /// Cancels an event; false if it has happened or was cancelled already.
    pub fn cancel(&mut self, token: Token) -> bool {
        let generation = &mut self.generations[token.slot as usize];
        if *generation != token.generation {
            return false;
        }
        *generation = generation.wrapping_add(1);
        self.cancelled += 1;
        true
    }

    /// Events that still wait, cancelled ones not counted.
    pub fn pending(&self) -> u64 {
        self.queue.len() as u64 - self.cancelled
    }

    #[inline]
    fn push(&mut self, at: SimTime, entry: Entry<E>) {
        assert!(at >= self.now, "an event must not be scheduled in the past");
        self.queue.push(Key { at, number: self.scheduled }, entry);
        self.scheduled += 1;
    }

    /// The next event that was not cancelled, if it is not beyond the horizon.
    #[inline]
    fn next(&mut self, horizon: SimTime) -> Next<E> {
        loop {
            match self.queue.peek() {
                None => return Next::Nothing,
                Some(key) if key.at > horizon => return Next::Beyond,
                Some(_) => {}
            }
            let (key, entry) = self.queue.pop().expect("it was peeked");
            if entry.slot != FIXED {
                self.free.push(entry.slot);
                let generation = &mut self.generations[entry.slot as usize];
                if *generation != entry.generation {
                    self.cancelled -= 1;
                    continue;
                }
                *generation = generation.wrapping_add(1);
            }
            self.now = key.at;
            self.handled += 1;
            return Next::Event(entry.event);
        }
    }
}

enum Next<E> {
    Event(E),
    Beyond,
    Nothing,
}

/// Handles events in order until one of the stated ends.
pub fn run<M: Model>(model: &mut M, kernel: &mut Kernel<M::Event>, limits: Limits) -> End {
    loop {
        if kernel.handled >= limits.events {
            return End::EventLimit;
        }
        match kernel.next(limits.horizon) {
            Next::Event(event) => model.handle(event, kernel),
            Next::Beyond => return End::Horizon,
            Next::Nothing => {
                let waiting = model.waiting();
                return if waiting.is_empty() { End::Finished } else { End::Deadlock(waiting) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log {
        seen: Vec<(u64, u32)>,
        stuck: bool,
    }

    impl Model for Log {
        type Event = u32;
        fn handle(&mut self, event: u32, kernel: &mut Kernel<u32>) {
            self.seen.push((kernel.now().ps(), event));
            if event == 7 {
                kernel.schedule_in(SimTime::ZERO, 8);
            }
        }
        fn waiting(&self) -> Vec<String> {
            if self.stuck { vec!["rank 1 waits for rank 0".to_owned()] } else { Vec::new() }
        }
    }

    #[test]
    fn equal_times_keep_the_order_of_scheduling() {
        let (mut log, mut kernel) = (Log::default(), Kernel::default());
        for (at, event) in [(5, 1), (3, 7), (3, 2), (5, 3)] {
            kernel.schedule(SimTime::from_ps(at), event);
        }
        assert_eq!(run(&mut log, &mut kernel, Limits::default()), End::Finished);
        assert_eq!(log.seen, [(3, 7), (3, 2), (3, 8), (5, 1), (5, 3)]);
    }

    #[test]
    fn cancelled_events_do_not_happen_and_slots_are_reused() {
        let (mut log, mut kernel) = (Log::default(), Kernel::default());
        let first = kernel.schedule_cancellable(SimTime::from_ps(1), 1);
        let second = kernel.schedule_cancellable(SimTime::from_ps(2), 2);
        assert!(kernel.cancel(first));
        assert!(!kernel.cancel(first), "it is cancelled already");
        assert_eq!(kernel.pending(), 1);
        run(&mut log, &mut kernel, Limits::default());
        assert!(!kernel.cancel(second), "it has happened");
        let third = kernel.schedule_cancellable(SimTime::from_ps(9), 3);
        assert!(!kernel.cancel(second), "an old token must not hit the event that reuses its slot");
        assert!(kernel.cancel(third));
        assert_eq!(run(&mut log, &mut kernel, Limits::default()), End::Finished);
        assert_eq!(log.seen, [(2, 2)]);
    }

    #[test]
    fn runs_end_in_stated_ways() {
        let limits = |horizon, events| Limits { horizon: SimTime::from_ps(horizon), events };
        let (mut log, mut kernel) = (Log::default(), Kernel::default());
        (0..10).for_each(|i| kernel.schedule(SimTime::from_ps(u64::from(i)), i));
        assert_eq!(run(&mut log, &mut kernel, limits(100, 3)), End::EventLimit);
        assert_eq!(run(&mut log, &mut kernel, limits(5, u64::MAX)), End::Horizon);
        assert_eq!(kernel.now().ps(), 5);
        log.stuck = true;
        let End::Deadlock(waiting) = run(&mut log, &mut kernel, Limits::default()) else {
            panic!("it is stuck")
        };
        assert_eq!(waiting, ["rank 1 waits for rank 0"]);
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn the_past_is_closed() {
        let (mut log, mut kernel) = (Log::default(), Kernel::default());
        kernel.schedule(SimTime::from_ps(5), 1);
        run(&mut log, &mut kernel, Limits::default());
        kernel.schedule(SimTime::from_ps(4), 2);
    }
}
