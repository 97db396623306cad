//! A library of a few boxes and models, so that these tests need no preset of another module.

use serde_json::Value;

use crate::calibration::Calibration;
use crate::hardware::Hardware;
use crate::model::{
    Attention, Draft, Eagle3, Ffn, Gqa, KvFormat, Layer, LayerGroup, Mla, Model, Mtp, WeightFormat,
};
use crate::runtime::{Runtime, RuntimeKind};
use crate::scenario::library::{Formats, Law, Library, Shape, SideFiles};
use crate::sourced::{Source, Sourced};
use crate::speculation::Acceptance;
use crate::units::{Bytes, Seconds};

/// The library.
pub(super) struct Fake;

/// Name, GPUs, memory of one in GB.
const BOXES: &[(&str, u32, f64)] = &[
    ("rtx-pro-6000-x8", 8, 96.0),
    ("rtx-pro-6000-x4", 4, 96.0),
    ("rtx-pro-6000-x8-switch", 8, 96.0),
    ("rtx-pro-6000-x8-dual-turin", 8, 96.0),
    ("rtx-pro-6000-x8-dual-turin-graphfile", 8, 96.0),
    ("rtx-4090-x2", 2, 24.0),
    ("rtx-4090-x4", 4, 24.0),
    ("l40s-x8", 8, 48.0),
    ("h200-x8", 8, 141.0),
];

/// Name, layers, heads, key/value heads (0: latent attention), weights in GB, whether it brings an MTP module.
const MODELS: &[(&str, u32, u32, u32, f64, bool)] = &[
    ("kimi-k2.5", 61, 64, 0, 594.0, false),
    ("kimi-k2.6", 61, 64, 0, 594.0, false),
    ("llama-3.3-70b", 80, 64, 8, 141.0, false),
    ("qwen3-235b-a22b", 94, 64, 4, 470.0, false),
    ("deepseek-v3", 61, 128, 0, 671.0, true),
];

const DRAFTS: &[&str] = &["eagle3-kimi-k2.5", "eagle3-llama-3.3-70b", "eagle3-qwen3-235b-a22b"];

impl Library for Fake {
    fn hardware(&self, name: &str) -> Option<Hardware> {
        let (name, count, _) = BOXES.iter().find(|(known, ..)| *known == name)?;
        Some(Hardware { name: (*name).to_owned(), count: *count })
    }

