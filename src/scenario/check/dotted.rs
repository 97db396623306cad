//! Keys with dots, as `--set`, `--unset`, `what_if` and `sweep` name them.

use serde_json::Value;

use super::shape::{check_value, no_variable};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, similar};
use crate::scenario::keys::key_docs;
use crate::scenario::schema::{at, child, keys, schema};
use crate::scenario::tree::Node;

/// Checks a dotted key, and its value where there is one. `key` is where the key is written.
pub(in crate::scenario) fn check_dotted(
    path: &str,
    key: &Place,
    value: Option<&Node>,
    found: &mut Diagnostics,
) -> bool {
    let before = found.list.len();
    match schema_of(path, key) {
        Err(diagnostic) => found.push(*diagnostic),
        Ok(field) => {
            if let Some(value) = value {
                check_value(value, field, path, key, found);
            }
        }
    }
    found.list.len() == before
}

/// The schema of a dotted key.
fn schema_of(path: &str, key: &Place) -> Result<&'static Value, Box<Diagnostic>> {
    let first = path.split('.').next().unwrap_or("");
    if ["what_if", "sweep", "extends"].contains(&first) {
        let title = format!("`{first}` cannot be changed by an override");
        let why = match first {
            "extends" => "overrides change the scenario that its files make together",
            _ => "overrides change the scenario, not its variations",
        };
        return Err(Box::new(Diagnostic::error(Code::Override, title).at(key, why)));
    }
    at(path).ok_or_else(|| Box::new(unknown(path, key)))
}

fn unknown(path: &str, key: &Place) -> Diagnostic {
    let mut node = schema();
    let mut known = Vec::new();
    let mut wrong = "";
    for step in path.split('.') {
        wrong = step;
        match child(node, step) {
            Some(next) => {
                node = next;
                known.push(step);
            }
            None => break,
        }
    }
    if known.last() == Some(&"environment") {
        return no_variable(path.split_once("environment.").map_or("", |(_, name)| name), key);
    }
    let start: usize = known.iter().map(|step| step.len() + 1).sum();
    let marked = part(key, path, start, wrong.len());
    let owner = known.join(".");
    let title = if known.is_empty() {
        format!("unknown key `{wrong}`")
    } else {
        format!("unknown key `{wrong}` in `{owner}`")
    };
    let remark = if known.is_empty() {
        "not a key of a scenario".to_owned()
    } else {
        format!("not a key of `{owner}`")
    };
    let diagnostic = Diagnostic::error(Code::UnknownKey, title).at(&marked, remark);
    if let Some(best) = similar(wrong, keys(node)).first() {
        return diagnostic.fix(format!("a key with a similar name exists: `{best}`"), &marked, *best);
    }
    // The last step may be right, and the way to it wrong: `verify.time` for `speculation.verify.time`.
    let ending = format!(".{path}");
    let whole = key_docs().iter().find(|doc| doc.path.ends_with(&ending));
    if let Some(doc) = whole {
        let all = part(key, path, 0, path.len());
        return diagnostic.fix(format!("the whole key is `{}`", doc.path), &all, doc.path.clone());
    }
    let known: Vec<&str> = keys(node).collect();
    if known.is_empty() { diagnostic } else { diagnostic.note(format!("known keys: {}", known.join(", "))) }
}

/// The place of a part of a key that is written at `key`, perhaps in quotes.
fn part(key: &Place, path: &str, start: usize, length: usize) -> Place {
    match key.text().find(path) {
        Some(offset) => {
            let begin = key.range.start + offset + start;
            Place::new(&key.source, begin..begin + length)
        }
        None => key.clone(),
    }
}
