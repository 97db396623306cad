//! Writes a trace of the PyTorch profiler of a given size in bytes to stdout: decode steps of 61 layers with their kernels,
//! two all-reduces a layer, launches of the host, and the operators, Python frames and flows that such traces mostly consist of. The same
//! size gives the same bytes. For measuring how fast and in how little memory `specplan import` reads it:
//!
//! ```text
//! cargo run --release --example chrome_trace -- 1000000000 | specplan import trace -
//! ```

use std::io::{self, BufWriter, Write};

const LAYERS: u64 = 61;

/// Kernels of a layer, with their times in µs.
const KERNELS: [(&str, f64); 8] = [
    ("void flashinfer::BatchDecodeWithPagedKVCacheKernel<16, 128>(Params)", 41.2),
    ("nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 18.7),
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 36.5),
    ("void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)", 3.1),
    ("fused_moe_kernel", 88.0),
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int)",
        2.4,
    ),
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 34.9),
    ("void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)", 3.0),
];

fn main() -> io::Result<()> {
    let size: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let mut out = Counted { out: BufWriter::with_capacity(1 << 20, io::stdout().lock()), written: 0 };
    write!(
        out,
        "{{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 8}},\n  \
         \"traceEvents\": [\n"
    )?;
    let (mut step, mut clock) = (0_u64, 0.0);
    while out.written < size {
        clock = pass(&mut out, step, clock)?;
        step += 1;
    }
    write!(
        out,
        "  {{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0}}\n  ],\n  \"baseTimeNanoseconds\": 1744000000000000000\n}}\n"
    )?;
    out.flush()
}

/// A decode step from `clock` \[µs\]; when the next one begins.
fn pass(out: &mut impl Write, step: u64, clock: f64) -> io::Result<f64> {
    let (mut host, mut device) = (clock, clock + 12.0);
    for layer in 0..LAYERS {
        for (at, (name, time)) in (0_u64..).zip(KERNELS) {
            let id = (step * LAYERS + layer) * KERNELS.len() as u64 + at;
            // A spread that repeats itself late, without random numbers.
            let time = time * (1.0 + (id * 7919 % 1000) as f64 * 2e-4);
            write!(
                out,
                "  {{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_{at}\", \"pid\": 4117, \"tid\": 4117, \"ts\": {host:.3}, \
                 \"dur\": 4.100, \"args\": {{\"External id\": {id}, \"Input Dims\": [[8, 7168], [7168, 2112], []]}}}},\n  \
                 {{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"layers/linear.py({at}): forward\", \"pid\": 4117, \
                 \"tid\": 4117, \"ts\": {host:.3}, \"dur\": 5.200, \"args\": {{\"Python id\": {id}}}}},\n  \
                 {{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4117, \"tid\": 4117, \"ts\": {:.3}, \
                 \"dur\": 2.700, \"args\": {{\"correlation\": {id}}}}},\n  \
                 {{\"ph\": \"s\", \"id\": {id}, \"pid\": 4117, \"tid\": 4117, \"ts\": {host:.3}, \"cat\": \"ac2g\", \"name\": \"ac2g\"}},\n  \
                 {{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{name}\", \"pid\": 0, \"tid\": 7, \"ts\": {device:.3}, \"dur\": {time:.3}, \
                 \"args\": {{\"stream\": 7, \"correlation\": {id}, \"grid\": [148, 1, 1], \"block\": [256, 1, 1]}}}},\n",
                host + 1.0
            )?;
            host += 6.0;
            device += time + 1.3;
        }
    }
    let end = device.max(host) + 200.0;
    writeln!(
        out,
        "  {{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#{step}\", \"pid\": 4117, \"tid\": 4117, \"ts\": {clock:.3}, \
         \"dur\": {:.3}}},",
        end - clock
    )?;
    Ok(end)
}

/// A writer that knows how much it wrote.
struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