    fn hardware_names(&self) -> Vec<String> {
        BOXES.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn hardware_file(&self, name: &str, content: &Value) -> Result<Hardware, String> {
        let count = content["count"].as_u64().ok_or("`count` is missing")?;
        Ok(Hardware { name: name.to_owned(), count: count as u32 })
    }

    fn default_calibration(&self, hardware: &Hardware) -> Option<String> {
        (hardware.name == "rtx-pro-6000-x8").then(|| hardware.name.clone())
    }

    fn memory(&self, hardware: &Hardware) -> Bytes {
        let size = BOXES.iter().find(|(name, ..)| *name == hardware.name).map_or(96.0, |entry| entry.2);
        Bytes::new(size * 1e9)
    }

    fn calibration(&self, name: &str) -> Option<Calibration> {
        (name == "rtx-pro-6000-x8").then(|| Calibration { name: name.to_owned() })
    }

    fn calibration_names(&self) -> Vec<String> {
        vec!["rtx-pro-6000-x8".to_owned()]
    }

    fn calibration_file(&self, name: &str, text: &str, _: SideFiles) -> Result<Calibration, String> {
        if text.contains("specplan-calibration") {
            return Ok(Calibration { name: name.to_owned() });
        }
        Err("`format: specplan-calibration/1` is missing".to_owned())
    }

    fn no_calibration(&self) -> Calibration {
        Calibration { name: "none".to_owned() }
    }

    fn model(&self, name: &str, formats: Formats) -> Option<Model> {
        let (name, layers, heads, kv_heads, ..) = MODELS.iter().find(|(known, ..)| *known == name)?;
        Some(model(name, *layers, *heads, *kv_heads, formats))
    }

    fn model_names(&self) -> Vec<String> {
        MODELS.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn model_file(&self, name: &str, json: &str, formats: Formats) -> Result<Model, String> {
        let config: Value = serde_json::from_str(json).map_err(|error| format!("not JSON: {error}"))?;
        let heads = config["num_attention_heads"].as_u64().ok_or("`num_attention_heads` is missing")?;
        Ok(model(name, 32, heads as u32, 8, formats))
    }

    fn resident(&self, model: &Model) -> Bytes {
        let size = MODELS.iter().find(|(name, ..)| *name == model.name).map_or(16.0, |entry| entry.4);
        let narrower = match model.head_weights {
            WeightFormat::Bf16 => 1.0,
            other => other.bits() / 16.0,
        };
        Bytes::new(size * 1e9 * narrower)
    }

    fn kv_per_token(&self, model: &Model) -> Bytes {
        Bytes::new(160_000.0 * model.kv.bytes_per_number())
    }

    fn draft(&self, name: &str) -> Option<Draft> {
        DRAFTS.contains(&name).then(|| Draft::Eagle3(eagle(name)))
    }

    fn draft_names(&self) -> Vec<String> {
        DRAFTS.iter().map(|name| (*name).to_owned()).collect()
    }

    fn draft_file(&self, name: &str, _: &str) -> Result<Draft, String> {
        Ok(Draft::Eagle3(eagle(name)))
    }

    fn mtp(&self, model: &Model) -> Option<Draft> {
        (model.mtp_layers > 0).then(|| {
            Draft::Mtp(Mtp {
                name: format!("MTP module of {}", model.name),
                hidden: model.hidden,
                layer: model.layers[0].layer.clone(),
                vocabulary: model.vocabulary,
                weights: WeightFormat::Bf16,
            })
        })
    }

    fn runtime(&self, kind: RuntimeKind) -> Runtime {
        let nothing = Sourced::new(Seconds::ZERO, Source::Assumed);
        Runtime {
            kind,
            issue_kernel: nothing,
            issue_collective: nothing,
            graph_launch: nothing,
            graph_node: nothing,
            host_per_step: nothing,
            host_per_cycle: nothing,
            host_per_cycle_overlapped: nothing,
            embedding_allreduce: true,
            replicates_mla_down: true,
            fuses_small_ops: true,
        }
    }

    /// Any law becomes a list that tells the tests which law it was and for which shape.
    fn acceptance(&self, law: &Law, shape: Shape) -> Result<Acceptance, String> {
        let mut list = vec![f64::from(shape.steps)];
        match law {
            Law::AcceptLength(mean) => list.push(mean.value.get()),
            Law::Rate(rate) | Law::MeanRate(rate) => list.push(rate.value),
            Law::Conditional(rates) | Law::Cumulative(rates) | Law::Histogram(rates) => list.extend(rates),
            Law::Tree { ranks, nodes, levels } => {
                list.extend([f64::from(*nodes), f64::from(*levels)]);
                list.extend(ranks);
            }
        }
        Ok(Acceptance::Conditional(list))
    }

    fn reshaped(&self, acceptance: &Acceptance, shape: Shape) -> Acceptance {
        let Acceptance::Conditional(list) = acceptance;
        let mut list = list.clone();
        list.push(-f64::from(shape.steps));
        Acceptance::Conditional(list)
    }
}

fn layer(heads: u32, kv_heads: u32) -> Layer {
    let weights = WeightFormat::Bf16;
    let attention = if kv_heads == 0 {
        Attention::Mla(Mla {
            heads,
            q_lora: Some(1536),
            kv_lora: 512,
            nope: 128,
            rope: 64,
            value: 128,
            index: None,
            weights,
        })
    } else {
        Attention::Gqa(Gqa {
            heads,
            kv_heads,
            head_dim: 128,
            window: None,
            gated: false,
            input_multiple: 1,
            weights,
        })
    };
    Layer { attention, ffn: Ffn::Dense { width: 28_672, weights } }
}

fn model(name: &str, layers: u32, heads: u32, kv_heads: u32, formats: Formats) -> Model {
    let mtp = MODELS.iter().any(|(known, .., mtp)| *known == name && *mtp);
    Model {
        name: name.to_owned(),
        hidden: 8192,
        layers: vec![LayerGroup { count: layers, layer: layer(heads, kv_heads) }],
        vocabulary: 128_256,
        tied_embeddings: false,
        head_weights: formats.weights.unwrap_or(WeightFormat::Bf16),
        kv: formats.kv.unwrap_or(KvFormat::Bf16),
        mtp_layers: u32::from(mtp),
        max_context: 131_072,
        notes: Vec::new(),
    }
}

fn eagle(name: &str) -> Eagle3 {
    Eagle3 {
        name: name.to_owned(),
        hidden: 8192,
        layer: layer(64, 8),
        fused_features: 3,
        vocabulary: 32_000,
        weights: WeightFormat::Bf16,
    }
}
