//! Models and drafts that ship with the tool, as data. Every one goes through the reader of user files.

use super::PresetEntry;

/// Where most target shapes come from.
const AICONFIGURATOR: &str = "`model_configs/` of PyPI aiconfigurator-core 0.12.0 (NVIDIA, Apache-2.0), reduced to \
     the keys that a cost model reads";

/// Where most EAGLE-3 shapes come from.
const SPECFORGE: &str = "sgl-project/SpecForge `configs/*.json` (MIT), a training configuration; the published head \
     may differ";

macro_rules! entry {
    ($name:literal, $aliases:expr, $source:expr, $note:expr) => {
        PresetEntry {
            name: $name,
            aliases: &$aliases,
            source: $source,
            note: $note,
            json: include_str!(concat!("../../../presets/models/", $name, "/config.json")),
        }
    };
}

/// Target models.
pub(super) const MODELS: &[PresetEntry] = &[
    entry!("kimi-k2.5", ["kimi-k2.6"], AICONFIGURATOR, None),
    entry!("kimi-k2-instruct", ["kimi-k2"], AICONFIGURATOR, None),
    entry!("deepseek-v3", [], AICONFIGURATOR, None),
    entry!("deepseek-r1", [], AICONFIGURATOR, None),
    entry!("glm-5", [], AICONFIGURATOR, None),
    entry!(
        "glm-4.5",
        [],
        "THUDM/slime `scripts/models/glm4.5-355B-A32B.sh`; MTP layers, partial rotary factor and expert groups from the transformers `Glm4MoeConfig` defaults",
        None
    ),
    entry!(
        "glm-4.6",
        [],
        "the shape of glm-4.5 with a longest context of 202,752 tokens",
        Some("The shape of glm-4.6 is taken to be that of glm-4.5 (unverified).")
    ),
    entry!(
        "glm-4.5-air",
        [],
        "THUDM/slime, script of GLM-4.5 106B-A12B, and the transformers `Glm4MoeConfig` defaults",
        None
    ),
    entry!("qwen3-235b-a22b", ["qwen3-235b"], AICONFIGURATOR, None),
    entry!("qwen3-30b-a3b", ["qwen3-30b"], AICONFIGURATOR, None),
    entry!(
        "qwen3-next-80b-a3b",
        ["qwen3-next-80b"],
        "transformers 5.24 `Qwen3NextConfig` defaults; `intermediate_size`, longest context and rotary settings unverified (no effect on cost)",
        None
    ),
    entry!("qwen3.5-397b-a17b", ["qwen3.5-397b"], AICONFIGURATOR, None),
    entry!("qwen3-8b", [], AICONFIGURATOR, None),
    entry!("qwen3-32b", [], AICONFIGURATOR, None),
    entry!("gpt-oss-20b", [], AICONFIGURATOR, None),
    entry!("gpt-oss-120b", [], AICONFIGURATOR, None),
    entry!("mixtral-8x7b", [], AICONFIGURATOR, None),
    entry!("llama-3.1-8b", [], AICONFIGURATOR, None),
    entry!("llama-3.1-70b", [], AICONFIGURATOR, None),
    entry!("llama-3.1-405b", [], AICONFIGURATOR, None),
    entry!(
        "llama-3.3-70b",
        [],
        "the shape of llama-3.1-70b",
        Some(
            "The shape of llama-3.3-70b is taken to be that of llama-3.1-70b (unverified; the rotary scaling may differ, without effect on cost)."
        )
    ),
];

/// Drafts with weights of their own.
pub(super) const DRAFTS: &[PresetEntry] = &[
    entry!("eagle3-kimi-k2", [], "SpecForge commit 03ebe2cd, `configs/kimi-k2-eagle3.json` (MIT)", None),
    entry!(
        "eagle3-kimi-k2.5",
        [],
        "SpecForge commit 3f9b5fca, `configs/kimi-k25-eagle3.json` (MIT): the shape of AQ-MedAI/Kimi-K25-eagle3; identity with the published head unverified",
        None
    ),
    entry!(
        "eagle3-kimi-k2.5-torchspec",
        [],
        "torchspec-project/TorchSpec `configs/draft_models/kimi_k25_eagle3.json`: the shape of lightseekorg/kimi-k2.5-eagle3, whose head covers the full vocabulary",
        None
    ),
    entry!(
        "eagle3-kimi-k2.5-mla",
        [],
        "lightseekorg/TorchSpec @a31111e `configs/draft_models/kimi_k3_eagle3_mla.json`: the one-layer latent-attention head that its publisher trains for Kimi; with these widths it holds 6.0 GB, the size of lightseekorg/kimi-k2.5-eagle3-mla",
        Some(
            "`eagle3-kimi-k2.5-mla` takes the widths of its publisher's head for Kimi-K3; only the total size is known of the head for K2.5."
        )
    ),
    entry!("eagle3-deepseek-v3", [], SPECFORGE, None),
    entry!("eagle3-gpt-oss-20b", [], SPECFORGE, None),
    entry!("eagle3-gpt-oss-120b", [], SPECFORGE, None),
    entry!("eagle3-llama-3.1-8b", [], SPECFORGE, None),
    entry!("eagle3-llama-3.3-70b", [], SPECFORGE, None),
    entry!("eagle3-qwen3-8b", [], SPECFORGE, None),
    entry!("eagle3-qwen3-32b", [], SPECFORGE, None),
    entry!("eagle3-qwen3-30b-a3b", [], SPECFORGE, None),
    entry!("eagle3-qwen3-235b-a22b", [], SPECFORGE, None),
    entry!("eagle3-qwen3-next-80b-a3b", [], SPECFORGE, None),
];
