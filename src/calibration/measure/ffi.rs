//! The only unsafe code of the crate: calls into the CUDA driver, NVRTC, cuBLAS and NCCL, which cudarc loads at run time.
//!
//! What the callers must keep, since no type can: kernels are those of [`super::gpu`]'s own sources, launched with the
//! arguments that they declare, over buffers that outlive the work queued on them. Every call is checked; a library
//! that is missing is a [`Failure`](super::Failure) when it is opened, not a panic when it is used.

#![allow(unsafe_code)]

mod blas;
mod context;
mod error;
mod graph;
mod kernel;
mod light;
mod memory;
mod nccl;
mod nvrtc;
mod stream;

pub(super) use blas::Blas;
pub(super) use context::{Context, attribute, can_map, count, cuda_version};
pub(super) use graph::Graph;
pub(super) use kernel::{Arg, Grid, Kernel, Module};
pub(super) use light::Fp8Product;
pub(super) use memory::{Buffer, Pinned};
pub(super) use nccl::{Comm, Id as NcclId, version as nccl_version};
pub(super) use nvrtc::compile;
pub(super) use stream::{Event, Stream};

/// Whether a library can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Library {
    /// `libcuda`.
    Driver,
    /// `libnvrtc`.
    Nvrtc,
    /// `libcublas`.
    Cublas,
    /// `libcublasLt`.
    CublasLt,
    /// `libnccl`.
    Nccl,
}

impl Library {
    /// Whether the dynamic loader finds it. Loads it for a moment.
    pub(super) fn is_there(self) -> bool {
        // SAFETY: loading these libraries runs their initialisers, which have no precondition.
        unsafe {
            match self {
                Self::Driver => cudarc::driver::sys::is_culib_present(),
                Self::Nvrtc => cudarc::nvrtc::sys::is_culib_present(),
                Self::Cublas => cudarc::cublas::sys::is_culib_present(),
                Self::CublasLt => cudarc::cublaslt::sys::is_culib_present(),
                Self::Nccl => cudarc::nccl::sys::is_culib_present(),
            }
        }
    }

    /// An error if it is not there.
    pub(super) fn require(self) -> Result<(), super::Failure> {
        if self.is_there() {
            return Ok(());
        }
        let name = match self {
            Self::Driver => "the CUDA driver library (libcuda.so.1)",
            Self::Nvrtc => "the run-time compiler NVRTC (libnvrtc.so)",
            Self::Cublas => "cuBLAS (libcublas.so)",
            Self::CublasLt => "cuBLASLt (libcublasLt.so)",
            Self::Nccl => "NCCL (libnccl.so)",
        };
        Err(super::Failure::new(super::FailureKind::LibraryMissing, format!("{name} cannot be loaded")))
    }
}
