//! One GPU: context, stream, kernels and cuBLAS, each made when first wanted.

use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::CUdevice_attribute as Attribute;

use super::super::Failure;
use super::super::ffi::{Arg, Blas, Buffer, Context, Grid, Kernel, Module, Stream, attribute};
use super::kernels::{self, Source};

/// A GPU and what is kept on it between tasks.
pub(super) struct Gpu {
    /// Its number among the visible ones.
    pub(super) ordinal: u32,
    /// Its primary context.
    pub(super) context: Arc<Context>,
    /// The stream of all its work.
    pub(super) stream: Stream,
    /// L2 cache \[B\].
    pub(super) l2: u64,
    /// Multiprocessors.
    pub(super) sms: u32,
    /// Most shared memory of a block, and what a multiprocessor has \[B\].
    pub(super) shared: [u32; 2],
    /// Compute capability.
    pub(super) capability: [u32; 2],
    modules: [OnceLock<Result<Arc<Module>, Failure>>; 5],
    blas: OnceLock<Result<Blas, Failure>>,
    scratch: OnceLock<Result<Buffer, Failure>>,
}

/// What `fill` writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fill {
    /// Random bits.
    Bits = 0,
    /// bf16 in \[-0.5, 0.5).
    Units = 1,
    /// bf16 whole numbers 0 to 7.
    Wholes = 2,
    /// fp8 e4m3 of both signs from 0.5 to 0.9375.
    Eights = 3,
}

impl Gpu {
    /// Takes a GPU.
    pub(super) fn open(ordinal: u32) -> Result<Self, Failure> {
        let context = Context::new(ordinal)?;
        let stream = Stream::new(&context)?;
        let ask = |which| attribute(&context, which);
        Ok(Self {
            ordinal,
            l2: u64::from(ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
            sms: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared: [
                ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
                ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            ],
            capability: [
                ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ],
            context,
            stream,
            modules: Default::default(),
            blas: OnceLock::new(),
            scratch: OnceLock::new(),
        })
    }

    /// A kernel with up to `shared` bytes of dynamic shared memory.
    pub(super) fn kernel(&self, name: &str, shared: u32) -> Result<Kernel, Failure> {
        let source = Source::of(name);
        let module = self.modules[source as usize]
            .get_or_init(|| kernels::load(&self.context, self.capability, source));
        module.as_ref().map_err(Clone::clone)?.kernel(name, shared)
    }

    /// cuBLAS on the stream.
    pub(super) fn blas(&self) -> Result<&Blas, Failure> {
        self.blas.get_or_init(|| Blas::new(&self.stream)).as_ref().map_err(Clone::clone)
    }

    /// Memory of this size.
    pub(super) fn buffer(&self, bytes: u64) -> Result<Buffer, Failure> {
        Buffer::new(&self.context, bytes)
    }

    /// Memory of this size, filled.
    pub(super) fn filled(&self, bytes: u64, with: Fill, seed: u32) -> Result<Buffer, Failure> {
        let buffer = self.buffer(bytes.next_multiple_of(16))?;
        let grid = Grid { blocks: [self.sms * 4, 1, 1], threads: 512, shared: 0 };
        let args =
            [Arg::Wide(buffer.at()), Arg::Wide(buffer.bytes() / 4), Arg::Word(seed), Arg::Word(with as u32)];
        self.kernel("fill", 0)?.launch(&self.stream, grid, &args)?;
        self.stream.synchronise()?;
        Ok(buffer)
    }

    /// Memory that holds these values.
    pub(super) fn holding<T: Copy>(&self, values: &[T]) -> Result<Buffer, Failure> {
        let buffer = self.buffer(size_of_val(values) as u64)?;
        buffer.write(values)?;
        Ok(buffer)
    }

    /// Queues a read of twice L2, after which it holds nothing else.
    pub(super) fn flush(&self) -> Result<(), Failure> {
        let scratch = self.scratch.get_or_init(|| self.filled(2 * self.l2 + 16, Fill::Bits, 99));
        super::stream::read(self, scratch.as_ref().map_err(Clone::clone)?, 2 * self.l2)
    }
}
