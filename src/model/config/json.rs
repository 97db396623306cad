//! JSON in which no object holds a key twice.
//!
//! `serde_json` keeps the last of several values of a key, so a file could mean another network than the one that
//! its reader sees. A byte-order mark, which some editors put before the text, is passed over.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

use super::error::ConfigError;

/// The value of a text.
pub(super) fn parse_json(json: &str) -> Result<Value, ConfigError> {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let distinct: Distinct = serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        let message = match error.classify() {
            Category::Eof => "the file ends in the middle of a value".to_owned(),
            Category::Syntax => format!("not valid JSON: {message}"),
            Category::Data | Category::Io => message.to_owned(),
        };
        ConfigError::Syntax { line: error.line(), column: error.column(), message }
    })?;
    Ok(distinct.0)
}

/// A value without a repeated key in it.
struct Distinct(Value);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DistinctVisitor).map(Self)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number is not finite"))?;
        Ok(number.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Distinct(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice in one object")));
            }
            let Distinct(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_that_of_serde_json() {
        let text = r#"{"a": [1, -2, 3.5, null, true, "x"], "b": {"c": {}, "a": 18446744073709551615}}"#;
        let expected: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(parse_json(text).expect("JSON"), expected);
        assert_eq!(parse_json(&format!("\u{feff}{text}")).expect("JSON after a mark"), expected);
    }

    #[test]
    fn a_place_is_said_once() {
        for (text, message) in [
            ("{\n \"a\": 1,\n \"a\": 2}", "line 3, column 4: the key `a` stands twice in one object"),
            ("{\"b\": {\"a\": 1, \"a\": 1}}", "line 1, column 18: the key `a` stands twice in one object"),
            ("{\"a\": 1,}", "line 1, column 9: not valid JSON: trailing comma"),
            ("", "line 1, column 0: the file ends in the middle of a value"),
            ("{\"a\": 1e999}", "line 1, column 11: not valid JSON: number out of range"),
        ] {
            assert_eq!(parse_json(text).expect_err(text).to_string(), message);
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(matches!(parse_json(&"[".repeat(100_000)), Err(ConfigError::Syntax { .. })));
    }
}
