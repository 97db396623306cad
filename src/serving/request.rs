//! One request, from its arrival to its last token.

use super::arrivals::Arrival;
use crate::des::SimTime;
use crate::speculation::RequestState;

/// What happened to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRecord {
    /// Its number in the order of arrival, from 0.
    pub id: u64,
    /// The replica that served it.
    pub replica: u32,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of its output.
    pub output: u32,
    /// When it arrived.
    pub arrived: SimTime,
    /// When its first step began.
    pub started: SimTime,
    /// When its first token came.
    pub first_token: SimTime,
    /// When its last token came.
    pub completed: SimTime,
    /// How often it was preempted.
    pub preemptions: u32,
}

/// What a replica keeps of a request in the system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) prompt: u32,
    pub(super) output: u32,
    /// Tokens delivered; kept up to date only while it does not decode.
    pub(super) delivered: u32,
    pub(super) preemptions: u32,
    pub(super) arrived: SimTime,
    /// [`SimTime::MAX`] until its first step.
    pub(super) started: SimTime,
    pub(super) first: SimTime,
    /// The last delivery; kept up to date only while it does not decode.
    pub(super) last: SimTime,
    pub(super) state: Option<RequestState>,
    /// Whether a time between two deliveries was longer than the SLO allows.
    pub(super) late: bool,
}

impl Request {
    pub(super) const fn new(arrival: Arrival) -> Self {
        Self {
            id: arrival.id,
            prompt: arrival.prompt,
            output: arrival.output,
            delivered: 0,
            preemptions: 0,
            arrived: arrival.at,
            started: SimTime::MAX,
            first: SimTime::ZERO,
            last: SimTime::ZERO,
            state: None,
            late: false,
        }
    }

    /// Tokens to compute before it can decode: its prompt, and after a preemption what it had delivered.
    pub(super) const fn prefill_target(&self) -> u32 {
        self.prompt + self.delivered
    }

    pub(super) const fn record(&self, replica: u32, completed: SimTime) -> RequestRecord {
        RequestRecord {
            id: self.id,
            replica,
            prompt: self.prompt,
            output: self.output,
            arrived: self.arrived,
            started: self.started,
            first_token: self.first,
            completed,
            preemptions: self.preemptions,
        }
    }
}

/// Requests by slot; slots of completed ones are used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    slots: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    pub(super) fn insert(&mut self, request: Request) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = request;
            return slot;
        }
        self.slots.push(request);
        u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 requests are in the system")
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.free.push(slot);
    }

    #[cfg(test)]
    pub(super) const fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl std::ops::Index<u32> for Requests {
    type Output = Request;
    #[inline]
    fn index(&self, slot: u32) -> &Request {
        &self.slots[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Requests {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Request {
        &mut self.slots[slot as usize]
    }
}
