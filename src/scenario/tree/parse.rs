//! YAML into the tree.
//!
//! serde-saphyr reads the text under a budget that stops alias bombs and deep nesting, and hands out the byte
//! range of every key and value.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_yaml::{DuplicateKeyPolicy, Error, Location, NonFiniteFloatPolicy, Options, Spanned};

use super::read::is_blank;
use super::{Content, Entry, Node};
use crate::diagnostic::{Code, Diagnostic, Place, SourceText};

/// Nesting that no scenario needs.
const MOST_DEPTH: usize = 32;
/// Keys and values that no scenario needs.
const MOST_NODES: usize = 20_000;

/// The tree of a scenario file. A file without content is an error.
///
/// # Errors
/// Syntax, a key twice in one map, or limits exceeded.
pub fn parse(source: &Arc<SourceText>) -> Result<Node, Box<Diagnostic>> {
    if is_blank(source) {
        let example = "write at least `baseline`, `speculation` and what was observed; see scenarios/observed-only.yaml";
        return Err(Box::new(empty(source).help(example)));
    }
    parse_value(source, 0..source.text.len())
}

/// The tree of a file that a scenario names at a place. A file without content is an error there.
///
/// # Errors
/// As [`parse`].
pub fn parse_named(source: &Arc<SourceText>, named_at: Option<&Place>) -> Result<Node, Box<Diagnostic>> {
    if is_blank(source) {
        return Err(Box::new(match named_at {
            Some(place) => empty(source).at(place, "named here"),
            None => empty(source),
        }));
    }
    parse_value(source, 0..source.text.len()).map_err(|fault| match named_at {
        Some(place) => Box::new(fault.beside(place, "the file is named here")),
        None => fault,
    })
}

fn empty(source: &SourceText) -> Diagnostic {
    Diagnostic::error(Code::Unreadable, format!("`{}` is empty", source.name))
}

/// The tree of one YAML value that fills a range of a text, such as the value of `--set key=value`.
///
/// # Errors
/// As [`parse`].
pub fn parse_value(source: &Arc<SourceText>, range: Range<usize>) -> Result<Node, Box<Diagnostic>> {
    let start = range.start;
    let raw: Spanned<Raw> = serde_yaml::from_str_with_options(&source.text[range], options())
        .map_err(|error| Box::new(explained(&error, source, start)))?;
    let mut reader = Reader { source, start, duplicate: None, tag: None };
    let node = reader.node(raw);
    match reader.tag.or(reader.duplicate) {
        Some(fault) => Err(fault),
        None => Ok(node),
    }
}

fn options() -> Options {
    serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: MOST_DEPTH,
            flow_nesting_limit: MOST_DEPTH,
            max_nodes: MOST_NODES,
            max_events: 4 * MOST_NODES,
            max_aliases: 200,
            max_anchors: 200,
            max_documents: 2,
        },
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: MOST_NODES,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        emit_comments: false,
    }
}

/// A value as the parser delivers it.
enum Raw {
    Null,
    Bool(bool),
    Number,
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

/// Turns raw values into nodes.
struct Reader<'a> {
    source: &'a Arc<SourceText>,
    start: usize,
    /// The first key found twice.
    duplicate: Option<Box<Diagnostic>>,
    /// The first tag that means nothing here.
    tag: Option<Box<Diagnostic>>,
}

impl Reader<'_> {
    fn node(&mut self, raw: Spanned<Raw>) -> Node {
        let mut place = place_of(raw.referenced, self.source, self.start);
        self.look_for_tag(&place);
        let content = match raw.value {
            Raw::Null => Content::Null,
            Raw::Bool(value) => Content::Bool(value),
            // The digits as written: where an alias stands for them, those of the anchor.
            Raw::Number => {
                let written = place_of(raw.defined, self.source, self.start);
                Content::Number(written.text().trim().to_owned())
            }
            Raw::Text(text) => Content::Text(text),
            Raw::List(items) => {
                place.range.end = place.range.start + place.text().len().min(1);
                Content::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            Raw::Map(entries) => Content::Map(self.entries(entries)),
        };
        Node { content, place }
    }

    fn entries(&mut self, entries: Vec<(Spanned<String>, Spanned<Raw>)>) -> IndexMap<String, Entry> {
        let mut map: IndexMap<String, Entry> = IndexMap::with_capacity(entries.len());
        for (key, value) in entries {
            let place = place_of(key.referenced, self.source, self.start);
            self.look_for_tag(&place);
            if let (Some(first), None) = (map.get(&key.value), &self.duplicate) {
                self.duplicate = Some(Box::new(twice(&key.value, &first.key, &place)));
            }
            let value = self.node(value);
            map.insert(key.value, Entry { key: place, value });
        }
        map
    }
}

