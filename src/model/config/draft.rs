//! The reader of draft configurations: EAGLE-3 heads, or a whole small model.
//!
//! An EAGLE-3 head is one decoder layer whose q, k and v read \[embedding, fused feature\], twice the hidden
//! size; `fc` fuses the hidden states of three target layers and is not in the configuration. Source:
//! sglang `python/sglang/srt/models/llama_eagle3.py`, SpecForge `configs/*.json`.

use super::super::dtype::WeightFormat;
use super::super::types::{Attention, Draft, Eagle3, Layer};
use super::attention::AttentionShape;
use super::error::ConfigError;
use super::family::Family;
use super::ffn::FfnShape;
use super::fields::Fields;
use super::{FormatOverrides, Wrapped, as_object, parse_json, read_model, read_quantisation};

/// Target layers that `fc` fuses where the configuration lists none (SpecForge's default).
const FUSED_FEATURES: u32 = 3;

/// Reads a draft from the text of its `config.json`: an EAGLE-3 head where the file is one, otherwise a whole
/// small model.
///
/// # Errors
/// As [`parse_config`](super::parse_config).
pub fn parse_draft_config(name: &str, json: &str) -> Result<Draft, ConfigError> {
    parse_draft(name, json, FormatOverrides::default())
}

/// [`parse_draft_config`] with other storage formats. An EAGLE-3 head keeps `fc`, its own head and the cache, which is that
/// of the target, as they are.
///
/// # Errors
/// As [`parse_config`](super::parse_config).
pub fn parse_draft(name: &str, json: &str, overrides: FormatOverrides) -> Result<Draft, ConfigError> {
    let value = parse_json(json)?;
    let config = Wrapped::descend(as_object(&value)?);
    if is_eagle3(config.outer)? || is_eagle3(config.text)? {
        Ok(Draft::Eagle3(read_eagle3(name, config, overrides)?))
    } else {
        Ok(Draft::Model(read_model(name, config, overrides)?))
    }
}

fn is_eagle3(fields: Fields<'_>) -> Result<bool, ConfigError> {
    let named =
        fields.texts("architectures")?.iter().any(|name| name.to_ascii_lowercase().contains("eagle3"));
    Ok(named || fields.get("eagle_config").is_some() || fields.get("draft_vocab_size").is_some())
}

fn read_eagle3(name: &str, config: Wrapped<'_>, overrides: FormatOverrides) -> Result<Eagle3, ConfigError> {
    let fields = config.text;
    let (family, _) = Family::of(fields.text("model_type"));
    let hidden = fields.count(&["hidden_size"], "every matrix")?;
    let base = config.base_format();
    let quantisation = read_quantisation(config, base, overrides)?;
    let mut attention = AttentionShape::read(fields, family, hidden, 1)?.of_layer(0, &quantisation);
    if let Attention::Gqa(gqa) = &mut attention {
        gqa.input_multiple = Eagle3::INPUT_MULTIPLE;
        gqa.qk_norm = false;
    }
    let layer = Layer { attention, ffn: FfnShape::read(fields, base)?.of_layer(0, &quantisation)? };
    Ok(Eagle3 {
        name: name.to_owned(),
        hidden,
        layer,
        fused_features: fused_features(config.outer)?,
        vocabulary: match fields.optional_count(&["draft_vocab_size"])?.filter(|n| *n > 0) {
            Some(rows) => rows,
            None => fields.count(&["vocab_size"], "the head of the draft")?,
        },
        weights: if base == WeightFormat::Fp32 { WeightFormat::Fp32 } else { WeightFormat::Bf16 },
    })
}

fn fused_features(fields: Fields<'_>) -> Result<u32, ConfigError> {
    let Some(eagle) = fields.object("eagle_config") else { return Ok(FUSED_FEATURES) };
    let listed = eagle.list("eagle_aux_hidden_state_layer_ids")?.map(<[_]>::len);
    Ok(listed.filter(|n| *n > 0).map_or(FUSED_FEATURES, |n| n as u32))
}
