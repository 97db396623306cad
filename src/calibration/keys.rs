//! Typed access to the keys of a calibration file, with errors that say line, column and what the key takes.

use std::ops::RangeInclusive;

use super::error::{CalibrationError, Place};
use super::tree::{Content, Entry, Node, shown};
use super::words::Word;
use crate::diagnostic::closest;

type Result<T> = std::result::Result<T, CalibrationError>;

/// The keys of one map.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    /// Its name in messages; empty for the file itself.
    name: &'static str,
    entries: &'a [Entry],
    /// Where it stands.
    pub(super) place: Place,
}

impl<'a> Keys<'a> {
    /// The keys of a node, none of them other than `known`.
    pub(super) fn of(name: &'static str, node: &'a Node, known: &[&str]) -> Result<Self> {
        let entries = match &node.content {
            Content::Map(entries) => entries,
            other => {
                let whole = if name.is_empty() { "a calibration".to_owned() } else { format!("`{name}`") };
                let message = format!("{whole} takes the keys {}, not {}", known.join(", "), other.kind());
                return Err(CalibrationError::at(node.place, message));
            }
        };
        if let Some(unknown) = entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            let hint = closest(&unknown.key, known.iter().copied()).map_or_else(
                || format!("known: {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let inside = if name.is_empty() { String::new() } else { format!(" in `{name}`") };
            let message = format!("unknown key `{}`{inside}; {hint}", shown(&unknown.key));
            return Err(CalibrationError::at(unknown.place, message));
        }
        Ok(Self { name, entries, place: node.place })
    }

    /// The value of a key; null counts as absent.
    pub(super) fn get(self, key: &str) -> Option<&'a Node> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        (!matches!(entry.value.content, Content::Null)).then_some(&entry.value)
    }

    /// A key that must be there.
    pub(super) fn needed(self, key: &str, takes: &str) -> Result<&'a Node> {
        self.get(key).ok_or_else(|| {
            let inside = if self.name.is_empty() { String::new() } else { format!(" in `{}`", self.name) };
            CalibrationError::at(self.place, format!("the key `{key}` is missing{inside}; it takes {takes}"))
        })
    }

    /// A text that must be there; a number counts as the text that it is.
    pub(super) fn text(self, key: &str, takes: &str) -> Result<&'a str> {
        let text = text_of(self.needed(key, takes)?, key, takes)?;
        if text.trim().is_empty() {
            let place = self.needed(key, takes)?.place;
            return Err(CalibrationError::at(place, format!("`{key}` is empty; it takes {takes}")));
        }
        Ok(text)
    }

    /// A text, or the empty one.
    pub(super) fn text_or_none(self, key: &str) -> Result<String> {
        let text = self.get(key).map(|node| text_of(node, key, "a text")).transpose()?;
        Ok(text.unwrap_or_default().to_owned())
    }

    /// A word that must be there.
    pub(super) fn word<T: Word>(self, key: &str) -> Result<T> {
        word_of(self.needed(key, T::EXPECTED)?, key)
    }

    /// A word, or nothing.
    pub(super) fn word_or_none<T: Word>(self, key: &str) -> Result<Option<T>> {
        self.get(key).map(|node| word_of(node, key)).transpose()
    }

    /// A number that must be there.
    pub(super) fn number(self, key: &str, range: RangeInclusive<f64>) -> Result<f64> {
        number_of(self.needed(key, &between(&range))?, key, &range)
    }

    /// A number, or nothing.
    pub(super) fn number_or_none(self, key: &str, range: RangeInclusive<f64>) -> Result<Option<f64>> {
        self.get(key).map(|node| number_of(node, key, &range)).transpose()
    }

    /// A whole number that must be there.
    pub(super) fn whole(self, key: &str, range: RangeInclusive<u32>) -> Result<u32> {
        let takes = format!("a whole number from {} to {}", range.start(), range.end());
        let node = self.needed(key, &takes)?;
        let number = match &node.content {
            Content::Number(text) => text.replace('_', "").parse().ok().filter(|n| range.contains(n)),
            _ => None,
        };
        number.ok_or_else(|| wrong(node, key, &takes))
    }

    /// A list; nothing is an empty one.
    pub(super) fn list(self, key: &str, takes: &str) -> Result<&'a [Node]> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Node { content: Content::List(items), .. }) => Ok(items),
            Some(other) => Err(wrong(other, key, takes)),
        }
    }

    /// Every entry of a map with free keys; nothing is an empty one.
    pub(super) fn free(self, key: &str, takes: &str) -> Result<&'a [Entry]> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Node { content: Content::Map(entries), .. }) => Ok(entries),
            Some(other) => Err(wrong(other, key, takes)),
        }
    }
}

/// A value that a key does not take.
pub(super) fn wrong(node: &Node, key: &str, takes: &str) -> CalibrationError {
    CalibrationError::at(node.place, format!("`{key}` takes {takes}, not {}", node.content.kind()))
}

/// A text; a number counts as the text that it is.
pub(super) fn text_of<'a>(node: &'a Node, key: &str, takes: &str) -> Result<&'a str> {
    match &node.content {
        Content::Text(text) | Content::Number(text) => Ok(text),
        _ => Err(wrong(node, key, takes)),
    }
}

/// A number within a range.
pub(super) fn number_of(node: &Node, key: &str, range: &RangeInclusive<f64>) -> Result<f64> {
    let number = match &node.content {
        Content::Number(text) => text.replace('_', "").parse().ok().filter(|n| range.contains(n)),
        _ => None,
    };
    number.ok_or_else(|| wrong(node, key, &between(range)))
}

fn between(range: &RangeInclusive<f64>) -> String {
    let end = |n: f64| {
        if n.abs() >= 1e6 || (n != 0.0 && n.abs() < 1e-2) { format!("{n:e}") } else { n.to_string() }
    };
    format!("a number from {} to {}", end(*range.start()), end(*range.end()))
}

fn word_of<T: Word>(node: &Node, key: &str) -> Result<T> {
    let Content::Text(word) = &node.content else { return Err(wrong(node, key, T::EXPECTED)) };
    T::from_word(word).ok_or_else(|| {
        let near = closest(word, T::WORDS.iter().map(|(word, _)| *word));
        let hint = near
            .map_or_else(|| format!("it takes {}", T::EXPECTED), |near| format!("did you mean `{near}`?"));
        CalibrationError::at(node.place, format!("`{key}` cannot be `{}`; {hint}", shown(word)))
    })
}
