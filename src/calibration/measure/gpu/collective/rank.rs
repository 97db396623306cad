//! What the thread of one rank does: check, then time, in step with the others.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use half::bf16;

use super::super::super::ffi::{Buffer, Event, Graph};
use super::super::super::{CollectiveTask, Failure, GemmShape};
use super::super::all_reduce::{Peer, Shots};
use super::super::checked::wrong;
use super::super::device::{Fill, Gpu};
use super::super::gate::{self, Gate};
use super::super::timing::{Asked, Rotation};
use super::{Group, slowest, sum_of_wholes};
use crate::calibration::Mode;
use crate::runtime::CollectiveOp;
use crate::units::Seconds;

/// Who does it.
pub(super) enum Calls<'a> {
    /// NCCL.
    Nccl(&'a Group),
    /// Own kernels.
    Own(&'a [Peer], Shots),
}

/// Samples of the slowest rank, a call each \[µs\].
pub(super) fn run(
    gpus: &[Gpu],
    asked: Asked,
    task: &CollectiveTask,
    calls: &Calls<'_>,
) -> Result<Vec<f64>, Failure> {
    let agreed = AtomicU32::new(0);
    let by_rank = gate::ranks(task.ranks, |rank, gate| {
        let gpu = &gpus[rank as usize];
        gpu.context.bind()?;
        let part = Part::new(gpu, task, calls, rank)?;
        gate.wait()?;
        part.check(gate)?;
        gate.wait()?;
        let with = part.timed(gate, asked, &agreed, true)?;
        let without = match task.between_gemms {
            Some(_) => part.timed(gate, asked, &agreed, false)?,
            None => Vec::new(),
        };
        gate.wait()?;
        Ok((with, without))
    })?;
    let (with, without): (Vec<_>, Vec<_>) = by_rank.into_iter().unzip();
    let mut gemms = slowest(&without);
    gemms.sort_by(f64::total_cmp);
    let less = gemms.get(gemms.len() / 2).copied().unwrap_or(0.0);
    Ok(slowest(&with).into_iter().map(|sample| sample - less).collect())
}

/// One rank's buffers and calls.
struct Part<'a> {
    gpu: &'a Gpu,
    task: &'a CollectiveTask,
    calls: &'a Calls<'a>,
    rank: u32,
    input: Buffer,
    out: Buffer,
    gemm: Option<Gemm>,
}

/// The projection between calls; its weights rotate.
struct Gemm {
    shape: GemmShape,
    rotation: Rotation,
    stride: u64,
    weights: Buffer,
    x: Buffer,
    out: Buffer,
}

impl<'a> Part<'a> {
    fn new(gpu: &'a Gpu, task: &'a CollectiveTask, calls: &'a Calls<'a>, rank: u32) -> Result<Self, Failure> {
        let times = if task.op == CollectiveOp::AllGather { u64::from(task.ranks) } else { 1 };
        // Own kernels have buffers of their own, which their peers know.
        let bytes = if matches!(calls, Calls::Nccl(_)) { task.bytes } else { 16 };
        let gemm = task.between_gemms.map(|shape| Gemm::new(gpu, shape)).transpose()?;
        let input = gpu.filled(bytes, Fill::Wholes, rank)?;
        if let Calls::Own(peers, shots) = calls {
            peers[rank as usize].kernel(gpu, *shots)?;
        }
        Ok(Self { gpu, task, calls, rank, input, out: gpu.buffer(bytes * times)?, gemm })
    }

    fn call(&self) -> Result<(), Failure> {
        let (stream, bytes) = (&self.gpu.stream, self.task.bytes);
        match self.calls {
            Calls::Nccl(comms) => {
                let comm = comms.rank(self.rank);
                match self.task.op {
                    CollectiveOp::AllGather => comm.all_gather(stream, self.input.at(), self.out.at(), bytes),
                    _ => comm.all_reduce(stream, self.input.at(), self.out.at(), bytes),
                }
            }
            Calls::Own(peers, shots) => peers[self.rank as usize].launch(self.gpu, stream, *shots),
        }
    }

