//! The tree against the JSON Schema: unknown keys, wrong kinds, missing units, unknown words, ranges.

use serde_json::Value;

use super::quantity::{bounds, fault, is_no_finite_number, not_finite, shortened};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, closest, similar};
use crate::scenario::keys::{key_docs, kind, words};
use crate::scenario::schema::{child, keys, map_form, resolved, schema};
use crate::scenario::tree::{Content, Entry, Node};
use crate::scenario::written::unit_named;

/// Checks a whole scenario and returns what is right in it as JSON.
pub(in crate::scenario) fn check_shape(tree: &Node, found: &mut Diagnostics) -> Value {
    let root = Key { path: "", place: None, item: false };
    check(tree, schema(), root, found).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Checks the value of one key, given with dots.
pub(in crate::scenario) fn check_value(
    node: &Node,
    schema: &'static Value,
    path: &str,
    key: &Place,
    found: &mut Diagnostics,
) -> Option<Value> {
    check(node, schema, Key { path, place: Some(key), item: false }, found)
}

/// The key whose value is checked.
#[derive(Clone, Copy)]
struct Key<'a> {
    path: &'a str,
    place: Option<&'a Place>,
    /// Whether it is an item of the list that stands there.
    item: bool,
}

impl Key<'_> {
    /// The last step of the path.
    fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or("")
    }
}

/// The value as JSON without its faulty parts; none where nothing usable is left.
fn check(node: &Node, field: &'static Value, key: Key, found: &mut Diagnostics) -> Option<Value> {
    let form = form_for(node, field);
    let takes = |name: &str| match &form["type"] {
        Value::String(word) => word == name,
        Value::Array(words) => words.iter().any(|word| word == name),
        _ => false,
    };
    if node.content == Content::Null {
        return check_nothing(node, form, key, found);
    }
    if let Some(unit) = form.get("x-unit").and_then(Value::as_str).and_then(unit_named) {
        return keep(fault(node, unit, form, key.name()), node, found);
    }
    if form.get("oneOf").is_some() {
        return keep(not_a_word(node, form, key), node, found);
    }
    if form.as_object().is_some_and(|form| !form.contains_key("type")) || form == &Value::Bool(true) {
        return Some(node.to_json());
    }
    match &node.content {
        Content::Map(entries) if takes("object") => {
            let pairs = entries.iter().map(|(name, entry)| (name.as_str(), entry));
            check_map(node, pairs, form, key, found)
        }
        Content::List(items) if takes("array") => check_list(node, items, form, key, found),
        Content::Number(_) if takes("number") || takes("integer") => {
            keep(not_in_range(node, form, takes("integer"), key), node, found)
        }
        Content::Text(text) if (takes("number") || takes("integer")) && is_no_finite_number(text) => {
            keep(Some(not_finite(&node.place)), node, found)
        }
        Content::Text(text) if takes("string") => keep(unprintable(text, node, key), node, found),
        Content::Bool(_) if takes("boolean") => Some(node.to_json()),
        _ => keep(Some(wrong_type(node, field, key, takes("string"))), node, found),
    }
}

