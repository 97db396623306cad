//! The values of an axis: those of a list as written, those of a range made when they are asked for.
//!
//! Value i of n from a to b is a + (b - a)·i/(n - 1), or a·(b/a)^(i/(n - 1)) with `:log`, rounded to 12 significant
//! figures; where the key takes whole numbers it is rounded to one, and equal ones are kept once. The text of a value is
//! what `--set` would be given.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Number, Value};

use super::{Axis, AxisValues};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, SourceText};
use crate::scenario::check::check_value;
use crate::scenario::direct::Direct;
use crate::scenario::schema::{at, resolved};
use crate::scenario::tree::parse_value;
use crate::scenario::written::unit_named;
use crate::units::Unit;

/// One key and its values.
#[derive(Debug, Clone)]
pub struct Points {
    /// The key, with dots.
    pub key: String,
    /// The unit of all values, where they are plain numbers of one unit: `ms`.
    pub unit: Option<&'static str>,
    /// The key as a single field, where it is one and no value removes it.
    pub direct: Option<Direct>,
    values: Values,
}

#[derive(Debug, Clone)]
enum Values {
    List(Vec<Point>),
    Whole { list: Vec<u64>, logarithmic: bool },
    Range { low: f64, high: f64, points: usize, logarithmic: bool },
}

#[derive(Debug, Clone)]
struct Point {
    text: String,
    json: Value,
    number: Option<f64>,
}

/// A value as a table shows it.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown<'p> {
    /// A number, in the unit of its axis.
    Number(f64),
    /// Anything else: as written, and as JSON.
    Other(&'p str, &'p Value),
}

impl Points {
    /// How many.
    pub fn count(&self) -> usize {
        match &self.values {
            Values::List(list) => list.len(),
            Values::Whole { list, .. } => list.len(),
            Values::Range { points, .. } => *points,
        }
    }

    /// Whether the steps have equal ratios, for the axis of a plot.
    pub fn is_logarithmic(&self) -> bool {
        matches!(
            self.values,
            Values::Range { logarithmic: true, .. } | Values::Whole { logarithmic: true, .. }
        )
    }

    /// Whether they were listed one by one.
    pub const fn is_list(&self) -> bool {
        matches!(self.values, Values::List(_))
    }

    /// What `--set` would be given.
    pub fn text(&self, index: usize) -> Cow<'_, str> {
        match (&self.values, self.unit) {
            (Values::List(list), _) => Cow::Borrowed(&list[index].text),
            (Values::Whole { list, .. }, _) => Cow::Owned(list[index].to_string()),
            (Values::Range { .. }, Some(unit)) => Cow::Owned(format!("{} {unit}", self.number(index))),
            (Values::Range { .. }, None) => Cow::Owned(self.number(index).to_string()),
        }
    }

    /// The value as it would be read from the file.
    pub fn json(&self, index: usize) -> Cow<'_, Value> {
        match (&self.values, self.unit) {
            (Values::List(list), _) => Cow::Borrowed(&list[index].json),
            (Values::Whole { list, .. }, _) => Cow::Owned(Value::from(list[index])),
            (Values::Range { .. }, Some(_)) => Cow::Owned(Value::String(self.text(index).into_owned())),
            (Values::Range { .. }, None) => {
                Cow::Owned(Number::from_f64(self.number(index)).map_or(Value::Null, Value::Number))
            }
        }
    }

    /// How a table shows it.
    pub fn shown(&self, index: usize) -> Shown<'_> {
        match &self.values {
            Values::List(list) => match &list[index] {
                Point { number: Some(number), .. } => Shown::Number(*number),
                Point { text, json, .. } => Shown::Other(text, json),
            },
            Values::Whole { list, .. } => Shown::Number(list[index] as f64),
            Values::Range { .. } => Shown::Number(self.number(index)),
        }
    }

    /// A value of a range.
    fn number(&self, index: usize) -> f64 {
        let Values::Range { low, high, points, logarithmic } = self.values else { return f64::NAN };
        if index == 0 || index + 1 == points {
            return if index == 0 { low } else { high };
        }
        rounded(between(low, high, logarithmic, index as f64 / (points - 1) as f64))
    }
}

