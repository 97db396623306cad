//! Parameters, resident bytes and KV cache, before any sharding.
//!
//! The formulas stand in the [module](super) documentation. Embedding and head count twice unless tied; the
//! multi-token-prediction modules do not count, they belong to the draft.

use super::dtype::{KvFormat, WeightFormat};
use super::types::{Attention, Draft, Eagle3, Ffn, Layer, Model, Moe};
use crate::units::Bytes;

/// Bytes of the recurrent state per number: servers keep it in fp32 (sglang `mamba_ssm_dtype`).
pub(crate) const STATE_BYTES: f64 = 4.0;

/// Bytes per token of one index key besides its width: a scale in fp32 (sglang `nsa/index_buf_accessor.py`).
pub(crate) const INDEX_SCALE_BYTES: f64 = 4.0;

/// What a model holds, unsharded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Footprint {
    /// All parameters.
    pub total_parameters: f64,
    /// Parameters that one token reads: K of the E experts, with the head, without the embedding.
    pub active_parameters: f64,
    /// Weights in memory at their stored widths.
    pub resident: Bytes,
    /// KV cache of one token over all layers; windowed layers count as full ones.
    pub kv_per_token: Bytes,
    /// Keys of a sparse index, per token over all layers, stored in fp8 with a scale.
    pub index_per_token: Bytes,
    /// Recurrent state of linear attention, per request over all layers.
    pub state_per_request: Bytes,
}

/// The parameters of a draft, without what it shares with the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DraftFootprint {
    /// Its decoder layers.
    pub layers: f64,
    /// `fc` of EAGLE-3 or the 2H→H projection of MTP.
    pub fusion: f64,
    /// Its own head (and embedding, for a separate model).
    pub head: f64,
    /// All of it in memory.
    pub resident: Bytes,
}

/// Weights of one width.
#[derive(Debug, Clone, Copy)]
struct Part {
    parameters: f64,
    /// Share that one token reads.
    active: f64,
    weights: WeightFormat,
}

impl Part {
    const fn new(parameters: f64, weights: WeightFormat) -> Self {
        Self { parameters, active: 1.0, weights }
    }
}

/// Counts a model.
pub fn footprint(model: &Model) -> Footprint {
    let table = f64::from(model.vocabulary) * f64::from(model.hidden);
    let embeddings = if model.tied_embeddings { table } else { 2.0 * table };
    let mut sum = Footprint {
        total_parameters: embeddings,
        active_parameters: table,
        resident: model.head_weights.bytes(embeddings),
        kv_per_token: Bytes::ZERO,
        index_per_token: Bytes::ZERO,
        state_per_request: Bytes::ZERO,
    };
    for group in &model.layers {
        let count = f64::from(group.count);
        for part in layer_parts(&group.layer, model.hidden, 1).into_iter().flatten() {
            sum.total_parameters += count * part.parameters;
            sum.active_parameters += count * part.parameters * part.active;
            sum.resident += part.weights.bytes(part.parameters) * count;
        }
        sum.kv_per_token += group.layer.attention.kv_per_token(model.kv) * count;
        sum.index_per_token += group.layer.attention.index_per_token() * count;
        sum.state_per_request += group.layer.attention.state_per_request() * count;
    }
    sum
}

/// Counts a draft.
pub fn draft_footprint(draft: &Draft) -> DraftFootprint {
    let (layer, hidden, fusion, head, weights) = match draft {
        Draft::Eagle3(eagle) => {
            let h = f64::from(eagle.hidden);
            let fusion = f64::from(eagle.fused_features) * h * h;
            (&eagle.layer, eagle.hidden, fusion, f64::from(eagle.vocabulary) * h, eagle.weights)
        }
        Draft::Mtp(mtp) => {
            let h = f64::from(mtp.hidden);
            (&mtp.layer, mtp.hidden, 2.0 * h * h, 0.0, mtp.weights)
        }
        Draft::Model(model) => {
            let all = footprint(model);
            let table = f64::from(model.vocabulary) * f64::from(model.hidden);
            let head = if model.tied_embeddings { table } else { 2.0 * table };
            return DraftFootprint {
                layers: all.total_parameters - head,
                fusion: 0.0,
                head,
                resident: all.resident,
            };
        }
    };
    let multiple = if matches!(draft, Draft::Eagle3(_)) { Eagle3::INPUT_MULTIPLE } else { 1 };
    let parts = layer_parts(layer, hidden, multiple);
    let layer_bytes = parts.iter().flatten().map(|p| p.weights.bytes(p.parameters)).sum::<Bytes>();
    DraftFootprint {
        layers: parts.iter().flatten().map(|p| p.parameters).sum(),
        fusion,
        head,
        resident: layer_bytes + weights.bytes(fusion + head),
    }
}

