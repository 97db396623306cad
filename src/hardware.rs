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
/// STUB.
pub fn preset(name: &str) -> Option<Hardware> {
    use crate::sourced::{Source, Sourced};
    use crate::units::{Bandwidth, Bytes, FlopRate, Seconds};
    Some(Hardware {
        name: name.to_owned(),
        count: 8,
        gpu: Gpu {
            bandwidth: Bandwidth::from_gb_s(1792.0),
            achieved_bandwidth: Sourced::new(0.83, Source::Measured),
            l2: Bytes::new(128e6),
            bf16: FlopRate::from_tflops(467.8),
            fp8: Some(FlopRate::from_tflops(935.6)),
            fp4: None,
            kernel_floor: Sourced::new(Seconds::from_us(4.0), Source::Fitted),
        },
    })
}
