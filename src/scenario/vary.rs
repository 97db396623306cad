//! Variations of a scenario: what was observed is dropped, then keys are changed.

use indexmap::IndexMap;

use super::check::check_dotted;
use super::layer::Layer;
use super::load::Variation;
use super::overrides::{DottedKey, REMOVED, observed_key, single};
use super::tree::{Content, Entry, Node, set, unset};
use super::written::MOST_WHAT_IFS;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// A tree without what was observed and with keys changed. Keys that follow from a changed one, and are not changed
/// themselves, are dropped so that they follow again; what is dropped is said in the second part.
pub(super) fn varied(tree: &Node, changes: &[(DottedKey, Node)]) -> (Node, Vec<String>) {
    let mut tree = tree.clone();
    let mut dropped = Vec::new();
    for owner in ["baseline", "speculation", "speculation.draft_pass", "speculation.verify"] {
        unset(&mut tree, &format!("{owner}.observed"));
    }
    let changed = |path: &str| changes.iter().any(|(key, _)| key.path == path);
    for (key, value) in changes {
        if value.content == Content::Null {
            unset(&mut tree, &key.path);
        } else {
            dropped.extend(replaced_law(&tree, &key.path));
            set(&mut tree, &key.path, &key.place, value.clone());
        }
    }
    let word = |tree: &Node, path: &str| tree.at(path).and_then(Node::text).map(str::to_owned);
    let chain = tree.at("speculation.topk").and_then(Node::number).is_none_or(|topk| topk <= 1.0);
    let weightless = matches!(word(&tree, "speculation.method").as_deref(), Some("ngram" | "mtp"));
    let mut drop = |path: &str, why: String| {
        let old = tree.at(path).map(as_written);
        if let Some(old) = old.filter(|_| unset(&mut tree, path)) {
            dropped.push(format!("`{path}: {old}` is dropped: {why}"));
        }
    };
    for (one, other) in [("steps", "draft_tokens"), ("draft_tokens", "steps")] {
        let (one, other) = (format!("speculation.{one}"), format!("speculation.{other}"));
        if chain && changed(&one) && !changed(&other) {
            drop(&other, format!("it follows from `{one}`"));
        }
    }
    if weightless && changed("speculation.method") && !changed("speculation.draft") {
        drop("speculation.draft", "the new method has no draft of its own".to_owned());
    }
    if changed("hardware") && !changed("calibration") {
        drop("calibration", "it belongs to the old `hardware`".to_owned());
    }
    (tree, dropped)
}

/// The acceptance that a new kind of it replaces, since a scenario describes one.
fn replaced_law(tree: &Node, path: &str) -> Option<String> {
    let kind = path.strip_prefix("speculation.acceptance.")?.split('.').next()?;
    let laws = tree.at("speculation.acceptance")?.map()?;
    let (old, entry) =
        laws.iter().find(|(law, entry)| *law != kind && entry.value.content != Content::Null)?;
    Some(format!("`{path}` replaces `{old}: {}`: one kind of acceptance is used", as_written(&entry.value)))
}

/// The variations that a scenario lists, each laid over `under`.
pub(super) fn what_ifs(base: &Layer, under: &Layer, found: &mut Diagnostics) -> Vec<Variation> {
    let Some(Content::List(items)) = base.tree.at("what_if").map(|node| &node.content) else {
        return Vec::new();
    };
    // What a variation says nothing about is not copied with each.
    let mut bare = under.tree.clone();
    for key in ["what_if", "sweep", "simulation"] {
        unset(&mut bare, key);
    }
    // More than these are a fault that the check of the tree reports.
    items.iter().take(MOST_WHAT_IFS).filter_map(|item| what_if(item, base, &bare, found)).collect()
}

fn what_if(item: &Node, base: &Layer, under: &Node, found: &mut Diagnostics) -> Option<Variation> {
    // The check of the tree has reported items and names of the wrong kind.
    let map = item.map()?;
    if let Some(name) = map.get("name")
        && name.value.text().is_some_and(|text| text.trim().is_empty())
    {
        let fault = Diagnostic::error(Code::OutOfRange, "a what-if with an empty name");
        found.push(
            fault
                .at(&name.value.place, "")
                .help("name it, or leave `name` out: it is then called by its keys"),
        );
    }
    let keys = set_by(item, found)?;
    let mut changes = Vec::new();
    let mut right = true;
    for (path, Entry { key, value }) in keys {
        let written = DottedKey { path: path.clone(), place: key.clone() };
        if path == "name" {
            let fault = Diagnostic::error(Code::Override, "a what-if that sets `name` changes no answer");
            found.push(fault.at(key, "a title").help("a what-if is named by `name` beside `set`"));
            right = false;
            continue;
        }
        if observed_key(path) {
            found.push(observed_in_what_if(&written));
            right = false;
            continue;
        }
        let wanted = Some(value).filter(|value| value.content != Content::Null);
        if !check_dotted(path, key, wanted, found) {
            right = false;
            continue;
        }
        for (key, value) in single(written, value.clone()) {
            if observed_key(&key.path) {
                found.push(observed_in_what_if(&key));
                right = false;
            }
            changes.push((key, value));
        }
    }
    if !right {
        return None;
    }
    let shown: Vec<(String, String)> =
        changes.iter().map(|(key, value)| (key.path.clone(), as_written(value))).collect();
    let name = item.at("name").and_then(Node::text).map(str::to_owned);
    let name = name.unwrap_or_else(|| {
        shown.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
    });
    let layer = Layer::read_variation(varied(under, &changes).0, base, found);
    let changes = changes.into_iter().map(|(key, _)| key).collect();
    Some(Variation { name, set: shown, changes, layer })
}

/// The keys that a what-if sets; that it sets none is a fault.
fn set_by<'i>(item: &'i Node, found: &mut Diagnostics) -> Option<&'i IndexMap<String, Entry>> {
    let entry = item.entry("set");
    let keys = match entry.map(|entry| &entry.value.content) {
        Some(Content::Map(keys)) => Some(keys),
        Some(Content::Null) | None => None,
        // The check of the tree has reported another kind.
        Some(_) => return None,
    };
    let keys = keys.filter(|keys| !keys.is_empty());
    if keys.is_none() {
        let fault = Diagnostic::error(Code::Incomplete, "a what-if that sets nothing");
        let first = item.map().and_then(|map| map.values().next()).map_or(&item.place, |entry| &entry.key);
        let fault = match entry {
            Some(entry) => fault.at(&entry.key, "no keys here"),
            None => fault.at(first, "no `set` here"),
        };
        found.push(fault.help("write, for instance, `set: { speculation.verify.time: 15 ms }`"));
    }
    keys
}

fn observed_in_what_if(key: &DottedKey) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::Override, "a what-if cannot change what was observed")
        .at(&key.place, "says what was measured");
    let supposed = key.path.replace(".observed.", ".");
    // Where the key stands alone, with its dots.
    let whole = key.place.text().contains(&key.path);
    if super::schema::at(&supposed).is_some() && whole {
        return diagnostic.fix(format!("to suppose a value, set `{supposed}`"), &key.place, supposed);
    }
    diagnostic.help("correct it in the scenario, or on the command line with `--set`")
}

/// A value as its author wrote it.
fn as_written(value: &Node) -> String {
    match &value.content {
        Content::Text(text) | Content::Number(text) => text.clone(),
        Content::Null => REMOVED.to_owned(),
        _ => value.to_json().to_string(),
    }
}
