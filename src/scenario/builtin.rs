//! The library that the tool comes with: the presets and readers of the modules that own them.

use serde_json::Value;

use super::library::{Formats, Law, Library, Shape, SideFiles};
use crate::calibration::{self, Calibration};
use crate::hardware::{self, Hardware};
use crate::model::{self, Draft, FormatOverrides, Model};
use crate::runtime::{Runtime, RuntimeKind};
use crate::speculation::{Acceptance, DraftShape};
use crate::units::Bytes;

/// Presets compiled into the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Builtin;

impl From<Formats> for FormatOverrides {
    fn from(formats: Formats) -> Self {
        Self { weights: formats.weights, kv: formats.kv }
    }
}

impl From<Shape> for DraftShape {
    fn from(shape: Shape) -> Self {
        Self { steps: shape.steps, topk: shape.topk, draft_tokens: shape.draft_tokens }
    }
}

fn names<'a>(entries: impl Iterator<Item = (&'a str, Vec<&'a str>)>) -> Vec<String> {
    entries.flat_map(|(name, aliases)| std::iter::once(name).chain(aliases)).map(str::to_owned).collect()
}

fn model_entries(entries: &'static [model::PresetEntry]) -> Vec<String> {
    names(entries.iter().map(|e| (e.name, e.aliases.to_vec())))
}

impl Library for Builtin {
    fn hardware(&self, name: &str) -> Option<Hardware> {
        hardware::preset(name)
    }

    fn hardware_names(&self) -> Vec<String> {
        let entries = hardware::preset_entries().iter();
        names(entries.map(|e| (e.name.as_str(), e.aliases.iter().map(String::as_str).collect())))
    }

    fn hardware_file(&self, name: &str, content: &Value) -> Result<Hardware, String> {
        hardware::parse(name, content).map_err(|error| error.to_string())
    }

    fn default_calibration(&self, hardware: &Hardware) -> Option<String> {
        hardware.default_calibration.clone()
    }

    fn memory(&self, hardware: &Hardware) -> Bytes {
        hardware.gpu.memory
    }

    fn calibration(&self, name: &str) -> Option<Calibration> {
        calibration::preset(name)
    }

    fn calibration_names(&self) -> Vec<String> {
        calibration::preset_entries().iter().map(|e| e.name.to_owned()).collect()
    }

    fn calibration_file(&self, name: &str, text: &str, side_files: SideFiles) -> Result<Calibration, String> {
        calibration::parse(name, text, side_files).map_err(|error| error.to_string())
    }

    fn no_calibration(&self) -> Calibration {
        calibration::none()
    }

    fn model(&self, name: &str, formats: Formats) -> Option<Model> {
        let entry = model::preset_entries().iter().find(|e| e.name == name || e.aliases.contains(&name))?;
        // The preset's own reader adds its remarks; other formats go through the same JSON.
        if formats == Formats::default() {
            return model::preset(name);
        }
        model::parse_config(name, entry.json(), formats.into()).ok()
    }

    fn model_names(&self) -> Vec<String> {
        model_entries(model::preset_entries())
    }

    fn model_file(&self, name: &str, json: &str, formats: Formats) -> Result<Model, String> {
        model::parse_config(name, json, formats.into()).map_err(|error| error.to_string())
    }

    fn resident(&self, model: &Model) -> Bytes {
        model::footprint(model).resident
    }

    fn kv_per_token(&self, model: &Model) -> Bytes {
        model::footprint(model).kv_per_token
    }

    fn draft(&self, name: &str) -> Option<Draft> {
        model::draft_preset(name).or_else(|| model::preset(name).map(Draft::Model))
    }

    fn draft_names(&self) -> Vec<String> {
        model_entries(model::draft_preset_entries())
    }

    fn draft_file(&self, name: &str, json: &str) -> Result<Draft, String> {
        model::parse_draft_config(name, json).map_err(|error| error.to_string())
    }

    fn mtp(&self, model: &Model) -> Option<Draft> {
        model::mtp_of(model).map(Draft::Mtp)
    }

    fn runtime(&self, kind: RuntimeKind) -> Runtime {
        Runtime::profile(kind)
    }

    fn acceptance(&self, law: &Law, shape: Shape) -> Result<Acceptance, String> {
        let shape: DraftShape = shape.into();
        match law {
            Law::AcceptLength(length) => Acceptance::mean_only(*length, shape),
            Law::Rate(rate) => Acceptance::geometric_sourced(*rate),
            Law::MeanRate(rate) => Acceptance::mean_rate(*rate, shape),
            Law::Conditional(rates) => Acceptance::conditional(rates),
            Law::Cumulative(rates) => Acceptance::cumulative(rates),
            Law::Histogram(weights) => Acceptance::histogram(weights),
            Law::Tree { ranks, nodes, levels } => {
                let tree =
                    DraftShape { steps: levels.saturating_sub(1), topk: shape.topk, draft_tokens: *nodes };
                Acceptance::tree(ranks, tree)
            }
        }
        .map_err(|error| error.to_string())
    }

    fn reshaped(&self, acceptance: &Acceptance, shape: Shape) -> Acceptance {
        acceptance.clone().with_shape(shape.into())
    }
}
