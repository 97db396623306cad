//! From a scenario as written to setups: every name looked up, every default filled in.

mod acceptance;
mod complete;
mod defaults;
mod drafts;
mod evidence;
mod family;
mod fits;
mod names;
mod remarks;
mod stated;

use std::path::Path;
use std::sync::Arc;

use self::acceptance::Accepted;
pub use self::acceptance::check_acceptance_file;
use self::complete::Kind;
pub use self::family::{Branch, Family, Worker};
use self::fits::Fit;
use self::names::Names;
use super::check::draft_shape;
use super::layer::Layer;
use super::library::Library;
use super::load::{Scenario, Variation, read};
use super::overrides::{DottedKey, Overrides};
use super::setup::{Common, Evidence, Method, ModelledSetup, ObservedSetup, PassSettings, Setup, WhatIf};
use super::tree::STDIN;
use super::written::Written;
use crate::calibration::Calibration;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::hardware::Hardware;
use crate::model::{Draft, Model};
use crate::speculation::{Acceptance, DraftShape};

/// A scenario ready to be solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The scenario with what was observed, and without overrides of other keys.
    pub base: Setup,
    /// The scenario with those overrides and without what was observed; none where there are none.
    pub variation: Option<Setup>,
    /// The variations that it lists.
    pub what_ifs: Vec<WhatIf>,
    /// All overrides, in order, as key and value.
    pub overrides: Vec<(String, String)>,
    /// Defaults that matter and other remarks, each a sentence.
    pub notes: Vec<String>,
}

/// Looks up every name of a scenario and fills in every default.
///
/// # Errors
/// Unknown names, files that cannot be used, a model that does not fit, keys that are missing.
pub fn resolve(scenario: &Scenario, library: &dyn Library) -> Result<Loaded, Diagnostics> {
    let mut found = Diagnostics::default();
    let loaded = resolve_into(scenario, library, &mut found);
    blame_overrides(scenario, &mut found);
    match loaded {
        Some(loaded) => found.into_result(loaded),
        None => Err(never_silent(found)),
    }
}

/// Reads, checks and resolves a scenario file, and reports all faults of all three steps together.
///
/// # Errors
/// All faults, sorted by place.
pub fn open(
    path: impl AsRef<Path>,
    overrides: &Overrides,
    library: &dyn Library,
) -> Result<(Scenario, Loaded), Diagnostics> {
    let (scenario, mut found) = read(path.as_ref(), overrides)?;
    // After faults of the text some keys are missing only because they could not be read, and an acceptance that
    // cannot be has been reported with its reason.
    let right = !found.has_errors();
    let mut later = Diagnostics::default();
    let loaded = resolve_into(&scenario, library, &mut later);
    blame_overrides(&scenario, &mut found);
    blame_overrides(&scenario, &mut later);
    let follows = |code: Option<Code>| matches!(code, Some(Code::Incomplete | Code::Probabilities));
    later.list.retain(|diagnostic| right || !follows(diagnostic.code));
    found.extend(later);
    match loaded {
        Some(loaded) => found.into_result((scenario, loaded)),
        None => Err(never_silent(found)),
    }
}

/// Where something is missing because an override took it away, the override is marked.
fn blame_overrides(scenario: &Scenario, found: &mut Diagnostics) {
    let needed = |path: &str| {
        ["hardware", "model", "baseline", "speculation"].contains(&path.split('.').next().unwrap_or(""))
    };
    for diagnostic in &mut found.list {
        let follows = |path: &str| match diagnostic.code {
            Some(Code::Incomplete | Code::AcceptanceKind) => needed(path),
            // A variation that could be predicted before.
            Some(Code::Override) => ["hardware", "model"].contains(&path),
            _ => false,
        };
        let gone: Vec<_> = scenario.gone.iter().filter(|key| follows(&key.path)).collect();
        for key in gone {
            if diagnostic.labels.iter().all(|label| !Arc::ptr_eq(&label.place.source, &key.place.source)) {
                *diagnostic = diagnostic.clone().at(&key.place, "taken away here");
            }
        }
    }
}

/// The sorted faults, of which there is one at least.
fn never_silent(mut found: Diagnostics) -> Diagnostics {
    if !found.has_errors() {
        found.push(Diagnostic::error(Code::Incomplete, "the scenario does not hold enough for an answer"));
    }
    found.sorted()
}

