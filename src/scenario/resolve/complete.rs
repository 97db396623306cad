//! Whether what is written is enough for an answer, and which kind of answer.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::scenario::check::{acceptance_kinds, draft_shape};
use crate::scenario::layer::Layer;

/// Which kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Arithmetic on what was observed.
    Observed,
    /// With a hardware model.
    Modelled,
}

/// The kind of answer; what is missing for it is added to `found`.
pub(super) fn kind(layer: &Layer, found: &mut Diagnostics) -> Kind {
    let written = &layer.written;
    let kind = match (&written.hardware, &written.model) {
        (Some(_), Some(_)) => {
            modelled(layer, found);
            Kind::Modelled
        }
        (hardware, model) => {
            let missing = missing_observations(layer);
            if !missing.is_empty() {
                let one = match (hardware, model) {
                    (Some(_), None) => Some(("hardware", "model")),
                    (None, Some(_)) => Some(("model", "hardware")),
                    _ => None,
                };
                found.push(match one {
                    Some((given, other)) => half_a_model(layer, given, other, &missing),
                    None => nothing_to_answer(layer, &missing),
                });
            }
            Kind::Observed
        }
    };
    let acceptance_missing = acceptance_kinds(&written.speculation.acceptance).is_empty();
    if acceptance_missing && kind == Kind::Modelled {
        found.push(no_acceptance(layer));
    }
    kind
}

/// That nothing says how many tokens are accepted.
pub(super) fn no_acceptance(layer: &Layer) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::AcceptanceKind, "the acceptance is not described");
    let diagnostic = match layer.key("speculation.acceptance").or_else(|| layer.key("speculation")) {
        Some(key) => diagnostic.at(key, "nothing says how many drafted tokens are accepted"),
        None => showing_file(diagnostic, layer),
    };
    diagnostic.help("give what your server logs: `acceptance: { accept_length: 2.0 }` under `speculation`")
}

/// The error with the first line of the scenario, where no key is there to be marked.
fn showing_file(diagnostic: Diagnostic, layer: &Layer) -> Diagnostic {
    match layer.tree.map().and_then(|map| map.values().next()) {
        Some(first) => diagnostic.showing(&first.key),
        None => diagnostic,
    }
}

/// With hardware and model, the draft must be described.
fn modelled(layer: &Layer, found: &mut Diagnostics) {
    let keys = &layer.written.speculation;
    let shape = draft_shape(keys);
    let mut missing = Vec::new();
    if keys.method.is_none() {
        missing.push("`method`");
    }
    if shape.steps.is_none() {
        missing.push("`steps`");
    } else if shape.draft_tokens.is_none() {
        missing.push("`draft_tokens`");
    }
    if missing.is_empty() {
        return;
    }
    let title = format!("`speculation` needs {}", missing.join(" and "));
    let diagnostic = Diagnostic::error(Code::Incomplete, title);
    let diagnostic = match layer.key("speculation") {
        Some(key) => diagnostic.at(key, "the draft cannot be priced without"),
        None => showing_file(diagnostic, layer)
            .note(format!("`{}` has no `speculation`", layer.tree.place.source.name)),
    };
    found.push(if keys.method.is_none() {
        diagnostic.help("write, for instance, `method: eagle3` and `steps: 3`")
    } else if shape.topk > 1 {
        diagnostic.help("with topk above 1 give both `steps` and `draft_tokens`")
    } else {
        diagnostic
            .help("write, for instance, `steps: 3`; SGLang's usual setting is 3-1-4, vLLM's k is `steps`")
    });
}

/// The keys without which the observed numbers answer nothing.
fn missing_observations(layer: &Layer) -> Vec<&'static str> {
    let written = &layer.written;
    let (baseline, verify) = (&written.baseline, &written.speculation.verify);
    let mut missing = Vec::new();
    if baseline.observed.throughput.is_none() && baseline.observed.time.is_none() && baseline.time.is_none() {
        missing.push("baseline.observed.throughput");
    }
    // With the throughput the cycle is known, and the verify pass is then taken to be all of it.
    let cycle = written.speculation.observed.throughput.is_some();
    if verify.observed.time.is_none() && verify.time.is_none() && !cycle {
        missing.push("speculation.observed.throughput` or `speculation.verify.observed.time");
    }
    if acceptance_kinds(&written.speculation.acceptance).is_empty() {
        missing.push("speculation.acceptance");
    }
    missing
}

fn nothing_to_answer(layer: &Layer, missing: &[&str]) -> Diagnostic {
    let file = &layer.tree.place.source.name;
    let title = format!("`{file}` does not hold enough for an answer");
    let mut diagnostic = Diagnostic::error(Code::Incomplete, title);
    for key in missing {
        // The last map on the way to the missing key that the file has.
        let path = key.rsplit("` or `").next().unwrap_or(key);
        let mut above = path.match_indices('.').rev().map(|(at, _)| &path[..at]);
        let owner = above.find_map(|path| Some((path, layer.key(path)?)));
        if let Some((owner, place)) = owner {
            diagnostic = diagnostic.at(place, format!("no `{}`", &path[owner.len() + 1..]));
        }
    }
    if diagnostic.labels.is_empty() {
        diagnostic = showing_file(diagnostic, layer);
    }
    diagnostic
        .note(format!("arithmetic on what was observed needs {}", list(missing)))
        .note("a prediction needs `hardware`, `model` and the draft under `speculation`".to_owned())
        .help("begin with a copy of scenarios/observed-only.yaml")
}

fn half_a_model(layer: &Layer, given: &str, other: &str, missing: &[&str]) -> Diagnostic {
    let title = format!("`{given}` alone predicts nothing: `{other}` is missing");
    let diagnostic = Diagnostic::error(Code::Incomplete, title);
    let diagnostic = match layer.key(given) {
        Some(key) => diagnostic.at(key, format!("given, but no `{other}`")),
        None => diagnostic,
    };
    diagnostic.note(format!("without it these are needed: {}", list(missing)))
}

/// A remark where one of hardware and model is given and the observed numbers answer without it.
pub(super) fn unused_part(layer: &Layer) -> Option<String> {
    let (given, other) = match (&layer.written.hardware, &layer.written.model) {
        (Some(_), None) => ("hardware", "model"),
        (None, Some(_)) => ("model", "hardware"),
        _ => return None,
    };
    Some(format!(
        "`{given}` is not used, because `{other}` is not given: the answer is arithmetic on what was observed"
    ))
}

fn list(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}
