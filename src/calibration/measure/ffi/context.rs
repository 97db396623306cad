//! Devices and their primary contexts.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute};

use super::error::check;
use crate::calibration::measure::Failure;

/// The primary context of a GPU.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Context {
    device: CUdevice,
    pub(super) raw: CUcontext,
}

// SAFETY: a CUDA context may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: the driver locks it.
unsafe impl Sync for Context {}

/// Starts the driver and counts the visible GPUs.
///
/// # Errors
/// No driver library, no GPU.
pub(in crate::calibration::measure) fn count() -> Result<u32, Failure> {
    super::Library::Driver.require()?;
    let mut count = 0;
    // SAFETY: the library is there; the pointer is valid.
    unsafe {
        check(sys::cuInit(0), "the CUDA driver does not start")?;
        check(sys::cuDeviceGetCount(&raw mut count), "counting GPUs")?;
    }
    Ok(count.unsigned_abs())
}

/// The CUDA version of the driver, as `13000` for 13.0.
pub(in crate::calibration::measure) fn cuda_version() -> Result<u32, Failure> {
    let mut version = 0;
    // SAFETY: the pointer is valid.
    check(unsafe { sys::cuDriverGetVersion(&raw mut version) }, "the driver's version")?;
    Ok(version.unsigned_abs())
}

/// An attribute of a GPU.
pub(in crate::calibration::measure) fn attribute(
    context: &Context,
    which: CUdevice_attribute,
) -> Result<u32, Failure> {
    let mut value = 0;
    // SAFETY: the device is valid.
    check(
        unsafe { sys::cuDeviceGetAttribute(&raw mut value, which, context.device) },
        "an attribute of the GPU",
    )?;
    Ok(value.unsigned_abs())
}

/// Whether `context`'s GPU may map the memory of `other`'s.
pub(in crate::calibration::measure) fn can_map(context: &Context, other: &Context) -> Result<bool, Failure> {
    let mut can = 0;
    // SAFETY: both devices are valid.
    check(
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, context.device, other.device) },
        "whether GPUs are peers",
    )?;
    Ok(can != 0)
}

impl Context {
    /// Takes a GPU.
    pub(in crate::calibration::measure) fn new(ordinal: u32) -> Result<Arc<Self>, Failure> {
        let (mut device, mut raw) = (0, std::ptr::null_mut());
        // SAFETY: the driver has been started by `count`; pointers are valid.
        unsafe {
            check(sys::cuDeviceGet(&raw mut device, ordinal.cast_signed()), "opening the GPU")?;
            check(sys::cuDevicePrimaryCtxRetain(&raw mut raw, device), "taking the GPU")?;
        }
        let context = Self { device, raw };
        context.bind()?;
        Ok(Arc::new(context))
    }

    /// Makes it the context of this thread.
    pub(in crate::calibration::measure) fn bind(&self) -> Result<(), Failure> {
        // SAFETY: the context lives.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) }, "using the GPU")
    }

    /// Waits for all its work.
    pub(in crate::calibration::measure) fn synchronise(&self) -> Result<(), Failure> {
        self.bind()?;
        // SAFETY: a context is current.
        check(unsafe { sys::cuCtxSynchronize() }, "waiting for the GPU")
    }

    /// The name, e.g. `NVIDIA H200`.
    pub(in crate::calibration::measure) fn name(&self) -> Result<String, Failure> {
        cudarc::driver::result::device::get_name(self.device)
            .map_err(|error| check(error.0, "the GPU's name").unwrap_err())
    }

    /// Its bus address in lower case, e.g. `0000:c1:00.0`.
    pub(in crate::calibration::measure) fn bus(&self) -> Result<String, Failure> {
        let mut text = [0u8; 32];
        // SAFETY: the driver writes at most as many bytes as there are, the last a zero.
        check(
            unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, self.device) },
            "the GPU's bus address",
        )?;
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        Ok(String::from_utf8_lossy(&text[..end]).to_ascii_lowercase())
    }

    /// Free and total memory \[B\].
    pub(in crate::calibration::measure) fn memory(&self) -> Result<(u64, u64), Failure> {
        self.bind()?;
        let (free, total) = cudarc::driver::result::mem_get_info()
            .map_err(|error| check(error.0, "the GPU's memory").unwrap_err())?;
        Ok((free as u64, total as u64))
    }

    /// Maps the memory of `other` into this context.
    pub(in crate::calibration::measure) fn map(&self, other: &Self) -> Result<(), Failure> {
        self.bind()?;
        // SAFETY: both contexts live.
        let code = unsafe { sys::cuCtxEnablePeerAccess(other.raw, 0) };
        if code == sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
            return Ok(());
        }
        check(code, "mapping a peer's memory")
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once in `new`. An error has no one to tell.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}
