//! One scenario over a grid of values of its keys.
//!
//! ```text
//!  axes ─► Grid ─► rows of a shard ─► chunks, on threads ─► Setup ─► a function ─► Outcome ─► columns, in order
//! ```
//!
//! The first axis varies slowest, the last fastest; axes that go together count as one. A point that has no answer is a
//! row with its reason. Chunks are of one size whatever the threads, and are handed on in order, so the same grid gives the
//! same rows and the same summary; rows of shards, one after the other, are those of the whole. What a point costs is a few
//! fields of the setup and the function's own work: files, names and keys that need the tree are looked up once per
//! combination of their values ([`Branch`](crate::scenario::Branch)).
//!
//! This module knows the setup and the function's outcome, and not how the one follows from the other.

mod grid;
mod identity;
mod merge;
mod metric;
mod run;
mod shard;
mod summary;

pub use crate::scenario::{Points, Shown};
pub use grid::{Grid, MOST_POINTS};
pub use identity::{Fnv, fingerprint};
pub use merge::{MergeError, Part, check_parts, read_part};
pub use metric::{DEFAULT_METRICS, METRICS, Metric, Outcome, Value, metrics};
pub use run::{Batch, Kept, Plan, Row, Solver, run};
pub use shard::{Shard, ShardError};
pub use summary::{Crossings, Extreme, MOST_KEPT, Marginal, Summary};
