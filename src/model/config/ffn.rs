//! The feed-forward part of each layer, from the fields of the configuration.

use serde_json::Value;

use super::super::dtype::WeightFormat;
use super::super::types::{Ffn, Moe};
use super::error::ConfigError;
use super::fields::{Fields, check_width, out_of_range, wrong_type};
use super::quantisation::{Component, Quantisation};

/// Names of one count in the families: DeepSeek and GLM, Qwen, gpt-oss and Mixtral.
pub(super) const EXPERTS: [&str; 3] = ["n_routed_experts", "num_experts", "num_local_experts"];
pub(super) const PER_TOKEN: [&str; 2] = ["num_experts_per_tok", "experts_per_token"];

/// Everything that the feed-forward parts of a model depend on, read once.
#[derive(Debug)]
pub(super) struct FfnShape {
    dense_width: Option<u32>,
    moe: Option<Moe>,
    placement: Placement,
    router: WeightFormat,
    /// Whether a number of routed experts per token stands beside zero experts.
    routed_to_none: bool,
}

/// Which layers have experts.
#[derive(Debug, Default)]
struct Placement {
    /// Dense layers at the start (`first_k_dense_replace`).
    first_dense: u32,
    /// Experts in each layer whose number, from 0, is a multiple (`moe_layer_freq`).
    frequency: u32,
    /// Experts in each layer whose number, from 1, is a multiple (`decoder_sparse_step`).
    step: u32,
    /// Layers without experts (`mlp_only_layers`).
    dense_layers: Vec<u32>,
}

impl FfnShape {
    pub(super) fn read(fields: Fields<'_>, router: WeightFormat) -> Result<Self, ConfigError> {
        let moe = match fields.optional_count(&EXPERTS)?.filter(|n| *n > 0) {
            None => None,
            Some(experts) => Some(read_moe(fields, experts, router)?),
        };
        let shape = Self {
            dense_width: fields.optional_count(&["intermediate_size"])?.filter(|n| *n > 0),
            placement: if moe.is_some() { read_placement(fields)? } else { Placement::default() },
            routed_to_none: moe.is_none()
                && fields.optional_count(&EXPERTS)? == Some(0)
                && fields.optional_count(&PER_TOKEN)?.is_some_and(|n| n > 0),
            moe,
            router,
        };
        Ok(shape)
    }

    /// What a user should know about how the fields were read.
    pub(super) fn note(&self) -> Option<String> {
        let text =
            "The configuration has 0 experts yet routes tokens to some; every layer was taken as dense.";
        self.routed_to_none.then(|| text.to_owned())
    }

    /// The feed-forward part of layer `layer` (from 0).
    pub(super) fn of_layer(&self, layer: u32, quantisation: &Quantisation) -> Result<Ffn, ConfigError> {
        match &self.moe {
            Some(moe) if self.placement.has_experts(layer) => Ok(Ffn::Moe(Moe {
                expert_weights: quantisation.format(Component::Experts, layer),
                shared_weights: quantisation.format(Component::SharedExpert, layer),
                router_weights: self.router,
                ..moe.clone()
            })),
            _ => Ok(Ffn::Dense {
                width: self.dense_width.ok_or_else(|| ConfigError::Missing {
                    field: "intermediate_size".to_owned(),
                    needed_for: "the dense layers",
                })?,
                weights: quantisation.format(Component::Dense, layer),
            }),
        }
    }
}

impl Placement {
    fn has_experts(&self, layer: u32) -> bool {
        layer >= self.first_dense
            && (self.frequency == 0 || layer.is_multiple_of(self.frequency))
            && (self.step == 0 || (layer + 1).is_multiple_of(self.step))
            && !self.dense_layers.contains(&layer)
    }
}

fn read_placement(fields: Fields<'_>) -> Result<Placement, ConfigError> {
    let dense = fields.list("mlp_only_layers")?.unwrap_or_default();
    Ok(Placement {
        first_dense: fields.optional_count(&["first_k_dense_replace"])?.unwrap_or(0),
        frequency: fields.optional_count(&["moe_layer_freq"])?.unwrap_or(0),
        step: fields.optional_count(&["decoder_sparse_step"])?.unwrap_or(0),
        dense_layers: dense
            .iter()
            .map(|value| match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(layer) => Ok(layer),
                None => Err(wrong_type("mlp_only_layers", "a list of layer numbers", value)),
            })
            .collect::<Result<_, _>>()?,
    })
}

fn read_moe(fields: Fields<'_>, experts: u32, router: WeightFormat) -> Result<Moe, ConfigError> {
    let per_token = fields.count(&PER_TOKEN, "the routed experts of a token")?;
    if per_token > experts {
        let rule = format!("at most the number of experts, {experts}");
        return Err(out_of_range(PER_TOKEN[0], &Value::from(per_token), &rule));
    }
    check_groups(fields, experts)?;
    let width = fields.count(&["moe_intermediate_size", "intermediate_size"], "the width of an expert")?;
    let shared_width = match fields.optional_count(&["shared_expert_intermediate_size"])? {
        Some(stated) => stated,
        None => shared_width(fields, width)?,
    };
    Ok(Moe {
        experts,
        per_token,
        width,
        shared_width,
        expert_weights: router,
        shared_weights: router,
        router_weights: router,
    })
}

/// Routing within groups of experts (DeepSeek): the groups must divide them.
fn check_groups(fields: Fields<'_>, experts: u32) -> Result<(), ConfigError> {
    let groups = fields.optional_count(&["n_group"])?;
    let kept = fields.optional_count(&["topk_group"])?;
    if let Some(groups) = groups.filter(|n| *n > 0)
        && !experts.is_multiple_of(groups)
    {
        let rule = format!("a divisor of {experts} experts");
        return Err(out_of_range("n_group", &Value::from(groups), &rule));
    }
    match (groups, kept) {
        (Some(groups @ 1..), Some(kept)) if kept > groups => {
            Err(out_of_range("topk_group", &Value::from(kept), &format!("at most `n_group`, {groups}")))
        }
        _ => Ok(()),
    }
}

/// Shared experts of the routed ones' width, side by side.
fn shared_width(fields: Fields<'_>, width: u32) -> Result<u32, ConfigError> {
    let shared = fields.optional_count(&["n_shared_experts"])?.unwrap_or(0);
    check_width("n_shared_experts x moe_intermediate_size", [shared, width])?;
    Ok(shared * width)
}
