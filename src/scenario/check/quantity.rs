//! A quantity in the file: its unit, its number, its range.

use serde_json::Value;

use crate::diagnostic::{Code, Diagnostic, Place, closest};
use crate::scenario::tree::{Content, Node};
use crate::sourced::SPREAD_DEVIATIONS;
use crate::units::{ParseUnitError, Unit, Written};

/// What is wrong with a quantity, if anything.
pub(super) fn fault(node: &Node, unit: Unit, schema: &Value, key: &str) -> Option<Diagnostic> {
    let text = match &node.content {
        Content::Text(text) => text.clone(),
        Content::Number(text) => text.replace('_', ""),
        Content::Null | Content::Bool(_) | Content::List(_) | Content::Map(_) => {
            let title = format!("{} is expected, and {} is written", unit.noun(), node.noun());
            return Some(Diagnostic::error(Code::WrongType, title).at(&node.place, example(schema)));
        }
    };
    if is_no_finite_number(&text) {
        return Some(not_finite(&node.place));
    }
    match unit.parse(&text) {
        Ok(written) => out_of_range(written, node, schema, key),
        Err(error) => Some(explained(&error, unit, node, &text, schema)),
    }
}

fn explained(error: &ParseUnitError, unit: Unit, node: &Node, text: &str, schema: &Value) -> Diagnostic {
    let place = &node.place;
    match error {
        ParseUnitError::MissingUnit { .. } => missing_unit(unit, node, text),
        ParseUnitError::UnknownUnit { suffix, .. } => unknown_unit(unit, place, suffix),
        ParseUnitError::UnexpectedUnit { suffix } => {
            let title = format!("a plain number is expected, without `{suffix}`");
            let diagnostic = Diagnostic::error(Code::WrongUnit, title).at(place, "this value has no unit");
            match text.trim().strip_suffix(suffix.as_str()) {
                Some(number) => diagnostic.fix("write the number alone", place, number.trim()),
                None => diagnostic,
            }
        }
        ParseUnitError::NotANumber { .. } => {
            let title = format!("{} is expected, and `{}` is none", unit.noun(), shortened(text));
            Diagnostic::error(Code::WrongType, title).at(place, example(schema))
        }
        ParseUnitError::NotFinite => not_finite(place),
        ParseUnitError::NegativeSpread => {
            Diagnostic::error(Code::OutOfRange, "the spread after `+-` must not be negative")
                .at(place, "one standard deviation")
        }
    }
}

fn missing_unit(unit: Unit, node: &Node, text: &str) -> Diagnostic {
    let question = match unit {
        Unit::Time => "seconds, milliseconds or microseconds?",
        Unit::Throughput => "tokens per second?",
        Unit::Size => "bytes, kilobytes, gigabytes?",
        _ => "which unit?",
    };
    let title = format!("{} needs a unit", unit.noun());
    let diagnostic = Diagnostic::error(Code::MissingUnit, title).at(&node.place, question);
    let usual = unit.usual();
    if text.contains("+-") || text.contains('±') {
        diagnostic.help(format!("write the unit after each number: `\"30 {usual} +- 1 {usual}\"`"))
    } else if node.place.text().ends_with(['"', '\'']) {
        let bare = node.place.text().trim_matches(['"', '\'']).trim();
        diagnostic.fix("write the unit after the number", &node.place, format!("{bare} {usual}"))
    } else {
        diagnostic.fix("write the unit after the number", &node.place.end(), format!(" {usual}"))
    }
}

