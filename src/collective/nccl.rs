//! NCCL on one host: which algorithm and protocol it takes, with how many channels.
//!
//! The rule is NCCL's own: a latency and a bandwidth for each (algorithm, protocol), time = latency + bytes /
//! bandwidth, least time wins. Use it to *choose*: its latencies are 0.8 to 1.4 times what PCIe boxes measure,
//! and its Simple steps 2 to 3 times. Times come from [`super::model_time`] or from tables.
//! Source: NVIDIA/nccl @5067397 (2.30.7) `src/graph/{tuning,search,connect,paths}.cc`, `src/enqueue.cc`.
//! Valid for one node, no InfiniBand; omitted: CollNet, PAT, MNNVL, tuner plugins.

mod channels;
mod communicator;
mod search;
mod tuning;

pub use channels::{Launch, launch};
pub use communicator::{Communicator, Wire};
pub use search::{Plan, plan, search_speeds};
pub use tuning::{Pick, bandwidth, latency, pick, switch_point, tree_factor, tuning_time};
pub(super) use tuning::{counted_bytes, steps};
