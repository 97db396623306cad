//! `quantization_config`: which matrix is stored at which width.
//!
//! Read: `fp8` and `fbgemm_fp8`, `mxfp4`, `awq`, `gptq`, `compressed-tensors`, `modelopt`. What a list of
//! exceptions names (`ignore`, `modules_to_not_convert`, `exclude_modules`) keeps the checkpoint's own type.
//! Routers, embedding and head always keep it: none of the servers quantises them. One component has one
//! width; it is looked up under the name of its output projection.

use serde_json::Value;

use super::super::dtype::{KvFormat, WeightFormat};
use super::error::ConfigError;
use super::fields::{Fields, out_of_range, wrong_type};
use super::pattern::Pattern;

/// In place of a group where one scale serves a whole channel.
const PER_CHANNEL: u16 = u16::MAX;

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
        let method = config.only_text("quant_method")?.unwrap_or_default().to_ascii_lowercase();
        match method.as_str() {
            "fp8" | "fbgemm_fp8" => {
                let block = all.block(config)?;
                all.every_linear(if block { WeightFormat::Fp8Block } else { WeightFormat::Fp8 });
            }
            "mxfp4" => {
                all.every_linear(WeightFormat::Mxfp4);
                all.experts_only = true;
            }
            "awq" | "gptq" | "gptq_marlin" | "awq_marlin" => {
                let format = all.grouped_integers(config, &method)?;
                all.every_linear(format);
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
        let groups = config.only_object("config_groups")?.ok_or_else(|| ConfigError::Missing {
            field: "quantization_config.config_groups".to_owned(),
            needed_for: "the stored width of the weights",
        })?;
        let mut named = Vec::new();
        let mut general = Vec::new();
        for (_, group) in groups.objects()? {
            // A group may quantise activations alone.
            let Some(weights) = group.only_object("weights")? else { continue };
            let format = self.compressed_width(weights)?;
            let targets = group.texts("targets")?;
            if targets.is_empty() || targets.contains(&"Linear") {
                general.push((Targets::EveryLinear, format));
            } else {
                let patterns = targets.iter().filter_map(|t| self.pattern(t)).collect();
                named.push((Targets::Names(patterns), format));
            }
        }
        if named.is_empty() && general.is_empty() {
            return Err(ConfigError::Missing {
                field: "quantization_config.config_groups.*.weights".to_owned(),
                needed_for: "the stored width of the weights",
            });
        }
        self.groups = named;
        self.groups.extend(general);
        let kv_bits = config.only_object("kv_cache_scheme")?.map(|kv| kv.optional_count(&["num_bits"]));
        self.kv = (kv_bits.transpose()?.flatten() == Some(8)).then_some(KvFormat::Fp8);
        Ok(())
    }

    /// Whether fp8 weights share a scale per block. Other blocks than 128x128 are taken for those, whose scales
    /// add 0.002 bit a weight.
    fn block(&mut self, config: Fields<'_>) -> Result<bool, ConfigError> {
        let Some(sides) = config.list("weight_block_size")? else { return Ok(false) };
        let side = |value: &Value| value.as_u64().filter(|n| (1..=65_536).contains(n));
        let [Some(rows), Some(columns)] = [0, 1].map(|at| sides.get(at).and_then(side)) else {
            let list = Value::from(sides);
            return Err(out_of_range("weight_block_size", &list, "two sides from 1 to 65536"));
        };
        if sides.len() != 2 {
            return Err(out_of_range("weight_block_size", &Value::from(sides), "two sides from 1 to 65536"));
        }
        if (rows, columns) != (128, 128) {
            self.notes.push(format!(
                "Scales of fp8 weights were counted per 128x128 block; the configuration has {rows}x{columns}."
            ));
        }
        Ok(true)
    }

    /// AWQ and GPTQ: 4 bit in groups of 128 where the file does not say (the defaults of `transformers`,
    /// `utils/quantization_config.py`).
    fn grouped_integers(&mut self, config: Fields<'_>, method: &str) -> Result<WeightFormat, ConfigError> {
        let bits = config.optional_count(&["bits", "w_bit"])?;
        let stated = group_size(config)?;
        match bits {
            Some(8) => return Ok(WeightFormat::Int8),
            Some(4) => {}
            None => self.notes.push(format!("The {method} quantisation states no bits; 4 were taken.")),
            Some(bits) => {
                return Err(ConfigError::UnknownQuantisation {
                    method: format!("{method} with {bits} bits"),
                });
            }
        }
        if stated.is_none() {
            let text =
                format!("The {method} quantisation states no group_size; 128 was taken, the usual one.");
            self.notes.push(text);
        }
        Ok(WeightFormat::Int4 { group: stated.unwrap_or(128) })
    }

    fn compressed_width(&mut self, weights: Fields<'_>) -> Result<WeightFormat, ConfigError> {
        let bits = weights.count(&["num_bits"], "the stored width of the weights")?;
        let kind = weights.only_text("type")?.unwrap_or("int");
        let strategy = weights.only_text("strategy")?;
        let group = group_size(weights)?;
        match (bits, kind) {
            (4, "int") => {
                if group.is_none() && strategy == Some("group") {
                    return Err(ConfigError::Missing {
                        field: "group_size".to_owned(),
                        needed_for: "weights quantised with the strategy `group`",
                    });
                }
                // Without groups `compressed-tensors` has one scale per channel or per tensor.
                Ok(WeightFormat::Int4 { group: group.unwrap_or(PER_CHANNEL) })
            }
            (4, "float") => match group {
                Some(32) => Ok(WeightFormat::Mxfp4),
                Some(16) => Ok(WeightFormat::Nvfp4),
                None => {
                    let text = "The 4 bit floats state no group_size; groups of 16 were taken, as NVFP4 has.";
                    self.notes.push(text.to_owned());
                    Ok(WeightFormat::Nvfp4)
                }
                Some(other) => Err(ConfigError::UnknownQuantisation {
                    method: format!("compressed-tensors float4 in groups of {other}"),
                }),
            },
            (8, "int") => Ok(WeightFormat::Int8),
            (8, "float") if strategy == Some("block") => Ok(WeightFormat::Fp8Block),
            (8, "float") => Ok(WeightFormat::Fp8),
            _ => Err(ConfigError::UnknownQuantisation { method: format!("compressed-tensors {kind}{bits}") }),
        }
    }

    fn modelopt(&mut self, config: Fields<'_>) -> Result<(), ConfigError> {
        let inner = config.only_object("quantization")?.unwrap_or(config);
        let algorithm = inner.only_text("quant_algo")?.unwrap_or_default();
        group_size(inner)?;
        self.every_linear(match algorithm {
            "FP8" => WeightFormat::Fp8,
            "NVFP4" => WeightFormat::Nvfp4,
            "W4A16_AWQ" => WeightFormat::Int4 { group: 128 },
            "" => {
                return Err(ConfigError::UnknownQuantisation {
                    method: "modelopt without quant_algo".to_owned(),
                });
            }
            other => return Err(ConfigError::UnknownQuantisation { method: format!("modelopt {other}") }),
        });
        self.kv = (inner.only_text("kv_cache_quant_algo")? == Some("FP8")).then_some(KvFormat::Fp8);
        if config.object("quantization").is_some() {
            self.except(&inner.texts("exclude_modules")?);
        }
        Ok(())
    }
}

