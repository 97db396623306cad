//! Streams, events and what is queued on them.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUevent_record_flags, CUstream, CUstream_flags};

use super::Context;
use super::error::check;
use crate::calibration::measure::Failure;

/// A stream that does not wait for the default one.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Stream {
    pub(super) raw: CUstream,
    pub(super) context: Arc<Context>,
}

// SAFETY: streams may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: the driver locks it.
unsafe impl Sync for Stream {}

impl Stream {
    /// A new stream.
    pub(in crate::calibration::measure) fn new(context: &Arc<Context>) -> Result<Self, Failure> {
        context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is valid and a context is current.
        check(
            unsafe { sys::cuStreamCreate(&raw mut raw, CUstream_flags::CU_STREAM_NON_BLOCKING as u32) },
            "making a stream",
        )?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Waits until all its work is done.
    pub(in crate::calibration::measure) fn synchronise(&self) -> Result<(), Failure> {
        // SAFETY: the stream lives.
        check(unsafe { sys::cuStreamSynchronize(self.raw) }, "waiting for the GPU")
    }

    /// Queues a copy between any two of device and pinned memory.
    pub(in crate::calibration::measure) fn copy(
        &self,
        to: u64,
        from: u64,
        bytes: u64,
    ) -> Result<(), Failure> {
        // SAFETY: the callers pass addresses within live buffers, see the module.
        check(unsafe { sys::cuMemcpyAsync(to, from, bytes as usize, self.raw) }, "queueing a copy")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `new`.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// An event that records time.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Event {
    raw: CUevent,
    context: Arc<Context>,
}

impl Event {
    /// A new event.
    pub(in crate::calibration::measure) fn new(context: &Arc<Context>) -> Result<Self, Failure> {
        context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is valid and a context is current.
        check(
            unsafe { sys::cuEventCreate(&raw mut raw, CUevent_flags::CU_EVENT_DEFAULT as u32) },
            "making an event",
        )?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Queues it.
    pub(in crate::calibration::measure) fn record(&self, on: &Stream) -> Result<(), Failure> {
        // SAFETY: both live.
        check(unsafe { sys::cuEventRecord(self.raw, on.raw) }, "recording an event")
    }

    /// Queues it during a capture, so that each launch of the graph records it anew.
    pub(in crate::calibration::measure) fn record_in_graph(&self, on: &Stream) -> Result<(), Failure> {
        let flag = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL as u32;
        // SAFETY: both live.
        check(unsafe { sys::cuEventRecordWithFlags(self.raw, on.raw, flag) }, "recording an event")
    }

    /// Time from `self` to `later` \[µs\]; both have happened.
    pub(in crate::calibration::measure) fn until(&self, later: &Self) -> Result<f64, Failure> {
        let mut ms = 0.0f32;
        // SAFETY: both live.
        check(unsafe { sys::cuEventElapsedTime_v2(&raw mut ms, self.raw, later.raw) }, "reading a time")?;
        Ok(f64::from(ms) * 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `new`.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
