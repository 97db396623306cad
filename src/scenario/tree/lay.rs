//! Trees laid over trees: `extends`, `--set`, `--unset`, `what_if`.

use indexmap::IndexMap;

use super::{Content, Entry, Node};
use crate::diagnostic::Place;

/// `above` laid over `below`: maps are merged key by key, everything else is replaced, and a key whose value is
/// left empty (`draft: null`) removes the one below.
#[must_use]
pub fn lay_over(below: Node, above: Node) -> Node {
    match (below.content, above.content) {
        (Content::Map(mut map), Content::Map(over)) => {
            for (key, entry) in over {
                lay_entry(&mut map, key, entry);
            }
            Node { content: Content::Map(map), place: above.place }
        }
        (_, content) => Node { content, place: above.place },
    }
}

fn lay_entry(map: &mut IndexMap<String, Entry>, key: String, above: Entry) {
    let Some(below) = map.get_mut(&key) else {
        map.insert(key, above);
        return;
    };
    if adds_formats(&key, &above.value) {
        with_name(&mut below.value);
    }
    if above.value.content == Content::Null {
        map.shift_remove(&key);
    } else if key == EXCLUSIVE {
        *below = above;
    } else {
        let old = std::mem::replace(&mut below.value, Node::empty_map(above.key.clone()));
        *below = Entry { key: above.key, value: lay_over(old, above.value) };
    }
}

/// The map of which exactly one key may stand: a new kind of acceptance replaces the old one.
const EXCLUSIVE: &str = "acceptance";

/// Keys of which a plain name stands for a map: `model: kimi-k2.5` for `model: { preset: kimi-k2.5 }`.
const NAMED: [&str; 2] = ["model", "draft"];

/// Whether a map says how weights or KV are stored, and of which model is left to what lies below.
fn adds_formats(key: &str, value: &Node) -> bool {
    let formats = |map: &IndexMap<String, Entry>| {
        !map.is_empty() && map.keys().all(|key| key == "weights" || key == "kv")
    };
    NAMED.contains(&key) && value.map().is_some_and(formats)
}

/// The map that a plain name stands for.
fn with_name(node: &mut Node) {
    let Content::Text(name) = &node.content else { return };
    let ending = [".json", ".yaml", ".yml", ".gz"].iter().any(|ending| name.ends_with(ending));
    let key = if name.contains(['/', '\\']) || ending { "config" } else { "preset" };
    let place = node.place.clone();
    let name = std::mem::replace(node, Node::empty_map(place.clone()));
    as_map(node).insert(key.to_owned(), Entry { key: place, value: name });
}

/// Sets a dotted key, making maps on the way. `key` is where the key was written.
pub fn set(root: &mut Node, path: &str, key: &Place, value: Node) {
    let steps: Vec<&str> = path.split('.').collect();
    let Some((last, parents)) = steps.split_last() else { return };
    let mut node = root;
    for (depth, step) in parents.iter().enumerate() {
        let place = key.clone();
        let entry = as_map(node)
            .entry((*step).to_owned())
            .or_insert_with(|| Entry { key: place.clone(), value: Node::empty_map(place) });
        node = &mut entry.value;
        if NAMED.contains(step) && matches!(steps[depth + 1..], ["weights" | "kv"]) {
            with_name(node);
        }
        if *step == EXCLUSIVE {
            as_map(node).retain(|kind, _| *kind == steps[depth + 1]);
        }
    }
    as_map(node).insert((*last).to_owned(), Entry { key: key.clone(), value });
}

/// Removes a dotted key; whether it was there.
pub fn unset(root: &mut Node, path: &str) -> bool {
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut node = root;
    for step in parents.split('.').filter(|step| !step.is_empty()) {
        let Content::Map(map) = &mut node.content else { return false };
        let Some(entry) = map.get_mut(step) else { return false };
        node = &mut entry.value;
    }
    let Content::Map(map) = &mut node.content else { return false };
    map.shift_remove(last).is_some()
}

/// The entries of a node, which becomes an empty map where it is none.
fn as_map(node: &mut Node) -> &mut IndexMap<String, Entry> {
    if !matches!(node.content, Content::Map(_)) {
        node.content = Content::Map(IndexMap::new());
    }
    match &mut node.content {
        Content::Map(map) => map,
        _ => unreachable!("it was just made a map"),
    }
}
