//! GPUs and what joins them.

use serde::{Deserialize, Serialize};

/// A box: one kind of GPU, their number, and the fabric between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hardware {
    /// Preset name or path.
    pub name: String,
    /// Number of GPUs.
    pub count: u32,
    /// GPU.
    pub gpu: Gpu,
}

/// STUB until FABRIC is merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Datasheet.
    pub bandwidth: crate::units::Bandwidth,
    /// Fraction.
    pub achieved_bandwidth: crate::sourced::Sourced<f64>,
    /// L2.
    pub l2: crate::units::Bytes,
    /// Rate.
    pub bf16: crate::units::FlopRate,
    /// Rate.
    pub fp8: Option<crate::units::FlopRate>,
    /// Rate.
    pub fp4: Option<crate::units::FlopRate>,
    /// Floor.
    pub kernel_floor: crate::sourced::Sourced<crate::units::Seconds>,
}
