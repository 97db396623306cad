//! Names of presets and files.
//!
//! A name with a slash or an ending such as `.json` is a path, relative to the file in which it is written;
//! anything else is a preset, or a file of that name if there is one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::calibration::{Calibration, read_side_file};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, SourceKind, SourceText, similar};
use crate::hardware::Hardware;
use crate::model::{Draft, Model};
use crate::scenario::layer::Layer;
use crate::scenario::library::{Formats, Library};
use crate::scenario::load::beside;
use crate::scenario::tree::{parse_named, read_text};
use crate::scenario::written::{MethodWord, ModelChoice};

/// Looks names up, each once.
pub(super) struct Names<'a> {
    library: &'a dyn Library,
    hardware: BTreeMap<PathBuf, Arc<Hardware>>,
    calibration: BTreeMap<PathBuf, Arc<Calibration>>,
    model: BTreeMap<(PathBuf, Formats), Arc<Model>>,
    draft: BTreeMap<(PathBuf, Formats), Arc<Draft>>,
}

/// What a name stands for.
enum Named {
    Preset(String),
    File(PathBuf),
}

impl Named {
    fn key(&self) -> PathBuf {
        match self {
            Self::Preset(name) => PathBuf::from(name),
            Self::File(path) => path.clone(),
        }
    }
}

/// A model or drafter as the scenario names it.
struct Chosen<'l> {
    name: &'l str,
    place: Option<&'l Place>,
    formats: Formats,
    /// Whether it is a path; none where the name tells.
    is_path: Option<bool>,
}

impl<'l> Chosen<'l> {
    fn read(layer: &'l Layer, key: &str, choice: &'l ModelChoice, found: &mut Diagnostics) -> Option<Self> {
        let place = place_of_name(layer, key);
        let keys = match choice {
            ModelChoice::Name(name) => {
                return Some(Self { name, place, formats: Formats::default(), is_path: None });
            }
            ModelChoice::Keys(keys) => keys,
        };
        let formats = Formats { weights: keys.weights.map(Into::into), kv: keys.kv.map(Into::into) };
        match (&keys.preset, &keys.config) {
            (Some(name), None) => Some(Self { name, place, formats, is_path: Some(false) }),
            (None, Some(path)) => Some(Self { name: path, place, formats, is_path: Some(true) }),
            _ => {
                found.push(one_of_preset_and_config(layer, key, keys.preset.is_some()));
                None
            }
        }
    }

    fn named(&self, is_preset: impl Fn(&str) -> bool) -> Named {
        match self.is_path {
            Some(true) => Named::File(relative_to(self.place, self.name)),
            Some(false) => Named::Preset(self.name.to_owned()),
            None => named(self.name, self.place, is_preset),
        }
    }
}

impl<'a> Names<'a> {
    pub(super) fn new(library: &'a dyn Library) -> Self {
        Self {
            library,
            hardware: BTreeMap::new(),
            calibration: BTreeMap::new(),
            model: BTreeMap::new(),
            draft: BTreeMap::new(),
        }
    }

    pub(super) fn hardware(&mut self, layer: &Layer, found: &mut Diagnostics) -> Option<Arc<Hardware>> {
        let name = layer.written.hardware.as_deref()?;
        let place = layer.place("hardware");
        let named = named(name, place, |name| self.library.hardware(name).is_some());
        if let Some(known) = self.hardware.get(&named.key()) {
            return Some(Arc::clone(known));
        }
        let hardware = match &named {
            Named::Preset(name) => self
                .library
                .hardware(name)
                .ok_or_else(|| Box::new(unknown("hardware", name, place, &self.library.hardware_names()))),
            Named::File(path) => read_yaml(path, place).and_then(|content| {
                let reader = self.library.hardware_file(&path.display().to_string(), &content);
                reader.map_err(|why| Box::new(unusable("hardware", path, &why, place)))
            }),
        };
        let hardware = Arc::new(kept(hardware, found)?);
        self.hardware.insert(named.key(), Arc::clone(&hardware));
        Some(hardware)
    }

