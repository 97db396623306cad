//! Small kernels in a graph: their operands stay in L2, as in a pass.

use half::bf16;

use super::super::ffi::{Arg, Grid};
use super::super::{Check, Failure, Measured, SmallKind};
use super::checked::{Checked, close, wrong};
use super::device::{Fill, Gpu};
use super::random::{floats, units};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{reference, unsupported};

/// Addresses of up to four operands and a shape.
#[derive(Clone, Copy)]
struct Operands {
    x: u64,
    residual: u64,
    weight: u64,
    out: u64,
    rows: u32,
    hidden: u32,
}

impl Operands {
    fn launch(self, gpu: &Gpu, kind: SmallKind) -> Result<(), Failure> {
        let Self { x, residual, weight, out, rows, hidden } = self;
        let values = u64::from(rows) * u64::from(hidden);
        let over = |count: u64| Grid { blocks: [count.div_ceil(256) as u32, 1, 1], threads: 256, shared: 0 };
        let by_row = |threads| Grid { blocks: [rows, 1, 1], threads, shared: 0 };
        match kind {
            SmallKind::Norm => {
                let threads = (hidden / 8).next_multiple_of(32).clamp(32, 512);
                let args = [x, residual, weight, out].map(Arg::Wide);
                let [a, b, c, d] = args;
                gpu.kernel("add_rms_norm", 0)?.launch(
                    &gpu.stream,
                    by_row(threads),
                    &[a, b, c, d, Arg::Word(hidden)],
                )
            }
            SmallKind::Elementwise => gpu.kernel("twice", 0)?.launch(
                &gpu.stream,
                over(values / 8),
                &[Arg::Wide(x), Arg::Wide(out), Arg::Wide(values / 8)],
            ),
            SmallKind::Activation => gpu.kernel("silu_mul", 0)?.launch(
                &gpu.stream,
                over(values / 2),
                &[Arg::Wide(x), Arg::Wide(out), Arg::Wide(u64::from(rows)), Arg::Word(hidden)],
            ),
            SmallKind::Sampling => gpu.kernel("arg_max", 0)?.launch(
                &gpu.stream,
                by_row(1024),
                &[Arg::Wide(x), Arg::Wide(out), Arg::Word(hidden)],
            ),
        }
    }
}

/// Times one.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    kind: SmallKind,
    (rows, hidden): (u32, u32),
) -> Result<Measured, Failure> {
    if rows == 0 || hidden == 0 || !hidden.is_multiple_of(8) {
        return Err(unsupported(format!("the small kernels want columns of 8s, not {rows} x {hidden}")));
    }
    let check = checked.once(&format!("{kind:?}"), || test(gpu, kind))?;
    let bytes = 2 * u64::from(rows) * u64::from(hidden);
    let x = gpu.filled(2 * bytes, Fill::Units, 71)?;
    let residual = gpu.filled(bytes, Fill::Units, 72)?;
    let weight = gpu.filled(2 * u64::from(hidden), Fill::Units, 73)?;
    let out = gpu.buffer(bytes)?;
    let at =
        Operands { x: x.at(), residual: residual.at(), weight: weight.at(), out: out.at(), rows, hidden };
    let samples = chain_samples(gpu, asked, Rotation::none(), |_| at.launch(gpu, kind))?;
    Ok(measured(samples, check, Vec::new()))
}

/// Against the host: 3 rows of 4104, or of 10000 for arg-max.
pub(super) fn test(gpu: &Gpu, kind: SmallKind) -> Result<Check, Failure> {
    let (rows, hidden) = (3, if kind == SmallKind::Sampling { 10_000 } else { 4104 });
    let count = rows * hidden;
    let twice = if kind == SmallKind::Activation { 2 } else { 1 };
    let (x, residual, weight) = (units(twice * count, 74), units(count, 75), units(hidden, 76));
    let buffers = [gpu.holding(&x)?, gpu.holding(&residual)?, gpu.holding(&weight)?];
    let out = gpu.buffer(2 * count as u64)?;
    out.set(0xff)?;
    let at = Operands {
        x: buffers[0].at(),
        residual: buffers[1].at(),
        weight: buffers[2].at(),
        out: out.at(),
        rows: rows as u32,
        hidden: hidden as u32,
    };
    at.launch(gpu, kind)?;
    gpu.stream.synchronise()?;
    let x = floats(&x);
    let want = match kind {
        SmallKind::Norm => {
            let sum: Vec<f32> = x.iter().zip(floats(&residual)).map(|(a, b)| a + b).collect();
            reference::rms_norm(&reference::rounded(&sum), &floats(&weight))
        }
        SmallKind::Elementwise => x.iter().map(|x| 2.0 * x).collect(),
        SmallKind::Activation => reference::silu_mul(&x, hidden),
        SmallKind::Sampling => {
            let largest =
                |row: &[f32]| (0..hidden).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
            let want: Vec<u32> = x.chunks(hidden).map(|row| largest(row) as u32).collect();
            let got = out.read::<u32>(0, rows)?;
            return if got == want {
                Ok(Check::Exact)
            } else {
                Err(wrong(format!("arg-max finds {got:?} instead of {want:?}")))
            };
        }
    };
    close("a small kernel", &floats(&out.read::<bf16>(0, count)?), &want)
}
