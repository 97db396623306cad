//! The network as the cost model sees it: shapes and storage widths.

mod dtype;
mod types;

pub use dtype::{KvFormat, WeightFormat};
pub use types::{
    Attention, Draft, Eagle3, Ffn, Gqa, Layer, LayerGroup, LinearAttention, Mla, Model, Moe, Mtp, SparseIndex,
};