fn stated(method: &str) -> String {
    if method.is_empty() { "without quant_method".to_owned() } else { method.to_owned() }
}

/// Weights that share a scale; none where the file does not say. -1 means one scale per output channel, in effect
/// none per weight.
fn group_size(config: Fields<'_>) -> Result<Option<u16>, ConfigError> {
    for key in ["group_size", "q_group_size"] {
        let Some(value) = config.get(key) else { continue };
        return match value.as_i64() {
            Some(-1) => Ok(Some(PER_CHANNEL)),
            Some(size @ 1..=65_535) => Ok(Some(size as u16)),
            Some(_) => Err(out_of_range(key, value, "from 1 to 65535, or -1 for one scale per channel")),
            None => Err(wrong_type(key, "a whole number", value)),
        };
    }
    Ok(None)
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
    fn malformed_widths_are_errors() {
        let group = |weights: &str| {
            format!(
                r#"{{"quant_method":"compressed-tensors","config_groups":{{"group_0":{{"weights":{weights}}}}}}}"#
            )
        };
        for (json, text) in [
            (
                r#"{"quant_method":"compressed-tensors","config_groups":{}}"#.to_owned(),
                "config_groups.*.weights` is missing",
            ),
            (r#"{"quant_method":"compressed-tensors"}"#.to_owned(), "config_groups` is missing"),
            (
                r#"{"quant_method":"compressed-tensors","config_groups":[]}"#.to_owned(),
                "must be an object, not a list",
            ),
            (
                r#"{"quant_method":"compressed-tensors","config_groups":{"g":3}}"#.to_owned(),
                "`g` must be an object, not 3",
            ),
            (group("null"), "config_groups.*.weights` is missing"),
            (group("4"), "`weights` must be an object, not 4"),
            (
                group(r#"{"num_bits":4,"group_size":0}"#),
                "`group_size` is 0, but must be from 1 to 65535, or -1",
            ),
            (group(r#"{"num_bits":4,"strategy":"group"}"#), "`group_size` is missing"),
            (group(r#"{"num_bits":4,"type":"float","group_size":64}"#), "float4 in groups of 64"),
            (r#"{"quant_method":"awq","bits":4,"group_size":0}"#.to_owned(), "`group_size` is 0"),
            (r#"{"quant_method":"awq","bits":4,"group_size":-2}"#.to_owned(), "`group_size` is -2"),
            (
                r#"{"quant_method":"awq","bits":4,"group_size":"x"}"#.to_owned(),
                "must be a whole number, not a text",
            ),
            (
                r#"{"quant_method":"fp8","weight_block_size":[0,0]}"#.to_owned(),
                "is [0,0], but must be two sides",
            ),
            (
                r#"{"quant_method":"fp8","weight_block_size":[128]}"#.to_owned(),
                "is [128], but must be two sides",
            ),
            (r#"{"quant_method":"fp8","weight_block_size":128}"#.to_owned(), "must be a list, not 128"),
            (
                r#"{"quant_method":"fp8","ignored_layers":[null]}"#.to_owned(),
                "`ignored_layers[0]` must be a text, not null",
            ),
        ] {
            let found = read(&json).map(|_| ()).expect_err(&json).to_string();
            assert!(found.contains(text), "{json}: {found}");
        }
    }

    #[test]
    fn what_is_left_out_is_taken_with_a_note() {
        for (json, format, notes) in [
            (r#"{"quant_method":"gptq","bits":4}"#, WeightFormat::Int4 { group: 128 }, 1),
            (r#"{"quant_method":"awq"}"#, WeightFormat::Int4 { group: 128 }, 2),
            (
                r#"{"quant_method":"awq","bits":4,"group_size":-1}"#,
                WeightFormat::Int4 { group: PER_CHANNEL },
                0,
            ),
            (r#"{"quant_method":"fp8","weight_block_size":[64,64]}"#, WeightFormat::Fp8Block, 1),
            (r#"{"quant_method":"fp8","weight_block_size":null}"#, WeightFormat::Fp8, 0),
        ] {
            let found = read(json).expect(json);
            assert_eq!((found.format(Component::Dense, 0), found.notes.len()), (format, notes), "{json}");
        }
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
