//! Typed access to the fields of a `config.json`, with errors that name the field.

use serde_json::{Map, Value};

use super::error::ConfigError;

/// No dimension or count of a real network comes near this; beyond it the file is taken to be wrong, and
/// products of two dimensions still fit the arithmetic.
const LARGEST: u64 = 1 << 24;

/// Fields with another limit, each ten times or more what any released network has.
const LIMITS: [(&str, u64); 16] = [
    ("hidden_size", 1_000_000),
    ("num_hidden_layers", 10_000),
    ("num_attention_heads", 100_000),
    ("num_key_value_heads", 100_000),
    ("head_dim", 100_000),
    ("n_routed_experts", 100_000),
    ("num_experts", 100_000),
    ("num_local_experts", 100_000),
    ("n_shared_experts", 1_000),
    ("vocab_size", 100_000_000),
    ("draft_vocab_size", 100_000_000),
    ("max_position_embeddings", 1_000_000_000),
    ("sliding_window", 1_000_000_000),
    ("attention_chunk_size", 1_000_000_000),
    ("num_nextn_predict_layers", 100),
    ("mtp_num_hidden_layers", 100),
];

fn limit(key: &str) -> u64 {
    LIMITS.iter().find(|(field, _)| *field == key).map_or(LARGEST, |(_, limit)| *limit)
}

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

    /// A nested object; anything else that is present is an error.
    pub(super) fn only_object(self, key: &str) -> Result<Option<Fields<'a>>, ConfigError> {
        let object = |v: &'a Value| v.as_object().map(Fields).ok_or_else(|| wrong_type(key, "an object", v));
        self.get(key).map(object).transpose()
    }

    /// The first of several names of one count, which may be 0.
    pub(super) fn optional_count(self, keys: &[&str]) -> Result<Option<u32>, ConfigError> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, self.get(key)?))) else {
            return Ok(None);
        };
        let count = value.as_u64().ok_or_else(|| wrong_type(key, "a whole number", value))?;
        if count > limit(key) {
            return Err(out_of_range(key, value, &format!("at most {}", limit(key))));
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

    /// A text; anything else counts as absent.
    pub(super) fn text(self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Value::as_str)
    }

    /// A text; anything else that is present is an error.
    pub(super) fn only_text(self, key: &str) -> Result<Option<&'a str>, ConfigError> {
        self.get(key).map(|v| v.as_str().ok_or_else(|| wrong_type(key, "a text", v))).transpose()
    }

    /// A list; anything else that is present is an error.
    pub(super) fn list(self, key: &str) -> Result<Option<&'a [Value]>, ConfigError> {
        self.get(key)
            .map(|v| v.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type(key, "a list", v)))
            .transpose()
    }

    /// A list of texts.
    pub(super) fn texts(self, key: &str) -> Result<Vec<&'a str>, ConfigError> {
        let text = |(at, value): (usize, &'a Value)| {
            value.as_str().ok_or_else(|| wrong_type(&format!("{key}[{at}]"), "a text", value))
        };
        self.list(key)?.unwrap_or_default().iter().enumerate().map(text).collect()
    }

    /// The entries of an object of objects, in file order.
    pub(super) fn objects(self) -> Result<Vec<(&'a str, Fields<'a>)>, ConfigError> {
        let object = |(key, value): (&'a String, &'a Value)| {
            let fields = value.as_object().map(Fields);
            Ok((key.as_str(), fields.ok_or_else(|| wrong_type(key, "an object", value))?))
        };
        self.0.iter().map(object).collect()
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
