//! The presets and readers that ship with specplan.

use serde_json::Value;

use super::{Formats, Law, Library, SideFiles};
use crate::calibration::{self, Calibration};
use crate::hardware::{self, Hardware};
use crate::model::{self, Draft, FormatOverrides, Model};
use crate::runtime::{Runtime, RuntimeKind};
use crate::speculation::{Acceptance, DraftShape};
use crate::units::Bytes;

/// What ships with specplan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Builtin;

impl Library for Builtin {
    fn hardware(&self, name: &str) -> Option<Hardware> {
        hardware::preset(name)
    }

    fn hardware_names(&self) -> Vec<String> {
        let entries = hardware::preset_entries().iter();
        entries.flat_map(|entry| std::iter::once(&entry.name).chain(&entry.aliases).cloned()).collect()
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
        calibration::preset_entries().iter().map(|entry| entry.name.to_owned()).collect()
    }

    fn calibration_file(&self, name: &str, text: &str, side_files: SideFiles) -> Result<Calibration, String> {
        calibration::parse(name, text, side_files).map_err(|error| error.to_string())
    }

    fn no_calibration(&self) -> Calibration {
        calibration::none()
    }

    fn model(&self, name: &str, formats: Formats) -> Option<Model> {
        if formats == Formats::default() {
            return model::preset(name);
        }
        let named = model::preset(name)?;
        let entry = model::preset_entries()
            .iter()
            .find(|entry| entry.name == name || entry.aliases.contains(&name))?;
        // The file was read a line ago, so only the formats could fail, and they replace what a file may leave unclear.
        let mut model = model::parse_config(name, entry.json(), overrides(formats)).ok()?;
        model.notes = named.notes;
        Some(model)
    }

    fn model_names(&self) -> Vec<String> {
        names(model::preset_entries())
    }

    fn model_file(&self, name: &str, json: &str, formats: Formats) -> Result<Model, String> {
        model::parse_config(name, json, overrides(formats)).map_err(|error| error.to_string())
    }

    fn resident(&self, model: &Model) -> Bytes {
        model::footprint(model).resident
    }

    fn kv_per_token(&self, model: &Model) -> Bytes {
        model::footprint(model).kv_per_token
    }

    fn draft(&self, name: &str, formats: Formats) -> Option<Draft> {
        let mut heads = model::draft_preset_entries().iter();
        match heads.find(|entry| entry.name == name || entry.aliases.contains(&name)) {
            Some(entry) => model::parse_draft(name, entry.json(), overrides(formats)).ok(),
            None => self.model(name, formats).map(Draft::Model),
        }
    }

    fn head_names(&self) -> Vec<String> {
        names(model::draft_preset_entries())
    }

    fn draft_file(&self, name: &str, json: &str, formats: Formats) -> Result<Draft, String> {
        model::parse_draft(name, json, overrides(formats)).map_err(|error| error.to_string())
    }

    fn draft_resident(&self, draft: &Draft) -> Bytes {
        model::draft_footprint(draft).resident
    }

    fn mtp(&self, model: &Model) -> Option<Draft> {
        model::mtp_of(model).map(Draft::Mtp)
    }

    fn runtime(&self, kind: RuntimeKind) -> Runtime {
        Runtime::profile(kind)
    }

    fn acceptance(&self, law: &Law, shape: DraftShape) -> Result<Acceptance, String> {
        match law {
            Law::AcceptLength(mean) => Acceptance::mean_only(*mean, shape),
            Law::Rate(rate) => Acceptance::geometric_sourced(*rate),
            Law::MeanRate(rate) => Acceptance::mean_rate(*rate, shape),
            Law::Conditional(rates) => Acceptance::conditional(rates),
            Law::Cumulative(rates) => Acceptance::cumulative(rates),
            Law::Histogram(weights) => Acceptance::histogram(weights),
            Law::Tree { ranks, nodes, levels } => {
                let tree = DraftShape { steps: levels.saturating_sub(1), draft_tokens: *nodes, ..shape };
                Acceptance::tree(ranks, tree)
            }
        }
        .map_err(|error| error.to_string())
    }

    fn reshaped(&self, acceptance: &Acceptance, shape: DraftShape) -> Acceptance {
        acceptance.clone().with_shape(shape)
    }
}

fn overrides(formats: Formats) -> FormatOverrides {
    FormatOverrides { weights: formats.weights, kv: formats.kv }
}

/// Names and aliases.
fn names(entries: &[model::PresetEntry]) -> Vec<String> {
    let all = entries.iter().flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases));
    all.map(|name| (*name).to_owned()).collect()
}
