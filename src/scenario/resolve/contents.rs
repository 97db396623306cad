//! What stands in the files that a scenario names, so that two runs can tell whether they read the same.

use std::fs;
use std::path::{Path, PathBuf};

use super::names::relative_to;
use crate::calibration::read_side_file;
use crate::diagnostic::SourceText;
use crate::scenario::tree::{Content, MOST_BYTES, Node, parse};

/// Files that name files that name files.
const DEEPEST: usize = 4;
/// A longer text is no path.
const LONGEST: usize = 1024;

/// Hands on the bytes of every file that a text within `node` names, and of those that YAML files among them name (the tables
/// of a calibration). A text counts wherever it stands: a file too many makes two runs differ, one too few makes them mix.
pub(super) fn add_contents(node: &Node, add: &mut dyn FnMut(&[u8])) {
    walk(node, &mut Vec::new(), add);
}

fn walk(node: &Node, above: &mut Vec<PathBuf>, add: &mut dyn FnMut(&[u8])) {
    match &node.content {
        Content::Map(map) => map.values().for_each(|entry| walk(&entry.value, above, add)),
        Content::List(items) => items.iter().for_each(|item| walk(item, above, add)),
        Content::Text(text) if text.len() < LONGEST && !text.contains('\n') => {
            let path = relative_to(Some(&node.place), text);
            if fs::metadata(&path).is_ok_and(|facts| facts.is_file()) && !above.contains(&path) {
                add_file(path, above, add);
            }
        }
        _ => {}
    }
}

fn add_file(path: PathBuf, above: &mut Vec<PathBuf>, add: &mut dyn FnMut(&[u8])) {
    let Ok(bytes) = read_side_file(&path) else { return };
    add(&bytes);
    if above.len() < DEEPEST
        && bytes.len() as u64 <= MOST_BYTES
        && is_yaml(&path)
        && let Ok(text) = String::from_utf8(bytes)
        && let Ok(tree) = parse(&SourceText::file(path.display().to_string(), text))
    {
        above.push(path);
        walk(&tree, above, add);
        above.pop();
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}
