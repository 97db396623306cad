//! A network as the cost model sees it: shapes and widths, no weights.

use serde::{Deserialize, Serialize};

use super::dtype::{KvFormat, WeightFormat};

/// A target model (or a separate draft model): the shapes that decide what a forward pass reads and computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Preset name or path.
    pub name: String,
    /// Hidden size H.
    pub hidden: u32,
    /// Layers in order; equal neighbours are one group.
    pub layers: Vec<LayerGroup>,
    /// Rows of the embedding and of the head.
    pub vocabulary: u32,
    /// Whether head and embedding are one matrix.
    pub tied_embeddings: bool,
    /// Storage of the head (embedding alike).
    pub head_weights: WeightFormat,
    /// Storage of the KV cache.
    pub kv: KvFormat,
    /// Multi-token-prediction modules that the checkpoint brings.
    pub mtp_layers: u32,
    /// Longest context the model states \[tokens\].
    pub max_context: u32,
    /// What the reader had to fall back to, in sentences for the user.
    pub notes: Vec<String>,
}

/// Neighbouring layers of equal shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerGroup {
    /// How many.
    pub count: u32,
    /// The layer.
    pub layer: Layer,
}

/// One decoder layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The token mixer.
    pub attention: Attention,
    /// The feed-forward part.
    pub ffn: Ffn,
}

/// Token mixers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Attention {
    /// Grouped-query attention (multi-head when `kv_heads == heads`).
    Gqa(Gqa),
    /// Multi-head latent attention, absorbed in decode.
    Mla(Mla),
    /// Gated delta-rule linear attention (Qwen3-Next, Qwen3.5).
    Linear(LinearAttention),
}

/// Grouped-query attention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gqa {
    /// Query heads.
    pub heads: u32,
    /// Key/value heads.
    pub kv_heads: u32,
    /// Width of one head.
    pub head_dim: u32,
    /// Sliding window \[tokens\], where the layer has one.
    pub window: Option<u32>,
    /// Whether the output is gated, which doubles the query projection.
    pub gated: bool,
    /// Whether queries and keys are normalised per head (Qwen3, GLM-4.5): one more small kernel.
    pub qk_norm: bool,
    /// Width of the input of q, k and v in units of the hidden size: 2 for EAGLE-3 heads, else 1.
    pub input_multiple: u32,
    /// Storage of the projections.
    pub weights: WeightFormat,
}

/// Multi-head latent attention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mla {
    /// Query heads.
    pub heads: u32,
    /// Rank of the query compression; none: one full query projection.
    pub q_lora: Option<u32>,
    /// Rank of the key/value compression.
    pub kv_lora: u32,
    /// Width of the part of a head without rotary encoding.
    pub nope: u32,
    /// Width of the rotary part.
    pub rope: u32,
    /// Width of a value head.
    pub value: u32,
    /// Sparse index (GLM-5): heads, width, tokens kept.
    pub index: Option<SparseIndex>,
    /// Storage of the projections.
    pub weights: WeightFormat,
}

/// The token selector of sparse attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparseIndex {
    /// Index heads.
    pub heads: u32,
    /// Width of an index head.
    pub head_dim: u32,
    /// Tokens attended to.
    pub top_tokens: u32,
}

/// Linear attention with a recurrent state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearAttention {
    /// Key heads.
    pub key_heads: u32,
    /// Value heads.
    pub value_heads: u32,
    /// Width of a key head.
    pub key_dim: u32,
    /// Width of a value head.
    pub value_dim: u32,
    /// Taps of the short convolution.
    pub convolution: u32,
    /// Storage of the projections.
    pub weights: WeightFormat,
}

/// Feed-forward parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ffn {
    /// Gated MLP of one width: 3·H·width weights.
    Dense {
        /// Intermediate size.
        width: u32,
        /// Storage.
        weights: WeightFormat,
    },
    /// Mixture of experts.
    Moe(Moe),
}

/// A mixture of experts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moe {
    /// Routed experts E.
    pub experts: u32,
    /// Routed experts per token K.
    pub per_token: u32,
    /// Intermediate size of one routed expert.
    pub width: u32,
    /// Intermediate size of the shared expert; 0: none.
    pub shared_width: u32,
    /// Storage of the routed experts.
    pub expert_weights: WeightFormat,
    /// Storage of the shared expert.
    pub shared_weights: WeightFormat,
    /// Storage of the router.
    pub router_weights: WeightFormat,
}

/// A drafter with weights of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Draft {
    /// An EAGLE-3 head: one layer that reads \[embedding, fused feature\], `fc` from 3·H, its own head.
    Eagle3(Eagle3),
    /// The target's own multi-token-prediction module: one decoder layer and 2H→H; shares embedding and head.
    Mtp(Mtp),
    /// A separate small model.
    Model(Model),
}

impl Draft {
    /// Preset name or path.
    pub fn name(&self) -> &str {
        match self {
            Self::Eagle3(head) => &head.name,
            Self::Mtp(module) => &module.name,
            Self::Model(model) => &model.name,
        }
    }
}

/// An EAGLE-3 head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Eagle3 {
    /// Preset name or path.
    pub name: String,
    /// Hidden size (that of the target).
    pub hidden: u32,
    /// Its decoder layer; `input_multiple` of the attention is 2.
    pub layer: Layer,
    /// Target layers whose hidden states `fc` fuses (3).
    pub fused_features: u32,
    /// Rows of its head.
    pub vocabulary: u32,
    /// Storage of `fc` and head.
    pub weights: WeightFormat,
}

impl Eagle3 {
    /// Width of the input of q, k and v in units of the hidden size: embedding and fused feature.
    pub const INPUT_MULTIPLE: u32 = 2;
}

/// A multi-token-prediction module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mtp {
    /// Name for reports.
    pub name: String,
    /// Hidden size.
    pub hidden: u32,
    /// Its decoder layer.
    pub layer: Layer,
    /// Rows of the shared head.
    pub vocabulary: u32,
    /// Storage of the 2H→H projection and the head.
    pub weights: WeightFormat,
}
