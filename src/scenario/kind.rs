//! What a file is, by its keys: scenarios name other files, which are easily taken for one.

use std::path::Path;

use super::schema::{keys, schema};
use super::tree::Node;
use crate::diagnostic::{Code, Diagnostic};

/// Kinds of files that specplan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A scenario, or nothing else that is known.
    Scenario,
    /// GPUs and links, for `hardware`.
    Box,
    /// Measured tables, for `calibration`.
    Calibration,
    /// A Hugging Face config.json, for `model` and `draft`.
    ModelConfig,
    /// What a server accepted, for `acceptance: { file: ... }`.
    Acceptance,
}

/// Keys that tell a kind from all others.
const TELLING: [(FileKind, &[&str]); 4] = [
    (FileKind::Calibration, &["format", "table_files", "provenance"]),
    (FileKind::ModelConfig, &["architectures", "hidden_size", "num_hidden_layers", "text_config"]),
    (FileKind::Box, &["gpu", "count", "topology"]),
    (
        FileKind::Acceptance,
        &["acceptance", "imported", "accept_length", "histogram", "cumulative", "conditional"],
    ),
];

impl FileKind {
    /// The kind of a file. One key of a scenario's own makes it a scenario, since a key of another kind is then misplaced;
    /// those that two kinds share do not count.
    pub fn of(tree: &Node) -> Self {
        let Some(map) = tree.map() else { return Self::Scenario };
        let shared = ["calibration", "name", "environment"];
        if keys(schema()).any(|key| map.contains_key(key) && !shared.contains(&key)) {
            return Self::Scenario;
        }
        let told = TELLING.iter().find(|(_, telling)| telling.iter().any(|key| map.contains_key(*key)));
        told.map_or(Self::Scenario, |(kind, _)| *kind)
    }

    /// What it is called: `box`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Box => "box",
            Self::Calibration => "calibration",
            Self::ModelConfig => "model",
            Self::Acceptance => "acceptance",
        }
    }

    /// That the file is no scenario, and which key of one names it.
    pub(super) fn fault(self, tree: &Node, path: &Path) -> Option<Diagnostic> {
        let (noun, key) = match self {
            Self::Scenario => return None,
            Self::Box => ("a box", "hardware"),
            Self::Calibration => ("a calibration", "calibration"),
            Self::ModelConfig => ("a model's config.json", "model"),
            Self::Acceptance => ("an acceptance", "speculation.acceptance"),
        };
        let (_, telling) = TELLING.iter().find(|(kind, _)| *kind == self)?;
        let entry = telling.iter().find_map(|key| tree.entry(key))?;
        let path = path.display();
        let here = if path.to_string().contains('/') { "" } else { "./" };
        let value =
            if self == Self::Acceptance { format!("{{ file: {path} }}") } else { format!("{here}{path}") };
        Some(
            Diagnostic::error(Code::UnknownKey, format!("`{path}` is {noun}, not a scenario"))
                .at(&entry.key, format!("a key of {noun}"))
                .help(format!(
                    "name it in a scenario: `{key}: {value}`; `specplan check` checks it as it is"
                )),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::FileKind;
    use crate::diagnostic::SourceText;
    use crate::scenario::tree::parse;

    #[test]
    fn files_are_told_apart_by_their_keys() {
        for (text, kind) in [
            ("gpu: rtx-4090\ncount: 4\n", FileKind::Box),
            ("gpu: { base: rtx-4090, memory: 48 GiB }\ncount: 4\ncalibration: none\n", FileKind::Box),
            ("format: specplan-calibration/1\nbox: { gpu: l40s }\n", FileKind::Calibration),
            ("{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 4096}", FileKind::ModelConfig),
            ("{\"text_config\": {\"hidden_size\": 4096}}", FileKind::ModelConfig),
            ("acceptance:\n  accept_length: 2\nimported: { server: SGLang }\n", FileKind::Acceptance),
            ("histogram: [1, 2]\n", FileKind::Acceptance),
            ("model: kimi-k2.5\nacceptance: { accept_length: 2 }\n", FileKind::Scenario),
            ("hardware: l40s-x8\ngpu: l40s\n", FileKind::Scenario),
            ("name: nothing\n", FileKind::Scenario),
            ("- a list\n", FileKind::Scenario),
        ] {
            let tree = parse(&SourceText::file("a file", text)).expect("YAML");
            assert_eq!(FileKind::of(&tree), kind, "{text}");
        }
    }
}