impl Reader<'_> {
    /// Keeps the tag of a node, unless it is one of YAML's own.
    fn look_for_tag(&mut self, place: &Place) {
        if self.tag.is_some() {
            return;
        }
        let Some(tag) = super::tag::tag_of(place, self.start) else { return };
        self.tag = Some(Box::new(
            Diagnostic::error(
                Code::Syntax,
                format!("the tag `{}` means nothing here", shortened(tag.text())),
            )
            .at(&tag, "values have no types of their own")
            .help("leave the tag out, or put the value in quotes if it is text"),
        ));
    }
}

/// The beginning of a long text.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

fn twice(key: &str, first: &Place, second: &Place) -> Diagnostic {
    Diagnostic::error(Code::DuplicateKey, format!("the key `{key}` stands twice in one map"))
        .at(second, "the second one")
        .beside(first, "the first one")
        .help("remove one of the two")
}

fn place_of(location: Location, source: &Arc<SourceText>, start: usize) -> Place {
    let span = location.span();
    let begin = match span.byte_offset() {
        Some(offset) => start + offset as usize,
        None => start + byte_of(&source.text[start..], location.line(), location.column()),
    };
    Place::new(source, begin..begin + span.byte_len().unwrap_or(0) as usize)
}

/// The byte at a line and a column, both counted from 1.
fn byte_of(text: &str, line: u64, column: u64) -> usize {
    let (mut start, mut rest) = (0, text);
    for _ in 1..line {
        let Some(end) = rest.find('\n') else { break };
        start += end + 1;
        rest = &text[start..];
    }
    let line = rest.lines().next().unwrap_or("");
    let width: usize = line.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    start + width
}

/// A parser error in the words of a scenario.
fn explained(mut error: &Error, source: &Arc<SourceText>, start: usize) -> Diagnostic {
    while let Error::AliasError { error: inner, .. } = error {
        error = inner;
    }
    let place = error
        .location()
        .filter(|location| *location != Location::UNKNOWN)
        .map(|location| at_least_one_character(place_of(location, source, start)));
    let at = |diagnostic: Diagnostic, text: &str| match &place {
        Some(place) => diagnostic.at(place, text),
        None => diagnostic,
    };
    match error {
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => at(
            Diagnostic::error(Code::TooLarge, format!("`{}` grows beyond what such a file can be", source.name)),
            "the limit is reached here",
        )
        .note(format!(
            "at most {MOST_DEPTH} levels and {MOST_NODES} keys and values are read, aliases counted as often as they are used"
        )),
        Error::MultipleDocuments { .. } => at(
            Diagnostic::error(Code::Syntax, "a file holds one document, and here a second one begins"),
            "second document",
        ),
        Error::Eof { .. } => at(Diagnostic::error(Code::Syntax, "the file ends in the middle of a value"), ""),
        Error::UnknownAnchor { .. } => {
            at(Diagnostic::error(Code::Syntax, "the alias names an anchor that does not exist"), "no such anchor")
        }
        other => {
            let text = other.render_with_formatter(&serde_yaml::UserMessageFormatter);
            let plain = text.split(" at line ").next().unwrap_or(&text).trim().to_owned();
            if plain.to_lowercase().contains("nesting") || plain.contains("recursion") {
                return at(
                    Diagnostic::error(Code::TooLarge, format!("`{}` is nested too deeply", source.name)),
                    "the limit is reached here",
                )
                .note(format!("at most {MOST_DEPTH} levels are read"));
            }
            at(Diagnostic::error(Code::Syntax, format!("not valid YAML: {plain}")), "here or just before")
        }
    }
}

/// An empty place widened by one character, so that there is something to mark.
fn at_least_one_character(place: Place) -> Place {
    if !place.range.is_empty() {
        return place;
    }
    let rest = &place.source.text[place.range.start..];
    let width = rest.chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    Place::new(&place.source, place.range.start..place.range.start + width)
}
