//! The meter of real GPUs. None is built into this version.

use super::{Failure, FailureKind, Meter};

/// Loads the CUDA libraries and takes the visible GPUs.
///
/// # Errors
/// [`FailureKind::LibraryMissing`] or [`FailureKind::NoDevice`].
pub fn open() -> Result<Box<dyn Meter>, Failure> {
    Err(Failure::new(FailureKind::LibraryMissing, "the CUDA driver library (libcuda.so.1) is not there"))
}
