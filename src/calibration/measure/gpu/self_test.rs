//! Every own kernel against the host, on one GPU; what wants several, with streams of this one for ranks.

use std::time::Instant;

use half::bf16;

use super::super::ffi::Stream;
use super::super::{Check, Failure, Measured, SmallKind};
use super::all_reduce::{Shots, group};
use super::checked::{Checked, wrong};
use super::device::Gpu;
use super::gemv::Packed;
use super::timing::{Asked, measured};
use super::{attention, gemm, gemv, mla, moe, small, stream};
use crate::units::Seconds;

/// Runs all of them; a note for each. The sample is how long all took.
///
/// # Errors
/// The first that is wrong.
pub(super) fn run(gpu: &Gpu, checked: &mut Checked) -> Result<Measured, Failure> {
    let begun = Instant::now();
    let mut notes = Vec::new();
    let mut note = |name: String, result: Result<Check, Failure>| -> Result<(), Failure> {
        let check =
            result.map_err(|failure| Failure::new(failure.kind, format!("{name}: {}", failure.because)))?;
        notes.push(format!("{name}: {check:?}"));
        Ok(())
    };
    note("streaming read".into(), checked.once("stream_read", || stream::test(gpu)))?;
    note("cuBLAS".into(), checked.once("gemm bf16", || gemm::test(gpu)))?;
    if gpu.capability >= [8, 9] {
        note("cuBLASLt fp8".into(), checked.once("gemm fp8", || gemm::test_fp8(gpu)))?;
    }
    for (rows, group) in [(1, 64), (5, 64), (13, 64), (32, 32), (64, 64), (70, 64), (8, 32)] {
        note(format!("INT4 GEMV, {rows} rows, groups of {group}"), gemv::test(gpu, rows, group))?;
    }
    for most in [4, 16, 64] {
        note(format!("experts in bf16, {most}"), moe::test(gpu, Packed::Bf16, most))?;
        note(format!("experts in INT4, {most}"), moe::test(gpu, Packed::Int4 { group: 64 }, most))?;
    }
    for width in [64, 128] {
        for tiles in 1..=5 {
            note(format!("attention {width}, {tiles} tiles"), attention::test(gpu, width, tiles))?;
        }
    }
    for tiles in [1, 2, 4] {
        note(format!("latent attention, {tiles} tiles"), mla::test(gpu, tiles))?;
    }
    for kind in [SmallKind::Norm, SmallKind::Elementwise, SmallKind::Activation, SmallKind::Sampling] {
        note(format!("{kind:?}"), small::test(gpu, kind))?;
    }
    for ranks in 2..=8 {
        for (shots, bytes) in
            [(Shots::One, 16), (Shots::One, 65_552), (Shots::Two, 16), (Shots::Two, 1 << 20)]
        {
            let name = format!("all-reduce, {shots:?} shot, {ranks} streams, {bytes} B");
            note(name, streams_reduce(gpu, ranks, bytes, shots))?;
        }
    }
    note("flag".into(), streams_signal(gpu))?;
    Ok(measured(vec![begun.elapsed().as_secs_f64() * 1e6], Check::WithinTolerance, notes))
}

/// All-reduce among streams of one GPU, three times over, so that flags are used again.
fn streams_reduce(gpu: &Gpu, ranks: u32, bytes: u64, shots: Shots) -> Result<Check, Failure> {
    let same: Vec<&Gpu> = (0..ranks).map(|_| gpu).collect();
    let peers = group(&same, bytes)?;
    let streams = (0..ranks).map(|_| Stream::new(&gpu.context)).collect::<Result<Vec<_>, _>>()?;
    for peer in &peers {
        peer.out.set(0xff)?;
    }
    for _ in 0..3 {
        for (peer, stream) in peers.iter().zip(&streams) {
            peer.launch(gpu, stream, shots)?;
        }
    }
    streams.iter().try_for_each(Stream::synchronise)?;
    let count = (bytes / 2) as usize;
    let mut want = vec![0.0f32; count];
    for rank in 0..ranks {
        want.iter_mut().zip(super::random::wholes(count, rank)).for_each(|(sum, x)| *sum += x.to_f32());
    }
    let want: Vec<bf16> = want.into_iter().map(bf16::from_f32).collect();
    for peer in &peers {
        if peer.out.read::<bf16>(0, count)? != want {
            return Err(wrong("a rank has another sum than the host"));
        }
    }
    Ok(Check::Exact)
}

fn streams_signal(gpu: &Gpu) -> Result<Check, Failure> {
    let streams = [Stream::new(&gpu.context)?, Stream::new(&gpu.context)?];
    let asked = Asked { repeats: 2, budget: Seconds::from_us(1e6) };
    super::link::ping_pong((gpu, &streams[0]), (gpu, &streams[1]), asked)?;
    Ok(Check::Exact)
}
