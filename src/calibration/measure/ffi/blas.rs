//! cuBLAS: bf16 matrix products.

use std::sync::Arc;

use cudarc::cublas::sys::{
    self, cublasComputeType_t, cublasGemmAlgo_t, cublasHandle_t, cublasOperation_t, cublasStatus_t,
    cudaDataType_t,
};

use super::{Buffer, Context, Library, Stream};
use crate::calibration::measure::{Failure, FailureKind};

/// A handle bound to one stream, with a workspace of its own, as captured products need.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Blas {
    handle: cublasHandle_t,
    workspace: Buffer,
    context: Arc<Context>,
}

// SAFETY: a handle may move between threads.
unsafe impl Send for Blas {}
// SAFETY: cuBLAS's functions may be called by several threads, also with one handle, as long as none reconfigures it.
unsafe impl Sync for Blas {}

impl Blas {
    /// A handle.
    ///
    /// # Errors
    /// cuBLAS is missing.
    pub(in crate::calibration::measure) fn new(stream: &Stream) -> Result<Self, Failure> {
        Library::Cublas.require()?;
        stream.context.bind()?;
        let workspace = Buffer::new(&stream.context, 32 << 20)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a context is current; the workspace lives as long as the handle.
        unsafe {
            check(sys::cublasCreate_v2(&raw mut handle), "starting cuBLAS")?;
            let blas = Self { handle, workspace, context: Arc::clone(&stream.context) };
            check(sys::cublasSetStream_v2(handle, stream.raw.cast()), "cuBLAS's stream")?;
            let at = blas.workspace.at() as *mut std::ffi::c_void;
            check(
                sys::cublasSetWorkspace_v2(handle, at, blas.workspace.bytes() as usize),
                "cuBLAS's workspace",
            )?;
            Ok(blas)
        }
    }

    /// Queues `out[rows][n] = x[rows][k] * w[n][k]^T`, all bf16 and row by row, as a projection of PyTorch.
    pub(in crate::calibration::measure) fn project(
        &self,
        (n, k, rows): (u32, u32, u32),
        weights: u64,
        x: u64,
        out: u64,
    ) -> Result<(), Failure> {
        let (alpha, beta) = (1.0f32, 0.0f32);
        let (n, k, rows) = (n.cast_signed(), k.cast_signed(), rows.cast_signed());
        let bf16 = cudaDataType_t::CUDA_R_16BF;
        // SAFETY: the callers pass buffers of these sizes; scalars are read during the call.
        let status = unsafe {
            sys::cublasGemmEx(
                self.handle,
                cublasOperation_t::CUBLAS_OP_T,
                cublasOperation_t::CUBLAS_OP_N,
                n,
                rows,
                k,
                (&raw const alpha).cast(),
                weights as *const _,
                bf16,
                k,
                x as *const _,
                bf16,
                k,
                (&raw const beta).cast(),
                out as *mut _,
                bf16,
                n,
                cublasComputeType_t::CUBLAS_COMPUTE_32F,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        check(status, "queueing a matrix product")
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `new`.
            let _ = unsafe { sys::cublasDestroy_v2(self.handle) };
        }
    }
}

fn check(status: cublasStatus_t, doing: &str) -> Result<(), Failure> {
    let kind = match status {
        cublasStatus_t::CUBLAS_STATUS_SUCCESS => return Ok(()),
        cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED => FailureKind::OutOfMemory,
        cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED => FailureKind::GpuLost,
        _ => FailureKind::Unsupported,
    };
    Err(Failure::new(kind, format!("{doing}: {status:?}")))
}
