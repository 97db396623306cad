//! Absorbed latent decode attention, rank 512 and 64 rotary.

use half::bf16;

use super::super::ffi::{Arg, Grid};
use super::super::{Check, Failure, Measured};
use super::checked::{Checked, close};
use super::device::{Fill, Gpu};
use super::random::{floats, units};
use super::split::{Parts, split};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{reference, unsupported};
use crate::model::KvFormat;

/// Shape of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Query heads.
    pub(super) heads: u32,
    /// Requests.
    pub(super) batch: u32,
    /// Verified rows of each.
    pub(super) rows: u32,
    /// Tokens in the cache of each.
    pub(super) context: u32,
}

/// Width of a cache line and query, and of a value.
const LINE: u32 = 576;
const VALUE: u32 = 512;

impl Shape {
    /// Tiles of 16 queries of a block: 1, 2 or 4, as many as there are and shared memory holds.
    fn tiles(&self, most_shared: u32) -> u32 {
        let wanted = (self.rows * self.heads).div_ceil(16).next_power_of_two().min(4);
        [4, 2].into_iter().find(|&tiles| tiles <= wanted && shared(tiles) <= most_shared).unwrap_or(1)
    }

    fn queries(&self) -> u64 {
        u64::from(self.batch) * u64::from(self.rows) * u64::from(self.heads)
    }

    fn cache_bytes(&self) -> u64 {
        2 * u64::from(self.batch) * u64::from(self.context) * u64::from(LINE)
    }

    fn splits(&self, gpu: &Gpu) -> u32 {
        let tiles = self.tiles(gpu.shared[0]);
        let blocks = self.batch * (self.rows * self.heads).div_ceil(16 * tiles);
        // A block more in each multiprocessor takes 1 KiB for itself.
        let beside = (gpu.shared[1] / (shared(tiles) + 1024)).clamp(1, 2);
        split(self.context.div_ceil(32), blocks, beside * gpu.sms, 2)
    }

    fn launch(&self, gpu: &Gpu, q: u64, cache: u64, parts: &Parts) -> Result<(), Failure> {
        let (queries, tiles) = (self.rows * self.heads, self.tiles(gpu.shared[0]));
        let blocks = [self.splits(gpu), queries.div_ceil(16 * tiles), self.batch];
        // The width that the scores are scaled by is that of an unabsorbed query: 128 and 64 rotary.
        let scale = std::f32::consts::LOG2_E / 192.0f32.sqrt();
        gpu.kernel(&format!("mla_{tiles}"), shared(tiles))?.launch(
            &gpu.stream,
            Grid { blocks, threads: 256, shared: shared(tiles) },
            &[
                Arg::Wide(q),
                Arg::Wide(cache),
                Arg::Wide(parts.outputs.at()),
                Arg::Wide(parts.stats.at()),
                Arg::Word(self.heads),
                Arg::Word(self.rows),
                Arg::Word(self.context),
                Arg::Float(scale),
            ],
        )?;
        parts.merge(gpu)
    }

    fn parts(&self, gpu: &Gpu) -> Result<Parts, Failure> {
        Parts::new(gpu, self.splits(gpu), self.queries(), VALUE)
    }
}

/// Dynamic shared memory of a block with so many tiles of queries \[B\], as kernels/mla.cu lays it out.
const fn shared(tiles: u32) -> u32 {
    let (rows, stages) = (16 * tiles, if tiles == 4 { 3 } else { 2 });
    2 * 584 * (rows + 32 * stages) + 2 * 40 * rows + 4 * 33 * rows + 4 * rows
}

/// Times a call; the caches rotate.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    kv: KvFormat,
    shape: Shape,
) -> Result<Measured, Failure> {
    if kv != KvFormat::Bf16 {
        return Err(unsupported("the own latent attention reads a bf16 cache, not fp8"));
    }
    if shape.rows == 0 || shape.heads == 0 || shape.batch == 0 || shape.rows > shape.context {
        return Err(unsupported(format!("{} rows of a context of {}", shape.rows, shape.context)));
    }
    let tiles = shape.tiles(gpu.shared[0]);
    let check = checked.once(&format!("mla {tiles}"), || test(gpu, tiles))?;
    let bytes = shape.cache_bytes();
    let rotation = Rotation::over(bytes, gpu.l2);
    let cache = gpu.filled(bytes * u64::from(rotation.copies), Fill::Units, 61)?;
    let q = gpu.filled(2 * shape.queries() * u64::from(LINE), Fill::Units, 62)?;
    let parts = shape.parts(gpu)?;
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        shape.launch(gpu, q.at(), cache.at() + bytes * u64::from(copy), &parts)
    })?;
    Ok(measured(samples, check, vec!["cache in one piece, not in pages".to_owned()]))
}

/// Against the host: 2 requests of 215 tokens, so many tiles of queries, the last one not full.
pub(super) fn test(gpu: &Gpu, tiles: u32) -> Result<Check, Failure> {
    let rows = if tiles == 4 { 7 } else { tiles };
    let shape = Shape { heads: 14, batch: 2, rows, context: 215 };
    let queries = shape.queries() as usize * LINE as usize;
    let q: Vec<bf16> = floats(&units(queries, 63)).into_iter().map(|x| bf16::from_f32(4.0 * x)).collect();
    let cache = units(shape.cache_bytes() as usize / 2, 64);
    let (buffer, lines) = (gpu.holding(&q)?, gpu.holding(&cache)?);
    let parts = shape.parts(gpu)?;
    parts.out.set(0xff)?;
    shape.launch(gpu, buffer.at(), lines.at(), &parts)?;
    gpu.stream.synchronise()?;
    let (line, value) = (LINE as usize, VALUE as usize);
    let host = reference::Shape {
        batch: 2,
        rows: rows as usize,
        heads: 14,
        kv_heads: 1,
        key: line,
        value,
        context: 215,
    };
    let lines = floats(&cache);
    let want = reference::attention(host, (&floats(&q), &lines, &lines), (line, line), 1.0 / 192.0f32.sqrt());
    close("latent attention", &floats(&parts.out.read::<bf16>(0, want.len())?), &want)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fit_the_shared_memory_of_the_gpu() {
        let tiles = |heads, rows, most| Shape { heads, batch: 1, rows, context: 4096 }.tiles(most);
        let (hopper, blackwell) = (227 << 10, 99 << 10);
        assert_eq!([(16, 1), (16, 2), (16, 3), (128, 4)].map(|(h, r)| tiles(h, r, hopper)), [1, 2, 4, 4]);
        assert_eq!([(16, 1), (16, 2), (128, 4)].map(|(h, r)| tiles(h, r, blackwell)), [1, 1, 1]);
        assert!(shared(4) <= hopper && shared(1) <= blackwell && 2 * (shared(1) + 1024) <= 228 << 10);
    }
}
