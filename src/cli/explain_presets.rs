//! `specplan explain presets`: every preset with its source, from the modules that own them.

use std::fmt::Write as _;

use crate::{calibration, hardware, model};

/// One preset of any kind.
struct Preset {
    name: String,
    aliases: Vec<String>,
    source: String,
}

const DRAFT: &str = "speculation.draft";

/// Names of all presets, aliases too.
pub(super) fn names() -> Vec<String> {
    let presets = groups().into_iter().flat_map(|(_, presets)| presets);
    presets.flat_map(|preset| std::iter::once(preset.name).chain(preset.aliases)).collect()
}

/// The kinds of presets, as a scenario's keys name them.
fn groups() -> Vec<(&'static str, Vec<Preset>)> {
    let models = |entries: &[model::PresetEntry]| {
        let strings = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        entries
            .iter()
            .map(|e| Preset {
                name: e.name.to_owned(),
                aliases: strings(e.aliases),
                source: e.source.to_owned(),
            })
            .collect()
    };
    let hardware = |entries: &[hardware::PresetEntry]| {
        entries
            .iter()
            .map(|e| Preset { name: e.name.clone(), aliases: e.aliases.clone(), source: e.source.clone() })
            .collect()
    };
    let calibrations = calibration::preset_entries()
        .iter()
        .map(|e| Preset { name: e.name.to_owned(), aliases: Vec::new(), source: e.summary.to_owned() })
        .collect();
    vec![
        ("hardware", hardware(hardware::preset_entries())),
        ("hardware: gpu (for box files)", hardware(hardware::gpu_entries())),
        ("calibration", calibrations),
        ("model", models(model::preset_entries())),
        (DRAFT, models(model::draft_preset_entries())),
    ]
}

/// All presets for a terminal.
pub(super) fn text() -> String {
    let mut text = String::new();
    for (key, presets) in groups() {
        let _ = writeln!(text, "{key}:");
        if key == DRAFT {
            text.push_str("  (heads for `method: eagle3`; for `draft-model` any preset of `model`)\n");
        }
        for preset in presets {
            for line in wrapped(&format!("{}{}", preset.name, also(&preset.aliases)), 78) {
                let _ = writeln!(text, "  {line}");
            }
            for line in wrapped(&preset.source, 74) {
                let _ = writeln!(text, "      {line}");
            }
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// What is known about one preset; the same name may serve several keys.
pub(super) fn one(name: &str) -> Option<String> {
    let mut text = String::new();
    for (key, presets) in groups() {
        for preset in presets.iter().filter(|p| p.name == name || p.aliases.iter().any(|a| a == name)) {
            let title = format!("{}: preset of `{key}`{}", preset.name, also(&preset.aliases));
            let _ = writeln!(text, "{}", wrapped(&title, 80).join("\n"));
            for line in wrapped(&preset.source, 78) {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    (!text.is_empty()).then_some(text)
}

/// All presets as Markdown tables.
pub(super) fn markdown() -> String {
    let mut text =
        String::from("# Presets\n\nWhat `hardware`, `calibration`, `model` and `draft` may name.\n");
    for (key, presets) in groups() {
        let _ = write!(text, "\n## {key}\n\n| name | also | source |\n|---|---|---|\n");
        for preset in presets {
            let source = preset.source.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {} | {source} |", preset.name, preset.aliases.join(", "));
        }
    }
    text
}

fn also(aliases: &[String]) -> String {
    if aliases.is_empty() { String::new() } else { format!(" (also {})", aliases.join(", ")) }
}

/// Words in lines of at most `width` characters.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
