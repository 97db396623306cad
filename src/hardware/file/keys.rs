//! Typed access to the keys of a box file, with errors that name the way to the key.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::error::HardwareError;
use crate::diagnostic;
use crate::units::ParseUnitError;

/// The keys of one map of the file.
pub(super) struct Keys<'a> {
    /// The way to it; empty for the file itself.
    place: String,
    map: &'a Map<String, Value>,
}

impl<'a> Keys<'a> {
    /// The keys of a value, none of them other than `known`. `takes` says what should stand there if it is no map.
    pub(super) fn of(
        place: String,
        value: &'a Value,
        known: &[&str],
        takes: &'static str,
    ) -> Result<Self, HardwareError> {
        let Some(map) = value.as_object() else {
            return Err(wrong(place, takes, value));
        };
        let keys = Self { place, map };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(unknown) => Err(HardwareError::UnknownKey {
                key: keys.path(unknown),
                closest: diagnostic::closest(unknown, known.iter().copied()).map(str::to_owned),
                known: known.join(", "),
            }),
            None => Ok(keys),
        }
    }

    /// The way to a key.
    pub(super) fn path(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }

    /// The value of a key; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// The keys that are there.
    pub(super) fn there<'k>(&self, among: &[&'k str]) -> Option<&'k str> {
        among.iter().copied().find(|key| self.get(key).is_some())
    }

    /// A key that must be there.
    pub(super) fn needed(&self, key: &str, takes: &'static str) -> Result<&'a Value, HardwareError> {
        self.get(key).ok_or_else(|| HardwareError::Missing { key: self.path(key), takes })
    }

    /// A whole number.
    pub(super) fn whole(&self, key: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, HardwareError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number =
            value.as_number().ok_or_else(|| wrong(self.path(key), "a whole number", value))?.to_string();
        let whole = value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| range.contains(n));
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        whole.map(Some).ok_or_else(|| HardwareError::Range {
            key: self.path(key),
            found: number,
            expected: expected(),
        })
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, HardwareError> {
        self.typed(key, "`true` or `false`", Value::as_bool)
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, HardwareError> {
        self.typed(key, "a text", Value::as_str)
    }

    /// A list.
    pub(super) fn list(&self, key: &str, takes: &'static str) -> Result<Option<&'a [Value]>, HardwareError> {
        self.typed(key, takes, |value| value.as_array().map(Vec::as_slice))
    }

    fn typed<T>(
        &self,
        key: &str,
        takes: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, HardwareError> {
        let read = |value| read(value).ok_or_else(|| wrong(self.path(key), takes, value));
        self.get(key).map(read).transpose()
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, HardwareError> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == word) {
            return Ok(Some(*value));
        }
        let known = || words.iter().map(|(name, _)| *name);
        Err(HardwareError::UnknownWord {
            key: self.path(key),
            word: shown(word),
            closest: diagnostic::closest(word, known()).map(str::to_owned),
            known: known().collect::<Vec<_>>().join(", "),
        })
    }

    /// A quantity with its unit, from `low` to `high`, both as people write them.
    pub(super) fn quantity<T>(&self, key: &str, low: &str, high: &str) -> Result<Option<T>, HardwareError>
    where
        T: FromStr<Err = ParseUnitError> + PartialOrd,
    {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = match value {
            Value::String(text) => text.clone(),
            // A number without its unit: the reader of quantities says so.
            Value::Number(number) => number.to_string(),
            other => return Err(wrong(self.path(key), "a number with its unit", other)),
        };
        let bound = |text: &str| text.parse::<T>().expect("bounds are written well, as the presets show");
        let quantity: T =
            text.parse().map_err(|error| HardwareError::Quantity { key: self.path(key), error })?;
        if (bound(low)..=bound(high)).contains(&quantity) {
            Ok(Some(quantity))
        } else {
            Err(self.out_of_range(key, shown(&text), format!("from {low} to {high}")))
        }
    }

    /// A value that no machine has.
    pub(super) fn out_of_range(&self, key: &str, found: impl Display, expected: String) -> HardwareError {
        HardwareError::Range { key: self.path(key), found: found.to_string(), expected }
    }
}

/// A value of another kind than the key takes.
pub(super) fn wrong(key: String, takes: &'static str, value: &Value) -> HardwareError {
    let found = match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("`{}`", shown(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map of keys".to_owned(),
    };
    HardwareError::WrongType { key, takes, found }
}

/// A text as messages show it: its beginning, where it is long.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if start.len() < text.len() && text.chars().count() > 60 { format!("{start}...") } else { start }
}
