//! Compiling kernels at run time.

use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::{result, sys};

use crate::calibration::measure::{Failure, FailureKind};

/// Compiles CUDA C++ to machine code of the GPU, which any driver of that GPU loads, also one older than NVRTC; where
/// NVRTC does not know the GPU yet, to PTX of the newest architecture it knows, which the driver compiles on.
///
/// # Errors
/// NVRTC is missing, or its log.
pub(in crate::calibration::measure) fn compile(
    source: &str,
    capability: [u32; 2],
) -> Result<Vec<u8>, Failure> {
    super::Library::Nvrtc.require()?;
    let [major, minor] = capability;
    match Program::new(source, &format!("--gpu-architecture=sm_{major}{minor}")) {
        Ok(program) => program.image(sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN),
        Err(first) => match newest_known().filter(|newest| *newest < major * 10 + minor) {
            Some(newest) => Program::new(source, &format!("--gpu-architecture=compute_{newest}"))?
                .image(sys::nvrtcGetPTXSize, sys::nvrtcGetPTX),
            None => Err(first),
        },
    }
}

fn newest_known() -> Option<u32> {
    let mut count = 0;
    // SAFETY: the second call gets as many places as the first has counted.
    unsafe {
        sys::nvrtcGetNumSupportedArchs(&raw mut count).result().ok()?;
        let mut known = vec![0; usize::try_from(count).ok()?];
        sys::nvrtcGetSupportedArchs(known.as_mut_ptr()).result().ok()?;
        known.into_iter().max().map(i32::unsigned_abs)
    }
}

struct Program(sys::nvrtcProgram);

type SizeOf = unsafe fn(sys::nvrtcProgram, *mut usize) -> sys::nvrtcResult;
type ImageOf = unsafe fn(sys::nvrtcProgram, *mut c_char) -> sys::nvrtcResult;

impl Program {
    fn new(source: &str, architecture: &str) -> Result<Self, Failure> {
        let source = CString::new(source).map_err(|_| failure("a kernel source holds a zero"))?;
        let program = Self(
            result::create_program(&source, Some(c"specplan.cu"))
                .map_err(|error| failure(&format!("{error:?}")))?,
        );
        let options = [architecture, "--std=c++17", "-default-device"];
        // SAFETY: the program lives; the log ends in a zero.
        unsafe {
            if let Err(error) = result::compile_program(program.0, &options) {
                let log = result::get_program_log(program.0)
                    .map(|log| CStr::from_ptr(log.as_ptr()).to_string_lossy().into_owned())
                    .unwrap_or_default();
                return Err(failure(&format!("{error:?} for {architecture}: {}", log.trim())));
            }
        }
        Ok(program)
    }

    fn image(&self, size_of: SizeOf, image_of: ImageOf) -> Result<Vec<u8>, Failure> {
        let mut size = 0;
        // SAFETY: the image is written into as many bytes as it has.
        unsafe {
            size_of(self.0, &raw mut size).result().map_err(|error| failure(&format!("{error:?}")))?;
            let mut image = vec![0u8; size];
            image_of(self.0, image.as_mut_ptr().cast())
                .result()
                .map_err(|error| failure(&format!("{error:?}")))?;
            Ok(image)
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made in `new`.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn failure(because: &str) -> Failure {
    Failure::new(FailureKind::Unsupported, format!("NVRTC does not compile the kernels: {because}"))
}
