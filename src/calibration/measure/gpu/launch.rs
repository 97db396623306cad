//! Costs of launching, by the host's clock.

use std::time::Instant;

use super::super::ffi::{Graph, Grid, Pinned};
use super::super::{Check, Failure, LaunchKind, Measured};
use super::collective::Communicators;
use super::device::{Fill, Gpu};
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{gate, unsupported};

const ONE: Grid = Grid { blocks: [1, 1, 1], threads: 32, shared: 0 };

/// Nodes of the graph whose launch is timed, as many as a pass of some layers has.
const NODES: u32 = 500;

/// Times one kind.
pub(super) fn measure(
    gpus: &[Gpu],
    communicators: &mut Communicators,
    asked: Asked,
    kind: LaunchKind,
) -> Result<Measured, Failure> {
    let gpu = &gpus[0];
    let (samples, note) = match kind {
        LaunchKind::Issue => (issue(gpu, asked)?, String::new()),
        LaunchKind::IssueCollective => (issue_collective(gpus, communicators, asked)?, String::new()),
        LaunchKind::GraphNode => {
            let kernel = gpu.kernel("empty", 0)?;
            let samples =
                chain_samples(gpu, asked, Rotation::none(), |_| kernel.launch(&gpu.stream, ONE, &[]))?;
            (samples, String::new())
        }
        LaunchKind::GraphLaunch => (graph_launch(gpu, asked)?, format!("a graph of {NODES} empty kernels")),
        LaunchKind::Synchronise => {
            let what = "from the return of the launch of an empty kernel to that of the synchronisation: its start and end \
                        on the GPU are in it";
            (synchronise(gpu, asked)?, what.to_owned())
        }
        LaunchKind::ReadBack => (read_back(gpu, asked)?, String::new()),
    };
    let notes = if note.is_empty() { Vec::new() } else { vec![note] };
    Ok(measured(samples, Check::NotApplicable, notes))
}

/// The host's time for `run` \[µs\].
fn timed(run: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let begun = Instant::now();
    run()?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}

fn issue(gpu: &Gpu, asked: Asked) -> Result<Vec<f64>, Failure> {
    let kernel = gpu.kernel("empty", 0)?;
    let one = || kernel.launch(&gpu.stream, ONE, &[]);
    (0..200).try_for_each(|_| one())?;
    let mut samples = Vec::new();
    for index in 0..asked.repeats {
        // Rarely enough that most launches follow one another, often enough that the queue never fills.
        if index % 200 == 0 {
            gpu.stream.synchronise()?;
        }
        samples.push(timed(one)?);
    }
    gpu.stream.synchronise()?;
    Ok(samples)
}

fn issue_collective(
    gpus: &[Gpu],
    communicators: &mut Communicators,
    asked: Asked,
) -> Result<Vec<f64>, Failure> {
    const BYTES: u64 = 16 << 10;
    if gpus.len() < 2 {
        return Err(unsupported("one GPU has nobody to reduce with"));
    }
    let comms = communicators.of(gpus, gpus.len() as u32)?;
    let by_rank = gate::ranks(gpus.len() as u32, |rank, gate| {
        let gpu = &gpus[rank as usize];
        gpu.context.bind()?;
        let (from, to) = (gpu.filled(BYTES, Fill::Wholes, rank)?, gpu.buffer(BYTES)?);
        let comm = comms.rank(rank);
        let one = || comm.all_reduce(&gpu.stream, from.at(), to.at(), BYTES);
        gate.wait()?;
        (0..10).try_for_each(|_| one())?;
        gpu.stream.synchronise()?;
        let mut samples = Vec::new();
        for index in 0..asked.repeats {
            if index % 20 == 0 {
                gpu.stream.synchronise()?;
                gate.wait()?;
            }
            samples.push(timed(one)?);
        }
        gpu.stream.synchronise()?;
        gate.wait()?;
        Ok(samples)
    })?;
    Ok(super::collective::slowest(&by_rank))
}

fn graph_launch(gpu: &Gpu, asked: Asked) -> Result<Vec<f64>, Failure> {
    let kernel = gpu.kernel("empty", 0)?;
    let graph =
        Graph::capture(&gpu.stream, || (0..NODES).try_for_each(|_| kernel.launch(&gpu.stream, ONE, &[])))?;
    graph.upload(&gpu.stream)?;
    let mut samples = Vec::new();
    for index in 0..asked.repeats + 3 {
        let sample = timed(|| graph.launch(&gpu.stream))?;
        gpu.stream.synchronise()?;
        if index >= 3 {
            samples.push(sample);
        }
    }
    Ok(samples)
}

/// From the return of the launch of an empty kernel to that of the synchronisation.
fn synchronise(gpu: &Gpu, asked: Asked) -> Result<Vec<f64>, Failure> {
    let kernel = gpu.kernel("empty", 0)?;
    let one = || {
        kernel.launch(&gpu.stream, ONE, &[])?;
        timed(|| gpu.stream.synchronise())
    };
    for _ in 0..3 {
        one()?;
    }
    (0..asked.repeats).map(|_| one()).collect()
}

fn read_back(gpu: &Gpu, asked: Asked) -> Result<Vec<f64>, Failure> {
    let (from, to) = (gpu.filled(64, Fill::Bits, 1)?, Pinned::new(&gpu.context, 64)?);
    let one = || {
        gpu.stream.copy(to.at(), from.at(), 64)?;
        gpu.stream.synchronise()
    };
    (0..3).try_for_each(|_| one())?;
    (0..asked.repeats).map(|_| timed(one)).collect()
}
