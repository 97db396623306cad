//! Own products of few rows with packed weights, INT4 or bf16, for one matrix or the matrices of several experts.

use half::bf16;

use super::super::ffi::{Arg, Buffer, Grid};
use super::super::{Check, Failure, Measured};
use super::checked::{Checked, close};
use super::device::{Fill, Gpu};
use super::packing::{dequantised, pack_int4, pack_scales};
use super::random::{floats, units, word};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{reference, unsupported};

/// Storage of packed weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packed {
    /// bf16.
    Bf16,
    /// INT4 with a bf16 scale for so many weights.
    Int4 {
        /// Weights that share a scale.
        group: u32,
    },
}

impl Packed {
    /// Bytes of the weights of a matrix.
    pub(super) fn bytes(self, n: u32, k: u32) -> u64 {
        let weights = u64::from(n) * u64::from(k);
        if self == Self::Bf16 { weights * 2 } else { weights / 2 }
    }

    /// Bytes of the scales of a matrix.
    pub(super) fn scale_bytes(self, n: u32, k: u32) -> u64 {
        match self {
            Self::Bf16 => 0,
            Self::Int4 { group } => 2 * u64::from(n) * u64::from(k / group),
        }
    }

    fn word(self) -> &'static str {
        if self == Self::Bf16 { "bf16" } else { "int4" }
    }
}

/// A product: its shape and how the work is laid out over the GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    packed: Packed,
    n: u32,
    k: u32,
    /// Most rows of one of them.
    rows: u32,
    /// Rows of the output in all.
    out_rows: u64,
    across: u32,
    split: u32,
}

/// Where the operands of a [`Product`] lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operands {
    /// Packed weights of expert 0.
    pub(super) weights: u64,
    /// Their scales; 0 for bf16.
    pub(super) scales: u64,
    /// Activations.
    pub(super) x: u64,
    /// Output.
    pub(super) out: u64,
    /// Parts of a split k, of [`Product::partial_bytes`].
    pub(super) partial: u64,
    /// Expert of each group, first place of each group in `pairs`, pairs: all 0 for one dense matrix.
    pub(super) routing: [u64; 3],
    /// Row of the activations = pair / divide.
    pub(super) divide: u32,
}

impl Product {
    /// Lays it out: warps beside one another over the outputs and along k, and blocks along k, so that at least twice
    /// as many blocks as multiprocessors share the reading, each warp with at least 256 of k.
    ///
    /// # Errors
    /// A shape that is not whole in tiles of 32 outputs and blocks of 64 k.
    pub(super) fn new(
        packed: Packed,
        (n, k): (u32, u32),
        (groups, rows): (u32, u32),
        out_rows: u64,
        sms: u32,
    ) -> Result<Self, Failure> {
        let group = if let Packed::Int4 { group } = packed { group } else { 32 };
        if !n.is_multiple_of(32) || !k.is_multiple_of(64) || n == 0 || k == 0 || rows == 0 {
            return Err(unsupported(format!("the own GEMV wants n of 32s and k of 64s, not {n} x {k}")));
        }
        if !group.is_multiple_of(32) || group == 0 || !k.is_multiple_of(group) {
            return Err(unsupported(format!(
                "the own GEMV wants groups of 32s that divide k, not {group} of {k}"
            )));
        }
        let blocks = |across: u32| n / (32 * across) * groups * rows.div_ceil(64);
        let fits =
            |across: &u32| n.is_multiple_of(32 * across) && (blocks(*across) >= 2 * sms || *across == 1);
        let across = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
        let mut split = 1;
        while blocks(across) * split < 2 * sms && k / (64 * (8 / across) * split * 2) >= 4 {
            split *= 2;
        }
        Ok(Self { packed, n, k, rows, out_rows, across, split })
    }

    /// The size of the parts of a split k \[B\].
    pub(super) fn partial_bytes(&self) -> u64 {
        if self.split == 1 { 16 } else { 4 * u64::from(self.split) * self.out_rows * u64::from(self.n) }
    }

    /// Rows of a block: 8, 16, 32 or 64.
    fn tile(&self) -> u32 {
        self.rows.next_power_of_two().clamp(8, 64)
    }

    /// The kernel.
    pub(super) fn name(&self) -> String {
        format!("gemv_{}_{}", self.packed.word(), self.tile())
    }

    /// Queues it for the first `groups` groups of the routing.
    pub(super) fn launch(&self, gpu: &Gpu, at: Operands, groups: u32) -> Result<(), Failure> {
        let tile = self.tile();
        let shared = 1024 * tile;
        let chunks = self.rows.div_ceil(tile);
        let grid =
            Grid { blocks: [self.n / (32 * self.across), groups * chunks, self.split], threads: 256, shared };
        let group = if let Packed::Int4 { group } = self.packed { group } else { 64 };
        let [experts, first, pairs] = at.routing;
        gpu.kernel(&self.name(), shared)?.launch(
            &gpu.stream,
            grid,
            &[
                Arg::Wide(at.weights),
                Arg::Wide(at.scales),
                Arg::Wide(at.x),
                Arg::Wide(at.out),
                Arg::Wide(at.partial),
                Arg::Wide(experts),
                Arg::Wide(first),
                Arg::Wide(pairs),
                Arg::Word(at.divide),
                Arg::Word(self.n),
                Arg::Word(self.k),
                Arg::Word(group),
                Arg::Word(self.rows),
                Arg::Word(self.across),
                Arg::Word(chunks),
                Arg::Wide(self.out_rows),
            ],
        )?;
        if self.split == 1 {
            return Ok(());
        }
        let pairs = self.out_rows * u64::from(self.n) / 2;
        let grid = Grid { blocks: [pairs.div_ceil(256) as u32, 1, 1], threads: 256, shared: 0 };
        let args = [Arg::Wide(at.partial), Arg::Wide(at.out), Arg::Wide(pairs), Arg::Word(self.split)];
        gpu.kernel("gemv_add", 0)?.launch(&gpu.stream, grid, &args)
    }
}

