//! Cells of a sweep for people.

use crate::report::number::minus;
use crate::sweep::{Grid, Points, Shown, Value};
use crate::units::significant;

/// The value of an axis as one would write it.
pub(super) fn axis_value(axis: &Points, at: usize) -> String {
    match (axis.shown(at), axis.unit) {
        (Shown::Number(number), Some(unit)) => format!("{number} {unit}"),
        (Shown::Number(number), None) => number.to_string(),
        (Shown::Other(text, _), _) => text.to_owned(),
    }
}

/// The keys without what all of them begin with: `verify.time` beside `verify.execution`, the last step where they differ.
pub(super) fn short_keys(grid: &Grid) -> Vec<String> {
    let keys: Vec<&str> = grid.axes().map(|(_, axis)| axis.key.as_str()).collect();
    let short = |key: &str, steps: usize| {
        let parts: Vec<&str> = key.split('.').collect();
        parts[parts.len().saturating_sub(steps)..].join(".")
    };
    let telling = |key: &str| {
        if matches!(key.rsplit('.').next(), Some("time" | "execution" | "backend")) { 2 } else { 1 }
    };
    let all: Vec<String> = keys.iter().map(|key| short(key, telling(key))).collect();
    let unique = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    keys.iter()
        .zip(&all)
        .map(|(key, name)| if unique(name) { name.clone() } else { (*key).to_owned() })
        .collect()
}

/// A point as its values: `batch 4, verify.time 30 ms`.
pub(super) fn point(grid: &Grid, index: u64) -> String {
    let mut place = Vec::new();
    grid.place(index, &mut place);
    let named = grid.axes().zip(short_keys(grid));
    let all: Vec<String> = named
        .map(|((dimension, axis), name)| format!("{name} {}", axis_value(axis, place[dimension])))
        .collect();
    all.join(", ")
}

/// A cell with three figures.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_finite() => minus(&significant(*number, 3)),
        Value::Number(_) | Value::Missing => "-".to_owned(),
        Value::Word(word) => (*word).to_owned(),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Words(words) => words.join("; "),
    }
}
