//! One draft/verify cycle, and a baseline step, on the ranks of a box, many times.
//!
//! ```text
//!            host 0  ─issue─issue─issue─►            host thread: issues in order, with jitter, never waits
//!  rank 0    stream 0   └kernel┘ └kernel┘└─ all-reduce ─┐       stream: in order, start = max(issued, free)
//!                                                       ├── rendezvous, then the priced time, or steps over links
//!  rank 1    stream 1      └kernel┘   └kernel┘ └────────┘
//!            host 1  ──issue──issue──issue─►
//! ```
//!
//! * Eager: every operation costs its host time, times the rank's speed and the run's host profile, times a lognormal
//!   draw. Graph: one launch per rank does. Kernels take their priced time (times a draw, if asked for).
//! * A collective starts when its last rank arrives. It takes the priced time ([`Fabric::Priced`]), or moves step by
//!   step ([`Fabric::Links`]) over ports, switch uplinks, root ports and socket links, shared max-min fairly.
//! * Hosts of different ranks meet only at the end of a pass, where each waits for its own stream.
//! * Time is whole picoseconds. Without jitter, ranks of one speed and priced collectives, every result equals the closed
//!   form to the picosecond. Between collectives operations are folded into max-plus stretches where nothing is random.
//!
//! Valid for ranks that all take part in every pass (tensor, expert, decode-context and data-parallel groups are
//! consecutive ranks). Omitted: the limit of the launch queue (1,024 kernels), clocks that change under load, and
//! traffic of two successive collectives, or of memory copies, at the same time on a link.

mod config;
mod exchange;
mod host;
mod link;
mod outcome;
mod pass;
mod path;
mod plan;
mod program;
mod rank;
mod record;
mod result;
mod run;
mod simulate;
mod statistics;
mod trace;

pub use config::{Fabric, HostProfile, MachineConfig, Range};
pub use exchange::{Exchanger, Sharing};
pub use link::{Fabrics, FairShare, Flow, Resource, obvious_shares};
pub use path::{CriticalPath, Origin, Place};
pub use plan::{Plan, Transfer};
pub use result::{MachineResult, PassResult, RankAllreduce, Utilisation};
pub use simulate::{simulate, simulate_watched};
pub use statistics::Distribution;
pub use trace::{Span, Trace, Track, trace};