fn unknown_unit(unit: Unit, place: &Place, suffix: &str) -> Diagnostic {
    let known: Vec<&str> =
        unit.suffixes().iter().map(|(name, _)| *name).filter(|name| *name != "μs").collect();
    let marked = match place.text().rfind(suffix) {
        Some(at) => {
            let start = place.range.start + at;
            Place::new(&place.source, start..start + suffix.len())
        }
        None => place.clone(),
    };
    let title = format!("`{}` is not a unit of {}", shortened(suffix), unit.noun());
    let diagnostic = Diagnostic::error(Code::WrongUnit, title)
        .at(&marked, format!("{} is written in {}", capital(unit.noun()), known.join(", ")).to_lowercase());
    let spelled = match suffix.to_lowercase().as_str() {
        "sec" | "second" | "seconds" => Some("s"),
        "msec" | "millisecond" | "milliseconds" | "millis" => Some("ms"),
        "usec" | "microsecond" | "microseconds" => Some("us"),
        "tps" | "t/s" | "tokens/s" | "token/s" | "tok/sec" => Some("tok/s"),
        lower => known
            .iter()
            .find(|name| name.to_lowercase() == lower)
            .copied()
            .or_else(|| closest(suffix, known.iter().copied())),
    };
    match spelled.filter(|word| known.contains(word)) {
        Some(word) => diagnostic.fix(format!("write `{word}`"), &marked, word),
        None => diagnostic,
    }
}

/// Whether a number lies outside the bounds of its schema.
pub(super) fn bounds(value: f64, schema: &Value) -> Option<String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    let shown = |limit: f64| in_its_unit(limit, schema);
    match (least, most) {
        (Some(least), Some(_)) if value <= 0.0 && least > 0.0 && positive(schema) => {
            Some("must be positive".to_owned())
        }
        (Some(least), Some(most)) if value < least || value > most => {
            Some(format!("must lie between {} and {}", shown(least), shown(most)))
        }
        (Some(least), None) if value < least => Some(format!("must be at least {}", shown(least))),
        (None, Some(most)) if value > most => Some(format!("must be at most {}", shown(most))),
        _ => None,
    }
}

/// Whether a quantity is one of the kinds that are never zero.
fn positive(schema: &Value) -> bool {
    matches!(schema.get("x-unit").and_then(Value::as_str), Some("time" | "throughput"))
}

fn in_its_unit(limit: f64, schema: &Value) -> String {
    match schema.get("x-unit").and_then(Value::as_str) {
        Some("time") if limit < 1e-9 => format!("{} ps", limit * 1e12),
        Some("time") => format!("{limit} s"),
        Some("throughput") => format!("{limit} tok/s"),
        _ if limit.abs() >= 1e12 => format!("{limit:e}"),
        _ => limit.to_string(),
    }
}

fn out_of_range(written: Written, node: &Node, schema: &Value, key: &str) -> Option<Diagnostic> {
    let place = &node.place;
    if let Some(rule) = bounds(written.value, schema) {
        return Some(Diagnostic::error(Code::OutOfRange, format!("`{key}` {rule}")).at(place, ""));
    }
    let low = written.value - SPREAD_DEVIATIONS * written.deviation?;
    let least = schema.get("minimum").and_then(Value::as_f64).filter(|_| positive(schema));
    if low <= 0.0 || least.is_some_and(|least| low < least) {
        let title = "the spread reaches below zero".to_owned();
        return Some(
            Diagnostic::error(Code::OutOfRange, title)
                .at(place, "one standard deviation stands after `+-`")
                .note("nine tenths of the values lie within 1.64 standard deviations; that range must stay positive"),
        );
    }
    None
}

/// NaN and infinity in any spelling that YAML or Rust knows.
pub(super) fn is_no_finite_number(text: &str) -> bool {
    let first = text.trim().trim_start_matches(['+', '-', '.']).split_whitespace().next().unwrap_or("");
    let lower = first.to_lowercase();
    matches!(lower.as_str(), "nan" | "inf" | "infinity")
}

pub(super) fn not_finite(place: &Place) -> Diagnostic {
    let title = format!("`{}` is not a finite number", shortened(place.text()));
    Diagnostic::error(Code::OutOfRange, title).at(place, "a finite number is expected")
}

/// Text for a title, cut where it is long.
pub(super) fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    if line.chars().count() > 40 {
        format!("{}...", line.chars().take(40).collect::<String>())
    } else {
        line.to_owned()
    }
}

/// `such as 30 ms`, from the schema's examples.
fn example(schema: &Value) -> String {
    let first = schema.get("examples").and_then(|examples| examples.get(0)).and_then(Value::as_str);
    first.map_or_else(String::new, |text| format!("such as `{text}`"))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