/// Letters that a terminal would act upon instead of showing them.
fn unprintable(text: &str, node: &Node, key: Key) -> Option<Diagnostic> {
    let acts = |letter: &char| {
        letter.is_control()
            || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let letter = text.chars().find(acts)?;
    let what = match letter {
        '\n' | '\r' => "a line break".to_owned(),
        '\t' => "a tab".to_owned(),
        other => format!("the control character U+{:04X}", u32::from(other)),
    };
    let title = format!("`{}` holds {what}", key.name());
    Some(Diagnostic::error(Code::OutOfRange, title).at(&node.place, "one line of printable text is expected"))
}

/// The form that a value most probably means, where the schema allows several.
fn form_for(node: &Node, field: &'static Value) -> &'static Value {
    let form = resolved(field);
    let Some(forms) = form.get("anyOf").and_then(Value::as_array) else { return form };
    let map = map_form(form);
    if node.map().is_some() {
        map
    } else {
        forms.iter().map(resolved).find(|other| *other != map).unwrap_or(map)
    }
}

fn keep(fault: Option<Diagnostic>, node: &Node, found: &mut Diagnostics) -> Option<Value> {
    match fault {
        Some(diagnostic) => {
            found.push(diagnostic);
            None
        }
        None => Some(node.to_json()),
    }
}

/// An empty map or list is fine; an empty value is a forgotten one.
fn check_nothing(node: &Node, form: &'static Value, key: Key, found: &mut Diagnostics) -> Option<Value> {
    match form["type"].as_str() {
        Some("object") => {
            let no_entries = std::iter::empty::<(&str, &Entry)>();
            return check_map(node, no_entries, form, key, found);
        }
        Some("array") => return Some(Value::Array(Vec::new())),
        _ => {}
    }
    let place = key.place.unwrap_or(&node.place);
    found.push(
        Diagnostic::error(Code::WrongType, format!("`{}` has no value", key.name()))
            .at(place, format!("{} is expected", with_article(&kind(form))))
            .help("write a value, or leave the line out to get the default"),
    );
    None
}

fn check_map<'a>(
    node: &Node,
    entries: impl Iterator<Item = (&'a str, &'a Entry)>,
    form: &'static Value,
    key: Key,
    found: &mut Diagnostics,
) -> Option<Value> {
    let mut object = serde_json::Map::new();
    let mut failed = Vec::new();
    let free = form.get("properties").is_none();
    let most = form.get("maxProperties").and_then(Value::as_u64).filter(|_| free);
    if let (Some(most), Some(map)) = (most, node.map())
        && map.len() as u64 > most
    {
        let title = format!("`{}` has {} keys, and {most} is the most", key.name(), map.len());
        let place = key.place.unwrap_or(&node.place);
        found.push(Diagnostic::error(Code::OutOfRange, title).at(place, "too many"));
        return None;
    }
    for (name, entry) in entries {
        let Some(field) = child(form, name) else {
            found.push(if free {
                no_variable(name, &entry.key)
            } else {
                unknown_key(name, entry, form, key)
            });
            continue;
        };
        let path = if key.path.is_empty() { name.to_owned() } else { format!("{}.{name}", key.path) };
        match check(&entry.value, field, Key { path: &path, place: Some(&entry.key), item: false }, found) {
            Some(value) => {
                object.insert(name.to_owned(), value);
            }
            None => failed.push(name),
        }
    }
    let needed = form.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing: Vec<&str> =
        needed.filter_map(Value::as_str).filter(|name| !object.contains_key(*name)).collect();
    for name in missing.iter().filter(|name| !failed.contains(*name)) {
        let place = key.place.unwrap_or(&node.place);
        found.push(
            Diagnostic::error(Code::Incomplete, format!("`{}` needs `{name}`", key.name()))
                .at(place, format!("`{name}` is missing here")),
        );
    }
    missing.is_empty().then_some(Value::Object(object))
}

fn check_list(
    node: &Node,
    items: &[Node],
    form: &'static Value,
    key: Key,
    found: &mut Diagnostics,
) -> Option<Value> {
    let limit = |name: &str| form.get(name).and_then(Value::as_u64);
    let count = items.len() as u64;
    let rule = match (limit("minItems"), limit("maxItems")) {
        (Some(least), _) if count < least => Some(format!("at least {least} value is needed")),
        (_, Some(most)) if count > most => {
            Some(format!("{count} values are more than the {most} that can be used"))
        }
        _ => None,
    };
    if let Some(rule) = rule {
        let place = if node.place.range.is_empty() { key.place.unwrap_or(&node.place) } else { &node.place };
        let title = format!("`{}` has {count} values", key.name());
        found.push(Diagnostic::error(Code::OutOfRange, title).at(place, rule));
        return None;
    }
    let field = &form["items"];
    let key = Key { item: true, ..key };
    let values: Vec<Option<Value>> = items.iter().map(|item| check(item, field, key, found)).collect();
    values.into_iter().collect::<Option<Vec<_>>>().map(Value::Array)
}

fn not_a_word(node: &Node, form: &'static Value, key: Key) -> Option<Diagnostic> {
    let known = words(form);
    let Content::Text(word) = &node.content else {
        let title = format!("`{}` takes a word, and {} is written", key.name(), node.noun());
        return Some(Diagnostic::error(Code::WrongType, title).at(&node.place, one_of(&known)));
    };
    if known.contains(&word.as_str()) {
        return None;
    }
    let title = format!("`{}` is not a value of `{}`", shortened(word), key.name());
    let diagnostic = Diagnostic::error(Code::UnknownWord, title).at(&node.place, one_of(&known));
    if let Some(meant) = synonym(word).filter(|meant| known.contains(meant)) {
        return Some(diagnostic.fix(format!("this is written `{meant}`"), &node.place, meant));
    }
    let diagnostic = if one_of(&known).starts_with("one of") {
        diagnostic
    } else {
        diagnostic.note(format!("known words: {}", known.join(", ")))
    };
    Some(match closest(word, known.iter().copied()) {
        Some(best) => diagnostic.fix(format!("a similar word exists: `{best}`"), &node.place, best),
        None => diagnostic,
    })
}

/// Other names under which servers and papers know a word.
fn synonym(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().replace('_', "-").as_str() {
        "eagle" | "eagle-3" => "eagle3",
        "nextn" | "deepseek-mtp" => "mtp",
        "standalone" | "draft" => "draft-model",
        "prompt-lookup" | "lookup" => "ngram",
        "cuda-graph" | "cudagraph" => "graph",
        "none" | "no-graph" => "eager",
        "fp16" | "float16" | "bfloat16" => "bf16",
        "int4" | "awq" | "gptq" | "marlin" => "int4-g128",
        "fp8-e4m3" | "fp8-e5m2" => "fp8",
        "fp4" => "nvfp4",
        "torch" => "pytorch",
        "oneshot" => "one-shot",
        "twoshot" => "two-shot",
        "host" | "sysmem" => "shm",
        "pcie" => "p2p",
        _ => return None,
    })
}

