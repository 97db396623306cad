//! The exported JSON Schema as an editor applies it: what the tool accepts must not be underlined.
//!
//! A small walker of the keywords that the schema uses; an unknown keyword is a failure, so that none is passed over.

use std::fs;

use serde_json::{Map, Value, json};

use crate::diagnostic::SourceText;
use crate::scenario::json_schema;
use crate::scenario::tree::{Content, Node, parse};
use crate::scenario::written::unit_named;

/// Keywords that say nothing about validity.
const SILENT: [&str; 9] = [
    "$schema",
    "$defs",
    "title",
    "description",
    "examples",
    "default",
    "x-unit",
    "x-least",
    "x-least-included",
];

/// What an editor would underline in `node`.
fn faults(root: &Value, schema: &Value, node: &Node, path: &str) -> Vec<String> {
    let schema = match schema {
        Value::Bool(true) => return Vec::new(),
        Value::Object(schema) => schema,
        other => return vec![format!("{path}: {other} allows nothing")],
    };
    let value = literal(node);
    let inner = |schema: &Value| faults(root, schema, node, path);
    let mut found = Vec::new();
    for (keyword, rule) in schema {
        let right = match keyword.as_str() {
            "$ref" => {
                let name = rule.as_str().and_then(|r| r.strip_prefix("#/$defs/")).expect("a local reference");
                found.extend(inner(&root["$defs"][name]));
                true
            }
            "type" => type_is(node, rule),
            "const" => value == *rule,
            "anyOf" => forms(rule).any(|form| inner(form).is_empty()),
            "oneOf" => forms(rule).filter(|form| inner(form).is_empty()).count() == 1,
            "properties" | "additionalProperties" => {
                if keyword == "properties" || !schema.contains_key("properties") {
                    found.extend(map_faults(root, schema, node, path));
                }
                true
            }
            "required" => node
                .map()
                .is_none_or(|map| forms(rule).all(|key| map.contains_key(key.as_str().expect("a key")))),
            "maxProperties" => {
                node.map().is_none_or(|map| map.len() as u64 <= rule.as_u64().expect("a count"))
            }
            "items" => {
                for (position, item) in items(node).iter().enumerate() {
                    found.extend(faults(root, rule, item, &format!("{path}[{position}]")));
                }
                true
            }
            "minItems" => !is_list(node) || items(node).len() as u64 >= rule.as_u64().expect("a count"),
            "maxItems" => !is_list(node) || items(node).len() as u64 <= rule.as_u64().expect("a count"),
            "minimum" => node.number().is_none_or(|number| number >= rule.as_f64().expect("a number")),
            "exclusiveMinimum" => {
                node.number().is_none_or(|number| number > rule.as_f64().expect("a number"))
            }
            "maximum" => node.number().is_none_or(|number| number <= rule.as_f64().expect("a number")),
            // The pattern of a quantity is that of its unit, which has a parser.
            "pattern" => {
                let unit = schema["x-unit"].as_str().and_then(unit_named).expect("a unit beside the pattern");
                node.text().is_none_or(|text| unit.parse(text).is_ok())
            }
            silent if SILENT.contains(&silent) => true,
            other => panic!("{path}: the walker does not know `{other}`"),
        };
        if !right {
            found.push(format!("{path}: {value} against {keyword}: {rule}"));
        }
    }
    found
}

fn map_faults(root: &Value, schema: &Map<String, Value>, node: &Node, path: &str) -> Vec<String> {
    let free = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
    let keys = schema.get("properties").and_then(Value::as_object);
    let entries = node.map().into_iter().flatten();
    entries
        .flat_map(|(key, entry)| {
            let field = keys.and_then(|keys| keys.get(key)).unwrap_or(free);
            faults(root, field, &entry.value, &format!("{path}.{key}"))
        })
        .collect()
}

fn forms(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().expect("a list").iter()
}

fn items(node: &Node) -> &[Node] {
    match &node.content {
        Content::List(items) => items,
        _ => &[],
    }
}

fn is_list(node: &Node) -> bool {
    matches!(node.content, Content::List(_))
}

fn literal(node: &Node) -> Value {
    match &node.content {
        Content::Map(_) => json!("a map"),
        Content::List(_) => json!("a list"),
        _ => node.to_json(),
    }
}

fn type_is(node: &Node, rule: &Value) -> bool {
    let is = |word: &Value| match (word.as_str().expect("a word"), &node.content) {
        ("null", Content::Null)
        | ("boolean", Content::Bool(_))
        | ("number", Content::Number(_))
        | ("string", Content::Text(_))
        | ("array", Content::List(_))
        | ("object", Content::Map(_)) => true,
        ("integer", Content::Number(_)) => node.number().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    };
    match rule {
        Value::Array(words) => words.iter().any(is),
        word => is(word),
    }
}

fn underlined(text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(&json_schema()).expect("JSON");
    let tree = parse(&SourceText::file("a scenario", text)).expect("YAML");
    faults(&schema, &schema, &tree, "")
}

#[test]
fn editors_accept_every_shipped_scenario() {
    let mut count = 0;
    for file in fs::read_dir("scenarios").expect("the scenarios") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        count += 1;
        let text = fs::read_to_string(&path).expect("a scenario");
        assert_eq!(underlined(&text), Vec::<String>::new(), "{}", path.display());
    }
    assert!(count >= 11, "{count} scenarios");
}

#[test]
fn editors_accept_every_way_to_leave_a_key_empty() {
    let empty = "
extends: other.yaml
calibration: null
model: ~
runtime: null
environment: { NCCL_ALGO: null }
workload: { batch: null }
baseline: { observed: null, execution: null, time: null }
speculation:
  method: null
  draft: null
  steps:
  acceptance: null
  verify: { observed: { allreduce: null }, allreduce: { backend: null, opt_in: null } }
what_if: null
simulation: null
";
    assert_eq!(underlined(empty), Vec::<String>::new());
}

#[test]
fn editors_underline_what_the_tool_refuses() {
    for text in [
        "speculation: { accept_lenght: 2 }",
        "workload: { batch: many }",
        "workload: { batch: 0 }",
        "baseline: { execution: graphs }",
        "speculation: { verify: { time: 30 } }",
        "speculation: { verify: { observed: { allreduce: { count: 3 } } } }",
        "speculation: { acceptance: { tree: { ranks: null } } }",
        "speculation: { acceptance: { rate: 0.5, accept_length: 2.0 } }",
        "speculation: { acceptance: { cumulative: [1.5] } }",
        "speculation: { draft: { perset: x } }",
        "sweep: [ 3 ]",
    ] {
        assert!(!underlined(text).is_empty(), "{text}");
    }
}
