//! Measuring on real GPUs: the seam between `specplan calibrate`, which plans and never loads a GPU library, and the
//! child processes (`specplan calibrate-worker`) that do.
//!
//! A child gets one [`Request`] per line on its standard input and answers each with one line on its standard output,
//! a [`Reply`] behind [`REPLY_MARK`]; other lines there (NCCL prints some) count as noise. All ranks of a task are
//! threads of that one child. What NCCL reads once, its NCCL_* variables, is the environment of the child.
//! A [`Meter`] does the measuring; [`gpu`] is the real one.

pub mod assemble;
pub mod child;
pub mod drive;
pub mod facts;
mod ffi;
pub mod fits;
pub mod gpu;
pub mod journal;
pub mod plan;
pub mod privacy;
pub mod probe;
pub mod reply;
pub mod rows;
pub mod statistics;
pub mod summary;
pub mod synthetic;
pub mod task;
pub mod worker;

pub use reply::{Check, Failure, FailureKind, GpuInfo, Inspection, Measured, Outcome, Reply};
pub use task::{CollectiveTask, End, GemmShape, LaunchKind, LinkKind, Request, SmallKind, Task};

/// Stands before the JSON of a reply, so that what libraries print to standard output cannot be taken for one.
pub const REPLY_MARK: &str = "specplan-reply ";

/// The measuring seam. One meter lives as long as its process and may keep contexts, buffers and communicators between
/// tasks; it must free what a task needs alone before it returns.
pub trait Meter {
    /// The GPUs, libraries and links, bounded in time and without names of the host or its user.
    ///
    /// # Errors
    /// No library, no device, or a device that fell off the bus.
    fn inspect(&mut self) -> Result<Inspection, Failure>;

    /// Measures one task. [`Request::repeats`] is the number of samples wanted; a sample is what the documentation of
    /// the [`Task`] says. [`Request::limit_ms`] is when the parent will kill the process: a meter may return fewer
    /// samples to stay below it.
    ///
    /// # Errors
    /// Each [`FailureKind`] but timeout, crashed and garbled, which the parent finds.
    fn measure(&mut self, request: &Request) -> Result<Measured, Failure>;

    /// What stands on standard output instead of the answer to a request: faults that tests inject.
    fn spoil(&self, _request: &Request) -> Option<&'static str> {
        None
    }
}
