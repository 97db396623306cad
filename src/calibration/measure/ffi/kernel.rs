//! Modules, kernels and launches.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute, CUmodule};

use super::error::check;
use super::{Context, Stream};
use crate::calibration::measure::Failure;

/// Loaded machine code.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Module {
    raw: CUmodule,
    context: Arc<Context>,
}

// SAFETY: modules may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: they are read only.
unsafe impl Sync for Module {}

impl Module {
    /// Loads an image that [`super::compile`] made: machine code, or PTX text that ends in a zero.
    pub(in crate::calibration::measure) fn load(
        context: &Arc<Context>,
        image: &[u8],
    ) -> Result<Arc<Self>, Failure> {
        context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image is complete and the pointer valid.
        check(unsafe { sys::cuModuleLoadData(&raw mut raw, image.as_ptr().cast()) }, "loading kernels")?;
        Ok(Arc::new(Self { raw, context: Arc::clone(context) }))
    }

    /// A kernel of it, with up to `shared` bytes of dynamic shared memory.
    pub(in crate::calibration::measure) fn kernel(
        self: &Arc<Self>,
        name: &str,
        shared: u32,
    ) -> Result<Kernel, Failure> {
        self.context.bind()?;
        let mut raw = std::ptr::null_mut();
        let word = CString::new(name).unwrap_or_default();
        let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the module lives and the pointers are valid.
        unsafe {
            check(
                sys::cuModuleGetFunction(&raw mut raw, self.raw, word.as_ptr()),
                &format!("finding kernel {name}"),
            )?;
            // Loads it now: a first launch that loads would wait for the context, in which a peer's kernel may spin.
            let mut registers = 0;
            let asked = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
            check(
                sys::cuFuncGetAttribute(&raw mut registers, asked, raw),
                &format!("loading kernel {name}"),
            )?;
            if shared > 48 << 10 {
                let code = sys::cuFuncSetAttribute(raw, most, shared.cast_signed());
                check(code, &format!("{shared} B of shared memory for kernel {name}"))?;
            }
        }
        Ok(Kernel { raw, _module: Arc::clone(self) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: loaded in `load`.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// A kernel.
#[derive(Debug, Clone)]
pub(in crate::calibration::measure) struct Kernel {
    raw: CUfunction,
    _module: Arc<Module>,
}

// SAFETY: functions may be launched from any thread.
unsafe impl Send for Kernel {}
// SAFETY: they are read only.
unsafe impl Sync for Kernel {}

/// Blocks of a launch, threads of a block, dynamic shared memory of a block \[B\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::calibration::measure) struct Grid {
    /// Blocks.
    pub(in crate::calibration::measure) blocks: [u32; 3],
    /// Threads of a block.
    pub(in crate::calibration::measure) threads: u32,
    /// Dynamic shared memory of a block \[B\].
    pub(in crate::calibration::measure) shared: u32,
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub(in crate::calibration::measure) enum Arg {
    /// An address, or a 64-bit count.
    Wide(u64),
    /// A 32-bit count.
    Word(u32),
    /// A float.
    Float(f32),
}

impl Kernel {
    /// Queues it.
    pub(in crate::calibration::measure) fn launch(
        &self,
        on: &Stream,
        grid: Grid,
        args: &[Arg],
    ) -> Result<(), Failure> {
        const MOST: usize = 20;
        assert!(args.len() <= MOST, "a kernel of ours has fewer arguments");
        let mut pointers = [std::ptr::null_mut::<c_void>(); MOST];
        for (pointer, arg) in pointers.iter_mut().zip(args) {
            *pointer = match arg {
                Arg::Wide(value) => std::ptr::from_ref(value).cast_mut().cast(),
                Arg::Word(value) => std::ptr::from_ref(value).cast_mut().cast(),
                Arg::Float(value) => std::ptr::from_ref(value).cast_mut().cast(),
            };
        }
        let [x, y, z] = grid.blocks;
        // SAFETY: the arguments are those that the kernel declares and outlive the call, which copies them.
        let code = unsafe {
            sys::cuLaunchKernel(
                self.raw,
                x,
                y,
                z,
                grid.threads,
                1,
                1,
                grid.shared,
                on.raw,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        check(code, "launching a kernel")
    }
}
