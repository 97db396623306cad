//! What an operation reads, moves and computes: the input of a roofline.
//!
//! Activations and messages are bf16. Weights count once per pass at their stored width, scales included. A KV
//! cache counts once per request, whatever the number of its rows (true of kernels that keep the rows of a
//! request together; assumed until a calibration says otherwise).

use super::op::{Op, OpKind};
use crate::units::{Bytes, Flops};

/// Bytes of one activation.
pub(super) const ACTIVATION: f64 = 2.0;

impl Op {
    /// Weights read from memory on this rank.
    pub fn weight_bytes(&self) -> Bytes {
        match self.kind {
            OpKind::Gemm { n, k, weights, .. } => weights.bytes(f64::from(n) * f64::from(k)),
            OpKind::Experts { hidden, width, shards, distinct, weights, .. } => {
                weights.bytes(distinct * 3.0 * f64::from(hidden) * f64::from(width) / f64::from(shards))
            }
            _ => Bytes::ZERO,
        }
    }

    /// KV cache or recurrent state read (and, for a state, written) on this rank.
    pub fn kv_bytes(&self) -> Bytes {
        match self.kind {
            OpKind::Attention { requests, context, kv_heads, head_dim, kv, .. } => {
                let per_token = 2.0 * f64::from(kv_heads) * f64::from(head_dim) * kv.bytes_per_number();
                Bytes::new(f64::from(requests) * f64::from(context) * per_token)
            }
            OpKind::MlaAttention { requests, context, kv_lora, rope, kv, .. } => {
                let per_token = (f64::from(kv_lora) + f64::from(rope)) * kv.bytes_per_number();
                Bytes::new(f64::from(requests) * f64::from(context) * per_token)
            }
            OpKind::LinearAttention { requests, rows, state, .. } => {
                state * (f64::from(requests) * (1.0 + f64::from(rows)))
            }
            _ => Bytes::ZERO,
        }
    }

    /// Activations read and written in device memory. A collective's own traffic is its message, not this.
    pub fn activation_bytes(&self) -> Bytes {
        let numbers = match self.kind {
            OpKind::Gemm { rows, n, k, .. } => f64::from(rows) * (f64::from(n) + f64::from(k)),
            OpKind::Attention { requests, rows, heads, head_dim, .. } => {
                2.0 * f64::from(requests) * f64::from(rows) * f64::from(heads) * f64::from(head_dim)
            }
            OpKind::MlaAttention { requests, rows, heads, kv_lora, rope, .. } => {
                let per_head = 2.0 * f64::from(kv_lora) + f64::from(rope);
                f64::from(requests) * f64::from(rows) * f64::from(heads) * per_head
            }
            // Input and output of each pair, the sum over experts, and gate, up and product in between.
            OpKind::Experts { tokens, hidden, width, shards, pairs, .. } => {
                let inner = 6.0 * f64::from(width) / f64::from(shards);
                f64::from(tokens) * f64::from(hidden) + pairs * (3.0 * f64::from(hidden) + inner)
            }
            OpKind::Elementwise { bytes } => return bytes,
            OpKind::LinearAttention { .. } | OpKind::Collective { .. } => 0.0,
        };
        Bytes::new(numbers * ACTIVATION)
    }

    /// All bytes read and written in device memory.
    pub fn bytes(&self) -> Bytes {
        self.weight_bytes() + self.kv_bytes() + self.activation_bytes()
    }

    /// Multiplications and additions, each counted as one.
    pub fn flops(&self) -> Flops {
        Flops::new(match self.kind {
            OpKind::Gemm { rows, n, k, .. } => 2.0 * f64::from(rows) * f64::from(n) * f64::from(k),
            OpKind::Attention { requests, rows, context, heads, head_dim, .. } => {
                let per_row = 4.0 * f64::from(heads) * f64::from(head_dim) * f64::from(context);
                f64::from(requests) * f64::from(rows) * per_row
            }
            OpKind::MlaAttention { requests, rows, context, heads, kv_lora, rope, .. } => {
                let per_token = 2.0 * f64::from(heads) * (2.0 * f64::from(kv_lora) + f64::from(rope));
                f64::from(requests) * f64::from(rows) * f64::from(context) * per_token
            }
            OpKind::LinearAttention { requests, rows, flops_per_row, .. } => {
                f64::from(requests) * f64::from(rows) * flops_per_row.get()
            }
            OpKind::Experts { hidden, width, shards, pairs, .. } => {
                6.0 * pairs * f64::from(hidden) * f64::from(width) / f64::from(shards)
            }
            OpKind::Elementwise { .. } | OpKind::Collective { .. } => 0.0,
        })
    }
}
