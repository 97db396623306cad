//! The reader of Hugging Face `config.json`, for targets and for drafts.
//!
//! Wrappers that nest the language model in `text_config` are descended into. A shape is decided by fields,
//! not by names; the `model_type` adds only what no field says. An unknown type is read as far as its fields
//! go and gets a note; a field without which a shape is undecided is an error that names it.
//! Sources: `transformers` `configuration_*.py` of each family, `compressed-tensors` for quantisation,
//! sgl-project/SpecForge `configs/*.json` for EAGLE-3 heads.

mod attention;
mod draft;
mod error;
mod family;
mod ffn;
mod fields;
mod pattern;
mod quantisation;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::dtype::{KvFormat, WeightFormat};
use super::types::{Layer, LayerGroup, Model};
use attention::AttentionShape;
use family::Family;
use ffn::FfnShape;
use fields::{Fields, kind_of, out_of_range};
use quantisation::Quantisation;

pub use draft::{parse_draft, parse_draft_config};
pub use error::ConfigError;

/// More layers than this are taken to be a mistake.
const MOST_LAYERS: u32 = 10_000;

/// Storage that the user states instead of what the configuration says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormatOverrides {
    /// Storage of all linear layers and experts; head, embedding, norms and router keep their own.
    pub weights: Option<WeightFormat>,
    /// Storage of the KV cache.
    pub kv: Option<KvFormat>,
}

/// Reads a target model (or a whole small draft model) from the text of its `config.json`.
///
/// # Errors
/// Text that is no JSON object; a missing or malformed field, named; a quantisation without a known width
/// (unless `overrides.weights` replaces it).
pub fn parse_config(name: &str, json: &str, overrides: FormatOverrides) -> Result<Model, ConfigError> {
    let value = parse_json(json)?;
    read_model(name, Wrapped::descend(as_object(&value)?), overrides)
}

/// A configuration with the wrapper that it may stand in.
#[derive(Debug, Clone, Copy)]
struct Wrapped<'a> {
    /// The language model.
    text: Fields<'a>,
    /// What stands around it; the same where nothing does.
    outer: Fields<'a>,
}

impl<'a> Wrapped<'a> {
    fn descend(map: &'a Map<String, Value>) -> Self {
        let outer = Fields::new(map);
        Self { text: outer.object("text_config").unwrap_or(outer), outer }
    }

    /// A nested object of the language model, else of the wrapper.
    fn object(self, key: &str) -> Option<Fields<'a>> {
        self.text.object(key).or_else(|| self.outer.object(key))
    }

    fn flag(self, key: &str) -> Result<Option<bool>, ConfigError> {
        Ok(self.text.flag(key)?.or(self.outer.flag(key)?))
    }

    fn word(self, keys: [&str; 2]) -> Option<&'a str> {
        keys.iter().find_map(|key| self.text.text(key).or_else(|| self.outer.text(key)))
    }

    /// The type that unquantised weights are stored in.
    fn base_format(self) -> WeightFormat {
        match self.word(["torch_dtype", "dtype"]) {
            Some("float32") => WeightFormat::Fp32,
            _ => WeightFormat::Bf16,
        }
    }
}

fn parse_json(json: &str) -> Result<Value, ConfigError> {
    serde_json::from_str(json).map_err(|e| ConfigError::Syntax {
        line: e.line(),
        column: e.column(),
        message: e.to_string(),
    })
}

fn as_object(value: &Value) -> Result<&Map<String, Value>, ConfigError> {
    value.as_object().ok_or_else(|| ConfigError::NotAnObject { found: kind_of(value) })
}

fn read_model(name: &str, config: Wrapped<'_>, overrides: FormatOverrides) -> Result<Model, ConfigError> {
    let fields = config.text;
    let (family, unknown) = Family::of(fields.text("model_type"));
    let mut notes: Vec<String> = unknown.into_iter().collect();
    let hidden = fields.count(&["hidden_size"], "every matrix")?;
    let count = fields.count(&["num_hidden_layers"], "the number of layers")?;
    if count > MOST_LAYERS {
        return Err(out_of_range(
            "num_hidden_layers",
            &Value::from(count),
            &format!("at most {MOST_LAYERS}"),
        ));
    }
    let base = config.base_format();
    let quantisation = read_quantisation(config, base, overrides)?;
    let attention = AttentionShape::read(fields, family, hidden, count)?;
    let ffn = FfnShape::read(fields, base)?;
    let layers = group_layers(count, &attention, &ffn, &quantisation)?;
    notes.extend(attention.notes.iter().chain(&quantisation.notes).cloned());
    let max_context = fields.optional_count(&["max_position_embeddings"])?;
    if max_context.is_none() {
        notes.push("The configuration states no longest context; none is enforced.".to_owned());
    }
    Ok(Model {
        name: name.to_owned(),
        hidden,
        layers,
        vocabulary: fields.count(&["vocab_size"], "embedding and head")?,
        tied_embeddings: config.flag("tie_word_embeddings")?.unwrap_or(false),
        head_weights: base,
        kv: overrides.kv.or(quantisation.kv).unwrap_or(KvFormat::Bf16),
        mtp_layers: fields
            .optional_count(&["num_nextn_predict_layers", "mtp_num_hidden_layers"])?
            .unwrap_or(0),
        max_context: max_context.unwrap_or(u32::MAX),
        notes,
    })
}

fn read_quantisation(
    config: Wrapped<'_>,
    base: WeightFormat,
    overrides: FormatOverrides,
) -> Result<Quantisation, ConfigError> {
    match (overrides.weights, config.object("quantization_config")) {
        (Some(weights), _) => Ok(Quantisation::uniform(weights)),
        (None, Some(quantisation)) => Quantisation::read(quantisation, base),
        (None, None) => Ok(Quantisation::uniform(base)),
    }
}

fn group_layers(
    count: u32,
    attention: &AttentionShape,
    ffn: &FfnShape,
    quantisation: &Quantisation,
) -> Result<Vec<LayerGroup>, ConfigError> {
    let mut groups: Vec<LayerGroup> = Vec::new();
    for number in 0..count {
        let layer = Layer {
            attention: attention.of_layer(number, quantisation),
            ffn: ffn.of_layer(number, quantisation)?,
        };
        match groups.last_mut() {
            Some(last) if last.layer == layer => last.count += 1,
            _ => groups.push(LayerGroup { count: 1, layer }),
        }
    }
    Ok(groups)
}
