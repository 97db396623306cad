//! How weights and KV cache are stored.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Storage of a weight matrix, scales included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WeightFormat {
    /// 32 bit.
    Fp32,
    /// 16 bit (bf16 or fp16).
    Bf16,
    /// 8 bit with one scale per tensor or channel.
    Fp8,
    /// 8 bit with one fp32 scale per 128x128 block.
    Fp8Block,
    /// 8 bit integers.
    Int8,
    /// 4 bit integers with one bf16 scale per group.
    Int4 {
        /// Weights that share a scale: 32 makes 4.5 bit, 128 makes 4.125 bit.
        group: u16,
    },
    /// 4 bit floats with an 8 bit scale per 32: 4.25 bit.
    Mxfp4,
    /// 4 bit floats with an 8 bit scale per 16: 4.5 bit.
    Nvfp4,
}

impl WeightFormat {
    /// Bits per weight, scales included.
    pub fn bits(self) -> f64 {
        match self {
            Self::Fp32 => 32.0,
            Self::Bf16 => 16.0,
            Self::Fp8 | Self::Int8 => 8.0,
            Self::Fp8Block => 8.0 + 32.0 / (128.0 * 128.0),
            Self::Int4 { group } => 4.0 + 16.0 / f64::from(group),
            Self::Mxfp4 => 4.25,
            Self::Nvfp4 => 4.5,
        }
    }

    /// The size of `weights` weights.
    pub fn bytes(self, weights: f64) -> Bytes {
        Bytes::new(weights * self.bits() / 8.0)
    }
}

/// Storage of the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KvFormat {
    /// 2 bytes a number.
    Bf16,
    /// 1 byte a number.
    Fp8,
}

impl KvFormat {
    /// Bytes of one number.
    pub const fn bytes_per_number(self) -> f64 {
        match self {
            Self::Bf16 => 2.0,
            Self::Fp8 => 1.0,
        }
    }
}
