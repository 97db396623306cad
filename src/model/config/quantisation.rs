//! `quantization_config`: which matrix is stored at which width.
//!
//! Read: `fp8` and `fbgemm_fp8`, `mxfp4`, `awq`, `gptq`, `compressed-tensors`, `modelopt`. What a list of
//! exceptions names (`ignore`, `modules_to_not_convert`, `exclude_modules`) keeps the checkpoint's own type.
//! Routers, embedding and head always keep it: none of the servers quantises them. One component has one
//! width; it is looked up under the name of its output projection.

use serde_json::Value;

use super::super::dtype::{KvFormat, WeightFormat};
use super::error::ConfigError;
use super::fields::Fields;
use super::pattern::Pattern;

/// The matrices that a checkpoint may store differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    Attention,
    LinearAttention,
    Dense,
    Experts,
    SharedExpert,
}

impl Component {
    const ALL: [Self; 5] =
        [Self::Attention, Self::LinearAttention, Self::Dense, Self::Experts, Self::SharedExpert];
}

/// Storage widths of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantisation {
    /// What is not quantised.
    base: WeightFormat,
    /// Targets and widths; the first that matches counts.
    groups: Vec<(Targets, WeightFormat)>,
    exceptions: Vec<Pattern>,
    /// Whether exceptions or targets tell layers apart by number.
    by_layer: bool,
    /// The answers for each component where they do not; patterns are slow to match.
    answers: Option<[WeightFormat; 5]>,
    /// KV cache storage that the checkpoint asks for.
    pub(super) kv: Option<KvFormat>,
    /// Whether only routed experts are quantised (MXFP4 checkpoints).
    experts_only: bool,
    /// What could not be read, for the user.
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Targets {
    EveryLinear,
    Names(Vec<Pattern>),
}

impl Quantisation {
    /// Everything at one width.
    pub(super) fn uniform(format: WeightFormat) -> Self {
        Self {
            base: format,
            groups: Vec::new(),
            exceptions: Vec::new(),
            by_layer: false,
            answers: None,
            kv: None,
            experts_only: false,
            notes: Vec::new(),
        }
    }

    /// From the field `quantization_config`.
    pub(super) fn read(config: Fields<'_>, base: WeightFormat) -> Result<Self, ConfigError> {
        let mut all = Self::uniform(base);
        let method = config.text("quant_method").unwrap_or_default().to_ascii_lowercase();
        match method.as_str() {
            "fp8" | "fbgemm_fp8" => {
                let block = config.get("weight_block_size").is_some();
                all.every_linear(if block { WeightFormat::Fp8Block } else { WeightFormat::Fp8 });
            }
            "mxfp4" => {
                all.every_linear(WeightFormat::Mxfp4);
                all.experts_only = true;
            }
            "awq" | "gptq" | "gptq_marlin" | "awq_marlin" => {
                all.every_linear(grouped_integers(config, &method)?);
            }
            "compressed-tensors" => all.compressed_tensors(config)?,
            "modelopt" | "modelopt_fp4" => all.modelopt(config)?,
            _ => return Err(ConfigError::UnknownQuantisation { method: stated(&method) }),
        }
        for list in ["ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers"] {
            all.except(&config.texts(list)?);
        }
        if !all.by_layer {
            all.answers = Some(Component::ALL.map(|component| all.look_up(component, 0)));
        }
        Ok(all)
    }

    /// The storage of one component of one layer.
    pub(super) fn format(&self, component: Component, layer: u32) -> WeightFormat {
        match self.answers {
            Some(answers) => answers[component as usize],
            None => self.look_up(component, layer),
        }
    }

    fn look_up(&self, component: Component, layer: u32) -> WeightFormat {
        if self.groups.is_empty() || (self.experts_only && component != Component::Experts) {
            return self.base;
        }
        let name = module_name(component, layer);
        if self.exceptions.iter().any(|pattern| pattern.matches(&name)) {
            return self.base;
        }
        let covers = |targets: &Targets| match targets {
            Targets::EveryLinear => true,
            Targets::Names(patterns) => patterns.iter().any(|p| p.matches(&name)),
        };
        self.groups.iter().find(|(targets, _)| covers(targets)).map_or(self.base, |(_, format)| *format)
    }