fn between(low: f64, high: f64, logarithmic: bool, share: f64) -> f64 {
    if logarithmic { low * (high / low).powf(share) } else { low + (high - low) * share }
}

/// Twelve significant figures, so that 0.1 + 0.2 is 0.3.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().expect("a formatted number parses")
}

/// Values with the unit that all of them share.
type InUnit = (Values, Option<&'static str>);

/// The values of an axis that was written at a place.
pub(super) fn of(
    axis: &Axis,
    source: &Arc<SourceText>,
    range: Range<usize>,
    found: &mut Diagnostics,
) -> Option<Points> {
    let (values, unit) = match &axis.values {
        AxisValues::List(texts) => list(&axis.key, texts),
        AxisValues::Range { low, high, points, logarithmic } => {
            match in_range(&axis.key, [low, high], *points as usize, *logarithmic) {
                Ok(values) => values,
                Err(why) => {
                    let place = Place::new(source, range);
                    found
                        .push(Diagnostic::error(Code::Override, why).at(&place, "from one value to another"));
                    return None;
                }
            }
        }
    };
    let removes = matches!(&values, Values::List(list) if list.iter().any(|point| point.json.is_null()));
    let direct = Direct::of(&axis.key).filter(|_| !removes);
    Some(Points { key: axis.key.clone(), unit, direct, values })
}

/// A value taken apart: the number and the unit behind it.
fn parts(text: &str) -> Option<(f64, &str)> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let end = text.rfind(|letter: char| letter.is_ascii_digit() || letter == '.').map_or(0, |at| at + 1);
    Some((text[..end].trim().parse().ok()?, text[end..].trim()))
}

/// The kind of quantity of a key, and whether it takes whole numbers.
fn kind(key: &str) -> (Option<Unit>, bool) {
    let Some(field) = at(key).map(resolved) else { return (None, false) };
    let unit = field.get("x-unit").and_then(Value::as_str).and_then(unit_named);
    (unit, field["type"] == "integer" || key.starts_with("environment."))
}

fn suffix(unit: Unit, written: &str) -> Option<&'static (&'static str, f64)> {
    unit.suffixes().iter().find(|(name, _)| *name == written)
}

fn list(key: &str, texts: &[String]) -> InUnit {
    let mut points: Vec<Point> = texts.iter().map(|text| point(key, text)).collect();
    let split: Option<Vec<(f64, &str)>> = texts.iter().map(|text| parts(text)).collect();
    let Some(split) = split else { return (Values::List(points), None) };
    // Numbers of one unit make a column of numbers.
    let first = split[0].1;
    let unit = kind(key).0.and_then(|unit| suffix(unit, first)).map(|(name, _)| *name);
    if split.iter().any(|(_, other)| *other != first) || (unit.is_none() && !first.is_empty()) {
        return (Values::List(points), None);
    }
    for (point, (number, _)) in points.iter_mut().zip(split) {
        point.number = Some(number);
    }
    (Values::List(points), unit)
}

fn point(key: &str, text: &str) -> Point {
    let source = SourceText::command_line(text);
    let whole = Place::new(&source, 0..text.len());
    let node = parse_value(&source, 0..text.len()).ok().filter(|node| !node.to_json().is_null());
    let json = node
        .zip(at(key))
        .and_then(|(node, field)| check_value(&node, field, key, &whole, &mut Diagnostics::default()));
    // A row of a table is one line.
    Point { text: text.replace(['\n', '\r'], " "), json: json.unwrap_or(Value::Null), number: None }
}

