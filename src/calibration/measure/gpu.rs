//! The meter of real GPUs: kernels that stand for those of servers, cuBLAS, NCCL, copies and launches, timed on the GPUs
//! that CUDA shows to this process.
//!
//! Device times come from events around a graph of many operations whose operands rotate through more memory than L2
//! holds (see `timing`); host times from the host's clock. Every kernel is compared with the host on a small instance
//! before its first measurement, every collective on the instance that is measured.
//! What no part of this module does: change clocks, power limits or modes of a GPU, use NVLink multicast.

mod all_reduce;
mod attention;
mod checked;
mod collective;
mod device;
mod gate;
mod gemm;
mod gemv;
mod inspect;
mod kernels;
mod launch;
mod libraries;
mod link;
mod mla;
mod moe;
mod packing;
mod random;
mod reference;
mod routing;
mod self_test;
mod small;
mod smi;
mod split;
mod stream;
mod timing;

use super::ffi;
use super::{Failure, FailureKind, Inspection, Measured, Meter, Request, Task};
use collective::Communicators;
use device::Gpu;

pub use libraries::{Libraries, Places};

/// The visible GPUs and what is kept between tasks.
struct Cuda {
    gpus: Vec<Gpu>,
    communicators: Communicators,
    checked: checked::Checked,
}

/// Loads the CUDA libraries and takes the visible GPUs.
///
/// # Errors
/// [`FailureKind::LibraryMissing`] or [`FailureKind::NoDevice`].
pub fn open() -> Result<Box<dyn Meter>, Failure> {
    let count = ffi::count()?;
    if count == 0 {
        return Err(Failure::new(FailureKind::NoDevice, "CUDA shows no GPU to this process"));
    }
    let gpus = (0..count).map(Gpu::open).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Cuda { gpus, communicators: Communicators::default(), checked: checked::Checked::default() }))
}

impl Meter for Cuda {
    fn inspect(&mut self) -> Result<Inspection, Failure> {
        inspect::inspect(&self.gpus)
    }

    fn measure(&mut self, request: &Request) -> Result<Measured, Failure> {
        let gpu = &self.gpus[0];
        gpu.context.bind()?;
        let asked = timing::Asked::of(request);
        let checked = &mut self.checked;
        match &request.task {
            Task::Inspect => Err(unsupported("the box is inspected, not measured")),
            Task::SelfTest => self_test::run(gpu, checked),
            Task::Stream { bytes } => stream::measure(gpu, checked, asked, *bytes),
            Task::Gemm { weights, n, k, rows } => {
                gemm::measure(gpu, checked, asked, *weights, (*n, *k, *rows))
            }
            Task::Dequant { bits, group, n, k, rows } => {
                gemv::measure(gpu, checked, asked, (*bits, *group), (*n, *k, *rows))
            }
            moe @ Task::Moe { .. } => moe::measure(gpu, checked, asked, &moe::Shape::of(moe)?),
            Task::Attention { kv, head_dim, heads, kv_heads, batch, rows, context } => {
                let shape = attention::Shape {
                    head_dim: *head_dim,
                    heads: *heads,
                    kv_heads: *kv_heads,
                    batch: *batch,
                    rows: *rows,
                    context: *context,
                };
                attention::measure(gpu, checked, asked, *kv, shape)
            }
            Task::Mla { kv, heads, batch, rows, context } => {
                let shape = mla::Shape { heads: *heads, batch: *batch, rows: *rows, context: *context };
                mla::measure(gpu, checked, asked, *kv, shape)
            }
            Task::Small { kind, rows, hidden } => {
                small::measure(gpu, checked, asked, *kind, (*rows, *hidden))
            }
            Task::Launch { kind } => launch::measure(&self.gpus, &mut self.communicators, asked, *kind),
            Task::Link { kind, from, to, bytes } => {
                link::measure(&self.gpus, asked, *kind, (*from, *to), *bytes)
            }
            Task::Collective(task) => collective::measure(&self.gpus, &mut self.communicators, asked, task),
        }
    }
}

/// A failure that says what cannot be done.
fn unsupported(because: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Unsupported, because)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_there_is_a_sentence_and_no_panic() {
        // True on every machine: where there is a driver this opens it, or says why not.
        match open() {
            Ok(mut meter) => assert!(!meter.inspect().unwrap().gpus.is_empty()),
            Err(failure) => {
                let expected = [FailureKind::LibraryMissing, FailureKind::NoDevice, FailureKind::Unsupported];
                assert!(expected.contains(&failure.kind), "{failure:?}");
                assert!(failure.because.len() > 10 && !failure.because.contains('/'), "{failure:?}");
            }
        }
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        for (library, name) in [
            (ffi::Library::Nvrtc, "NVRTC"),
            (ffi::Library::Cublas, "cuBLAS"),
            (ffi::Library::Nccl, "NCCL"),
            (ffi::Library::Driver, "driver"),
        ] {
            if library.is_there() {
                continue;
            }
            let failure = library.require().unwrap_err();
            assert_eq!(failure.kind, FailureKind::LibraryMissing);
            assert!(failure.because.contains(name), "{failure:?}");
        }
        if !ffi::Library::Nvrtc.is_there() {
            assert_eq!(
                ffi::compile(kernels::Source::Basic.text(), [9, 0]).unwrap_err().kind,
                FailureKind::LibraryMissing
            );
        }
        if !ffi::Library::Nccl.is_there() {
            assert_eq!(ffi::nccl_version(), None);
            assert_eq!(
                ffi::NcclId::new().err().map(|failure| failure.kind),
                Some(FailureKind::LibraryMissing)
            );
        }
    }
}