    fn every_linear(&mut self, format: WeightFormat) {
        self.groups.push((Targets::EveryLinear, format));
    }

    fn except(&mut self, entries: &[&str]) {
        for entry in entries {
            let pattern = self.pattern(entry);
            self.exceptions.extend(pattern);
        }
    }

    fn pattern(&mut self, entry: &str) -> Option<Pattern> {
        self.by_layer |= entry.contains(|c: char| c.is_ascii_digit());
        let pattern = Pattern::parse(entry);
        if pattern.is_none() {
            self.notes.push(format!(
                "The pattern `{entry}` of quantization_config was not understood; nothing was taken to match it."
            ));
        }
        pattern
    }

    fn compressed_tensors(&mut self, config: Fields<'_>) -> Result<(), ConfigError> {
        let groups = config.object("config_groups").ok_or_else(|| ConfigError::Missing {
            field: "quantization_config.config_groups".to_owned(),
            needed_for: "the stored width of the weights",
        })?;
        let mut named = Vec::new();
        let mut general = Vec::new();
        for group in groups.objects() {
            let Some(weights) = group.object("weights") else { continue };
            let format = compressed_width(weights)?;
            let targets = group.texts("targets")?;
            if targets.is_empty() || targets.contains(&"Linear") {
                general.push((Targets::EveryLinear, format));
            } else {
                let patterns = targets.iter().filter_map(|t| self.pattern(t)).collect();
                named.push((Targets::Names(patterns), format));
            }
        }
        self.groups = named;
        self.groups.extend(general);
        let kv_bits = config.object("kv_cache_scheme").map(|kv| kv.optional_count(&["num_bits"]));
        self.kv = (kv_bits.transpose()?.flatten() == Some(8)).then_some(KvFormat::Fp8);
        Ok(())
    }

    fn modelopt(&mut self, config: Fields<'_>) -> Result<(), ConfigError> {
        let inner = config.object("quantization").unwrap_or(config);
        let algorithm = inner.text("quant_algo").unwrap_or_default();
        self.every_linear(match algorithm {
            "FP8" => WeightFormat::Fp8,
            "NVFP4" => WeightFormat::Nvfp4,
            "W4A16_AWQ" => WeightFormat::Int4 { group: 128 },
            other => return Err(ConfigError::UnknownQuantisation { method: format!("modelopt {other}") }),
        });
        self.kv = (inner.text("kv_cache_quant_algo") == Some("FP8")).then_some(KvFormat::Fp8);
        if config.object("quantization").is_some() {
            self.except(&inner.texts("exclude_modules")?);
        }
        Ok(())
    }
}

fn stated(method: &str) -> String {
    if method.is_empty() { "without quant_method".to_owned() } else { method.to_owned() }
}

fn grouped_integers(config: Fields<'_>, method: &str) -> Result<WeightFormat, ConfigError> {
    match config.optional_count(&["bits", "w_bit"])? {
        Some(4) | None => Ok(WeightFormat::Int4 { group: group_size(config)? }),
        Some(8) => Ok(WeightFormat::Int8),
        Some(bits) => Err(ConfigError::UnknownQuantisation { method: format!("{method} with {bits} bits") }),
    }
}

/// Weights that share a scale; -1 or nothing means one scale per output channel, in effect none per weight.
fn group_size(config: Fields<'_>) -> Result<u16, ConfigError> {
    if config.get("group_size").and_then(Value::as_i64) == Some(-1) {
        return Ok(u16::MAX);
    }
    let size = config.optional_count(&["group_size", "q_group_size"])?.unwrap_or(u32::from(u16::MAX));
    Ok(u16::try_from(size).unwrap_or(u16::MAX).max(1))
}