fn resolve_into(scenario: &Scenario, library: &dyn Library, found: &mut Diagnostics) -> Option<Loaded> {
    let mut names = Names::new(library);
    let mut resolver = Resolver { names: &mut names, library, notes: Vec::new(), found };
    let kind = complete::kind(&scenario.base, resolver.found);
    let base = resolver.base(scenario, kind);
    let mut defaults = std::mem::take(&mut resolver.notes);
    let origin = base.as_ref().map(Origin::of);
    let variation = scenario.variation.as_ref().map(|layer| resolver.overridden(scenario, layer, origin));
    // The variation is what is answered, so its defaults are those that matter.
    if variation.is_some() {
        defaults = std::mem::take(&mut resolver.notes);
    }
    let what_ifs: Vec<Option<WhatIf>> =
        scenario.what_ifs.iter().map(|what_if| resolver.what_if(scenario, what_if, origin)).collect();
    let mut notes = scenario.notes.clone();
    notes.extend(remarks::unused_keys(&scenario.base, &scenario.path));
    notes.extend(defaults);
    let answered = variation.as_ref().map_or(base.as_ref(), Option::as_ref);
    notes.extend(remarks::beyond_context(answered, &what_ifs));
    Some(Loaded {
        variation: match variation {
            Some(setup) => Some(setup?),
            None => None,
        },
        what_ifs: what_ifs.into_iter().collect::<Option<_>>()?,
        overrides: scenario.overrides.clone(),
        notes,
        base: base?,
    })
}

/// The acceptance of the base with its shape, from which that of a variation follows.
#[derive(Clone, Copy)]
struct Origin<'a> {
    acceptance: &'a Acceptance,
    evidence: Option<Evidence>,
    shape: DraftShape,
    modelled: bool,
}

impl<'a> Origin<'a> {
    fn of(setup: &'a Setup) -> Self {
        let common = setup.common();
        let shape = DraftShape { steps: common.steps, topk: common.topk, draft_tokens: common.draft_tokens };
        Self {
            acceptance: &common.acceptance,
            evidence: common.evidence,
            shape,
            modelled: matches!(setup, Setup::Modelled(_)),
        }
    }
}

/// The things that a scenario names; what could not be found is missing and among the faults.
#[derive(Clone)]
struct Named {
    hardware: Option<Arc<Hardware>>,
    model: Option<Arc<Model>>,
    calibration: Option<Arc<Calibration>>,
    draft: Option<Arc<Draft>>,
}

/// One attempt to resolve a scenario. Names are looked up once for all its variations.
struct Resolver<'a, 'f> {
    names: &'f mut Names<'a>,
    library: &'a dyn Library,
    notes: Vec<String>,
    found: &'f mut Diagnostics,
}

impl Resolver<'_, '_> {
    fn base(&mut self, scenario: &Scenario, kind: Kind) -> Option<Setup> {
        let layer = &scenario.base;
        let acceptance = self.acceptance(layer, None);
        match kind {
            Kind::Modelled => self.modelled(scenario, layer, acceptance),
            Kind::Observed => self.observed(scenario, layer, acceptance),
        }
    }

    fn varied(&mut self, scenario: &Scenario, layer: &Layer, origin: Option<Origin>) -> Option<Setup> {
        let origin = origin?;
        let acceptance = self.acceptance(layer, Some((&scenario.base, origin)));
        if origin.modelled {
            return self.modelled(scenario, layer, acceptance);
        }
        self.observed(scenario, layer, acceptance)
    }

    fn observed(
        &mut self,
        scenario: &Scenario,
        layer: &Layer,
        acceptance: Option<Accepted>,
    ) -> Option<Setup> {
        if let Some(unused) = complete::unused_part(layer) {
            self.note(unused);
        }
        if let Some(unused) = remarks::unused_by_observed(layer) {
            self.note(unused);
        }
        let common = self.common(&scenario.path, layer, acceptance?);
        Some(Setup::Observed(ObservedSetup { common }))
    }

    /// The variation that the command line asks for.
    fn overridden(&mut self, scenario: &Scenario, layer: &Layer, origin: Option<Origin>) -> Option<Setup> {
        if !origin?.modelled {
            self.needs_no_model(&scenario.changes)?;
        }
        self.varied(scenario, layer, origin)
    }

    fn what_if(
        &mut self,
        scenario: &Scenario,
        variation: &Variation,
        origin: Option<Origin>,
    ) -> Option<WhatIf> {
        if !origin?.modelled {
            self.needs_no_model(&variation.changes)?;
        }
        let setup = self.varied(scenario, &variation.layer, origin)?;
        Some(WhatIf { name: variation.name.clone(), set: variation.set.clone(), setup })
    }

