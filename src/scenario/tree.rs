//! A scenario file as a tree whose every key and value knows its place.
//!
//! The tree is what `extends`, `--set` and `what_if` work on: a value laid over another keeps the place where it
//! was written, so that an error always points to the line that caused it.

mod json;
mod lay;
mod parse;
mod read;
mod tag;

use indexmap::IndexMap;

use crate::diagnostic::Place;

pub use lay::{lay_over, set, unset};
pub use parse::{parse, parse_named, parse_value};
pub use read::{MOST_BYTES, STDIN, read_text, read_text_within};

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub content: Content,
    /// Where it is written; for a list or map where it begins.
    pub place: Place,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// Text, quoted or not.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(IndexMap<String, Entry>),
}

/// A key of a map with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where the key is written.
    pub key: Place,
    /// The value.
    pub value: Node,
}

impl Node {
    /// An empty map at a place.
    pub fn empty_map(place: Place) -> Self {
        Self { content: Content::Map(IndexMap::new()), place }
    }

    /// The entries, where it is a map.
    pub fn map(&self) -> Option<&IndexMap<String, Entry>> {
        match &self.content {
            Content::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entry at a dotted key such as `speculation.verify.time`. Items of lists are numbers from 0.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
        self.at(parent)?.map()?.get(last)
    }

    /// The value at a dotted key; the empty key is the node itself.
    pub fn at(&self, path: &str) -> Option<&Self> {
        if path.is_empty() {
            return Some(self);
        }
        path.split('.').try_fold(self, |node, step| match &node.content {
            Content::Map(map) => map.get(step).map(|entry| &entry.value),
            Content::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// What it is, for messages: `a list`.
    pub fn noun(&self) -> &'static str {
        match &self.content {
            Content::Null => "nothing",
            Content::Bool(_) => "true or false",
            Content::Number(_) => "a number",
            Content::Text(_) => "text",
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
        }
    }
}
