//! Values with units, as a scenario holds them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Error, Visitor};

use crate::sourced::{SPREAD_DEVIATIONS, Sourced};
use crate::units::{AcceptLength, Quantity, Seconds, TokensPerSecond, Unit, Written};

/// A quantity that a person wrote, with its spread where one was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Given<T>(
    /// The value in base units; its source is `given`.
    pub Sourced<T>,
);

/// A dimensionless number: a probability, a coefficient of variation.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Ratio(
    /// The number.
    pub f64,
);

impl Quantity for Ratio {
    const UNIT: Unit = Unit::Number;

    fn from_base(value: f64) -> Self {
        Self(value)
    }

    fn to_base(self) -> f64 {
        self.0
    }
}

impl<T: Quantity> Given<T> {
    /// From a value and its standard deviation; the range is the middle nine tenths of a normal distribution.
    fn from_written(written: Written) -> Self {
        let value = Sourced::given(T::from_base(written.value));
        Self(match written.deviation {
            Some(deviation) => {
                let reach = SPREAD_DEVIATIONS * deviation;
                value.with_spread(T::from_base(written.value - reach), T::from_base(written.value + reach))
            }
            None => value,
        })
    }
}

impl<'de, T: Quantity> Deserialize<'de> for Given<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(std::marker::PhantomData<T>);

        impl<T: Quantity> Visitor<'_> for Text<T> {
            type Value = Given<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::UNIT.noun())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Given<T>, E> {
                T::UNIT.parse(text).map(Given::from_written).map_err(E::custom)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Given<T>, E> {
                if T::UNIT == Unit::Number {
                    Ok(Given::from_written(Written { value, deviation: None }))
                } else {
                    Err(E::custom(format!("{} needs a unit", T::UNIT.noun())))
                }
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Given<T>, E> {
                self.visit_f64(value as f64)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Given<T>, E> {
                self.visit_f64(value as f64)
            }
        }

        deserializer.deserialize_any(Text(std::marker::PhantomData))
    }
}

/// What the JSON Schema says about a quantity. `x-unit` names the kind of unit and `x-least` the bound that the value
/// must exceed (`x-least-included`: or equal), which patterns cannot express.
fn quantity_schema(unit: Unit, examples: &[&str]) -> Schema {
    let number = r"[0-9][0-9._]*([eE][+-]?[0-9]+)?";
    let suffixes: Vec<_> = unit.suffixes().iter().map(|(suffix, _)| *suffix).collect();
    let one = match unit {
        Unit::Number => number.to_owned(),
        _ => format!("{number} *({})", suffixes.join("|")),
    };
    let pattern = format!(r"^{one}( *(\+-|±) *{one})?$");
    match unit {
        Unit::Number => json_schema!({
            "type": ["number", "string"], "pattern": pattern, "x-unit": unit_name(unit), "examples": examples,
        }),
        _ => json_schema!({
            "type": "string", "pattern": pattern, "x-unit": unit_name(unit), "examples": examples,
        }),
    }
}

/// The word for a kind of unit in the schema's `x-unit`.
pub(in crate::scenario) const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Time => "time",
        Unit::Size => "size",
        Unit::Bandwidth => "bandwidth",
        Unit::FlopRate => "flop-rate",
        Unit::Throughput => "throughput",
        Unit::Number => "number",
    }
}

/// The kind of unit that [`unit_name`] names.
pub(in crate::scenario) fn unit_named(name: &str) -> Option<Unit> {
    [Unit::Time, Unit::Size, Unit::Bandwidth, Unit::FlopRate, Unit::Throughput, Unit::Number]
        .into_iter()
        .find(|unit| unit_name(*unit) == name)
}

macro_rules! written_quantity {
    ($($type:ty, $name:literal, $examples:expr, $range:tt;)*) => {$(
        impl JsonSchema for Given<$type> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = quantity_schema(<$type>::UNIT, $examples);
                let serde_json::Value::Object(range) = serde_json::json!($range) else { unreachable!("a map") };
                for (key, value) in range {
                    schema.insert(key, value);
                }
                schema
            }
        }
    )*};
}

written_quantity! {
    Seconds, "Time", &["30 ms", "205 us", "30 ms +- 1 ms"], { "minimum": 1e-12, "maximum": 1e6 };
    TokensPerSecond, "Throughput", &["82 tok/s"], { "minimum": 1e-3, "maximum": 1e9 };
    AcceptLength, "AcceptLength", &["2.0", "2.0 +- 0.1"], { "minimum": 1.0, "maximum": 65.0 };
    Ratio, "Ratio", &["0.62", "0.62 +- 0.02"], { "minimum": 0.0, "maximum": 1.0 };
}

/// The value of an environment variable: text, or a number or boolean taken as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentValue(
    /// The text.
    pub String,
);

impl<'de> Deserialize<'de> for EnvironmentValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => {
                Ok(Self(value.to_string()))
            }
            _ => Err(D::Error::custom("a text or a number is expected")),
        }
    }
}

impl JsonSchema for EnvironmentValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("EnvironmentValue")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}