    /// Without a hardware model only times and acceptance can be varied.
    fn needs_no_model(&mut self, changes: &[DottedKey]) -> Option<()> {
        let needs = |path: &str| {
            let last = path.rsplit('.').next();
            last != Some("time") && !path.starts_with("speculation.acceptance") && path != "name"
        };
        let Some(DottedKey { path, place }) = changes.iter().find(|key| needs(&key.path)) else {
            return Some(());
        };
        let title = format!("what follows from `{path}` cannot be predicted without `hardware` and `model`");
        self.found.push(
            Diagnostic::error(Code::Override, title)
                .at(place, "needs a hardware model")
                .help("name the hardware and the model, or set a time or the acceptance instead"),
        );
        None
    }

    fn modelled(
        &mut self,
        scenario: &Scenario,
        layer: &Layer,
        acceptance: Option<Accepted>,
    ) -> Option<Setup> {
        let named = self.named(layer);
        self.assembled(&scenario.path, layer, &named, acceptance)
    }

    /// What the names of a layer stand for.
    fn named(&mut self, layer: &Layer) -> Named {
        let hardware = self.names.hardware(layer, self.found);
        let model = self.names.model(layer, self.found);
        let calibration = self.names.calibration(layer, hardware.as_deref(), &mut self.notes, self.found);
        let draft = self.draft(layer, model.as_deref());
        Named { hardware, model, calibration, draft }
    }

    /// A setup of things that were looked up and of everything else that a layer says.
    fn assembled(
        &mut self,
        path: &str,
        layer: &Layer,
        named: &Named,
        acceptance: Option<Accepted>,
    ) -> Option<Setup> {
        let written = &layer.written;
        let Named { hardware, model, calibration, draft } = named.clone();
        let (hardware, model) = (hardware?, model?);
        let parallel = self.parallel(written, hardware.count);
        let context = self.context(written);
        self.check_transport(layer, &hardware);
        if let (Some(_), Some(calibration)) = (&written.calibration, &calibration)
            && let Some(foreign) = remarks::foreign_calibration(&hardware, calibration)
        {
            self.note(foreign);
        }
        self.check_fit(
            layer,
            &Fit { hardware: &hardware, model: &model, draft: draft.as_deref(), parallel, context },
        );
        let runtime = self.runtime(written);
        let common = self.common(path, layer, acceptance?);
        for (name, notes) in [(&hardware.name, &hardware.notes), (&model.name, &model.notes)] {
            for note in notes {
                self.note(format!("{name}: {note}"));
            }
        }
        let (baseline, verify) = (&written.baseline, &written.speculation.verify);
        let draft_pass = &written.speculation.draft_pass;
        let settings = |execution, allreduce, environment| PassSettings {
            execution: defaults::execution(execution),
            policy: defaults::policy(written, allreduce, environment),
        };
        let calibration = calibration?;
        let setup = ModelledSetup {
            common,
            hardware,
            runtime: calibration.measured_host(runtime),
            calibration,
            draft,
            model,
            parallel,
            context,
            baseline: settings(baseline.execution, &baseline.allreduce, &baseline.environment),
            verify: settings(verify.execution, &verify.allreduce, &verify.environment),
            draft_pass: settings(draft_pass.execution, &draft_pass.allreduce, &draft_pass.environment),
            overlap: written.speculation.scheduler.overlap.unwrap_or(false),
        };
        Some(Setup::Modelled(Box::new(setup)))
    }

    fn common(&mut self, path: &str, layer: &Layer, acceptance: Accepted) -> Common {
        let written = &layer.written;
        let shape = draft_shape(&written.speculation);
        Common {
            name: name(path, written),
            path: path.to_owned(),
            batch: self.batch(written),
            method: written.speculation.method.map_or(Method::Unstated, Method::from),
            steps: shape.steps.unwrap_or(0),
            topk: shape.topk,
            draft_tokens: shape.draft_tokens.unwrap_or(0),
            acceptance: acceptance.law,
            evidence: acceptance.evidence,
            stated: stated::stated(written),
        }
    }
}

/// The title, or the file's name without its ending.
fn name(path: &str, written: &Written) -> String {
    written.name.clone().unwrap_or_else(|| {
        if path == STDIN {
            return "standard input".to_owned();
        }
        let stem = Path::new(path).file_stem();
        stem.map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned())
    })
}
