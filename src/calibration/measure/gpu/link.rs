//! Copies between GPUs and with the host, and flags back and forth.

use super::super::ffi::{Arg, Event, Grid, Pinned, can_map};
use super::super::{Check, End, Failure, LinkKind, Measured};
use super::checked::wrong;
use super::collective::slowest;
use super::device::{Fill, Gpu};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{all_reduce, gate, unsupported};
use crate::units::Seconds;

/// Times one.
pub(super) fn measure(
    gpus: &[Gpu],
    asked: Asked,
    kind: LinkKind,
    ends: (End, End),
    bytes: u64,
) -> Result<Measured, Failure> {
    let gpu = |number: u32| {
        gpus.get(number as usize)
            .ok_or_else(|| unsupported(format!("there is no GPU {number} among {}", gpus.len())))
    };
    let bytes = bytes.max(4);
    match (kind, ends) {
        (LinkKind::Copy, (End::Gpu(from), End::Gpu(to))) => copy(gpu(from)?, gpu(to)?, asked, bytes),
        (LinkKind::HostCopy, (End::Host, End::Gpu(to))) => host_copy(gpu(to)?, asked, bytes, true),
        (LinkKind::HostCopy, (End::Gpu(from), End::Host)) => host_copy(gpu(from)?, asked, bytes, false),
        (LinkKind::Flag, (End::Gpu(a), End::Gpu(b))) if a != b => flag(gpu(a)?, gpu(b)?, asked),
        (LinkKind::AllPairs, (End::All, End::All)) => all_pairs(gpus, asked, bytes),
        (_, (from, to)) => Err(unsupported(format!("{kind:?} from {from} to {to} means nothing"))),
    }
}

fn copy(from: &Gpu, to: &Gpu, asked: Asked, bytes: u64) -> Result<Measured, Failure> {
    let peers = from.ordinal == to.ordinal || can_map(&from.context, &to.context)?;
    if peers {
        all_reduce::map_all(&[from, to])?;
    }
    let rotation = Rotation::over(bytes, from.l2);
    let stride = bytes.next_multiple_of(256);
    let source = from.filled(stride * u64::from(rotation.copies), Fill::Bits, 81)?;
    let target = to.buffer(stride * u64::from(rotation.copies))?;
    from.context.bind()?;
    let one = |copy: u32| {
        let at = stride * u64::from(copy);
        from.stream.copy(target.at() + at, source.at() + at, bytes)
    };
    one(0)?;
    from.stream.synchronise()?;
    let ends = bytes.min(1 << 16) as usize;
    if source.read::<u8>(bytes - ends as u64, ends)? != target.read::<u8>(bytes - ends as u64, ends)? {
        return Err(wrong("a copy between GPUs arrived changed"));
    }
    from.context.bind()?;
    if peers {
        return Ok(measured(chain_samples(from, asked, rotation, one)?, Check::Exact, Vec::new()));
    }
    let samples = eager_samples(from, asked, |index| one(index % rotation.copies))?;
    Ok(measured(samples, Check::Exact, vec!["through the host: the GPUs are no peers".to_owned()]))
}

fn host_copy(gpu: &Gpu, asked: Asked, bytes: u64, down: bool) -> Result<Measured, Failure> {
    gpu.context.bind()?;
    let rotation = Rotation::over(bytes, gpu.l2);
    let stride = bytes.next_multiple_of(256);
    let device = gpu.filled(stride * u64::from(rotation.copies), Fill::Bits, 82)?;
    let host = Pinned::new(&gpu.context, bytes)?;
    let words = (bytes / 4).min(1 << 14) as usize;
    gpu.stream.copy(host.at(), device.at(), bytes)?;
    gpu.stream.copy(device.at() + stride, host.at(), bytes)?;
    gpu.stream.synchronise()?;
    let (there, back) = (device.read::<u32>(0, words)?, device.read::<u32>(stride, words)?);
    let seen = |i: usize| host.word(i).load(std::sync::atomic::Ordering::Relaxed);
    if there != back || (0..words).any(|i| seen(i) != there[i]) {
        return Err(wrong("a copy to the host and back arrived changed"));
    }
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        let at = device.at() + stride * u64::from(copy);
        if down { gpu.stream.copy(at, host.at(), bytes) } else { gpu.stream.copy(host.at(), at, bytes) }
    })?;
    Ok(measured(samples, Check::Exact, Vec::new()))
}

