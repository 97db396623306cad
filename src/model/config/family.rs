//! What the `model_type` says that no field does.

/// Traits of one family of networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Family {
    /// Whether full attention gates its output without saying so.
    pub(super) gated: bool,
    /// Whether queries and keys are normalised without saying so.
    pub(super) qk_norm: bool,
    /// Whether it has multi-head latent attention, so that `kv_lora_rank` must be there.
    pub(super) latent: bool,
}

const PLAIN: Family = Family { gated: false, qk_norm: false, latent: false };
const QK_NORM: Family = Family { qk_norm: true, ..PLAIN };
const GATED: Family = Family { gated: true, qk_norm: true, ..PLAIN };
const LATENT: Family = Family { latent: true, ..PLAIN };

/// Families whose shapes this reader knows, by `model_type` (`transformers`, `src/transformers/models/*`).
const FAMILIES: [(&str, Family); 20] = [
    ("llama", PLAIN),
    ("mistral", PLAIN),
    ("mixtral", PLAIN),
    ("qwen2", PLAIN),
    ("gpt_oss", PLAIN),
    ("deepseek_v2", LATENT),
    ("deepseek_v3", LATENT),
    ("deepseek_v32", LATENT),
    ("kimi_k2", LATENT),
    ("kimi_k25", LATENT),
    ("glm4_moe", PLAIN),
    ("glm_moe_dsa", LATENT),
    ("qwen3", QK_NORM),
    ("qwen3_moe", QK_NORM),
    ("qwen3_next", GATED),
    ("qwen3_5", GATED),
    ("qwen3_5_text", GATED),
    ("qwen3_5_moe", GATED),
    ("qwen3_5_moe_text", GATED),
    ("qwen2_moe", PLAIN),
];

impl Family {
    /// The family of a `model_type`, and a note where it is not known.
    pub(super) fn of(model_type: Option<&str>) -> (Self, Option<String>) {
        let known = model_type.and_then(|t| FAMILIES.iter().find(|(name, _)| *name == t));
        match (known, model_type) {
            (Some((_, family)), _) => (*family, None),
            (None, Some(unknown)) => (
                PLAIN,
                Some(format!(
                    "The model type `{unknown}` is not known; its shape was taken from its fields alone."
                )),
            ),
            (None, None) => (
                PLAIN,
                Some(
                    "The configuration states no model type; its shape was taken from its fields alone."
                        .to_owned(),
                ),
            ),
        }
    }
}
