//! From a row to a setup.

use std::path::Path;
use std::sync::Arc;

use super::Measurement;
use crate::calibration::{self, Calibration};
use crate::collective::{NcclEnvironment, Policy};
use crate::forward::Parallelism;
use crate::hardware::{self, Hardware};
use crate::model::{self, Draft, FormatOverrides, Model};
use crate::runtime::{Execution, Runtime};
use crate::scenario::{Common, Method, ModelledSetup, PassSettings, Stated};
use crate::sourced::Sourced;
use crate::speculation::{Acceptance, DraftShape};
use crate::units::AcceptLength;

/// The model files that the shipped rows name.
const SHIPPED_MODELS: [(&str, &str); 2] = [
    ("thin-61.json", include_str!("../../../docs/validation/data/thin-61.json")),
    ("thin-1.json", include_str!("../../../docs/validation/data/thin-1.json")),
];

/// The machine that validate is given for rows that name none.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Machine {
    calibration: Option<Arc<Calibration>>,
}

impl Machine {
    /// From a calibration: a preset, or a file.
    pub(in crate::cli) fn of(calibration: Option<&str>) -> Result<Self, String> {
        let calibration = calibration.map(named_calibration).transpose()?.map(Arc::new);
        Ok(Self { calibration })
    }

    /// The box of the calibration: the preset of so many of its GPUs. Several can fit; that of the plain name is taken.
    fn hardware(&self) -> Result<Hardware, String> {
        let facts = self.calibration.as_ref().and_then(|calibration| calibration.facts.as_ref());
        let facts =
            facts.ok_or("the row names no `hardware`, and no --calibration says what was measured")?;
        let name = format!("{}-x{}", facts.gpu, facts.count);
        hardware::preset(&name)
            .ok_or_else(|| format!("no hardware preset `{name}`; name one in the column `hardware`"))
    }

    /// NCCL_* variables of the box when it was measured.
    fn environment(&self) -> NcclEnvironment {
        let facts = self.calibration.as_ref().and_then(|calibration| calibration.facts.as_ref());
        NcclEnvironment { variables: facts.map(|facts| facts.environment.clone()).unwrap_or_default() }
    }
}

fn named_calibration(name: &str) -> Result<Calibration, String> {
    if let Some(preset) = calibration::preset(name) {
        return Ok(preset);
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("no calibration preset `{name}`, and {name} cannot be read: {error}"))?;
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    let side = move |file: &str| calibration::read_side_file(&folder.join(file));
    let short = path.file_name().map_or_else(|| name.to_owned(), |file| file.to_string_lossy().into_owned());
    calibration::parse(&short, &text, &side).map_err(|error| format!("{name}: {error}"))
}

impl Measurement {
    /// The row as a setup.
    pub(in crate::cli) fn setup(&self, machine: &Machine) -> Result<ModelledSetup, String> {
        let needed = self.needed()?;
        let hardware = match self.hardware.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => hardware::preset(name).ok_or_else(|| format!("no hardware preset `{name}`"))?,
            None => machine.hardware()?,
        };
        let (calibration, environment) = self.calibration(machine, &hardware)?;
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
        let policy = Policy { backend: self.allreduce, opt_in, environment, ..Policy::default() };
        let pass = PassSettings { execution: needed.execution, policy: policy.clone() };
        let graph = PassSettings { execution: Execution::Graph, policy };
        Ok(ModelledSetup {
            common: Common {
                name: self.id.clone(),
                path: String::new(),
                batch: needed.batch,
                method: self.method(),
                steps: shape.steps,
                topk: shape.topk,
                draft_tokens: shape.draft_tokens,
                acceptance,
                evidence: None,
                stated: Stated::default(),
            },
            hardware: Arc::new(hardware),
            runtime: calibration.measured_host(Runtime::profile(needed.runtime)),
            calibration,
            model: Arc::new(model),
            draft: draft.map(Arc::new),
            parallel: Parallelism {
                decode_context: self.decode_context.unwrap_or(1),
                ..Parallelism::tensor(needed.tensor)
            },
            context: needed.context,
            baseline: pass.clone(),
            verify: pass,
            draft_pass: graph,
            overlap: false,
        })
    }

    /// The row's own calibration, else the given one with the environment that it was measured in, else the default of
    /// the hardware.
    fn calibration(
        &self,
        machine: &Machine,
        hardware: &Hardware,
    ) -> Result<(Arc<Calibration>, NcclEnvironment), String> {
        let named = self.calibration.as_ref();
        if let (None, Some(given)) = (named, &machine.calibration) {
            return Ok((Arc::clone(given), machine.environment()));
        }
        let calibration = match named.or(hardware.default_calibration.as_ref()) {
            Some(name) => {
                calibration::preset(name).ok_or_else(|| format!("no calibration preset `{name}`"))?
            }
            None => calibration::none(),
        };
        Ok((Arc::new(calibration), NcclEnvironment::default()))
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