/// The weights of a layer by width. `input_multiple` widens the input of latent attention (EAGLE-3);
/// grouped-query attention carries its own.
fn layer_parts(layer: &Layer, hidden: u32, input_multiple: u32) -> [Option<Part>; 4] {
    let h = f64::from(hidden);
    let attention = attention_part(&layer.attention, h, f64::from(input_multiple));
    match &layer.ffn {
        Ffn::Dense { width, weights } => {
            [Some(attention), Some(Part::new(3.0 * h * f64::from(*width), *weights)), None, None]
        }
        Ffn::Moe(moe) => {
            let [routed, shared, router] = moe_parts(moe, h);
            [Some(attention), Some(routed), Some(shared), Some(router)]
        }
    }
}

fn moe_parts(moe: &Moe, h: f64) -> [Part; 3] {
    let experts = f64::from(moe.experts);
    [
        Part {
            parameters: 3.0 * h * f64::from(moe.width) * experts,
            active: f64::from(moe.per_token) / experts,
            weights: moe.expert_weights,
        },
        Part::new(3.0 * h * f64::from(moe.shared_width), moe.shared_weights),
        Part::new(h * experts, moe.router_weights),
    ]
}

fn attention_part(attention: &Attention, h: f64, input_multiple: f64) -> Part {
    match attention {
        Attention::Gqa(g) => {
            let (heads, kv, d) = (f64::from(g.heads), f64::from(g.kv_heads), f64::from(g.head_dim));
            let queries = if g.gated { 2.0 } else { 1.0 };
            let input = h * f64::from(g.input_multiple);
            Part::new(input * d * (heads * queries + 2.0 * kv) + heads * d * h, g.weights)
        }
        Attention::Mla(m) => {
            let heads = f64::from(m.heads);
            let (nope, rope, value) = (f64::from(m.nope), f64::from(m.rope), f64::from(m.value));
            let kv_lora = f64::from(m.kv_lora);
            let input = h * input_multiple;
            let queries = match m.q_lora.map(f64::from) {
                Some(q_lora) => input * q_lora + q_lora * heads * (nope + rope),
                None => input * heads * (nope + rope),
            };
            let index = m.index.map_or(0.0, |i| {
                let source = m.q_lora.map_or(h, f64::from);
                let (heads, width) = (f64::from(i.heads), f64::from(i.head_dim));
                source * heads * width + h * (width + heads)
            });
            let keys_values = input * (kv_lora + rope) + kv_lora * heads * (nope + value);
            Part::new(queries + keys_values + heads * value * h + index, m.weights)
        }
        Attention::Linear(l) => {
            let keys = f64::from(l.key_heads) * f64::from(l.key_dim);
            let (value_heads, values) =
                (f64::from(l.value_heads), f64::from(l.value_heads) * f64::from(l.value_dim));
            let projections = h * (2.0 * keys + 2.0 * values + 2.0 * value_heads) + values * h;
            Part::new(projections + f64::from(l.convolution) * (2.0 * keys + values), l.weights)
        }
    }
}

impl Attention {
    /// KV cache of one token in one layer, before sharding: 2·kv·d numbers, or kv_lora + rope numbers.
    pub fn kv_per_token(&self, kv: KvFormat) -> Bytes {
        let numbers = match self {
            Self::Gqa(g) => 2.0 * f64::from(g.kv_heads) * f64::from(g.head_dim),
            Self::Mla(m) => f64::from(m.kv_lora) + f64::from(m.rope),
            Self::Linear(_) => 0.0,
        };
        Bytes::new(numbers * kv.bytes_per_number())
    }

    /// Keys of the sparse index of one token in one layer: fp8 with one fp32 scale.
    pub fn index_per_token(&self) -> Bytes {
        match self {
            Self::Mla(m) => {
                m.index.map_or(Bytes::ZERO, |i| Bytes::new(f64::from(i.head_dim) + INDEX_SCALE_BYTES))
            }
            _ => Bytes::ZERO,
        }
    }

    /// Recurrent state of one request in one layer: value heads x key width x value width in fp32, and the
    /// inputs that the short convolution still needs, in bf16.
    pub fn state_per_request(&self) -> Bytes {
        match self {
            Self::Linear(l) => {
                let heads = f64::from(l.value_heads);
                let state = heads * f64::from(l.key_dim) * f64::from(l.value_dim) * STATE_BYTES;
                let channels =
                    2.0 * f64::from(l.key_heads) * f64::from(l.key_dim) + heads * f64::from(l.value_dim);
                Bytes::new(state + channels * (f64::from(l.convolution) - 1.0) * 2.0)
            }
            _ => Bytes::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;
