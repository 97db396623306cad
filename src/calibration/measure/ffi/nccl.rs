//! NCCL: communicators and the two collectives of a tensor-parallel pass.

use std::ffi::CStr;
use std::sync::Arc;

use cudarc::nccl::sys::{self, ncclComm_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclUniqueId};

use super::{Context, Library, Stream};
use crate::calibration::measure::{Failure, FailureKind};

/// What the ranks of one communicator share.
#[derive(Clone, Copy)]
pub(in crate::calibration::measure) struct Id(ncclUniqueId);

impl Id {
    /// A new one.
    ///
    /// # Errors
    /// NCCL is missing or does not start.
    pub(in crate::calibration::measure) fn new() -> Result<Self, Failure> {
        Library::Nccl.require()?;
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: the library is there and the pointer valid.
        check(unsafe { sys::ncclGetUniqueId(&raw mut id) }, std::ptr::null_mut(), "starting NCCL")?;
        Ok(Self(id))
    }
}

/// NCCL's version, as 22803 for 2.28.3; none if it cannot be loaded.
pub(in crate::calibration::measure) fn version() -> Option<u32> {
    if !Library::Nccl.is_there() {
        return None;
    }
    let mut version = 0;
    // SAFETY: the library is there and the pointer valid.
    check(unsafe { sys::ncclGetVersion(&raw mut version) }, std::ptr::null_mut(), "NCCL's version").ok()?;
    Some(version.unsigned_abs())
}

/// One rank of a communicator.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Comm {
    raw: ncclComm_t,
    context: Arc<Context>,
}

// SAFETY: NCCL asks that a communicator is used by one thread at a time, not always the same.
unsafe impl Send for Comm {}

impl Comm {
    /// Joins; returns when all `ranks` threads have called it.
    pub(in crate::calibration::measure) fn join(
        context: &Arc<Context>,
        id: Id,
        rank: u32,
        ranks: u32,
    ) -> Result<Self, Failure> {
        context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current and the pointer valid.
        let code =
            unsafe { sys::ncclCommInitRank(&raw mut raw, ranks.cast_signed(), id.0, rank.cast_signed()) };
        check(code, std::ptr::null_mut(), "making an NCCL communicator")?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Queues an all-reduce (sum) of `bytes` of bf16.
    pub(in crate::calibration::measure) fn all_reduce(
        &self,
        on: &Stream,
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), Failure> {
        // SAFETY: the callers pass buffers of this size.
        let code = unsafe {
            sys::ncclAllReduce(
                from as *const _,
                to as *mut _,
                (bytes / 2) as usize,
                ncclDataType_t::ncclBfloat16,
                ncclRedOp_t::ncclSum,
                self.raw,
                on.raw.cast(),
            )
        };
        check(code, self.raw, "queueing an all-reduce")
    }

    /// Queues an all-gather of `bytes` of bf16 of each rank.
    pub(in crate::calibration::measure) fn all_gather(
        &self,
        on: &Stream,
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), Failure> {
        let kind = ncclDataType_t::ncclBfloat16;
        // SAFETY: the callers pass buffers of this size, `to` of as many times that as there are ranks.
        let code = unsafe {
            sys::ncclAllGather(
                from as *const _,
                to as *mut _,
                (bytes / 2) as usize,
                kind,
                self.raw,
                on.raw.cast(),
            )
        };
        check(code, self.raw, "queueing an all-gather")
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `join`. Aborting needs no other rank, so a lost one cannot hang this.
            let _ = unsafe { sys::ncclCommAbort(self.raw) };
        }
    }
}

fn check(code: ncclResult_t, comm: ncclComm_t, doing: &str) -> Result<(), Failure> {
    let kind = match code {
        ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => return Ok(()),
        _ => FailureKind::Unsupported,
    };
    // SAFETY: both return strings that end in a zero, or null.
    let (short, long) = unsafe { (words(sys::ncclGetErrorString(code)), words(sys::ncclGetLastError(comm))) };
    Err(Failure::new(kind, format!("{doing}: {short}{}{long}", if long.is_empty() { "" } else { ": " })))
}

/// # Safety
/// `text` is null or ends in a zero.
unsafe fn words(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
}