/// Times an INT4 product; weights and scales rotate.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    (bits, group): (u32, u32),
    (n, k, rows): (u32, u32, u32),
) -> Result<Measured, Failure> {
    if bits != 4 {
        return Err(unsupported(format!("the own GEMV takes weights of 4 bits, not {bits}")));
    }
    let packed = Packed::Int4 { group };
    let product = Product::new(packed, (n, k), (1, rows), u64::from(rows), gpu.sms)?;
    let check =
        checked.once(&format!("{} g{}", product.name(), group.min(64)), || test(gpu, rows, group.min(64)))?;
    let (weight_bytes, scale_bytes) = (packed.bytes(n, k), packed.scale_bytes(n, k));
    let rotation = Rotation::over(weight_bytes, gpu.l2);
    let copies = u64::from(rotation.copies);
    let weights = gpu.filled(weight_bytes * copies, Fill::Bits, 21)?;
    let scales = gpu.filled(scale_bytes * copies, Fill::Units, 22)?;
    let x = gpu.filled(2 * u64::from(rows) * u64::from(k), Fill::Units, 23)?;
    let (out, partial) =
        (gpu.buffer(2 * u64::from(rows) * u64::from(n))?, gpu.buffer(product.partial_bytes())?);
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        let at = Operands {
            weights: weights.at() + weight_bytes * u64::from(copy),
            scales: scales.at() + scale_bytes * u64::from(copy),
            x: x.at(),
            out: out.at(),
            partial: partial.at(),
            routing: [0; 3],
            divide: 1,
        };
        product.launch(gpu, at, 1)
    })?;
    Ok(measured(samples, check, Vec::new()))
}

/// INT4 weights and scales for a test: quantised, packed, and as the kernel sees them.
pub(super) struct Quantised {
    /// Packed weights.
    pub(super) weights: Vec<u32>,
    /// Packed scales.
    pub(super) scales: Vec<u32>,
    /// Values.
    pub(super) values: Vec<f32>,
}

impl Quantised {
    /// Random ones.
    pub(super) fn random((n, k): (usize, usize), group: usize, seed: u32) -> Self {
        let fours: Vec<u8> = (0..n * k).map(|i| (word(i as u32, seed) >> 28) as u8).collect();
        let scales = units(n * k / group, seed + 1);
        let value = |i: usize| dequantised(fours[i], scales[i / k * (k / group) + i % k / group]);
        Self {
            weights: pack_int4(&fours, n, k),
            scales: pack_scales(&scales, n, k / group),
            values: (0..n * k).map(value).collect(),
        }
    }
}

/// Against the host: 96 x 1088, which splits k over warps and blocks unevenly.
pub(super) fn test(gpu: &Gpu, rows: u32, group: u32) -> Result<Check, Failure> {
    let (n, k) = (96, 1088);
    let some = Quantised::random((n, k), group as usize, 31);
    let x = units(rows as usize * k, 33);
    let product =
        Product::new(Packed::Int4 { group }, (n as u32, k as u32), (1, rows), u64::from(rows), gpu.sms)?;
    let buffers: [Buffer; 3] = [gpu.holding(&some.weights)?, gpu.holding(&some.scales)?, gpu.holding(&x)?];
    let (out, partial) = (gpu.buffer(2 * u64::from(rows) * n as u64)?, gpu.buffer(product.partial_bytes())?);
    out.set(0xff)?;
    let at = Operands {
        weights: buffers[0].at(),
        scales: buffers[1].at(),
        x: buffers[2].at(),
        out: out.at(),
        partial: partial.at(),
        routing: [0; 3],
        divide: 1,
    };
    product.launch(gpu, at, 1)?;
    gpu.stream.synchronise()?;
    let got = floats(&out.read::<bf16>(0, rows as usize * n)?);
    close(&product.name(), &got, &reference::project(&floats(&x), &some.values, (n, k, rows as usize)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_laid_out_over_the_whole_gpu() {
        let product = |n, k, rows| {
            Product::new(Packed::Int4 { group: 128 }, (n, k), (1, rows), u64::from(rows), 132).unwrap()
        };
        // Wide: no split of k over blocks. Narrow: split, but no warp gets less than 4 blocks of 64.
        assert_eq!((product(32768, 8192, 1).across, product(32768, 8192, 1).split), (2, 1));
        let narrow = product(512, 7168, 4);
        assert!(narrow.across == 1 && narrow.split > 1 && 7168 / (64 * 8 * narrow.split) >= 1);
        assert_eq!(narrow.partial_bytes(), u64::from(narrow.split) * 4 * 4 * 512);
        assert_eq!([1, 8, 9, 33, 200].map(|rows| product(512, 7168, rows).tile()), [8, 8, 16, 64, 64]);
    }

    #[test]
    fn shapes_that_are_not_whole_are_refused() {
        let make = |n, k, group| Product::new(Packed::Int4 { group }, (n, k), (1, 1), 1, 132);
        assert!(make(100, 128, 128).is_err());
        assert!(make(128, 100, 50).is_err());
        assert!(make(128, 128, 48).is_err());
        assert!(make(128, 128, 0).is_err());
        assert!(make(128, 128, 32).is_ok());
    }
}
