//! Dense projections by cuBLAS.

use half::bf16;

use super::super::ffi::{Blas, Fp8Product};
use super::super::{Check, Failure, Measured};
use super::checked::{Checked, close};
use super::device::{Fill, Gpu};
use super::random::{eight, eights, floats, units};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{reference, unsupported};
use crate::model::WeightFormat;

/// A projection that can be queued.
enum Product<'g> {
    Bf16(&'g Blas),
    Fp8(Fp8Product),
}

impl<'g> Product<'g> {
    fn new(gpu: &'g Gpu, weights: WeightFormat, shape: (u32, u32, u32)) -> Result<Self, Failure> {
        match weights {
            WeightFormat::Bf16 => Ok(Self::Bf16(gpu.blas()?)),
            WeightFormat::Fp8 if gpu.capability < [8, 9] => {
                Err(unsupported("this GPU has no fp8 tensor cores"))
            }
            WeightFormat::Fp8 => Ok(Self::Fp8(Fp8Product::new(&gpu.stream, shape)?)),
            other => Err(unsupported(format!(
                "cuBLAS multiplies bf16 and fp8 here, not {}",
                super::super::task::word_of_weights(other)
            ))),
        }
    }

    /// Bytes of a number, and what buffers are filled with.
    const fn number(&self) -> (u64, Fill) {
        match self {
            Self::Bf16(_) => (2, Fill::Units),
            Self::Fp8(_) => (1, Fill::Eights),
        }
    }

    fn launch(&self, gpu: &Gpu, shape: (u32, u32, u32), [weights, x, out]: [u64; 3]) -> Result<(), Failure> {
        match self {
            Self::Bf16(blas) => blas.project(shape, weights, x, out),
            Self::Fp8(product) => product.launch(&gpu.stream, weights, x, out),
        }
    }
}

/// Times a projection; the weights rotate, the activations stay.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    weights: WeightFormat,
    shape: (u32, u32, u32),
) -> Result<Measured, Failure> {
    let (n, k, rows) = shape;
    let product = Product::new(gpu, weights, shape)?;
    let check = match product {
        Product::Bf16(_) => checked.once("gemm bf16", || test(gpu))?,
        Product::Fp8(_) => checked.once("gemm fp8", || test_fp8(gpu))?,
    };
    let (size, fill) = product.number();
    let bytes = size * u64::from(n) * u64::from(k);
    let rotation = Rotation::over(bytes, gpu.l2);
    let stride = bytes.next_multiple_of(256);
    let matrix = gpu.filled(stride * u64::from(rotation.copies), fill, 2)?;
    let x = gpu.filled(size * u64::from(rows) * u64::from(k), fill, 3)?;
    let out = gpu.buffer(2 * u64::from(rows) * u64::from(n))?;
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        product.launch(gpu, shape, [matrix.at() + stride * u64::from(copy), x.at(), out.at()])
    })?;
    let note = "fp8 e4m3 with one scale each, result in bf16; quantising the activations is not in it";
    let notes = if weights == WeightFormat::Fp8 { vec![note.to_owned()] } else { Vec::new() };
    Ok(measured(samples, check, notes))
}

/// Against the host: 5 rows, 96 x 256.
pub(super) fn test_fp8(gpu: &Gpu) -> Result<Check, Failure> {
    let (n, k, rows) = (96, 256, 5);
    let (weights, x) = (eights(n * k, 13), eights(rows * k, 14));
    let (w, a) = (gpu.holding(&weights)?, gpu.holding(&x)?);
    let out = gpu.buffer(2 * (rows * n) as u64)?;
    out.set(0xff)?;
    let shape = (n as u32, k as u32, rows as u32);
    Product::new(gpu, WeightFormat::Fp8, shape)?.launch(gpu, shape, [w.at(), a.at(), out.at()])?;
    gpu.stream.synchronise()?;
    let values = |bytes: &[u8]| -> Vec<f32> { bytes.iter().map(|&byte| eight(byte)).collect() };
    let got = floats(&out.read::<bf16>(0, rows * n)?);
    close("cuBLASLt's product", &got, &reference::project(&values(&x), &values(&weights), (n, k, rows)))
}

/// Against the host: 5 rows, 96 x 256.
pub(super) fn test(gpu: &Gpu) -> Result<Check, Failure> {
    let (n, k, rows) = (96, 256, 5);
    let (weights, x) = (units(n * k, 11), units(rows * k, 12));
    let (w, a) = (gpu.holding(&weights)?, gpu.holding(&x)?);
    let out = gpu.buffer(2 * (rows * n) as u64)?;
    out.set(0xff)?;
    gpu.blas()?.project((n as u32, k as u32, rows as u32), w.at(), a.at(), out.at())?;
    gpu.stream.synchronise()?;
    let got = floats(&out.read::<bf16>(0, rows * n)?);
    close("cuBLAS's product", &got, &reference::project(&floats(&x), &floats(&weights), (n, k, rows)))
}
