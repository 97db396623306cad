//! A discrete-event kernel: integer time, a total order of events, cancellation, named random streams.
//!
//! It knows no GPU: events are any payload `E`, and a model is anything that handles them.
//!
//! ```text
//!            schedule(at, event)                       handle(event, &mut Kernel)
//!  Model ───────────────────────► queue ── earliest ─────────────────────────────► Model
//!                                  ▲ cancel(token)            clock = its time
//! ```
//!
//! Order: earlier time first; at equal times, the event scheduled first comes first. Nothing else decides, so the
//! same model and seed give the same run everywhere. A run ends in one of four stated ways ([`End`]).
//!
//! Omitted on purpose: no events in the past (a broken invariant, so a panic), no threads inside one run
//! (parallelism belongs to the runs of a sweep), no dynamic dispatch and no allocation per event.

mod kernel;
mod queue;
mod rng;
mod time;

pub use kernel::{End, Kernel, Limits, Model, Token, run};
pub use queue::{EventQueue, Heap4, RadixHeap, SortedList, StdHeap};
pub use rng::{Stream, Streams};
pub use time::SimTime;
