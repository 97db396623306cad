//! Typed access to the fields of a `config.json`, with errors that name the field.

use serde_json::{Map, Value};

use super::error::ConfigError;

/// No dimension or count of a real network comes near this; beyond it the file is taken to be wrong, and
/// products of two dimensions still fit the arithmetic.
const LARGEST: u64 = 1 << 24;

/// One JSON object of the configuration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(super) const fn new(map: &'a Map<String, Value>) -> Self {
        Self(map)
    }

    /// The value of a field; null counts as absent.
    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A nested object; anything else counts as absent.
    pub(super) fn object(self, key: &str) -> Option<Fields<'a>> {
        self.get(key).and_then(Value::as_object).map(Fields)
    }

    /// The first of several names of one count, which may be 0.
    pub(super) fn optional_count(self, keys: &[&str]) -> Result<Option<u32>, ConfigError> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, self.get(key)?))) else {
            return Ok(None);
        };
        let count = value.as_u64().ok_or_else(|| wrong_type(key, "a whole number", value))?;
        if count > LARGEST {
            return Err(out_of_range(key, value, &format!("at most {LARGEST}")));
        }
        Ok(Some(count as u32))
    }

    /// A count that the shape depends on, at least 1.
    pub(super) fn count(self, keys: &[&str], needed_for: &'static str) -> Result<u32, ConfigError> {
        match self.optional_count(keys)? {
            None => Err(ConfigError::Missing { field: keys.join("` or `"), needed_for }),
            Some(0) => Err(out_of_range(keys[0], &Value::from(0), "at least 1")),
            Some(count) => Ok(count),
        }
    }

    /// A flag.
    pub(super) fn flag(self, key: &str) -> Result<Option<bool>, ConfigError> {
        self.get(key).map(|v| v.as_bool().ok_or_else(|| wrong_type(key, "true or false", v))).transpose()
    }

    /// A text.
    pub(super) fn text(self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Value::as_str)
    }

    /// A list; anything else that is present is an error.
    pub(super) fn list(self, key: &str) -> Result<Option<&'a [Value]>, ConfigError> {
        self.get(key)
            .map(|v| v.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type(key, "a list", v)))
            .transpose()
    }

    /// The texts of a list; other entries are left out.
    pub(super) fn texts(self, key: &str) -> Result<Vec<&'a str>, ConfigError> {
        Ok(self.list(key)?.unwrap_or_default().iter().filter_map(Value::as_str).collect())
    }

    /// The values of the object in file order.
    pub(super) fn objects(self) -> impl Iterator<Item = Fields<'a>> {
        self.0.values().filter_map(Value::as_object).map(Fields)
    }
}

/// A width that is a product of two fields must be one that a matrix can have.
pub(super) fn check_width(keys: &str, factors: [u32; 2]) -> Result<(), ConfigError> {
    let width = u64::from(factors[0]) * u64::from(factors[1]);
    if width > LARGEST {
        return Err(out_of_range(keys, &Value::from(width), &format!("at most {LARGEST}")));
    }
    Ok(())
}

/// What kind of JSON value this is, for messages.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

pub(super) fn wrong_type(key: &str, expected: &'static str, value: &Value) -> ConfigError {
    let found = match value {
        Value::Number(number) => number.to_string(),
        other => kind_of(other).to_owned(),
    };
    ConfigError::WrongType { field: key.to_owned(), expected, found }
}

pub(super) fn out_of_range(key: &str, value: &Value, rule: &str) -> ConfigError {
    ConfigError::OutOfRange { field: key.to_owned(), value: value.to_string(), rule: rule.to_owned() }
}