fn not_in_range(node: &Node, form: &Value, whole: bool, key: Key) -> Option<Diagnostic> {
    let value = node.number().filter(|value| value.is_finite());
    let Some(value) = value else { return Some(not_finite(&node.place)) };
    if let Some(rule) = bounds(value, form) {
        let title = format!("`{}` {rule}", key.name());
        return Some(Diagnostic::error(Code::OutOfRange, title).at(&node.place, ""));
    }
    let Content::Number(digits) = &node.content else { return None };
    let plain =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if !whole || plain {
        return None;
    }
    let title = format!("`{}` takes a whole number in decimal digits", key.name());
    let diagnostic = Diagnostic::error(Code::WrongType, title);
    Some(if value.fract() == 0.0 {
        diagnostic.at(&node.place, "not written as one").fix(
            "write its digits",
            &node.place,
            format!("{value}"),
        )
    } else {
        diagnostic.at(&node.place, "not a whole number")
    })
}

fn wrong_type(node: &Node, field: &'static Value, key: Key, text_expected: bool) -> Diagnostic {
    let wanted = with_article(&kind(field));
    let title = if key.path.is_empty() {
        format!("a scenario is a map of keys, and {} is written", node.noun())
    } else if key.item {
        format!("an item of `{}` is {wanted}, and {} is written", key.name(), node.noun())
    } else {
        format!("`{}` takes {wanted}, and {} is written", key.name(), node.noun())
    };
    let place = match &node.content {
        Content::Map(_) | Content::List(_) if !key.item || node.place.range.is_empty() => {
            key.place.unwrap_or(&node.place)
        }
        _ => &node.place,
    };
    let diagnostic = Diagnostic::error(Code::WrongType, title).at(place, format!("{wanted} is expected"));
    match &node.content {
        Content::Number(_) | Content::Bool(_) if text_expected => {
            let quoted = format!("\"{}\"", node.place.text());
            diagnostic.fix("put it in quotes to make it text", &node.place, quoted)
        }
        Content::Text(text) if kind(field) == "true or false" => match text.to_lowercase().as_str() {
            "yes" | "on" | "y" => diagnostic.fix("write `true`", &node.place, "true"),
            "no" | "off" | "n" => diagnostic.fix("write `false`", &node.place, "false"),
            _ => diagnostic,
        },
        _ => diagnostic,
    }
}

/// That a free key cannot be the name of an environment variable.
pub(super) fn no_variable(name: &str, place: &Place) -> Diagnostic {
    let title = match name {
        "" => "an environment variable without a name".to_owned(),
        name => format!("`{}` cannot be the name of an environment variable", shortened(name).escape_debug()),
    };
    Diagnostic::error(Code::UnknownKey, title).at(place, "letters, digits and `_` are expected")
}

fn unknown_key(name: &str, entry: &Entry, form: &'static Value, parent: Key) -> Diagnostic {
    let (title, remark) = if parent.path.is_empty() {
        (format!("unknown key `{}`", shortened(name)), "not a key of a scenario".to_owned())
    } else {
        let owner = parent.name();
        (format!("unknown key `{}` in `{owner}`", shortened(name)), format!("not a key of `{owner}`"))
    };
    let mut diagnostic = Diagnostic::error(Code::UnknownKey, title).at(&entry.key, remark);
    if let Some(place) = parent.place.filter(|place| place.line() != entry.key.line()) {
        diagnostic = diagnostic.showing(place);
    }
    let near = similar(name, keys(form));
    match near.as_slice() {
        [] => elsewhere(diagnostic, name, form),
        [only] => diagnostic.fix(format!("a key with a similar name exists: `{only}`"), &entry.key, *only),
        [first, ..] => {
            let names = near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            diagnostic.fix(format!("keys with similar names exist: {names}"), &entry.key, *first)
        }
    }
}

/// Where a key of this name belongs, if it is in the wrong map; else the keys of this one.
fn elsewhere(diagnostic: Diagnostic, name: &str, form: &'static Value) -> Diagnostic {
    let ending = format!(".{name}");
    let homes: Vec<String> = key_docs()
        .iter()
        .map(|doc| doc.path.as_str())
        .filter(|path| *path == name || path.ends_with(&ending))
        .map(|path| format!("`{path}`"))
        .take(3)
        .collect();
    if homes.is_empty() {
        let known: Vec<&str> = keys(form).collect();
        diagnostic.note(format!("known keys: {}", known.join(", ")))
    } else {
        diagnostic.help(format!("this key belongs elsewhere: {}", homes.join(", ")))
    }
}

/// Words to choose from, as far as they fit beside the mark.
fn one_of(words: &[&str]) -> String {
    let all = words.join(", ");
    if all.len() <= 75 { format!("one of {all}") } else { "none of the known words".to_owned() }
}

fn with_article(kind: &str) -> String {
    match kind {
        "text" | "true or false" => kind.to_owned(),
        other if other.contains(" | ") => format!("one of {}", other.replace(" | ", ", ")),
        other => format!("a {other}"),
    }
}
