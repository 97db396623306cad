//! Dense projections by cuBLAS.

use half::bf16;

use super::super::{Check, Failure, Measured};
use super::checked::{Checked, close};
use super::device::{Fill, Gpu};
use super::random::{floats, units};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{reference, unsupported};
use crate::model::WeightFormat;

/// Times a projection; the weights rotate, the activations stay.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    weights: WeightFormat,
    (n, k, rows): (u32, u32, u32),
) -> Result<Measured, Failure> {
    if weights != WeightFormat::Bf16 {
        return Err(unsupported(format!(
            "cuBLAS multiplies bf16 here, not {}",
            super::super::task::word_of_weights(weights)
        )));
    }
    let blas = gpu.blas()?;
    let check = checked.once("gemm bf16", || test(gpu))?;
    let bytes = 2 * u64::from(n) * u64::from(k);
    let rotation = Rotation::over(bytes, gpu.l2);
    let stride = bytes.next_multiple_of(256);
    let matrix = gpu.filled(stride * u64::from(rotation.copies), Fill::Units, 2)?;
    let x = gpu.filled(2 * u64::from(rows) * u64::from(k), Fill::Units, 3)?;
    let out = gpu.buffer(2 * u64::from(rows) * u64::from(n))?;
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        blas.project((n, k, rows), matrix.at() + stride * u64::from(copy), x.at(), out.at())
    })?;
    Ok(measured(samples, check, Vec::new()))
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
