//! The token mixer of each layer, from the fields of the configuration.

use serde_json::Value;

use super::super::dtype::WeightFormat;
use super::super::types::{Attention, Gqa, LinearAttention, Mla, SparseIndex};
use super::error::ConfigError;
use super::family::Family;
use super::fields::{Fields, check_width, out_of_range};
use super::quantisation::{Component, Quantisation};
use crate::diagnostic::closest;

/// More taps than this are taken to be a mistake; networks have 4.
const MOST_TAPS: u32 = 64;

/// Everything that the token mixers of a model depend on, read once.
#[derive(Debug)]
pub(super) struct AttentionShape {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Mla { shape: Mla },
    Gqa { shape: Gqa, window: Option<u32>, mixers: Mixers, linear: Option<LinearAttention> },
}

/// Which layers are full attention, windowed, or linear.
#[derive(Debug)]
enum Mixers {
    Listed(Vec<Mixer>),
    /// One full layer in so many, the last of each.
    Interval(u32),
    /// Windowed from a layer on; full before.
    WindowedFrom(u32),
    AllFull,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mixer {
    Full,
    Windowed,
    Linear,
}

/// What is said where neither `head_dim` nor a whole part of the hidden width tells how wide a head is.
pub(super) fn note_on_width(fields: Fields<'_>, hidden: u32) -> Result<Option<String>, ConfigError> {
    let heads = fields.optional_count(&["num_attention_heads"])?.unwrap_or(1).max(1);
    let told = fields.optional_count(&["head_dim"])?.is_some_and(|width| width > 0);
    let odd = !told && fields.get("kv_lora_rank").is_none() && !hidden.is_multiple_of(heads);
    Ok(odd.then(|| {
        format!(
            "hidden_size {hidden} is no multiple of {heads} heads and no head_dim is given; a width of {} was taken.",
            (hidden / heads).max(1)
        )
    }))
}

impl AttentionShape {
    pub(super) fn read(
        fields: Fields<'_>,
        family: Family,
        hidden: u32,
        layers: u32,
    ) -> Result<Self, ConfigError> {
        let heads = fields.count(&["num_attention_heads"], "the attention of each layer")?;
        if fields.get("kv_lora_rank").is_some() {
            let kind = Kind::Mla { shape: read_mla(fields, heads)? };
            return Ok(Self { kind });
        }
        let kv_heads = fields.optional_count(&["num_key_value_heads"])?.filter(|n| *n > 0).unwrap_or(heads);
        if kv_heads > heads || heads % kv_heads != 0 {
            let value = Value::from(kv_heads);
            return Err(out_of_range(
                "num_key_value_heads",
                &value,
                &format!("a divisor of {heads} query heads"),
            ));
        }
        let head_dim = match fields.optional_count(&["head_dim"])?.filter(|d| *d > 0) {
            Some(width) => width,
            None => (hidden / heads).max(1),
        };
        check_width("num_attention_heads x head_dim", [heads, head_dim])?;
        let shape = Gqa {
            heads,
            kv_heads,
            head_dim,
            window: None,
            gated: fields.flag("attn_output_gate")?.unwrap_or(family.gated),
            qk_norm: fields.flag("use_qk_norm")?.unwrap_or(family.qk_norm),
            input_multiple: 1,
            weights: WeightFormat::Bf16,
        };
        let window = fields.optional_count(&["sliding_window", "attention_chunk_size"])?.filter(|w| *w > 0);
        let mixers = read_mixers(fields, layers, window)?;
        let linear = mixers.any_linear().then(|| read_linear(fields)).transpose()?;
        Ok(Self { kind: Kind::Gqa { shape, window, mixers, linear } })
    }

    /// The token mixer of layer `layer` (from 0).
    pub(super) fn of_layer(&self, layer: u32, quantisation: &Quantisation) -> Attention {
        let weights = quantisation.format(Component::Attention, layer);
        match &self.kind {
            Kind::Mla { shape } => Attention::Mla(Mla { weights, ..shape.clone() }),
            Kind::Gqa { shape, window, mixers, linear } => match (mixers.of_layer(layer), linear) {
                (Mixer::Linear, Some(linear)) => Attention::Linear(LinearAttention {
                    weights: quantisation.format(Component::LinearAttention, layer),
                    ..linear.clone()
                }),
                (Mixer::Windowed, _) => Attention::Gqa(Gqa { weights, window: *window, ..shape.clone() }),
                _ => Attention::Gqa(Gqa { weights, ..shape.clone() }),
            },
        }
    }
}

impl Mixers {
    fn of_layer(&self, layer: u32) -> Mixer {
        match self {
            Self::Listed(mixers) => mixers[layer as usize],
            Self::Interval(interval) if (layer + 1).is_multiple_of(*interval) => Mixer::Full,
            Self::Interval(_) => Mixer::Linear,
            Self::WindowedFrom(first) if layer >= *first => Mixer::Windowed,
            Self::WindowedFrom(_) | Self::AllFull => Mixer::Full,
        }
    }

