//! An axis of a sweep: `key=a,b,c`, `key=lo..hi:n` or `key=lo..hi:n:log`; and axes that go together, joined by ` & `.

mod points;

use std::ops::Range;
use std::sync::Arc;

use super::check::check_dotted;
use super::layer::Layer;
use super::overrides::quoted;
use super::tree::Node;
use super::tree::{Content, parse_value};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, SourceText};

pub use points::{Points, Shown};

/// Axes that go together, value by value; mostly one.
#[derive(Debug, Clone)]
pub struct Dimension {
    /// Their values, equally many.
    pub axes: Vec<Points>,
}

impl Dimension {
    /// How many values each axis has.
    pub fn points(&self) -> usize {
        self.axes.first().map_or(0, Points::count)
    }
}

/// Values of one key, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The key, with dots.
    pub key: String,
    /// The values.
    pub values: AxisValues,
}

/// Values of an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum AxisValues {
    /// One by one, each as it would be written in the scenario.
    List(Vec<String>),
    /// From one value to another.
    Range {
        /// The first value, with its unit.
        low: String,
        /// The last value, with its unit.
        high: String,
        /// How many, both ends included.
        points: u32,
        /// Equal ratios instead of equal differences.
        logarithmic: bool,
    },
}

/// Points of one axis.
const MOST_POINTS: u32 = 1_000_000;

impl Axis {
    /// Reads and checks an axis that fills a range of a text.
    ///
    /// # Errors
    /// What is wrong with it, at its place.
    pub fn parse(source: &Arc<SourceText>, range: Range<usize>) -> Result<Self, Diagnostics> {
        let mut found = Diagnostics::default();
        let axis = read(source, range, &mut found);
        match axis {
            Some(axis) if found.is_empty() => Ok(axis),
            _ => Err(found),
        }
    }
}

/// The dimensions that arguments of `--vary` describe, or else those that a scenario lists under `sweep`.
///
/// # Errors
/// What is wrong with them, each at its place.
pub fn dimensions(arguments: &[String], listed: Option<&Node>) -> Result<Vec<Dimension>, Diagnostics> {
    let mut found = Diagnostics::default();
    let mut all: Vec<Dimension> = Vec::new();
    let written: Vec<Written> = if arguments.is_empty() {
        listed.map(in_list).unwrap_or_default()
    } else {
        arguments.iter().map(|argument| on_command_line(argument)).collect()
    };
    for (source, range) in written {
        let Some(dimension) = zipped(&source, range.clone(), &mut found) else { continue };
        let place = Place::new(&source, range);
        let before: Vec<&str> = all.iter().flat_map(|d| &d.axes).map(|axis| axis.key.as_str()).collect();
        for (at, axis) in dimension.axes.iter().enumerate() {
            let mut others =
                before.iter().copied().chain(dimension.axes[..at].iter().map(|a| a.key.as_str()));
            if let Some(fault) = others.find_map(|other| clash(&axis.key, other, &place)) {
                found.push(fault);
            }
        }
        all.push(dimension);
    }
    found.into_result(all)
}

/// A text and the part of it that an axis fills.
type Written = (Arc<SourceText>, Range<usize>);

fn on_command_line(argument: &str) -> Written {
    let (source, start) = quoted("--vary", argument);
    (source, start..start + argument.len())
}

fn in_list(list: &Node) -> Vec<Written> {
    let Content::List(items) = &list.content else { return Vec::new() };
    let place = |item: &Node| {
        let (text, place) = (item.text()?, &item.place);
        let start = place.range.start + place.text().find(text).unwrap_or(0);
        Some((Arc::clone(&place.source), start..(start + text.len()).min(place.range.end)))
    };
    items.iter().filter_map(place).collect()
}

/// Two axes of one key, or of keys of which the later one would replace the earlier.
fn clash(key: &str, other: &str, place: &Place) -> Option<Diagnostic> {
    const ACCEPTANCE: &str = "speculation.acceptance";
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let title = if key == other {
        format!("`{key}` has two axes")
    } else if within(key, other) || within(other, key) {
        format!("`{key}` and `{other}` change the same keys")
    } else if within(key, ACCEPTANCE) && within(other, ACCEPTANCE) {
        format!("`{key}` and `{other}` both describe the acceptance, of which one kind is used")
    } else {
        return None;
    };
    Some(Diagnostic::error(Code::Override, title).at(place, "the second one").help("keep one of the two"))
}

/// Axes joined by ` & `, equally long.
fn zipped(source: &Arc<SourceText>, range: Range<usize>, found: &mut Diagnostics) -> Option<Dimension> {
    let before = found.list.len();
    let mut axes: Vec<Points> = Vec::new();
    for part in split_at(&source.text[range.clone()], '&') {
        let place = range.start + part.start..range.start + part.end;
        let Some(points) = read(source, place.clone(), found)
            .and_then(|axis| points::of(&axis, source, place.clone(), found))
        else {
            continue;
        };
        if let Some(first) = axes.first().filter(|first| first.count() != points.count()) {
            let title = format!(
                "axes joined by `&` go value by value, and `{}` has {} values while `{}` has {}",
                first.key,
                first.count(),
                points.key,
                points.count()
            );
            found
                .push(Diagnostic::error(Code::Override, title).at(&Place::new(source, place), "not as many"));
        }
        axes.push(points);
    }
    (found.list.len() == before).then_some(Dimension { axes })
}

