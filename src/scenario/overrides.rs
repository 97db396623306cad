//! `--set key=value` and `--unset key`.

use indexmap::IndexMap;
use serde_json::Value;

use super::keys::key_docs;
use super::schema::at;
use super::tree::{Content, Node, parse_value};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, SourceText};

/// Overrides as they stand on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// Arguments of `--set`: `key=value`.
    pub set: Vec<String>,
    /// Arguments of `--unset`: `key`.
    pub unset: Vec<String>,
}

/// The value that a report shows for a removed key.
pub(super) const REMOVED: &str = "(removed)";

/// A dotted key and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DottedKey {
    pub path: String,
    pub place: Place,
}

/// Overrides taken apart.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    pub set: Vec<(DottedKey, Node)>,
    pub unset: Vec<DottedKey>,
}

impl Overrides {
    pub(super) fn parse(&self, found: &mut Diagnostics) -> Parsed {
        let mut set = Vec::new();
        for argument in &self.set {
            match parse_set(argument) {
                Ok(pair) => set.push(pair),
                Err(fault) => found.push(*fault),
            }
        }
        let unset = self.unset.iter().map(|argument| {
            let (source, start) = quoted("--unset", argument);
            let path = argument.trim().to_owned();
            DottedKey { path, place: Place::new(&source, start..start + argument.len()) }
        });
        Parsed { set, unset: unset.collect() }
    }
}

impl Parsed {
    /// Overrides as a report shows them.
    pub(super) fn shown(overrides: &Overrides) -> Vec<(String, String)> {
        let set = overrides.set.iter().map(|argument| {
            let (key, value) = argument.split_once('=').unwrap_or((argument, ""));
            let value = value.trim();
            let value = if matches!(value, "" | "~" | "null") { REMOVED } else { value };
            (key.trim().to_owned(), value.to_owned())
        });
        let unset = overrides.unset.iter().map(|key| (key.trim().to_owned(), REMOVED.to_owned()));
        set.chain(unset).collect()
    }
}

/// The argument as it would be typed, and where it begins in that text.
pub(super) fn quoted(option: &str, argument: &str) -> (std::sync::Arc<SourceText>, usize) {
    (SourceText::command_line(format!("{option} '{argument}'")), option.len() + 2)
}

/// One argument of `--set`.
pub(super) fn parse_set(argument: &str) -> Result<(DottedKey, Node), Box<Diagnostic>> {
    let (source, start) = quoted("--set", argument);
    let Some((key, _)) = argument.split_once('=') else {
        let place = Place::new(&source, start..start + argument.len());
        return Err(Box::new(
            Diagnostic::error(Code::Override, "`--set` takes a key, an equals sign and a value")
                .at(&place, "no `=` here")
                .help(format!("write `--set '{argument}=VALUE'`, or `--unset {argument}` to remove the key")),
        ));
    };
    let path = key.trim().to_owned();
    let key_start = start + (key.len() - key.trim_start().len());
    let place = Place::new(&source, key_start..key_start + path.len());
    let end = start + argument.len();
    let value = parse_value(&source, start + key.len() + 1..end)?;
    Ok((DottedKey { path, place }, value))
}

/// Whether a key says what was measured, so that an override of it changes the scenario itself.
pub(super) fn observed_key(path: &str) -> bool {
    path.split('.').any(|step| step == "observed")
}

/// Whether an override empties a map that may hold what was measured: `speculation.verify={}`.
pub(super) fn empties_observed(path: &str, value: &Node) -> bool {
    let begins = format!("{path}.");
    let empty = value.map().is_some_and(IndexMap::is_empty);
    empty && key_docs().iter().any(|doc| doc.path.starts_with(&begins) && observed_key(&doc.path))
}

/// A change as changes of single keys: a map with entries works like its keys with dots. Maps that stand for one choice
/// as a whole (`model`, `acceptance`) and empty maps stay whole.
pub(super) fn single(key: DottedKey, value: Node) -> Vec<(DottedKey, Node)> {
    let whole = !laid_key_by_key(&key.path);
    match value.content {
        Content::Map(map) if !whole && !map.is_empty() => {
            let inner = map.into_iter().flat_map(|(name, entry)| {
                let path = format!("{}.{name}", key.path);
                single(DottedKey { path, place: entry.key }, entry.value)
            });
            inner.collect()
        }
        _ => vec![(key, value)],
    }
}

fn laid_key_by_key(path: &str) -> bool {
    let plain = |schema: &Value| {
        let form = schema.get("$ref").is_none_or(|name| name != "#/$defs/ModelChoice");
        form && schema.get("anyOf").is_none()
    };
    !path.split('.').any(|step| step == "acceptance") && at(path).is_some_and(plain)
}
