//! Return codes of the libraries as failures.

use std::ffi::CStr;

use cudarc::driver::sys::{self, CUresult};

use crate::calibration::measure::{Failure, FailureKind};

/// A driver's answer as a result; `doing` names the call in words.
pub(super) fn check(code: CUresult, doing: &str) -> Result<(), Failure> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(Failure::new(kind(code), format!("{doing}: {}", text(code))))
}

/// The sort of failure of a code. After those of `GpuLost` the context stays broken.
fn kind(code: CUresult) -> FailureKind {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => FailureKind::OutOfMemory,
        CUresult::CUDA_ERROR_NO_DEVICE => FailureKind::NoDevice,
        CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
        | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_INVALID_PC
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
        | CUresult::CUDA_ERROR_EXTERNAL_DEVICE
        | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | CUresult::CUDA_ERROR_UNKNOWN => FailureKind::GpuLost,
        _ => FailureKind::Unsupported,
    }
}

fn text(code: CUresult) -> String {
    let mut text = std::ptr::null();
    // SAFETY: the driver writes a pointer to a static string, or leaves null.
    let words = unsafe {
        let _ = sys::cuGetErrorString(code, &raw mut text);
        if text.is_null() { None } else { Some(CStr::from_ptr(text).to_string_lossy().into_owned()) }
    };
    format!("{} ({code:?})", words.unwrap_or_else(|| "an error without words".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_by_what_the_parent_must_do() {
        assert_eq!(kind(CUresult::CUDA_ERROR_OUT_OF_MEMORY), FailureKind::OutOfMemory);
        assert_eq!(kind(CUresult::CUDA_ERROR_ECC_UNCORRECTABLE), FailureKind::GpuLost);
        assert_eq!(kind(CUresult::CUDA_ERROR_LAUNCH_FAILED), FailureKind::GpuLost);
        assert_eq!(kind(CUresult::CUDA_ERROR_NOT_SUPPORTED), FailureKind::Unsupported);
        assert_eq!(kind(CUresult::CUDA_ERROR_NO_DEVICE), FailureKind::NoDevice);
    }
}
