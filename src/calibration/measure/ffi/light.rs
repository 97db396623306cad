//! cuBLASLt: fp8 (e4m3) matrix products with bf16 results.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::cublaslt::result;
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t, cublasLtHandle_t, cublasLtMatmulAlgo_t, cublasLtMatmulDesc_t,
    cublasLtMatrixLayout_t, cudaDataType_t,
};

use super::{Buffer, Context, Library, Stream};
use crate::calibration::measure::{Failure, FailureKind};

/// A product of one shape, with the algorithm that cuBLASLt thinks the fastest, and a workspace.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Fp8Product {
    handle: cublasLtHandle_t,
    product: cublasLtMatmulDesc_t,
    /// Weights, activations, result.
    layouts: [cublasLtMatrixLayout_t; 3],
    algorithm: cublasLtMatmulAlgo_t,
    workspace: Buffer,
    context: Arc<Context>,
}

impl Fp8Product {
    /// `out[rows][n] = x[rows][k] * w[n][k]^T`, row by row; scales are 1.
    ///
    /// # Errors
    /// cuBLASLt is missing, or has no algorithm for this shape on this GPU.
    pub(in crate::calibration::measure) fn new(
        stream: &Stream,
        (n, k, rows): (u32, u32, u32),
    ) -> Result<Self, Failure> {
        Library::CublasLt.require()?;
        stream.context.bind()?;
        let workspace = Buffer::new(&stream.context, 32 << 20)?;
        let (fp8, bf16, float) =
            (cudaDataType_t::CUDA_R_8F_E4M3, cudaDataType_t::CUDA_R_16BF, cudaDataType_t::CUDA_R_32F);
        let handle = result::create_handle().map_err(|error| failure("starting cuBLASLt", error))?;
        let product = result::create_matmul_desc(cublasComputeType_t::CUBLAS_COMPUTE_32F, float)
            .map_err(|error| failure("describing a product", error))?;
        let layout = |kind, rows: u32, columns: u32| {
            result::create_matrix_layout(kind, u64::from(rows), u64::from(columns), i64::from(rows))
                .map_err(|error| failure("describing a matrix", error))
        };
        let layouts = [layout(fp8, k, n)?, layout(fp8, k, rows)?, layout(bf16, n, rows)?];
        let turned = 1i32; // CUBLAS_OP_T, which this part of cudarc does not name
        let most = workspace.bytes() as usize;
        // SAFETY: all were made above; attributes are read during the calls.
        let algorithm = unsafe {
            result::set_matmul_desc_attribute(
                product,
                sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA,
                (&raw const turned).cast(),
                size_of_val(&turned),
            )
            .map_err(|error| failure("describing a product", error))?;
            let wish =
                result::create_matmul_pref().map_err(|error| failure("choosing an algorithm", error))?;
            let found = result::set_matmul_pref_attribute(
                wish,
                sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const most).cast(),
                size_of_val(&most),
            )
            .and_then(|()| {
                let [a, b, d] = layouts;
                result::get_matmul_algo_heuristic(handle, product, a, b, d, d, wish)
            });
            let _ = result::destroy_matmul_pref(wish);
            found.map_err(|error| failure("choosing an algorithm for fp8", error))?.algo
        };
        Ok(Self { handle, product, layouts, algorithm, workspace, context: Arc::clone(&stream.context) })
    }

    /// Queues it.
    pub(in crate::calibration::measure) fn launch(
        &self,
        on: &Stream,
        weights: u64,
        x: u64,
        out: u64,
    ) -> Result<(), Failure> {
        let (alpha, beta) = (1.0f32, 0.0f32);
        let [a, b, d] = self.layouts;
        // SAFETY: the callers pass buffers of the sizes of the shape; scalars are read during the call.
        unsafe {
            result::matmul(
                self.handle,
                self.product,
                (&raw const alpha).cast(),
                (&raw const beta).cast(),
                weights as *const c_void,
                a,
                x as *const c_void,
                b,
                out as *const c_void,
                d,
                out as *mut c_void,
                d,
                &raw const self.algorithm,
                self.workspace.at() as *mut c_void,
                self.workspace.bytes() as usize,
                on.raw.cast(),
            )
        }
        .map_err(|error| failure("queueing an fp8 product", error))
    }
}

impl Drop for Fp8Product {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `new`.
            unsafe {
                for layout in self.layouts {
                    let _ = result::destroy_matrix_layout(layout);
                }
                let _ = result::destroy_matmul_desc(self.product);
                let _ = result::destroy_handle(self.handle);
            }
        }
    }
}

fn failure(doing: &str, error: result::CublasError) -> Failure {
    let kind = match error.0 {
        sys::cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED => FailureKind::OutOfMemory,
        sys::cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED => FailureKind::GpuLost,
        _ => FailureKind::Unsupported,
    };
    Failure::new(kind, format!("{doing}: {:?}", error.0))
}
