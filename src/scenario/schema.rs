//! The JSON Schema of a scenario, made from the structs of [`super::written`].

use std::sync::OnceLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value, json};

use super::written::Written;

/// The schema as `scenarios/scenario.schema.json` holds it: pretty, with a final newline, the same bytes every time.
///
/// Every key that may be left out may also be left empty there, since that is how a scenario that extends another
/// removes a key of it (`draft: null`).
pub fn json_schema() -> String {
    let mut exported = schema().clone();
    allow_nothing(&mut exported);
    let mut text = serde_json::to_string_pretty(&exported).expect("a schema is plain JSON");
    text.push('\n');
    text
}

/// The schema as a value.
pub(super) fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(Tidy));
        settings.into_generator().into_root_schema_for::<Written>().to_value()
    })
}

/// A schema with its reference followed; keys beside `$ref` (a field's own description) stay those of the field.
pub(super) fn resolved(node: &'static Value) -> &'static Value {
    match node.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix("#/$defs/")) {
        Some(name) => &schema()["$defs"][name],
        None => node,
    }
}

/// Lets every key below a schema be empty, unless it is required.
fn allow_nothing(node: &mut Value) {
    match node {
        Value::Array(items) => items.iter_mut().for_each(allow_nothing),
        Value::Object(object) => {
            let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(Value::Object(keys)) = object.get_mut("properties") {
                keys.iter_mut().filter(|(key, _)| !required.contains(&json!(key))).for_each(|(_, field)| {
                    or_nothing(field);
                });
            }
            if let Some(free) = object.get_mut("additionalProperties") {
                or_nothing(free);
            }
            // What is free below `examples` is no schema.
            object
                .iter_mut()
                .filter(|(key, _)| *key != "examples")
                .for_each(|(_, inner)| allow_nothing(inner));
        }
        _ => {}
    }
}

/// The same schema, or `null`.
fn or_nothing(field: &mut Value) {
    let Value::Object(field) = field else { return };
    let nothing = json!({ "type": "null" });
    if let Some(reference) = field.remove("$ref") {
        field.insert("anyOf".to_owned(), json!([{ "$ref": reference }, nothing]));
    } else if let Some(Value::Array(forms)) = field.get_mut("anyOf") {
        forms.push(nothing);
    } else if let Some(Value::Array(forms)) = field.get_mut("oneOf") {
        forms.push(nothing);
    } else if let Some(kind) = field.get_mut("type") {
        match kind {
            Value::Array(kinds) => kinds.push(json!("null")),
            one => *one = json!([one.take(), "null"]),
        }
    }
}

/// The schema of a dotted key, or none where no such key exists. Items of maps with free keys (`environment.NCCL_PROTO`) exist.
pub(super) fn at(path: &str) -> Option<&'static Value> {
    path.split('.').try_fold(schema(), |node, step| child(node, step))
}

/// The schema of one key of a map.
pub(super) fn child(node: &'static Value, key: &str) -> Option<&'static Value> {
    let node = map_form(node);
    match node.get("properties").and_then(|keys| keys.get(key)) {
        Some(found) => Some(found),
        None => node
            .get("additionalProperties")
            .filter(|free| **free != Value::Bool(false) && is_variable_or_dotted(node, key)),
    }
}

/// Whether a free key is one: the name of an environment variable, or a key with dots under `set`.
fn is_variable_or_dotted(node: &Value, key: &str) -> bool {
    let dotted = node["additionalProperties"] == Value::Bool(true);
    let letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    dotted || (!key.is_empty() && !key.starts_with(|c: char| c.is_ascii_digit()) && key.chars().all(letter))
}

/// The keys of a map.
pub(super) fn keys(node: &'static Value) -> impl Iterator<Item = &'static str> {
    map_form(node)
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
}

/// The form of a schema that describes a map, where it allows several forms.
pub(super) fn map_form(node: &'static Value) -> &'static Value {
    let node = resolved(node);
    match node.get("anyOf").and_then(Value::as_array) {
        Some(forms) => forms.iter().map(resolved).find(|form| form["type"] == "object").unwrap_or(node),
        None => node,
    }
}

/// Takes out what means nothing in a scenario: `null` beside another type (an absent key says the same), formats of
/// Rust's integers, and the wrapping of a reference that only carries a description.
#[derive(Debug, Clone)]
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        let Some(object) = schema.as_object_mut() else { return };
        object.remove("format");
        if object
            .get("default")
            .is_some_and(|default| default.is_null() || *default == Value::Array(Vec::new()))
        {
            object.remove("default");
        }
        if let Some(Value::String(text)) = object.get_mut("description") {
            *text = one_line_per_paragraph(text);
        }
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|word| word != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(forms)) = object.get_mut("anyOf") {
            forms.retain(|form| form["type"] != "null");
            if let [Value::Object(only)] = forms.as_slice() {
                let only = only.clone();
                object.remove("anyOf");
                for (key, value) in only {
                    object.entry(key).or_insert(value);
                }
            }
        }
    }
}

/// Doc comments are wrapped for the source file; editors wrap hover text themselves.
fn one_line_per_paragraph(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}
