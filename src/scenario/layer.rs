//! A tree together with what it says: the scenario itself, or one variation of it.

use serde_json::Value;

use super::check::{check_shape, check_values};
use super::tree::Node;
use super::written::Written;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place};

/// A tree and its typed form.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The tree, for places.
    pub tree: Node,
    /// The values.
    pub written: Written,
}

impl Layer {
    /// Checks a tree and reads it; what is wrong is added to `found`, and the rest is read nevertheless, so that
    /// all faults of a file are found at once.
    pub(super) fn read(tree: Node, found: &mut Diagnostics) -> Self {
        let layer = Self::typed(tree, found);
        check_values(&layer, true, found);
        layer
    }

    /// The same for a variation of `base`.
    pub(super) fn read_variation(tree: Node, base: &Self, found: &mut Diagnostics) -> Self {
        let layer = Self::typed(tree, found);
        let same = layer.written.speculation.acceptance == base.written.speculation.acceptance;
        check_values(&layer, !same, found);
        layer
    }

    /// The same without a look at whether the values go together.
    pub(super) fn typed(tree: Node, found: &mut Diagnostics) -> Self {
        let mut shape = Diagnostics::default();
        let json = check_shape(&tree, &mut shape);
        let written = read_value(json).unwrap_or_else(|error| {
            if shape.is_empty() {
                let title = format!("the scenario cannot be read: {error}");
                shape.push(Diagnostic::error(Code::WrongType, title));
            }
            Written::default()
        });
        found.extend(shape);
        Self { tree, written }
    }

    /// Where the value of a dotted key is written.
    pub(super) fn place(&self, path: &str) -> Option<&Place> {
        self.tree.at(path).map(|node| &node.place)
    }

    /// Where a dotted key itself is written.
    pub(super) fn key(&self, path: &str) -> Option<&Place> {
        self.tree.entry(path).map(|entry| &entry.key)
    }

    /// The error with the value of a key marked, where the key is written.
    pub(super) fn at(&self, diagnostic: Diagnostic, path: &str, text: &str) -> Diagnostic {
        match self.place(path) {
            Some(place) => diagnostic.at(place, text),
            None => diagnostic,
        }
    }

    /// The error with the value of a key marked as an explanation, where the key is written.
    pub(super) fn beside(&self, diagnostic: Diagnostic, path: &str, text: &str) -> Diagnostic {
        match self.place(path) {
            Some(place) => diagnostic.beside(place, text),
            None => diagnostic,
        }
    }
}

fn read_value(json: Value) -> Result<Written, serde_json::Error> {
    serde_json::from_value(json)
}