fn in_range(key: &str, ends: [&String; 2], points: usize, logarithmic: bool) -> Result<InUnit, String> {
    if ends.iter().any(|end| end.contains("+-") || end.contains('±')) {
        return Err("the ends of a range carry no spread".to_owned());
    }
    let (Some((low, low_unit)), Some((high, high_unit))) = (parts(ends[0]), parts(ends[1])) else {
        let range = format!("`{}..{}`", ends[0], ends[1]);
        return Err(format!("an axis from one value to another needs numbers, and {range} is none"));
    };
    let (unit, whole) = kind(key);
    let factor = |written: &str| unit.and_then(|unit| suffix(unit, written));
    let (high, unit) = match (factor(low_unit), factor(high_unit)) {
        (Some((name, own)), Some((_, other))) if low_unit != high_unit => {
            (rounded(high * other / own), Some(*name))
        }
        (Some((name, _)), Some(_)) => (high, Some(*name)),
        _ => (high, None),
    };
    if logarithmic && (low <= 0.0 || high <= 0.0) {
        return Err("equal ratios need positive ends".to_owned());
    }
    if whole && (low < 0.0 || high < 0.0) {
        return Err("whole numbers of a range begin at 0".to_owned());
    }
    if !whole {
        return Ok((Values::Range { low, high, points, logarithmic }, unit));
    }
    let share = |index: usize| index as f64 / (points - 1) as f64;
    let mut list: Vec<u64> =
        (0..points).map(|i| between(low, high, logarithmic, share(i)).round() as u64).collect();
    list.dedup();
    Ok((Values::Whole { list, logarithmic }, None))
}

#[cfg(test)]
mod tests {
    use super::super::dimensions;
    use super::*;

    fn points(axis: &str) -> Vec<String> {
        let found = dimensions(&[axis.to_owned()], None).expect("an axis");
        let axis = &found[0].axes[0];
        (0..axis.count()).map(|i| axis.text(i).into_owned()).collect()
    }

    #[test]
    fn ranges_have_both_ends_and_the_values_between() {
        let times = ["10 ms", "10.5 ms", "11 ms", "11.5 ms", "12 ms"];
        assert_eq!(points("speculation.verify.time=10 ms..12 ms:5"), times);
        assert_eq!(points("speculation.acceptance.rate=0.1..0.4:4"), ["0.1", "0.2", "0.3", "0.4"]);
        let times = ["500 us", "1000 us", "1500 us", "2000 us"];
        assert_eq!(points("speculation.verify.time=500 us..2 ms:4"), times);
        assert_eq!(points("workload.batch=1..64:7:log"), ["1", "2", "4", "8", "16", "32", "64"]);
        assert_eq!(points("workload.batch=1..3:9"), ["1", "2", "3"], "equal ones once");
        assert_eq!(points("workload.context=4..1:4"), ["4", "3", "2", "1"], "falling");
    }

    #[test]
    fn lists_of_one_unit_are_numbers() {
        let found = dimensions(&["speculation.verify.time=10 ms,2e1 ms".to_owned()], None).expect("an axis");
        let axis = &found[0].axes[0];
        assert_eq!((axis.unit, axis.shown(1)), (Some("ms"), Shown::Number(20.0)));
        let found = dimensions(&["speculation.verify.time=10 ms,1 s".to_owned()], None).expect("an axis");
        assert!(matches!(found[0].axes[0].shown(1), Shown::Other("1 s", _)));
    }

    #[test]
    fn axes_that_cannot_be_are_told() {
        for (axes, why) in [
            (vec!["workload.batch=1,2 & workload.context=1,2,3"], "value by value"),
            (vec!["workload.batch=1,2", "workload.batch=3"], "two axes"),
            (vec!["parallel={tensor: 4}", "parallel.tensor=1,2"], "the same keys"),
            (vec!["speculation.acceptance.rate=0.5", "speculation.acceptance.accept_length=2"], "one kind"),
            (vec!["speculation.verify.execution=graph..eager:3"], "needs numbers"),
            (vec!["model=a..b:3"], "needs numbers"),
            (vec!["speculation.acceptance.rate=0..1:3:log"], "positive"),
        ] {
            let axes: Vec<String> = axes.into_iter().map(str::to_owned).collect();
            let faults = dimensions(&axes, None).expect_err("a fault").to_string();
            assert!(faults.contains(why), "{axes:?}: {faults}");
        }
    }
}
