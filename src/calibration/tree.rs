//! A calibration file as a tree whose keys and values know their place, so that every fault can be said with line
//! and column. Budgets stop alias bombs and deep nesting.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_yaml::{DuplicateKeyPolicy, Error, Location, NonFiniteFloatPolicy, Options, Spanned};

use super::error::{CalibrationError, Place};

/// Nesting that no calibration needs.
const MOST_DEPTH: usize = 16;
/// Keys and values that no calibration needs; a table is one value.
const MOST_NODES: usize = 20_000;
/// Text that no calibration needs: large tables go into files beside it.
const MOST_BYTES: usize = 16 << 20;

/// A value with its place.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    pub(super) place: Place,
    /// The line of its first line, where it is a block after a `|`.
    pub(super) block: Option<usize>,
}

#[derive(Debug)]
pub(super) enum Content {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) value: Node,
}

impl Content {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(flag) => format!("`{flag}`"),
            Self::Number(text) => format!("`{}`", shown(text)),
            Self::Text(text) => format!("the text `{}`", shown(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a map of keys".to_owned(),
        }
    }
}

/// A text as messages show it: its first line's beginning.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    let start: String = line.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if start.len() == text.trim_end().len() { start } else { format!("{start}...") }
}

/// The tree of a file.
pub(super) fn parse(text: &str) -> Result<Node, CalibrationError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > MOST_BYTES {
        return Err(CalibrationError::file(
            "the file is larger than 16 MiB; put tables into files beside it",
        ));
    }
    if text.contains('\0') {
        return Err(CalibrationError::file("the file holds NUL bytes: it is no text"));
    }
    let content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if !text.lines().any(content) {
        return Err(CalibrationError::file("the file is empty"));
    }
    let raw: Spanned<Raw> = serde_yaml::from_str_with_options(text, options()).map_err(|e| explained(&e))?;
    node(raw, text)
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
            max_total_scalar_bytes: MOST_BYTES,
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
    Number(f64),
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

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Number(value))
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

fn node(raw: Spanned<Raw>, text: &str) -> Result<Node, CalibrationError> {
    let place = place(raw.referenced);
    let block = match &raw.value {
        Raw::Text(value) => block(raw.defined, text, value),
        _ => None,
    };
    let content = match raw.value {
        Raw::Null => Content::Null,
        Raw::Bool(flag) => Content::Bool(flag),
        Raw::Number(number) => {
            Content::Number(written(raw.defined, text).unwrap_or_else(|| number.to_string()))
        }
        Raw::Text(text) => Content::Text(text),
        Raw::List(items) => {
            Content::List(items.into_iter().map(|item| node(item, text)).collect::<Result<_, _>>()?)
        }
        Raw::Map(entries) => Content::Map(map(entries, text)?),
    };
    Ok(Node { content, place, block })
}

fn map(entries: Vec<(Spanned<String>, Spanned<Raw>)>, text: &str) -> Result<Vec<Entry>, CalibrationError> {
    let mut map: Vec<Entry> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let place = place(key.referenced);
        if let Some(first) = map.iter().find(|entry| entry.key == key.value) {
            let message =
                format!("the key `{}` stands twice, first in line {}", shown(&key.value), first.place.line);
            return Err(CalibrationError::at(place, message));
        }
        map.push(Entry { key: key.value, place, value: node(value, text)? });
    }
    Ok(map)
}

fn place(location: Location) -> Place {
    Place { line: location.line() as usize, column: location.column() as usize }
}

/// The line of the first line of a text that stands as a block after a `|`, so that lines of the text are lines of
/// the file. The parser's place of a block is its first line that is not empty.
fn block(location: Location, text: &str, value: &str) -> Option<usize> {
    let start = location.span().byte_offset()? as usize;
    let mut before = text.get(..start)?.lines().rev();
    before.next()?; // What stands before it in its own line: the indentation.
    let opening = before.find(|line| !line.trim().is_empty())?;
    let opening = opening.split(" #").next()?.split_whitespace().next_back()?;
    let literal = opening.strip_prefix('|')?.chars().all(|c| matches!(c, '+' | '-' | '0'..='9'));
    let empty = value.chars().take_while(|c| *c == '\n').count();
    literal.then(|| (location.line() as usize).saturating_sub(empty))
}

/// A number as the file has it: `2.30` is another version than `2.3`.
fn written(location: Location, text: &str) -> Option<String> {
    let span = location.span();
    let start = span.byte_offset()? as usize;
    let end = start.checked_add(span.byte_len()? as usize)?;
    let written = text.get(start..end)?.trim();
    (!written.is_empty()).then(|| written.to_owned())
}

/// A parser error in words that know nothing of the parser.
fn explained(mut error: &Error) -> CalibrationError {
    while let Error::AliasError { error: inner, .. } = error {
        error = inner;
    }
    let place = error.location().filter(|location| *location != Location::UNKNOWN).map(place);
    let message = match error {
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => format!(
            "the file grows beyond {MOST_DEPTH} levels or {MOST_NODES} keys and values, aliases counted as often as \
             they are used"
        ),
        Error::MultipleDocuments { .. } => {
            "a file holds one calibration, and here a second one begins".to_owned()
        }
        Error::Eof { .. } => "the file ends in the middle of a value".to_owned(),
        Error::UnknownAnchor { .. } => "the alias names an anchor that does not exist".to_owned(),
        other => {
            let text = other.render_with_formatter(&serde_yaml::UserMessageFormatter);
            let plain = text.lines().next().unwrap_or_default();
            let plain = plain.split(" at line ").next().unwrap_or(plain).trim();
            if plain.to_lowercase().contains("nesting") || plain.contains("recursion") {
                format!("the file is nested deeper than {MOST_DEPTH} levels")
            } else if plain.contains("expected string scalar") {
                "a key must be a text".to_owned()
            } else {
                format!("not valid YAML: {plain}")
            }
        }
    };
    match place {
        Some(place) => CalibrationError::at(place, message),
        None => CalibrationError::file(message),
    }
}