    /// Warms up, then compares the beginning, and of an all-gather that of every part, with the host.
    fn check(&self, gate: &Gate) -> Result<(), Failure> {
        let out =
            if let Calls::Own(peers, _) = self.calls { &peers[self.rank as usize].out } else { &self.out };
        out.set(0xff)?;
        gate.wait()?;
        for _ in 0..3 {
            self.call()?;
        }
        self.gpu.stream.synchronise()?;
        let count = ((self.task.bytes / 2) as usize).min(1 << 16);
        let tail = |buffer: &Buffer| buffer.read::<bf16>(buffer.bytes() - 2, 1);
        let right = if self.task.op == CollectiveOp::AllGather {
            let part = |rank: u32| out.read::<bf16>(self.task.bytes * u64::from(rank), count);
            (0..self.task.ranks)
                .map(|rank| Ok(part(rank)? == super::wholes(count, rank)))
                .collect::<Result<Vec<bool>, Failure>>()?
                .into_iter()
                .all(|right| right)
        } else {
            out.read::<bf16>(0, count)? == sum_of_wholes(self.task.ranks, count) && !tail(out)?[0].is_nan()
        };
        if right {
            Ok(())
        } else {
            Err(wrong(format!("rank {} has another result than the host", self.rank)))
        }
    }

    /// The chain: each call behind its projection.
    fn chain(&self, calls: bool) -> Result<(), Failure> {
        for index in 0..self.task.chain.max(1) {
            if let Some(gemm) = &self.gemm {
                gemm.launch(self.gpu, index)?;
            }
            if calls {
                self.call()?;
            }
        }
        Ok(())
    }

    fn timed(&self, gate: &Gate, asked: Asked, agreed: &AtomicU32, calls: bool) -> Result<Vec<f64>, Failure> {
        let chain = f64::from(self.task.chain.max(1));
        let event = || Event::new(&self.gpu.context);
        let (start, end) = (event()?, event()?);
        let graph =
            if self.task.mode == Mode::Graph { Some(self.captured(&start, &end, calls)?) } else { None };
        let one = || -> Result<f64, Failure> {
            gate.wait()?;
            let begun = Instant::now();
            match (&graph, self.task.mode) {
                (Some(graph), _) => graph.launch(&self.gpu.stream)?,
                (None, Mode::Eager) => {
                    // Back to back between two synchronisations: the larger of issue and device time.
                    self.chain(calls)?;
                    self.gpu.stream.synchronise()?;
                    return Ok(begun.elapsed().as_secs_f64() * 1e6 / chain);
                }
                (None, _) => {
                    // A call that is not timed lets all ranks begin together.
                    self.call()?;
                    start.record(&self.gpu.stream)?;
                    self.chain(calls)?;
                    end.record(&self.gpu.stream)?;
                }
            }
            self.gpu.stream.synchronise()?;
            Ok(start.until(&end)? / chain)
        };
        one()?;
        let first = one()?;
        if self.rank == 0 {
            agreed.store(asked.samples(Seconds::from_us(first * chain)), Ordering::SeqCst);
        }
        gate.wait()?;
        (0..agreed.load(Ordering::SeqCst)).map(|_| one()).collect()
    }

    /// A graph of a call that lets all ranks begin together, and between two events the chain.
    fn captured(&self, start: &Event, end: &Event, calls: bool) -> Result<Graph, Failure> {
        let stream = &self.gpu.stream;
        let graph = Graph::capture(stream, || {
            self.call()?;
            start.record_in_graph(stream)?;
            self.chain(calls)?;
            end.record_in_graph(stream)
        })?;
        graph.upload(stream)?;
        stream.synchronise()?;
        Ok(graph)
    }
}

impl Gemm {
    fn new(gpu: &Gpu, shape: GemmShape) -> Result<Self, Failure> {
        let bytes = 2 * u64::from(shape.n) * u64::from(shape.k);
        let rotation = Rotation::over(bytes, gpu.l2);
        let stride = bytes.next_multiple_of(256);
        let values = |columns: u32, seed| {
            gpu.filled(2 * u64::from(shape.rows) * u64::from(columns), Fill::Units, seed)
        };
        let gemm = Self {
            shape,
            rotation,
            stride,
            weights: gpu.filled(stride * u64::from(rotation.copies), Fill::Units, 91)?,
            x: values(shape.k, 92)?,
            out: values(shape.n, 93)?,
        };
        gemm.launch(gpu, 0)?;
        gpu.stream.synchronise()?;
        Ok(gemm)
    }

    fn launch(&self, gpu: &Gpu, index: u32) -> Result<(), Failure> {
        let GemmShape { n, k, rows } = self.shape;
        let weights = self.weights.at() + self.stride * u64::from(index % self.rotation.copies);
        gpu.blas()?.project((n, k, rows), weights, self.x.at(), self.out.at())
    }
}
