//! All that is wrong, together.

use std::fmt;

use super::message::{Diagnostic, Severity};
use super::render::render_all;

/// Diagnostics of one attempt to read something.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnostics {
    /// In the order in which they were found, or sorted by [`Diagnostics::sorted`].
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds those of another collection.
    pub fn extend(&mut self, other: Self) {
        self.list.extend(other.list);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one of them forbids going on.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// In the order of their places: files in the order of their first fault, then lines; those without a place
    /// come first, those on the command line last. Equal ones are shown once.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        let mut names: Vec<String> = Vec::new();
        for place in self.list.iter().filter_map(Diagnostic::primary) {
            if !names.contains(&place.source.name) {
                names.push(place.source.name.clone());
            }
        }
        self.list.sort_by_key(|diagnostic| {
            diagnostic.primary().map(|place| {
                let file = names.iter().position(|name| *name == place.source.name);
                (place.source.kind, file, place.range.start)
            })
        });
        let mut kept: Vec<Diagnostic> = Vec::with_capacity(self.list.len());
        for diagnostic in self.list {
            // Equal ones have equal places, so they stand close together.
            if !kept.iter().rev().take(16).any(|other| *other == diagnostic) {
                kept.push(diagnostic);
            }
        }
        Self { list: kept }
    }

    /// `Ok` where nothing is wrong, else the sorted collection.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.has_errors() { Err(self.sorted()) } else { Ok(value) }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { list: vec![diagnostic] }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render_all(self, false))
    }
}

impl std::error::Error for Diagnostics {}
