//! Streaming read: the bandwidth that kernels can hope for.

use super::super::ffi::{Arg, Buffer, Grid};
use super::super::{Check, Failure, Measured};
use super::checked::{Checked, wrong};
use super::device::{Fill, Gpu};
use super::random::word;
use super::timing::{Asked, Rotation, chain_samples, measured};

/// Queues a read of `bytes`; the sum of its words is added to the last word of the buffer.
pub(super) fn read(gpu: &Gpu, buffer: &Buffer, bytes: u64) -> Result<(), Failure> {
    read_at(gpu, buffer.at(), bytes, buffer.at() + buffer.bytes() - 4)
}

fn read_at(gpu: &Gpu, at: u64, bytes: u64, sum: u64) -> Result<(), Failure> {
    let count = bytes / 16;
    let blocks = (gpu.sms * 4).min(count.div_ceil(512 * 8).max(1) as u32);
    let grid = Grid { blocks: [blocks, 1, 1], threads: 512, shared: 0 };
    gpu.kernel("stream_read", 0)?.launch(
        &gpu.stream,
        grid,
        &[Arg::Wide(at), Arg::Wide(count), Arg::Wide(sum)],
    )
}

/// Times a read.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    bytes: u64,
) -> Result<Measured, Failure> {
    let bytes = bytes.next_multiple_of(16).max(16);
    let check = checked.once("stream_read", || test(gpu))?;
    let rotation = Rotation::over(bytes, gpu.l2);
    let buffer = gpu.filled(bytes * u64::from(rotation.copies) + 16, Fill::Bits, 1)?;
    let sum = buffer.at() + buffer.bytes() - 4;
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        read_at(gpu, buffer.at() + bytes * u64::from(copy), bytes, sum)
    })?;
    Ok(measured(samples, check, Vec::new()))
}

/// The sum of all words, bit for bit.
pub(super) fn test(gpu: &Gpu) -> Result<Check, Failure> {
    let words = 3 * 512 * 1024 + 2048 + 4;
    let buffer = gpu.filled(words * 4, Fill::Bits, 5)?;
    let sum = gpu.holding(&[0u32; 4])?;
    read_at(gpu, buffer.at(), words * 4, sum.at())?;
    gpu.stream.synchronise()?;
    let want = (0..words as u32).fold(0u32, |sum, i| sum.wrapping_add(word(i, 5)));
    match sum.read::<u32>(0, 1)?[0] {
        got if got == want => Ok(Check::Exact),
        got => Err(wrong(format!("the streaming read sums to {got:#x} instead of {want:#x}"))),
    }
}