fn compressed_width(weights: Fields<'_>) -> Result<WeightFormat, ConfigError> {
    let bits = weights.count(&["num_bits"], "the stored width of the weights")?;
    let kind = weights.text("type").unwrap_or("int");
    let block = weights.text("strategy") == Some("block");
    match (bits, kind) {
        (4, "int") => Ok(WeightFormat::Int4 { group: group_size(weights)? }),
        (4, "float") if group_size(weights)? == 32 => Ok(WeightFormat::Mxfp4),
        (4, "float") => Ok(WeightFormat::Nvfp4),
        (8, "int") => Ok(WeightFormat::Int8),
        (8, "float") if block => Ok(WeightFormat::Fp8Block),
        (8, "float") => Ok(WeightFormat::Fp8),
        _ => Err(ConfigError::UnknownQuantisation { method: format!("compressed-tensors {kind}{bits}") }),
    }
}

fn module_name(component: Component, layer: u32) -> String {
    let module = match component {
        Component::Attention => "self_attn.o_proj",
        Component::LinearAttention => "linear_attn.out_proj",
        Component::Dense => "mlp.down_proj",
        Component::Experts => "mlp.experts.0.down_proj",
        Component::SharedExpert => "mlp.shared_experts.down_proj",
    };
    format!("model.layers.{layer}.{module}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Quantisation, ConfigError> {
        let value: Value = serde_json::from_str(json).expect("the test writes JSON");
        Quantisation::read(Fields::new(value.as_object().expect("an object")), WeightFormat::Bf16)
    }

    #[test]
    fn methods_give_their_widths() {
        for (json, format) in [
            (r#"{"quant_method":"fp8","weight_block_size":[128,128]}"#, WeightFormat::Fp8Block),
            (r#"{"quant_method":"fp8","activation_scheme":"dynamic"}"#, WeightFormat::Fp8),
            (r#"{"quant_method":"awq","bits":4,"group_size":128}"#, WeightFormat::Int4 { group: 128 }),
            (r#"{"quant_method":"gptq","bits":8,"group_size":32}"#, WeightFormat::Int8),
            (r#"{"quant_method":"modelopt","quant_algo":"NVFP4"}"#, WeightFormat::Nvfp4),
            (
                r#"{"quant_method":"compressed-tensors","config_groups":{"group_0":{"targets":["Linear"],
                    "weights":{"num_bits":8,"type":"float","strategy":"channel"}}}}"#,
                WeightFormat::Fp8,
            ),
        ] {
            let quantisation = read(json).unwrap_or_else(|e| panic!("{json}: {e}"));
            assert_eq!(quantisation.format(Component::Attention, 3), format, "{json}");
            assert_eq!(quantisation.format(Component::Experts, 3), format, "{json}");
        }
    }

    #[test]
    fn named_groups_and_exceptions_split_the_components() {
        let mixed = read(
            r#"{"quant_method":"compressed-tensors","ignore":["re:.*layers\\.0\\..*"],"config_groups":{
                "group_0":{"targets":["Linear"],"weights":{"num_bits":8,"type":"float"}},
                "group_1":{"targets":["re:.*mlp.experts.*"],"weights":{"num_bits":4,"type":"int","group_size":32}}}}"#,
        )
        .expect("a mixed checkpoint");
        assert_eq!(mixed.format(Component::Experts, 1), WeightFormat::Int4 { group: 32 });
        assert_eq!(mixed.format(Component::Attention, 1), WeightFormat::Fp8);
        assert_eq!(mixed.format(Component::Attention, 0), WeightFormat::Bf16);
    }

    #[test]
    fn mxfp4_covers_experts_alone() {
        let gpt_oss =
            read(r#"{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.self_attn"]}"#)
                .expect("an MXFP4 checkpoint");
        assert_eq!(gpt_oss.format(Component::Experts, 0), WeightFormat::Mxfp4);
        assert_eq!(gpt_oss.format(Component::Attention, 0), WeightFormat::Bf16);
    }

    #[test]
    fn what_has_no_width_is_an_error_and_what_is_not_understood_a_note() {
        assert!(matches!(
            read(r#"{"quant_method":"hqq"}"#),
            Err(ConfigError::UnknownQuantisation { method }) if method == "hqq"
        ));
        assert!(matches!(
            read(r#"{"quant_method":"gptq","bits":3}"#),
            Err(ConfigError::UnknownQuantisation { .. })
        ));
        let noted = read(r#"{"quant_method":"fp8","ignored_layers":["re:a{2}"]}"#).expect("readable");
        assert_eq!(noted.notes.len(), 1);
    }
}
