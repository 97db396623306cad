//! Decode attention with grouped queries.

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
    /// Width of a head.
    pub(super) head_dim: u32,
    /// Query heads.
    pub(super) heads: u32,
    /// KV heads.
    pub(super) kv_heads: u32,
    /// Requests.
    pub(super) batch: u32,
    /// Verified rows of each.
    pub(super) rows: u32,
    /// Tokens in the cache of each.
    pub(super) context: u32,
}

impl Shape {
    fn refuse(&self) -> Result<(), Failure> {
        if ![64, 128].contains(&self.head_dim) {
            return Err(unsupported(format!(
                "the own attention has heads of 64 or 128, not {}",
                self.head_dim
            )));
        }
        if self.kv_heads == 0 || !self.heads.is_multiple_of(self.kv_heads) || self.heads == 0 {
            return Err(unsupported(format!("{} heads do not share {} KV heads", self.heads, self.kv_heads)));
        }
        if self.rows == 0 || self.rows > self.context || self.batch == 0 {
            return Err(unsupported(format!("{} rows of a context of {}", self.rows, self.context)));
        }
        Ok(())
    }

    /// Tiles of 16 queries, how many of them stand beside one another in a block of 4 warps, and the parts of a block.
    fn tiles(&self) -> (u32, u32, u32) {
        let tiles = (self.rows * self.heads / self.kv_heads).div_ceil(16);
        let beside = if tiles >= 3 { 4 } else { tiles };
        (tiles, beside, 4 / beside)
    }

    fn queries(&self) -> u64 {
        u64::from(self.batch) * u64::from(self.rows) * u64::from(self.heads)
    }

    /// Bytes of the keys, or of the values.
    fn cache_bytes(&self) -> u64 {
        2 * [self.batch, self.context, self.kv_heads, self.head_dim]
            .into_iter()
            .map(u64::from)
            .product::<u64>()
    }

    fn splits(&self, sms: u32) -> u32 {
        let (tiles, beside, parts) = self.tiles();
        let blocks = self.batch * self.kv_heads * tiles.div_ceil(beside);
        split(self.context.div_ceil(16), blocks, 2 * sms, 4 * parts)
    }

    fn launch(&self, gpu: &Gpu, [q, keys, values]: [u64; 3], parts: &Parts) -> Result<(), Failure> {
        let (tiles, beside, _) = self.tiles();
        let blocks = [self.splits(gpu.sms), self.kv_heads * tiles.div_ceil(beside), self.batch];
        let scale = std::f32::consts::LOG2_E / (self.head_dim as f32).sqrt();
        gpu.kernel(&format!("attention_{}", self.head_dim), 0)?.launch(
            &gpu.stream,
            Grid { blocks, threads: 128, shared: 0 },
            &[
                Arg::Wide(q),
                Arg::Wide(keys),
                Arg::Wide(values),
                Arg::Wide(parts.outputs.at()),
                Arg::Wide(parts.stats.at()),
                Arg::Word(self.heads),
                Arg::Word(self.kv_heads),
                Arg::Word(self.rows),
                Arg::Word(self.context),
                Arg::Float(scale),
            ],
        )?;
        parts.merge(gpu)
    }

    fn parts(&self, gpu: &Gpu) -> Result<Parts, Failure> {
        Parts::new(gpu, self.splits(gpu.sms), self.queries(), self.head_dim)
    }
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
        return Err(unsupported("the own attention reads a bf16 cache, not fp8"));
    }
    shape.refuse()?;
    let (tiles, ..) = shape.tiles();
    let name = format!("attention {} {}", shape.head_dim, tiles.min(5));
    let check = checked.once(&name, || test(gpu, shape.head_dim, tiles.min(5)))?;
    let bytes = shape.cache_bytes();
    let rotation = Rotation::over(2 * bytes, gpu.l2);
    let keys = gpu.filled(bytes * u64::from(rotation.copies), Fill::Units, 51)?;
    let values = gpu.filled(bytes * u64::from(rotation.copies), Fill::Units, 52)?;
    let q = gpu.filled(2 * shape.queries() * u64::from(shape.head_dim), Fill::Units, 53)?;
    let parts = shape.parts(gpu)?;
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        let at = bytes * u64::from(copy);
        shape.launch(gpu, [q.at(), keys.at() + at, values.at() + at], &parts)
    })?;
    Ok(measured(samples, check, vec!["cache in one piece, not in pages".to_owned()]))
}

/// Against the host: 2 requests of 333 tokens, 2 KV heads, so many tiles of queries, the last one not full.
pub(super) fn test(gpu: &Gpu, head_dim: u32, tiles: u32) -> Result<Check, Failure> {
    let rows = (16 * tiles - 3) / 4;
    let shape = Shape { head_dim, heads: 8, kv_heads: 2, batch: 2, rows, context: 333 };
    let sharp = |seed| -> Vec<bf16> {
        let values = floats(&units(shape.queries() as usize * head_dim as usize, seed));
        values.into_iter().map(|x| bf16::from_f32(8.0 * x)).collect()
    };
    let cache = shape.cache_bytes() as usize / 2;
    let (q, keys, values) = (sharp(54), units(cache, 55), units(cache, 56));
    let buffers = [gpu.holding(&q)?, gpu.holding(&keys)?, gpu.holding(&values)?];
    let parts = shape.parts(gpu)?;
    parts.out.set(0xff)?;
    shape.launch(gpu, [buffers[0].at(), buffers[1].at(), buffers[2].at()], &parts)?;
    gpu.stream.synchronise()?;
    let width = head_dim as usize;
    let host = reference::Shape {
        batch: 2,
        rows: rows as usize,
        heads: 8,
        kv_heads: 2,
        key: width,
        value: width,
        context: 333,
    };
    let want = reference::attention(
        host,
        (&floats(&q), &floats(&keys), &floats(&values)),
        (width, width),
        1.0 / (head_dim as f32).sqrt(),
    );
    close("attention", &floats(&parts.out.read::<bf16>(0, want.len())?), &want)
}
