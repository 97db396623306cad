//! The grid without a scenario: widths between which interpolation is meant to hold.

use super::{AttentionShape, Depth, MoeShape};
use crate::model::{KvFormat, WeightFormat};

/// Widths of projections.
const WIDTHS_FULL: &[u32] = &[512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384];
const WIDTHS_QUICK: &[u32] = &[1024, 2048, 4096, 8192, 16384];
/// Those of other storage formats.
const WIDTHS_OTHER: &[u32] = &[1024, 4096, 16384];
/// Heads over a vocabulary: n and k.
const HEADS: &[(u32, u32)] = &[(32768, 2048), (32768, 4096), (65536, 4096), (32768, 8192)];

/// Projections: every pair of widths, in bf16; fp8 where the GPU multiplies it and there is time.
pub(super) fn gemms(depth: Depth, fp8: bool) -> Vec<(WeightFormat, u32, u32)> {
    let widths = if depth == Depth::Full { WIDTHS_FULL } else { WIDTHS_QUICK };
    let mut shapes = Vec::new();
    for n in widths {
        for k in widths {
            shapes.push((WeightFormat::Bf16, *n, *k));
        }
    }
    if depth == Depth::Full {
        shapes.extend(HEADS.iter().map(|(n, k)| (WeightFormat::Bf16, *n, *k)));
        for n in WIDTHS_OTHER {
            for k in WIDTHS_OTHER {
                shapes.push((WeightFormat::Int4 { group: 128 }, *n, *k));
                if fp8 {
                    shapes.push((WeightFormat::Fp8, *n, *k));
                }
            }
        }
    }
    shapes
}

/// Experts of two well-known layers (Qwen3-30B-A3B, Mixtral 8x7B), split over the GPUs.
pub(super) fn experts(gpus: u32) -> Vec<MoeShape> {
    let shards = gpus.clamp(1, 8);
    let layer = |weights, hidden, width, per_token, experts| MoeShape {
        weights,
        hidden,
        width,
        per_token,
        experts,
        shards,
    };
    vec![
        layer(WeightFormat::Bf16, 2048, 768, 8, 128),
        layer(WeightFormat::Int4 { group: 32 }, 2048, 768, 8, 128),
        layer(WeightFormat::Bf16, 4096, 14336, 2, 8),
    ]
}

/// Attention of 32 query and 8 KV heads of 128 split over the GPUs, and latent attention of 64 heads so split.
pub(super) fn attention(gpus: u32) -> (Vec<AttentionShape>, Vec<(KvFormat, u32)>) {
    let split = |heads: u32| (heads / gpus.max(1)).max(1);
    let grouped = AttentionShape { kv: KvFormat::Bf16, head_dim: 128, heads: split(32), kv_heads: split(8) };
    (vec![grouped], vec![(KvFormat::Bf16, split(64))])
}
