//! Whether the drafter is one that the method can use and that fits the target.
//!
//! An EAGLE-3 head reads hidden states of the target, so both have one hidden size. A separate draft model proposes tokens
//! of the target's vocabulary; servers refuse another one (vLLM compares the sizes when it starts).

use std::sync::Arc;

use super::Resolver;
use super::names::place_of_name;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Draft, Eagle3, Model};
use crate::scenario::Method;
use crate::scenario::layer::Layer;
use crate::scenario::library::Formats;

/// Presets that are named in a message.
const MOST_NAMES: usize = 4;

const DRAFT: &str = "speculation.draft";

impl Resolver<'_, '_> {
    /// The drafter; none where the method needs none, or where one is missing, which is then among the faults.
    pub(super) fn draft(&mut self, layer: &Layer, model: Option<&Model>) -> Option<Arc<Draft>> {
        let method = Method::from(layer.written.speculation.method?);
        match method {
            Method::Ngram | Method::Unstated => None,
            Method::Mtp => self.names.mtp(layer, model?, self.found),
            Method::Eagle3 | Method::DraftModel => {
                let Some(choice) = &layer.written.speculation.draft else {
                    self.draft_missing(layer, method, model);
                    return None;
                };
                let draft = self.names.draft(layer, choice, self.found)?;
                self.check_draft(layer, method, &draft, model);
                Some(draft)
            }
        }
    }

    fn draft_missing(&mut self, layer: &Layer, method: Method, model: Option<&Model>) {
        let diagnostic = Diagnostic::error(Code::Incomplete, "this method needs a `draft`");
        let diagnostic = layer.at(diagnostic, "speculation.method", "drafts with weights of its own");
        let fitting = self.fitting(method, model);
        self.found.push(match fitting.as_slice() {
            [] => diagnostic.help("give a preset or the path of the drafter's config.json"),
            [only] => diagnostic.help(format!("a drafter for this model exists: `draft: {only}`")),
            several => diagnostic.help(format!("drafters that fit this model: {}", listed(several))),
        });
    }

    fn check_draft(&mut self, layer: &Layer, method: Method, draft: &Draft, model: Option<&Model>) {
        let diagnostic = match (method, draft) {
            (Method::Eagle3, Draft::Model(whole)) => {
                let title = format!("{} is a whole model, and `eagle3` needs a head", whole.name);
                wrong_kind(layer, &title, "has layers of its own")
            }
            (Method::DraftModel, Draft::Eagle3(head)) => {
                let title =
                    format!("{} is an EAGLE-3 head, and `draft-model` needs a whole model", head.name);
                wrong_kind(layer, &title, "cannot run without a target")
            }
            (Method::Eagle3, Draft::Eagle3(head)) => {
                let Some(model) = model.filter(|model| model.hidden != head.hidden) else { return };
                other_size(layer, head, model)
            }
            (Method::DraftModel, Draft::Model(drafter)) => {
                let Some(model) = model.filter(|model| model.vocabulary != drafter.vocabulary) else {
                    return;
                };
                other_vocabulary(layer, drafter, model)
            }
            _ => return,
        };
        let fitting = self.fitting(method, model);
        let other = match (method, draft) {
            (Method::Eagle3, Draft::Model(_)) => ", or write `method: draft-model`",
            (Method::DraftModel, Draft::Eagle3(_)) => ", or write `method: eagle3`",
            _ => "",
        };
        let trained = |name: &String| model.is_some_and(|model| name.contains(&model.name));
        let help = match (fitting.is_empty(), method) {
            (false, Method::Eagle3) if !fitting.iter().all(trained) => {
                format!("presets of this hidden size, trained for other models: {}{other}", listed(&fitting))
            }
            (false, _) => format!("presets that fit: {}{other}", listed(&fitting)),
            (true, Method::Eagle3) => {
                format!("give the config.json of a head that was trained for this model{other}")
            }
            (true, _) => format!("give the config.json of a small model with the target's tokenizer{other}"),
        };
        self.found.push(diagnostic.help(help));
    }

    /// Presets that could draft for a model: heads that bear its name, else heads of its hidden size; or models of
    /// its vocabulary that are smaller than it, the smallest first.
    fn fitting(&self, method: Method, model: Option<&Model>) -> Vec<String> {
        let Some(model) = model else { return Vec::new() };
        if method == Method::DraftModel {
            let size = |model: &Model| self.library.resident(model).get();
            let models = self.library.model_names().into_iter();
            let mut found: Vec<(f64, String)> = models
                .filter_map(|name| Some((self.library.model(&name, Formats::default())?, name)))
                .filter(|(other, _)| other.vocabulary == model.vocabulary && size(other) < size(model))
                .map(|(other, name)| (size(&other), name))
                .collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            return found.into_iter().map(|(_, name)| name).take(MOST_NAMES).collect();
        }
        let heads = self.library.head_names().into_iter().filter(|name| {
            let draft = self.library.draft(name, Formats::default());
            matches!(draft, Some(Draft::Eagle3(head)) if head.hidden == model.hidden)
        });
        let (own, others): (Vec<String>, Vec<String>) = heads.partition(|name| name.contains(&model.name));
        let mut found = if own.is_empty() { others } else { own };
        found.truncate(MOST_NAMES);
        found
    }
}

fn wrong_kind(layer: &Layer, title: &str, remark: &str) -> Diagnostic {
    let diagnostic = at_name(layer, Diagnostic::error(Code::Contradiction, title), DRAFT, remark, true);
    layer.beside(diagnostic, "speculation.method", "")
}

fn other_size(layer: &Layer, head: &Eagle3, model: &Model) -> Diagnostic {
    let title = format!("{} does not fit {}: another hidden size", head.name, model.name);
    let diagnostic = Diagnostic::error(Code::Contradiction, title);
    let diagnostic =
        at_name(layer, diagnostic, DRAFT, &format!("made for a hidden size of {}", head.hidden), true);
    at_name(layer, diagnostic, "model", &format!("has a hidden size of {}", model.hidden), false)
}

fn other_vocabulary(layer: &Layer, drafter: &Model, model: &Model) -> Diagnostic {
    let title = format!("{} does not fit {}: another vocabulary", drafter.name, model.name);
    let diagnostic = Diagnostic::error(Code::Contradiction, title);
    let diagnostic = at_name(layer, diagnostic, DRAFT, &format!("{} tokens", drafter.vocabulary), true);
    let diagnostic = at_name(layer, diagnostic, "model", &format!("{} tokens", model.vocabulary), false);
    diagnostic.note("a draft model proposes tokens of the target, so both need one tokenizer")
}

/// Marks where a model or drafter is named, as the fault or as its explanation.
fn at_name(layer: &Layer, diagnostic: Diagnostic, key: &str, remark: &str, fault: bool) -> Diagnostic {
    match place_of_name(layer, key) {
        Some(place) if fault => diagnostic.at(place, remark),
        Some(place) => diagnostic.beside(place, remark),
        None => diagnostic,
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
