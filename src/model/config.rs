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
mod json;
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
use json::parse_json;
use quantisation::Quantisation;

pub use draft::{parse_draft, parse_draft_config};
pub use error::ConfigError;

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
        match self.stored_type() {
            Some("float32" | "float") => WeightFormat::Fp32,
            _ => WeightFormat::Bf16,
        }
    }

    fn stored_type(self) -> Option<&'a str> {
        let word = self.word(["torch_dtype", "dtype"])?;
        Some(word.strip_prefix("torch.").unwrap_or(word))
    }

    /// What a user should know about [`Self::base_format`].
    fn note_on_base_format(self) -> Option<String> {
        const KNOWN: [&str; 6] = ["bfloat16", "float16", "half", "float32", "float", "auto"];
        let word = self.stored_type().filter(|word| !KNOWN.contains(word))?;
        Some(format!("The weights' type `{word}` is not known; what is not quantised was taken as 16 bit."))
    }
}

/// The configuration as an object, whose fields that decide what the rest means are of the kind they should be.
fn as_object(value: &Value) -> Result<&Map<String, Value>, ConfigError> {
    let map = value.as_object().ok_or_else(|| ConfigError::NotAnObject { found: kind_of(value) })?;
    let outer = Fields::new(map);
    for fields in [Some(outer), outer.only_object("text_config")?].into_iter().flatten() {
        for key in ["quantization_config", "eagle_config"] {
            fields.only_object(key)?;
        }
        for key in ["model_type", "torch_dtype", "dtype"] {
            fields.only_text(key)?;
        }
    }
    Ok(map)
}

fn read_model(name: &str, config: Wrapped<'_>, overrides: FormatOverrides) -> Result<Model, ConfigError> {
    let fields = config.text;
    let (family, unknown) = Family::of(fields.text("model_type"));
    let mut notes: Vec<String> = unknown.into_iter().collect();
    let hidden = fields.count(&["hidden_size"], "every matrix")?;
    let count = fields.count(&["num_hidden_layers"], "the number of layers")?;
    check_decided(fields, family)?;
    let base = config.base_format();
    let quantisation = read_quantisation(config, base, overrides)?;
    let attention = AttentionShape::read(fields, family, hidden, count)?;
    let ffn = FfnShape::read(fields, base)?;
    let layers = group_layers(count, &attention, &ffn, &quantisation)?;
    notes.extend(config.note_on_base_format().into_iter().chain(ffn.note()));
    notes.extend(quantisation.notes.iter().cloned());
    notes.extend(attention::note_on_width(fields, hidden)?);
    let max_context = fields.optional_count(&["max_position_embeddings"])?;
    if let Some(short @ 0..2) = max_context {
        // One token of prompt and one of answer.
        return Err(out_of_range("max_position_embeddings", &Value::from(short), "at least 2"));
    }
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

/// That no field is absent without which the shape would be taken for another one.
fn check_decided(fields: Fields<'_>, family: Family) -> Result<(), ConfigError> {
    let missing = |field: &str, needed_for| Err(ConfigError::Missing { field: field.to_owned(), needed_for });
    let latent = family.latent || fields.optional_count(&["qk_nope_head_dim"])?.is_some_and(|n| n > 0);
    if latent && fields.get("kv_lora_rank").is_none() {
        return missing("kv_lora_rank", "multi-head latent attention, which this architecture has");
    }
    let routed = fields.optional_count(&ffn::PER_TOKEN)?.is_some_and(|n| n > 0);
    if routed && fields.optional_count(&ffn::EXPERTS)?.is_none() {
        return missing(&ffn::EXPERTS.join("` or `"), "the experts that tokens are routed to");
    }
    Ok(())
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
