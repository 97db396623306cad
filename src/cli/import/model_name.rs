//! The preset of a Hugging Face name: `moonshotai/Kimi-K2.5` is `kimi-k2.5`, `Qwen/Qwen3-8B-FP8` is `qwen3-8b` in fp8.

use crate::model::{draft_preset_entries, preset_entries};

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// The preset.
    pub(super) preset: &'static str,
    /// Storage that the name tells, in specplan's words.
    pub(super) weights: Option<&'static str>,
    /// Whether something of the name was passed over.
    pub(super) inexact: bool,
}

/// Endings that do not change the shape, and the storage that some of them tell.
const ENDINGS: &[(&str, Option<&str>)] = &[
    ("fp8", Some("fp8")),
    ("nvfp4", Some("nvfp4")),
    ("fp4", Some("nvfp4")),
    ("int4", Some("int4-g128")),
    ("awq", Some("int4-g128")),
    ("gptq", Some("int4-g128")),
    ("w4a16", Some("int4-g128")),
    ("bf16", Some("bf16")),
    ("instruct", None),
    ("chat", None),
    ("base", None),
    ("thinking", None),
    ("2507", None),
    ("0528", None),
    ("0324", None),
    ("0905", None),
    ("v0.1", None),
    ("exp", None),
];

/// The preset of a model; none where none is meant.
pub(super) fn of_model(name: &str) -> Option<Known> {
    let mut left = plain(name);
    left = left.strip_prefix("meta-").unwrap_or(&left).to_owned();
    let mut weights = None;
    let mut inexact = false;
    loop {
        let found = preset_entries()
            .iter()
            .find(|entry| entry.name == left || entry.aliases.contains(&left.as_str()));
        if let Some(entry) = found {
            return Some(Known { preset: entry.name, weights: block(entry.name, weights), inexact });
        }
        let (ending, tells) = ENDINGS.iter().find(|(ending, _)| left.ends_with(&format!("-{ending}")))?;
        left.truncate(left.len() - ending.len() - 1);
        weights = weights.or(*tells);
        inexact = true;
    }
}

/// Qwen's own fp8 checkpoints have one scale per block.
fn block(preset: &str, weights: Option<&'static str>) -> Option<&'static str> {
    if preset.starts_with("qwen") && weights == Some("fp8") { Some("fp8-block") } else { weights }
}

/// The EAGLE-3 head that ships for a model.
pub(super) fn head_of(preset: &str) -> Option<&'static str> {
    let preset = if preset == "kimi-k2-instruct" { "kimi-k2" } else { preset };
    draft_preset_entries()
        .iter()
        .map(|entry| entry.name)
        .find(|name| name.strip_prefix("eagle3-") == Some(preset))
}

/// The last part of a name or path, in lower case.
fn plain(name: &str) -> String {
    let name = name.trim_end_matches('/');
    name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_hub() {
        for (name, preset, weights) in [
            ("moonshotai/Kimi-K2.5", "kimi-k2.5", None),
            ("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3", None),
            ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b", Some("fp8-block")),
            ("zai-org/GLM-4.6-FP8", "glm-4.6", Some("fp8")),
            ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b", None),
            ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b", None),
            ("/models/gpt-oss-120b/", "gpt-oss-120b", None),
            ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b", None),
        ] {
            let known = of_model(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((known.preset, known.weights), (preset, weights), "{name}");
        }
        assert_eq!(of_model("someone/llama-3.1-8b-merge"), None);
        assert_eq!(of_model(""), None);
        assert_eq!(head_of("kimi-k2.5"), Some("eagle3-kimi-k2.5"));
        assert_eq!(head_of("mixtral-8x7b"), None);
    }
}
