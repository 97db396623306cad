//! Requests over time: arrivals, a router, and replicas that batch continuously and may speculate.
//!
//! ```text
//!  arrivals ─► router ─► replica: waiting ─► prefill in chunks ─► decode, or draft and verify ─► done
//!  lengths                          ▲                                      │
//!                                   └── preempted: its KV blocks are gone ─┘
//! ```
//!
//! A replica is vLLM's v1 scheduler in small (`vllm/v1/core/sched/scheduler.py`): one token budget for a step, shared
//! by decode and prefill; requests that decode come first, in the order of their admission, each with all the rows
//! it verifies; the rest of the budget takes prompts in chunks, first come, first served. KV blocks are taken as they
//! are needed, for rejected rows too; when none is free the youngest request is preempted and later computes its
//! prompt and output again. How long a step takes is a [`StepCost`], how many tokens a request gains in it is drawn from
//! its law of acceptance. Without queueing a replica that decodes B requests delivers B · E\[L\] / cycle tokens a second.
//!
//! All times are whole picoseconds and every draw comes from a named stream, so that one seed gives one result for
//! any number of threads. Memory grows with the requests in the system, not with requests or tokens served.
//!
//! Left out: shared prefixes, priorities, disaggregated prefill, swapping to host memory, time in the network.

mod arrivals;
mod batch_means;
mod config;
mod cost;
mod delivery;
mod drafting;
mod error;
mod lane;
mod latency;
mod lengths;
mod metrics;
mod replica;
mod request;
mod result;
mod router;
mod run;
mod table;
mod timeline;
mod trace;

pub use arrivals::Arrivals;
pub use config::{Kv, ServingConfig, Slo};
pub use cost::{LinearCost, Step, StepCost};
pub use drafting::{Drafting, DraftingRow};
pub use error::ServingError;
pub use latency::{CdfPoint, Latency};
pub use lengths::{Length, Lengths};
pub use request::RequestRecord;
pub use result::{End, Goodput, KvUse, RequestCounts, ServingResult, TimelinePoint, TokenCounts};
pub use router::Routing;
pub use run::{Progress, simulate, simulate_seeds};
pub use table::{Mixing, ShapeTimes, StepTable, StepTableError};
pub use trace::{Trace, TraceError, TraceRequest};

#[cfg(test)]
#[path = "serving/laws_tests.rs"]
mod laws_tests;
#[cfg(test)]
#[path = "serving/limits_tests.rs"]
mod limits_tests;
#[cfg(test)]
#[path = "serving/naive_tests.rs"]
mod naive_tests;
#[cfg(test)]
#[path = "serving/run_tests.rs"]
mod run_tests;