/// Events around a few operations issued one after another.
fn eager_samples(
    gpu: &Gpu,
    asked: Asked,
    mut issue: impl FnMut(u32) -> Result<(), Failure>,
) -> Result<Vec<f64>, Failure> {
    const CHAIN: u32 = 8;
    let (start, end) = (Event::new(&gpu.context)?, Event::new(&gpu.context)?);
    let mut one = || -> Result<f64, Failure> {
        start.record(&gpu.stream)?;
        (0..CHAIN).try_for_each(&mut issue)?;
        end.record(&gpu.stream)?;
        gpu.stream.synchronise()?;
        start.until(&end)
    };
    let first = one()?;
    (0..asked.samples(Seconds::from_us(first))).map(|_| Ok(one()? / f64::from(CHAIN))).collect()
}

fn all_pairs(gpus: &[Gpu], asked: Asked, bytes: u64) -> Result<Measured, Failure> {
    let count = gpus.len() as u32;
    if count < 2 {
        return Err(unsupported("one GPU has no neighbour"));
    }
    for (a, b) in (0..gpus.len()).map(|i| (&gpus[i], &gpus[(i + 1) % gpus.len()])) {
        if can_map(&a.context, &b.context)? {
            a.context.map(&b.context)?;
        }
    }
    let targets = gpus.iter().map(|gpu| gpu.buffer(bytes)).collect::<Result<Vec<_>, _>>()?;
    let targets: Vec<u64> = targets.iter().map(super::super::ffi::Buffer::at).collect::<Vec<_>>();
    let by_rank = gate::ranks(count, |rank, gate| {
        let gpu = &gpus[rank as usize];
        gpu.context.bind()?;
        let source = gpu.filled(bytes, Fill::Bits, rank)?;
        let to = targets[((rank + 1) % count) as usize];
        let (start, end) = (Event::new(&gpu.context)?, Event::new(&gpu.context)?);
        let mut samples = Vec::new();
        for index in 0..asked.repeats + 2 {
            gate.wait()?;
            start.record(&gpu.stream)?;
            (0..8).try_for_each(|_| gpu.stream.copy(to, source.at(), bytes))?;
            end.record(&gpu.stream)?;
            gpu.stream.synchronise()?;
            if index >= 2 {
                samples.push(start.until(&end)? / 8.0);
            }
        }
        gate.wait()?;
        Ok(samples)
    })?;
    Ok(measured(slowest(&by_rank), Check::NotApplicable, Vec::new()))
}

/// A kernel of one thread on each GPU; a flag is a word in the memory of the one that waits for it.
fn flag(a: &Gpu, b: &Gpu, asked: Asked) -> Result<Measured, Failure> {
    all_reduce::map_all(&[a, b])?;
    Ok(measured(ping_pong((a, &a.stream), (b, &b.stream), asked)?, Check::Exact, Vec::new()))
}

/// Half a turn \[µs\], of 500 turns a sample.
pub(super) fn ping_pong(
    (a, on_a): (&Gpu, &super::super::ffi::Stream),
    (b, on_b): (&Gpu, &super::super::ffi::Stream),
    asked: Asked,
) -> Result<Vec<f64>, Failure> {
    const TURNS: u32 = 500;
    let flags = [a.buffer(128)?, b.buffer(128)?];
    flags[0].set(0)?;
    flags[1].set(0)?;
    let grid = Grid { blocks: [1, 1, 1], threads: 1, shared: 0 };
    let kernels = [a.kernel("ping_pong", 0)?, b.kernel("ping_pong", 0)?];
    let (start, end) = (Event::new(&a.context)?, Event::new(&a.context)?);
    let mut samples = Vec::new();
    for index in 0..=asked.repeats {
        let args = |mine: usize, second: u32| {
            let [mine, theirs] = [flags[mine].at(), flags[1 - mine].at()];
            [
                Arg::Wide(mine),
                Arg::Wide(theirs),
                Arg::Word(TURNS),
                Arg::Word(second),
                Arg::Word(index * TURNS),
            ]
        };
        b.context.bind()?;
        kernels[1].launch(on_b, grid, &args(1, 1))?;
        a.context.bind()?;
        start.record(on_a)?;
        kernels[0].launch(on_a, grid, &args(0, 0))?;
        end.record(on_a)?;
        on_a.synchronise()?;
        b.context.bind()?;
        on_b.synchronise()?;
        if index > 0 {
            samples.push(start.until(&end)? / f64::from(2 * TURNS));
        }
    }
    let last = (asked.repeats + 1) * TURNS;
    if flags.iter().any(|flag| flag.read::<u32>(0, 1).map_or(true, |words| words[0] != last)) {
        return Err(wrong("a flag did not arrive"));
    }
    a.context.bind()?;
    Ok(samples)
}
