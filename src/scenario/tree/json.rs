//! The tree as a JSON value, for serde.

use serde_json::{Map, Number, Value};

use super::{Content, Node};

impl Node {
    /// The value without places. Maps keep their order; a value of nothing is left out, so that an absent key and an
    /// empty one are the same.
    pub fn to_json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(text) => number(text).map_or_else(|| Value::String(text.clone()), Value::Number),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Content::Map(map) => Value::Object(
                map.iter()
                    .filter(|(_, entry)| entry.value.content != Content::Null)
                    .map(|(key, entry)| (key.clone(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// The value, where it is a number.
    pub fn number(&self) -> Option<f64> {
        match &self.content {
            Content::Number(text) => number(text)?.as_f64(),
            _ => None,
        }
    }
}

/// A YAML number: decimal, with exponent, hexadecimal or octal, with `_` between digits.
fn number(text: &str) -> Option<Number> {
    let plain = text.trim_start_matches('+').replace('_', "");
    if let Some(digits) = plain.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::from);
    }
    if let Some(digits) = plain.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::from);
    }
    if let Some(digits) = plain.strip_prefix("0b") {
        return u64::from_str_radix(digits, 2).ok().map(Number::from);
    }
    plain
        .parse::<u64>()
        .map(Number::from)
        .or_else(|_| plain.parse::<i64>().map(Number::from))
        .ok()
        .or_else(|| Number::from_f64(plain.parse().ok()?))
}