    pub(super) fn calibration(
        &mut self,
        layer: &Layer,
        hardware: Option<&Hardware>,
        notes: &mut Vec<String>,
        found: &mut Diagnostics,
    ) -> Option<Arc<Calibration>> {
        let place = layer.place("calibration");
        let name = match &layer.written.calibration {
            Some(name) => name.clone(),
            None => self.default_calibration(hardware?, notes),
        };
        let named = named(&name, place, |name| name == "none" || self.library.calibration(name).is_some());
        if let Some(known) = self.calibration.get(&named.key()) {
            return Some(Arc::clone(known));
        }
        let calibration = match &named {
            Named::Preset(name) if name == "none" => Ok(self.library.no_calibration()),
            Named::Preset(name) => self.library.calibration(name).ok_or_else(|| {
                let mut names = self.library.calibration_names();
                names.push("none".to_owned());
                Box::new(unknown("calibration", name, place, &names))
            }),
            Named::File(path) => read_text(path, place).and_then(|text| {
                let side_files = |name: &str| read_side_file(&beside(path, name));
                let reader = self.library.calibration_file(&path.display().to_string(), &text, &side_files);
                reader.map_err(|why| Box::new(unusable("calibration", path, &why, place)))
            }),
        };
        let calibration = Arc::new(kept(calibration, found)?);
        self.calibration.insert(named.key(), Arc::clone(&calibration));
        Some(calibration)
    }

