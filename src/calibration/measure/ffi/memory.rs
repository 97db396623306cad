//! Device memory and pinned host memory.

use std::sync::Arc;

use cudarc::driver::sys;

use super::Context;
use super::error::check;
use crate::calibration::measure::{Failure, FailureKind};

/// Device memory, freed when dropped.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Buffer {
    pointer: u64,
    bytes: u64,
    context: Arc<Context>,
}

impl Buffer {
    /// Allocates.
    ///
    /// # Errors
    /// Out of memory, with what was asked for and what is free.
    pub(in crate::calibration::measure) fn new(context: &Arc<Context>, bytes: u64) -> Result<Self, Failure> {
        context.bind()?;
        let mut pointer = 0;
        let bytes = bytes.max(16);
        // SAFETY: the pointer is valid and a context is current.
        let code =
            unsafe { sys::cuMemAlloc_v2(&raw mut pointer, usize::try_from(bytes).unwrap_or(usize::MAX)) };
        check(code, "allocating device memory").map_err(|failure| match failure.kind {
            FailureKind::OutOfMemory => {
                let free = context.memory().map_or(0, |(free, _)| free);
                Failure::new(
                    FailureKind::OutOfMemory,
                    format!("{bytes} B of device memory are needed, {free} B are free"),
                )
            }
            _ => failure,
        })?;
        Ok(Self { pointer, bytes, context: Arc::clone(context) })
    }

    /// Its address.
    pub(in crate::calibration::measure) fn at(&self) -> u64 {
        self.pointer
    }

    /// Its size \[B\].
    pub(in crate::calibration::measure) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies from the host; waits.
    pub(in crate::calibration::measure) fn write<T: Copy>(&self, from: &[T]) -> Result<(), Failure> {
        let bytes = size_of_val(from);
        assert!(bytes as u64 <= self.bytes, "more is written than the buffer holds");
        self.context.bind()?;
        // SAFETY: both ranges are valid, see the assertion.
        check(
            unsafe { sys::cuMemcpyHtoD_v2(self.pointer, from.as_ptr().cast(), bytes) },
            "copying to the GPU",
        )
    }

    /// Copies from `offset` bytes on to the host; waits.
    pub(in crate::calibration::measure) fn read<T: Copy + Default>(
        &self,
        offset: u64,
        count: usize,
    ) -> Result<Vec<T>, Failure> {
        let mut to = vec![T::default(); count];
        let bytes = size_of_val(to.as_slice());
        assert!(offset + bytes as u64 <= self.bytes, "more is read than the buffer holds");
        self.context.bind()?;
        // SAFETY: both ranges are valid, see the assertion; any bits make a `T` of the callers (integers, floats).
        check(
            unsafe { sys::cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), self.pointer + offset, bytes) },
            "copying from the GPU",
        )?;
        Ok(to)
    }

    /// Sets every byte; waits.
    pub(in crate::calibration::measure) fn set(&self, byte: u8) -> Result<(), Failure> {
        self.context.bind()?;
        // SAFETY: the range is valid.
        check(
            unsafe { sys::cuMemsetD8_v2(self.pointer, byte, self.bytes as usize) },
            "setting device memory",
        )?;
        self.context.synchronise()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`. An error has no one to tell.
        if self.context.bind().is_ok() {
            let _ = unsafe { sys::cuMemFree_v2(self.pointer) };
        }
    }
}

/// Pinned host memory that GPUs may map, freed when dropped.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Pinned {
    host: *mut u32,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: only atomic access is offered.
unsafe impl Send for Pinned {}
// SAFETY: only atomic access is offered.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Allocates, zeroed.
    pub(in crate::calibration::measure) fn new(context: &Arc<Context>, bytes: u64) -> Result<Self, Failure> {
        context.bind()?;
        let bytes = usize::try_from(bytes.max(64)).unwrap_or(usize::MAX);
        let mut host = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the pointer is valid; what was allocated is zeroed within its size.
        unsafe {
            check(
                sys::cuMemHostAlloc(&raw mut host, bytes, flags),
                &format!("pinning {bytes} B of host memory"),
            )?;
            std::ptr::write_bytes(host.cast::<u8>(), 0, bytes);
        }
        Ok(Self { host: host.cast(), bytes, context: Arc::clone(context) })
    }

    /// The address that kernels and copies use; the host's own, since addresses are unified.
    pub(in crate::calibration::measure) fn at(&self) -> u64 {
        self.host as u64
    }

    /// A word that GPU and host share.
    pub(in crate::calibration::measure) fn word(&self, index: usize) -> &std::sync::atomic::AtomicU32 {
        assert!((index + 1) * 4 <= self.bytes, "a word beyond the buffer");
        // SAFETY: within the buffer, aligned, and only ever used as an atomic.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.host.add(index)) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: allocated in `new`.
            let _ = unsafe { sys::cuMemFreeHost(self.host.cast()) };
        }
    }
}
