//! Tables of measurements: rows of a CSV file turned into setups, so that they can be predicted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::analytic::Parts;
use crate::calibration;
use crate::collective::{Backend, Policy};
use crate::evaluate;
use crate::forward::Parallelism;
use crate::hardware;
use crate::model::{self, Draft, FormatOverrides, Model};
use crate::runtime::{Execution, Runtime, RuntimeKind};
use crate::scenario::{Common, Method, ModelledSetup, PassSettings, Stated};
use crate::sourced::Sourced;
use crate::speculation::{Acceptance, DraftShape};
use crate::units::AcceptLength;
use crate::validation::{Comparison, Level};

/// The measurements that come with the tool, and the model files that they name.
const SHIPPED: &str = include_str!("../../docs/validation/data/measurements.csv");
const SHIPPED_MODELS: [(&str, &str); 2] = [
    ("thin-61.json", include_str!("../../docs/validation/data/thin-61.json")),
    ("thin-1.json", include_str!("../../docs/validation/data/thin-1.json")),
];

/// One measured row with all that a prediction needs. Empty cells take the value in brackets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measurement {
    /// Name of the row.
    pub(super) id: String,
    group: String,
    level: Level,
    hardware: String,
    /// \[the default of the hardware\]
    #[serde(default)]
    calibration: Option<String>,
    /// Preset, or a config.json beside the table.
    model: String,
    /// \[as in the checkpoint\]
    weights: Option<String>,
    kv: Option<String>,
    runtime: RuntimeKind,
    tensor: u32,
    /// \[1\]
    decode_context: Option<u32>,
    batch: u32,
    context: u32,
    /// \[no speculation\]
    method: Option<String>,
    draft: Option<String>,
    steps: Option<u32>,
    topk: Option<u32>,
    draft_tokens: Option<u32>,
    accept_length: Option<f64>,
    execution: Execution,
    /// Backend that the server was told to use \[as it dispatches\]
    allreduce: Option<Backend>,
    /// Backend that was switched on besides those that the server takes by itself \[none\]
    #[serde(default)]
    opt_in: Option<Backend>,
    /// `step_ms`, `pass_ms`, `cycle_ms`, `throughput_tok_s`, `speedup`
    quantity: String,
    measured: f64,
    #[allow(dead_code)]
    n: u32,
    /// `held out`, or what was known
    r#use: String,
    source: String,
    note: String,
    /// Folder of the table, for the files it names.
    #[serde(skip)]
    folder: Option<PathBuf>,
}

/// The shipped rows.
pub(super) fn shipped() -> Result<Vec<Measurement>, String> {
    parse(SHIPPED.as_bytes(), "the shipped measurements", None)
}

/// Rows of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Measurement>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&bytes, &path.display().to_string(), path.parent())
}

fn parse(bytes: &[u8], name: &str, folder: Option<&Path>) -> Result<Vec<Measurement>, String> {
    let mut reader = csv::Reader::from_reader(bytes);
    let mut rows = Vec::new();
    for (number, row) in reader.deserialize::<Measurement>().enumerate() {
        let mut row = row.map_err(|error| format!("{name}: row {}: {error}", number + 1))?;
        if !(row.measured.is_finite() && row.measured > 0.0) {
            return Err(format!("{name}: row {} ({}): `measured` must be positive", number + 1, row.id));
        }
        row.folder = folder.map(Path::to_owned);
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(format!("{name} holds no row"));
    }
    Ok(rows)
}

