//! config.json of models and drafters: what specplan makes of them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::section::Section;
use crate::import::{Observation, What};
use crate::model::{self, Attention, Draft, Ffn, LayerGroup, Model};
use crate::units::significant;

/// Configurations of all files.
#[derive(Default)]
pub(super) struct Models {
    file: String,
    found: Vec<(String, Draft)>,
    faults: Vec<String>,
}

impl Section for Models {
    fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    fn take(&mut self, observation: &Observation) {
        if let What::ModelConfig(text) = &observation.what {
            match model::parse_draft_config(&self.file, text) {
                Ok(model) => self.found.push((self.file.clone(), model)),
                Err(error) => self.faults.push(format!("{}: {error}", self.file)),
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty() && self.faults.is_empty()
    }

    fn fault(&self) -> Option<String> {
        (!self.faults.is_empty()).then(|| self.faults.join("\nerror: "))
    }

    fn text(&self, out: &mut String) {
        for (file, draft) in &self.found {
            match draft {
                Draft::Model(model) => model_text(file, model, out),
                _ => draft_text(file, draft, out),
            }
        }
    }

    fn json(&self, object: &mut Map<String, Value>) {
        let models: Vec<Value> = self.found.iter().map(|(file, draft)| model_json(file, draft)).collect();
        object.insert("models".to_owned(), json!(models));
    }

    fn yaml(&self) -> Option<Result<String, String>> {
        let names: Vec<&str> = self.found.iter().map(|(file, _)| file.as_str()).collect();
        let sentence =
            "a config.json is used as it is: name it in a scenario, under `model:` or `speculation.draft:`";
        Some(Err(format!("{}: {sentence}", names.join(", "))))
    }

    fn notes(&self) -> Vec<String> {
        let of = |draft: &Draft| match draft {
            Draft::Model(model) => model.notes.clone(),
            _ => Vec::new(),
        };
        self.found.iter().flat_map(|(_, draft)| of(draft)).collect()
    }
}

/// 671 B, 8.03 B, 424 M.
fn parameters(count: f64) -> String {
    if count >= 1e9 {
        format!("{} B", significant(count / 1e9, 4))
    } else {
        format!("{} M", significant(count / 1e6, 3))
    }
}

fn model_text(file: &str, model: &Model, out: &mut String) {
    let counted = model::footprint(model);
    let _ = writeln!(out, "{file}: a model of {} layers", layers(model));
    let mut row = |what: &str, value: String| {
        let _ = writeln!(out, "  {what:<20} {value}");
    };
    row(
        "parameters",
        format!("{}, {} active", parameters(counted.total_parameters), parameters(counted.active_parameters)),
    );
    row("weights in memory", counted.resident.to_string());
    row("KV cache per token", counted.kv_per_token.to_string());
    row("hidden, vocabulary", format!("{}, {}", model.hidden, model.vocabulary));
    for (kind, count) in kinds_of_layers(model) {
        row(&format!("{count} layers"), kind);
    }
    if model.mtp_layers > 0 {
        row("MTP modules", model.mtp_layers.to_string());
    }
    if model.max_context < u32::MAX {
        row("longest context", model.max_context.to_string());
    }
}

/// Layers of each kind, those of a kind together wherever they stand.
fn kinds_of_layers(model: &Model) -> Vec<(String, u32)> {
    let mut kinds: Vec<(String, u32)> = Vec::new();
    for group in &model.layers {
        let kind = layer(group);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += group.count,
            None => kinds.push((kind, group.count)),
        }
    }
    kinds
}

fn layers(model: &Model) -> u32 {
    model.layers.iter().map(|group| group.count).sum()
}

fn layer(group: &LayerGroup) -> String {
    let attention = match &group.layer.attention {
        Attention::Gqa(gqa) => {
            format!("GQA, {} heads on {} of width {}", gqa.heads, gqa.kv_heads, gqa.head_dim)
        }
        Attention::Mla(mla) => format!("MLA, {} heads, rank {}", mla.heads, mla.kv_lora),
        Attention::Linear(linear) => format!("linear attention, {} value heads", linear.value_heads),
    };
    let ffn = match &group.layer.ffn {
        Ffn::Dense { width, .. } => format!("dense MLP of {width}"),
        Ffn::Moe(moe) => format!("{} of {} experts of {}", moe.per_token, moe.experts, moe.width),
    };
    format!("{attention}; {ffn}")
}

fn draft_text(file: &str, draft: &Draft, out: &mut String) {
    let counted = model::draft_footprint(draft);
    let _ = writeln!(out, "{file}: an EAGLE-3 head");
    let own = counted.layers + counted.fusion + counted.head;
    let _ = writeln!(out, "  {:<20} {} without embedding", "parameters", parameters(own));
    let _ = writeln!(out, "  {:<20} {}", "in memory", counted.resident);
    if let Draft::Eagle3(head) = draft {
        let _ = writeln!(out, "  {:<20} {}, {}", "hidden, vocabulary", head.hidden, head.vocabulary);
    }
}

fn model_json(file: &str, draft: &Draft) -> Value {
    let Draft::Model(model) = draft else {
        let counted = model::draft_footprint(draft);
        return json!({
            "file": file,
            "what": "eagle3-head",
            "parameters": counted.layers + counted.fusion + counted.head,
            "resident_bytes": counted.resident.get(),
        });
    };
    let counted = model::footprint(model);
    json!({
        "file": file,
        "what": "model",
        "layers": layers(model),
        "hidden": model.hidden,
        "vocabulary": model.vocabulary,
        "parameters": counted.total_parameters,
        "active_parameters": counted.active_parameters,
        "resident_bytes": counted.resident.get(),
        "kv_bytes_per_token": counted.kv_per_token.get(),
        "mtp_layers": model.mtp_layers,
        "max_context": model.max_context,
        "notes": model.notes,
    })
}
