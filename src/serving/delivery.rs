//! The inner loop: what a step delivers to the requests that decode.

use super::latency::Latencies;
use crate::des::SimTime;

/// A request that decodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decode {
    /// Its request.
    pub(super) slot: u32,
    /// Tokens in the KV cache.
    pub(super) context: u32,
    /// Tokens still to deliver.
    pub(super) left: u32,
    /// Tokens its blocks can hold.
    pub(super) capacity: u32,
    /// Its last delivery.
    pub(super) last: SimTime,
    pub(super) late: bool,
}

/// The times that a delivery is measured with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: SimTime,
    /// The end of the step before.
    pub(super) before: SimTime,
    /// Longest time between two deliveries that the SLO allows.
    pub(super) late: SimTime,
}

/// What a step brought to the requests that decode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gained {
    pub(super) tokens: u64,
    /// Requests with nothing left to deliver.
    pub(super) done: u32,
}

/// Draws and delivers the tokens of each request: the inner loop of a simulation.
#[inline]
pub(super) fn advance(
    decoding: &mut [Decode],
    clock: Clock,
    itl: &mut Latencies,
    mut draw: impl FnMut(u32) -> u32,
) -> Gained {
    // Most requests delivered at the end of the step before: one entry in the histogram for all of them.
    let usual = clock.now - clock.before;
    let usual_is_late = usual > clock.late;
    let (mut as_usual, mut tokens, mut done) = (0, 0, 0);
    for decode in decoding {
        let gained = draw(decode.slot).min(decode.left);
        tokens += u64::from(gained);
        decode.context += gained;
        decode.left -= gained;
        done += u32::from(decode.left == 0);
        if decode.last == clock.before {
            as_usual += 1;
            decode.late |= usual_is_late;
        } else {
            let gap = clock.now - decode.last;
            itl.record(gap);
            decode.late |= gap > clock.late;
        }
        decode.last = clock.now;
    }
    itl.record_n(usual, as_usual);
    Gained { tokens, done }
}