impl Measurement {
    /// The prediction beside the measurement.
    ///
    /// # Errors
    /// Why the row cannot be predicted.
    pub(super) fn compare(&self) -> Result<Comparison, String> {
        let setup = self.setup()?;
        let cycle = evaluate::cycle(&setup);
        let parts = Parts::from_cycle(&cycle);
        let predicted = match (self.quantity.as_str(), self.method.is_some()) {
            ("step_ms", _) => cycle.baseline_time().value.ms(),
            // A pass of several rows per request is a verify pass, whether or not anything was drafted.
            ("pass_ms", _) if setup.common.draft_tokens > 1 => cycle.verify.time.value.ms(),
            ("pass_ms", _) => cycle.baseline.time.value.ms(),
            ("cycle_ms", true) => cycle.time().value.ms(),
            ("speedup", true) => parts.speedup_value(),
            ("throughput_tok_s", true) => parts.throughput().value.get(),
            ("throughput_tok_s", false) => parts.baseline_throughput().value.get(),
            (other, _) => return Err(format!("quantity `{other}` is not known, or needs a method")),
        };
        let calibrated = setup.calibration.facts.is_some();
        Ok(Comparison {
            id: self.id.clone(),
            group: self.group.clone(),
            level: self.level,
            quantity: self.quantity.clone(),
            measured: self.measured,
            predicted,
            inputs: format!(
                "{}{}",
                if calibrated { "tables of " } else { "presets, " },
                if calibrated { setup.calibration.name.as_str() } else { "no tables" },
            ) + if self.accept_length.is_some() { ", accept length" } else { "" },
            held_out: self.r#use.starts_with("held out"),
            source: self.source.clone(),
            note: match self.r#use.strip_prefix("held out; ") {
                Some(more) => format!("{more}; {}", self.note),
                None => self.note.clone(),
            },
        })
    }

    fn setup(&self) -> Result<ModelledSetup, String> {
        let hardware = hardware::preset(&self.hardware)
            .ok_or_else(|| format!("no hardware preset `{}`", self.hardware))?;
        let calibration = match self.calibration.as_ref().or(hardware.default_calibration.as_ref()) {
            Some(name) => {
                calibration::preset(name).ok_or_else(|| format!("no calibration preset `{name}`"))?
            }
            None => calibration::none(),
        };
        let model = self.model()?;
        let draft = self.draft(&model)?;
        let draft_tokens = self.draft_tokens.unwrap_or(2);
        let shape = DraftShape {
            steps: self.steps.unwrap_or_else(|| draft_tokens.saturating_sub(1).max(1)),
            topk: self.topk.unwrap_or(1),
            draft_tokens: draft_tokens.max(1),
        };
        let length = Sourced::given(AcceptLength::new(self.accept_length.unwrap_or(1.0)));
        let acceptance = Acceptance::mean_only(length, shape).map_err(|error| error.to_string())?;
        let opt_in = self.opt_in.into_iter().collect();
        let policy = Policy { backend: self.allreduce, opt_in, ..Policy::default() };
        let pass = PassSettings { execution: self.execution, policy: policy.clone() };
        let graph = PassSettings { execution: Execution::Graph, policy };
        Ok(ModelledSetup {
            common: Common {
                name: self.id.clone(),
                path: String::new(),
                batch: self.batch,
                method: self.method(),
                steps: shape.steps,
                topk: shape.topk,
                draft_tokens: shape.draft_tokens,
                acceptance,
                stated: Stated::default(),
            },
            hardware: Arc::new(hardware),
            calibration: Arc::new(calibration),
            model: Arc::new(model),
            draft: draft.map(Arc::new),
            runtime: Runtime::profile(self.runtime),
            parallel: Parallelism {
                decode_context: self.decode_context.unwrap_or(1),
                ..Parallelism::tensor(self.tensor)
            },
            context: self.context,
            baseline: pass.clone(),
            verify: pass,
            draft_pass: graph,
            overlap: false,
        })
    }

    fn method(&self) -> Method {
        match self.method.as_deref() {
            Some("eagle3") => Method::Eagle3,
            Some("mtp") => Method::Mtp,
            Some("draft-model") => Method::DraftModel,
            _ => Method::Ngram,
        }
    }

    fn model(&self) -> Result<Model, String> {
        let word = |text: &Option<String>| text.clone().filter(|t| !t.is_empty());
        let weights = word(&self.weights)
            .map(|w| model::parse_weight_format(&w).ok_or_else(|| format!("no weight format `{w}`")))
            .transpose()?;
        let kv = word(&self.kv)
            .map(|w| model::parse_kv_format(&w).ok_or_else(|| format!("no KV format `{w}`")))
            .transpose()?;
        let formats = FormatOverrides { weights, kv };
        let (name, json) = match model::preset_entries()
            .iter()
            .find(|e| e.name == self.model || e.aliases.contains(&self.model.as_str()))
        {
            Some(entry) => (entry.name.to_owned(), entry.json().to_owned()),
            None => (self.model.clone(), self.file(&self.model)?),
        };
        model::parse_config(&name, &json, formats).map_err(|error| format!("{name}: {error}"))
    }

    fn draft(&self, target: &Model) -> Result<Option<Draft>, String> {
        match self.method() {
            Method::Ngram | Method::Unstated => Ok(None),
            Method::Mtp => model::mtp_of(target)
                .map(|mtp| Some(Draft::Mtp(mtp)))
                .ok_or_else(|| format!("{} brings no MTP module", target.name)),
            Method::Eagle3 | Method::DraftModel => {
                let name = self.draft.clone().ok_or("the method needs a draft")?;
                if let Some(draft) = model::draft_preset(&name) {
                    return Ok(Some(draft));
                }
                let json = self.file(&name)?;
                model::parse_draft_config(&name, &json).map(Some).map_err(|error| error.to_string())
            }
        }
    }

    /// A model file beside the table, or one of the shipped ones.
    fn file(&self, name: &str) -> Result<String, String> {
        match &self.folder {
            Some(folder) => std::fs::read_to_string(folder.join(name))
                .map_err(|error| format!("no preset `{name}`, and {}: {error}", folder.join(name).display())),
            None => SHIPPED_MODELS
                .iter()
                .find(|(shipped, _)| *shipped == name)
                .map(|(_, json)| (*json).to_owned())
                .ok_or_else(|| format!("no preset `{name}`")),
        }
    }
}