    fn default_calibration(&self, hardware: &Hardware, notes: &mut Vec<String>) -> String {
        let default = self.library.default_calibration(hardware);
        let note = match &default {
            Some(name) => format!("calibration not given: {name}, that of the hardware"),
            None => {
                format!("calibration not given, and {} has none: the roofline answers alone", hardware.name)
            }
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
        default.unwrap_or_else(|| "none".to_owned())
    }

    pub(super) fn model(&mut self, layer: &Layer, found: &mut Diagnostics) -> Option<Arc<Model>> {
        let choice = Chosen::read(layer, "model", layer.written.model.as_ref()?, found)?;
        let named = choice.named(|name| self.library.model(name, Formats::default()).is_some());
        let key = (named.key(), choice.formats);
        if let Some(known) = self.model.get(&key) {
            return Some(Arc::clone(known));
        }
        let model = match &named {
            Named::Preset(name) => self
                .library
                .model(name, choice.formats)
                .ok_or_else(|| Box::new(unknown("model", name, choice.place, &self.library.model_names()))),
            Named::File(path) => read_text(path, choice.place).and_then(|text| {
                let reader = self.library.model_file(&path.display().to_string(), &text, choice.formats);
                reader.map_err(|why| Box::new(unusable("model", path, &why, choice.place)))
            }),
        };
        let model = Arc::new(kept(model, found)?);
        self.model.insert(key, Arc::clone(&model));
        Some(model)
    }

    /// The drafter that the scenario names, whatever its kind.
    pub(super) fn draft(
        &mut self,
        layer: &Layer,
        choice: &ModelChoice,
        found: &mut Diagnostics,
    ) -> Option<Arc<Draft>> {
        let choice = Chosen::read(layer, "speculation.draft", choice, found)?;
        let named = choice.named(|name| self.library.draft(name, Formats::default()).is_some());
        let key = (named.key(), choice.formats);
        if let Some(known) = self.draft.get(&key) {
            return Some(Arc::clone(known));
        }
        let draft = match &named {
            Named::Preset(name) => self.library.draft(name, choice.formats).ok_or_else(|| {
                let (mut names, others) = match layer.written.speculation.method {
                    Some(MethodWord::DraftModel) => (self.library.model_names(), self.library.head_names()),
                    _ => (self.library.head_names(), self.library.model_names()),
                };
                names.extend(others);
                Box::new(unknown("draft", name, choice.place, &names))
            }),
            Named::File(path) => read_text(path, choice.place).and_then(|text| {
                let reader = self.library.draft_file(&path.display().to_string(), &text, choice.formats);
                reader.map_err(|why| Box::new(unusable("draft", path, &why, choice.place)))
            }),
        };
        let draft = Arc::new(kept(draft, found)?);
        self.draft.insert(key, Arc::clone(&draft));
        Some(draft)
    }

    pub(super) fn mtp(
        &mut self,
        layer: &Layer,
        model: &Model,
        found: &mut Diagnostics,
    ) -> Option<Arc<Draft>> {
        let Some(draft) = self.library.mtp(model) else {
            let title = format!("{} brings no multi-token-prediction module", model.name);
            let diagnostic = Diagnostic::error(Code::Contradiction, title);
            let diagnostic = layer.at(diagnostic, "speculation.method", "needs such a module");
            let diagnostic = layer.beside(diagnostic, "model", "its config names none");
            found.push(diagnostic.help("use `eagle3` with a `draft`, `draft-model`, or `ngram`"));
            return None;
        };
        let key = (PathBuf::from(format!("mtp of {}", model.name)), Formats::default());
        Some(Arc::clone(self.draft.entry(key).or_insert_with(|| Arc::new(draft))))
    }
}

/// Whether a name is a path or a preset.
fn named(name: &str, place: Option<&Place>, is_preset: impl Fn(&str) -> bool) -> Named {
    let ending = [".json", ".yaml", ".yml", ".gz"].iter().any(|ending| name.ends_with(ending));
    if name.contains(['/', '\\']) || ending {
        return Named::File(relative_to(place, name));
    }
    let path = relative_to(place, name);
    if !is_preset(name) && path.is_file() { Named::File(path) } else { Named::Preset(name.to_owned()) }
}

/// A path relative to the file that names it; on the command line relative to the current folder.
pub(super) fn relative_to(place: Option<&Place>, name: &str) -> PathBuf {
    match place {
        Some(place) if place.source.kind == SourceKind::File => beside(Path::new(&place.source.name), name),
        _ => PathBuf::from(name),
    }
}

fn kept<T>(result: Result<T, Box<Diagnostic>>, found: &mut Diagnostics) -> Option<T> {
    result.map_err(|fault| found.push(*fault)).ok()
}

fn read_yaml(path: &Path, place: Option<&Place>) -> Result<serde_json::Value, Box<Diagnostic>> {
    let text = read_text(path, place)?;
    Ok(parse_named(&SourceText::file(path.display().to_string(), text), place)?.to_json())
}

fn marked(diagnostic: Diagnostic, place: Option<&Place>, remark: &str) -> Diagnostic {
    match place {
        Some(place) => diagnostic.at(place, remark),
        None => diagnostic,
    }
}

fn unusable(key: &str, path: &Path, why: &str, place: Option<&Place>) -> Diagnostic {
    let title = format!("`{}` cannot be used as `{key}`", path.display());
    marked(Diagnostic::error(Code::ReferencedFile, title), place, "named here").note(why)
}

fn unknown(key: &str, name: &str, place: Option<&Place>, names: &[String]) -> Diagnostic {
    let title = format!("no {key} preset is called `{name}`");
    let diagnostic =
        marked(Diagnostic::error(Code::UnknownName, title), place, "neither a preset nor a file");
    let near = similar(name, names.iter().map(String::as_str));
    match (near.as_slice(), place) {
        ([first, ..], Some(place)) => {
            let all = near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let noun = if near.len() == 1 {
                "a preset with a similar name exists"
            } else {
                "presets with similar names exist"
            };
            diagnostic.fix(format!("{noun}: {all}"), place, *first)
        }
        _ => diagnostic.help(
            "`specplan explain presets` lists all presets; a path needs a slash, as in `./my-box.yaml`",
        ),
    }
}

fn one_of_preset_and_config(layer: &Layer, key: &str, both: bool) -> Diagnostic {
    let name = key.rsplit('.').next().unwrap_or(key);
    let title = format!("`{name}` needs exactly one of `preset` and `config`");
    let diagnostic = Diagnostic::error(if both { Code::Contradiction } else { Code::Incomplete }, title);
    let path = if both { format!("{key}.config") } else { key.to_owned() };
    marked(diagnostic, layer.key(&path), if both { "beside `preset`" } else { "neither is given" })
}

/// Where the name of a model or drafter is written, whichever form it has.
pub(super) fn place_of_name<'l>(layer: &'l Layer, key: &str) -> Option<&'l Place> {
    let inner = ["preset", "config"].iter().find_map(|form| layer.place(&format!("{key}.{form}")));
    inner.or_else(|| layer.place(key))
}
