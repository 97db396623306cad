//! The boxes that ship with the tool: `presets/hardware/*.json`, one file per family, read when asked for.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::Hardware;
use super::file::parse;

/// A preset's name, other names, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetEntry {
    /// The name to write.
    pub name: String,
    /// Other names that mean the same.
    pub aliases: Vec<String>,
    /// One sentence.
    pub source: String,
}

impl PresetEntry {
    /// Whether `name` is its name or an alias.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// The entry whose name is nearest to `name`, if one is near enough to be meant.
pub(super) fn closest(name: &str, entries: &[PresetEntry]) -> Option<String> {
    // A word of hundreds of letters resembles nothing, and comparing it would take long.
    if name.len() > 60 {
        return None;
    }
    let names = entries.iter().flat_map(|e| std::iter::once(&e.name).chain(&e.aliases));
    let scored = names.map(|known| (strsim::jaro_winkler(name, known), known));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then(|| best.1.clone())
}

/// Family prefix and its file. A box of a family is named `<prefix>-<variant>`.
const FAMILIES: [(&str, &str); 8] = [
    ("rtx-pro-6000", include_str!("../../presets/hardware/rtx-pro-6000.json")),
    ("rtx-4090", include_str!("../../presets/hardware/rtx-4090.json")),
    ("rtx-5090", include_str!("../../presets/hardware/rtx-5090.json")),
    ("l40s", include_str!("../../presets/hardware/l40s.json")),
    ("a100", include_str!("../../presets/hardware/a100.json")),
    ("h100", include_str!("../../presets/hardware/h100.json")),
    ("h200", include_str!("../../presets/hardware/h200.json")),
    ("b200", include_str!("../../presets/hardware/b200.json")),
];

fn family(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("a compiled-in box file is an object, as a test holds")
}

/// The box of that name.
pub fn preset(name: &str) -> Option<Hardware> {
    let (_, text) = FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let boxes = family(text);
    let value = boxes.get(name)?;
    Some(parse(name, value).expect("a compiled-in box is valid, as a test holds"))
}

/// All boxes.
pub fn preset_entries() -> &'static [PresetEntry] {
    static ENTRIES: OnceLock<Vec<PresetEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let boxes = FAMILIES.iter().flat_map(|(_, text)| family(text));
        let source = |value: &Value| value["source"].as_str().unwrap_or_default().to_owned();
        boxes.map(|(name, value)| PresetEntry { name, aliases: Vec::new(), source: source(&value) }).collect()
    })
}