/// Checks the axes under `sweep`.
pub(super) fn check(layer: &Layer, found: &mut Diagnostics) {
    if let Err(faults) = dimensions(&[], layer.tree.at("sweep")) {
        found.extend(faults);
    }
}

fn read(source: &Arc<SourceText>, range: Range<usize>, found: &mut Diagnostics) -> Option<Axis> {
    let text = &source.text[range.clone()];
    let whole = Place::new(source, range.clone());
    let fault = |place: &Place, title: &str, remark: &str| {
        Diagnostic::error(Code::Override, title)
            .at(place, remark)
            .help("write `key=a,b,c`, `key=lo..hi:n` or `key=lo..hi:n:log`")
    };
    let Some((key, rest)) = text.split_once('=') else {
        found.push(fault(&whole, "an axis has a key and values", "no `=` here"));
        return None;
    };
    let place = Place::new(source, range.start..range.start + key.len());
    let start = range.start + key.len() + 1;
    let at = |part: Range<usize>| start + part.start..start + part.end;
    let value = |part: Range<usize>, found: &mut Diagnostics| -> Option<String> {
        if rest[part.clone()].trim().is_empty() {
            // YAML would read it as nothing, which removes the key.
            let before = Place::new(source, range.start..at(part).end);
            found.push(fault(&before, "an axis has an empty value", "a value is missing at the end"));
            return None;
        }
        let node = match parse_value(source, at(part.clone())) {
            Ok(node) => node,
            Err(fault) => {
                found.push(*fault);
                return None;
            }
        };
        // Nothing removes the key, as with `--set`.
        let node = Some(&node).filter(|node| node.content != Content::Null);
        check_dotted(key.trim(), &place, node, found).then(|| rest[part].trim().to_owned())
    };
    if let Some((low, others)) = rest.split_once("..") {
        let mut parts = others.split(':');
        let high = parts.next().unwrap_or("");
        let count = parts.next().unwrap_or("");
        let scale = parts.next().unwrap_or("");
        let behind = low.len() + 2 + high.len();
        let count_start = if count.is_empty() { 0 } else { behind + 1 };
        let count_place = Place::new(source, at(count_start..rest.len()));
        let Some(points) = count.trim().parse().ok().filter(|points| (2..=MOST_POINTS).contains(points))
        else {
            let remark = format!("a whole number from 2 to {MOST_POINTS}");
            found.push(fault(
                &count_place,
                "an axis from one value to another needs a number of points",
                &remark,
            ));
            return None;
        };
        if !matches!(scale.trim(), "" | "log") || parts.next().is_some() {
            found.push(fault(&count_place, "only `:log` may follow the number of points", "not understood"));
            return None;
        }
        let low_value = value(0..low.len(), found);
        let high_value = value(low.len() + 2..low.len() + 2 + high.len(), found);
        let values = AxisValues::Range {
            low: low_value?,
            high: high_value?,
            points,
            logarithmic: scale.trim() == "log",
        };
        return Some(Axis { key: key.trim().to_owned(), values });
    }
    let mut values = Vec::new();
    for part in split_list(rest) {
        if let Some(text) = value(part, found) {
            values.push(text);
        } else {
            return None;
        }
    }
    Some(Axis { key: key.trim().to_owned(), values: AxisValues::List(values) })
}

/// The parts between commas that stand outside brackets and quotes.
fn split_list(text: &str) -> Vec<Range<usize>> {
    split_at(text, ',')
}

/// The parts between separators that stand outside brackets and quotes.
fn split_at(text: &str, separator: char) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => {}
            '"' | '\'' => quote = Some(letter),
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ if letter == separator && depth == 0 => {
                parts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(start..text.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Result<Axis, Diagnostics> {
        let source = SourceText::command_line(text);
        Axis::parse(&source, 0..text.len())
    }

    #[test]
    fn lists_and_ranges_are_read() {
        let list = |values: &[&str]| AxisValues::List(values.iter().map(|v| (*v).to_owned()).collect());
        assert_eq!(axis("workload.batch=1,2, 4").unwrap().values, list(&["1", "2", "4"]));
        assert_eq!(
            axis("speculation.acceptance.cumulative=[0.6,0.4],[0.7,0.5]").unwrap().values,
            list(&["[0.6,0.4]", "[0.7,0.5]"])
        );
        assert_eq!(
            axis("speculation.verify.time=10 ms..40 ms:31:log").unwrap().values,
            AxisValues::Range { low: "10 ms".into(), high: "40 ms".into(), points: 31, logarithmic: true }
        );
    }

    #[test]
    fn faults_of_an_axis_are_found() {
        for text in [
            "workload.batch",
            "workload.bath=1",
            "workload.batch=1..8",
            "workload.batch=1..8:1",
            "workload.batch=1..8:4:lin",
            "workload.batch=one",
            "speculation.verify.time=10..40:3",
            "what_if=1",
            "workload.batch=",
            "workload.batch=,",
            "workload.batch=1,,2",
            "workload.batch=1, ",
            "workload.batch=..8:3",
        ] {
            assert!(axis(text).is_err(), "{text}");
        }
    }
}