    fn any_linear(&self) -> bool {
        match self {
            Self::Listed(mixers) => mixers.contains(&Mixer::Linear),
            Self::Interval(interval) => *interval > 1,
            _ => false,
        }
    }
}

fn read_mixers(fields: Fields<'_>, layers: u32, window: Option<u32>) -> Result<Mixers, ConfigError> {
    if fields.list("layer_types")?.is_some() {
        let words = fields.texts("layer_types")?;
        if words.len() != layers as usize {
            let rule = format!("one word for each of {layers} layers");
            return Err(out_of_range("layer_types", &Value::from(format!("{} words", words.len())), &rule));
        }
        return words
            .iter()
            .enumerate()
            .map(|(layer, word)| mixer(layer, word, window))
            .collect::<Result<_, _>>()
            .map(Mixers::Listed);
    }
    if let Some(interval) = fields.optional_count(&["full_attention_interval"])?.filter(|i| *i > 0) {
        return Ok(Mixers::Interval(interval));
    }
    Ok(match (window, fields.flag("use_sliding_window")?) {
        (None, _) | (_, Some(false)) => Mixers::AllFull,
        (Some(_), Some(true)) => {
            Mixers::WindowedFrom(fields.optional_count(&["max_window_layers"])?.unwrap_or(0))
        }
        (Some(_), None) => Mixers::WindowedFrom(0),
    })
}

fn mixer(layer: usize, word: &str, window: Option<u32>) -> Result<Mixer, ConfigError> {
    match word {
        "full_attention" | "attention" => Ok(Mixer::Full),
        "linear_attention" => Ok(Mixer::Linear),
        "sliding_attention" | "chunked_attention" if window.is_some() => Ok(Mixer::Windowed),
        "sliding_attention" | "chunked_attention" => Err(ConfigError::Missing {
            field: "sliding_window".to_owned(),
            needed_for: "the windowed layers of `layer_types`",
        }),
        unknown => {
            let words = ["full_attention", "sliding_attention", "chunked_attention", "linear_attention"];
            let near = closest(unknown, words).map(|near| format!("; did you mean `{near}`?"));
            let rule = format!("one of {}{}", words.join(", "), near.unwrap_or_default());
            Err(out_of_range(&format!("layer_types[{layer}]"), &Value::from(unknown), &rule))
        }
    }
}

fn read_mla(fields: Fields<'_>, heads: u32) -> Result<Mla, ConfigError> {
    const WHY: &str = "multi-head latent attention";
    let index = match fields.optional_count(&["index_topk"])?.filter(|n| *n > 0) {
        None => None,
        Some(top_tokens) => Some(SparseIndex {
            heads: fields.count(&["index_n_heads"], "the sparse index")?,
            head_dim: fields.count(&["index_head_dim"], "the sparse index")?,
            top_tokens,
        }),
    };
    let mla = Mla {
        heads,
        q_lora: fields.optional_count(&["q_lora_rank"])?.filter(|n| *n > 0),
        kv_lora: fields.count(&["kv_lora_rank"], WHY)?,
        nope: fields.count(&["qk_nope_head_dim"], WHY)?,
        rope: fields.count(&["qk_rope_head_dim"], WHY)?,
        value: fields.count(&["v_head_dim"], WHY)?,
        index,
        weights: WeightFormat::Bf16,
    };
    for width in [mla.kv_lora, mla.nope, mla.rope, mla.value] {
        check_width("num_attention_heads x a width of a head", [heads, width])?;
    }
    index.map_or(Ok(()), |i| check_width("index_n_heads x index_head_dim", [i.heads, i.head_dim]))?;
    Ok(mla)
}

fn read_linear(fields: Fields<'_>) -> Result<LinearAttention, ConfigError> {
    const WHY: &str = "the layers of linear attention";
    let linear = LinearAttention {
        key_heads: fields.count(&["linear_num_key_heads"], WHY)?,
        value_heads: fields.count(&["linear_num_value_heads"], WHY)?,
        key_dim: fields.count(&["linear_key_head_dim"], WHY)?,
        value_dim: fields.count(&["linear_value_head_dim"], WHY)?,
        convolution: fields.count(&["linear_conv_kernel_dim"], WHY)?,
        weights: WeightFormat::Bf16,
    };
    check_width("linear_num_key_heads x linear_key_head_dim", [linear.key_heads, linear.key_dim])?;
    check_width("linear_num_value_heads x linear_value_head_dim", [linear.value_heads, linear.value_dim])?;
    if linear.convolution > MOST_TAPS {
        let rule = format!("at most {MOST_TAPS}");
        return Err(out_of_range("linear_conv_kernel_dim", &Value::from(linear.convolution), &rule));
    }
    Ok(linear)
}
