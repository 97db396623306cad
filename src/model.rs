//! The network as the cost model sees it: shapes and storage widths, no weights and no time.
//!
//! [`parse_config`] reads a Hugging Face `config.json`; every preset goes through the same reader.
//! [`footprint`] counts parameters, resident bytes and KV cache from the shapes alone. What a layer holds,
//! with hidden size H, heads n, head width d, KV heads kv:
//!
//! ```text
//! GQA         H·n·d·2 + 2·H·kv·d            (gated output: H·n·d·3 + 2·H·kv·d)
//! MLA         H·q_lora + q_lora·n·(nope+rope) + H·(kv_lora+rope) + kv_lora·n·(nope+value) + n·value·H
//! linear      H·(2kd + 2vd + 2·nv) + vd·H + taps·(2kd + vd)
//! dense MLP   3·H·width
//! experts     3·H·width·E + 3·H·shared_width + H·E
//! ```
//!
//! Sources: the modelling files of `transformers` and `sgl-project/sglang` for the shapes, `compressed-tensors`
//! for quantised storage. Checked against published sizes within 1 %. Left out: norms, biases, rotary tables,
//! attention sinks and the one-column gate of Qwen's shared expert, together below 0.1 % of a model.

mod config;
mod dtype;
mod footprint;
mod format_word;
mod mtp;
mod preset;
mod types;

pub use config::{ConfigError, FormatOverrides, parse_config, parse_draft, parse_draft_config};
pub use dtype::{KvFormat, WeightFormat};
pub use footprint::{DraftFootprint, Footprint, draft_footprint, footprint};
pub use format_word::{kv_format_words, parse_kv_format, parse_weight_format, weight_format_words};
pub use mtp::mtp_of;
pub use preset::{PresetEntry, draft_preset, draft_preset_entries, preset, preset_entries};
pub use types::{
    Attention, Draft, Eagle3, Ffn, Gqa, Layer, LayerGroup, LinearAttention, Mla, Model, Moe, Mtp, SparseIndex,
};
