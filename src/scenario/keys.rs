//! The keys of a scenario with their kinds, defaults and meanings, for references, `explain`, and suggestions.

use std::sync::OnceLock;

use serde_json::Value;

use super::schema::{map_form, resolved, schema};

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDoc {
    /// With dots; `[]` stands for the items of a list, `*` for a free name: `what_if[].name`, `environment.*`.
    pub path: String,
    /// What kind of value it takes: `time`, `whole number`, `sglang | vllm | pytorch | cuda`, `map`.
    pub kind: String,
    /// Its default, where its text states one.
    pub default: Option<String>,
    /// What it means, in one paragraph, without the default.
    pub doc: String,
    /// Words or forms it may take, each with its meaning.
    pub words: Vec<(String, String)>,
}

/// All keys, in the order of the schema, maps before their keys.
pub fn key_docs() -> &'static [KeyDoc] {
    static DOCS: OnceLock<Vec<KeyDoc>> = OnceLock::new();
    DOCS.get_or_init(|| {
        let mut docs = Vec::new();
        collect(schema(), "", &mut docs);
        docs
    })
}

/// One key by its path; `what_if.name` finds `what_if[].name`, and any variable of `environment` finds `environment.*`.
pub fn key_doc(path: &str) -> Option<&'static KeyDoc> {
    let plain = |text: &str| text.replace("[]", "");
    let wanted = plain(path);
    let free = wanted.rsplit_once('.').map(|(map, _)| format!("{map}.*"));
    let docs = key_docs().iter();
    docs.clone()
        .find(|doc| plain(&doc.path) == wanted)
        .or_else(|| docs.clone().find(|doc| Some(plain(&doc.path)) == free))
}

fn collect(node: &'static Value, path: &str, docs: &mut Vec<KeyDoc>) {
    let map = map_form(node);
    let Some(properties) = map.get("properties").and_then(Value::as_object) else { return };
    for (key, value) in properties {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        docs.push(document(&path, value));
        let inner = resolved(value);
        if inner["type"] == "array" {
            collect(&inner["items"], &format!("{path}[]"), docs);
        } else {
            collect(inner, &path, docs);
        }
        if let Some(free) = inner.get("additionalProperties").filter(|free| free.is_object()) {
            docs.push(document(&format!("{path}.*"), free));
        }
    }
}

fn document(path: &str, field: &'static Value) -> KeyDoc {
    let text = field.get("description").or_else(|| resolved(field).get("description"));
    let text = text.and_then(Value::as_str).unwrap_or("");
    let (doc, default) = match text.split_once("Default: ") {
        Some((doc, default)) => (doc.trim().to_owned(), Some(default.trim_end_matches('.').to_owned())),
        None => (text.to_owned(), None),
    };
    KeyDoc { path: path.to_owned(), kind: kind(field), default, doc, words: words_with_meaning(field) }
}

/// The allowed words of a key, where it takes words.
pub(super) fn words(field: &'static Value) -> Vec<&'static str> {
    let forms = resolved(field).get("oneOf").and_then(Value::as_array);
    forms.into_iter().flatten().filter_map(|form| form["const"].as_str()).collect()
}

fn words_with_meaning(field: &'static Value) -> Vec<(String, String)> {
    let forms = resolved(field).get("oneOf").and_then(Value::as_array);
    let pair = |form: &Value| {
        Some((form["const"].as_str()?.to_owned(), form["description"].as_str().unwrap_or("").to_owned()))
    };
    forms.into_iter().flatten().filter_map(pair).collect()
}

/// What kind of value a key takes, in a few words.
pub(super) fn kind(field: &'static Value) -> String {
    let node = resolved(field);
    if let Some(unit) = node.get("x-unit").and_then(Value::as_str) {
        return unit.to_owned();
    }
    let words = words(field);
    if !words.is_empty() {
        return words.join(" | ");
    }
    if let Some(forms) = node.get("anyOf").and_then(Value::as_array) {
        return forms.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &node["type"] {
        Value::Array(types) => {
            let names: Vec<_> = types.iter().filter_map(Value::as_str).map(type_name).collect();
            names.join(" or ")
        }
        Value::String(name) if name == "array" => match kind(&node["items"]).as_str() {
            "text" => "list of texts".to_owned(),
            one @ ("number" | "map") => format!("list of {one}s"),
            words => format!("list of {words}"),
        },
        Value::String(name) => type_name(name).to_owned(),
        _ => "any value".to_owned(),
    }
}

fn type_name(name: &str) -> &str {
    match name {
        "object" => "map",
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "true or false",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_says_what_it_means_and_every_leaf_its_default() {
        for doc in key_docs() {
            assert!(!doc.doc.is_empty() || doc.path.ends_with('*'), "{} has no text", doc.path);
            let map_or_needed = doc.kind == "map"
                || doc.kind.starts_with("list of")
                || doc.path.ends_with('*')
                || doc.path.contains("acceptance.")
                || ["count", "total"].contains(&doc.path.rsplit('.').next().unwrap_or(""))
                || doc.path.ends_with(".preset")
                || doc.path.ends_with(".config")
                || ["speculation.method", "what_if[].set"].contains(&doc.path.as_str());
            assert!(doc.default.is_some() || map_or_needed, "{} states no default", doc.path);
        }
    }

    #[test]
    fn keys_are_found_by_the_names_that_people_write() {
        let path = |written: &str| key_doc(written).map(|doc| doc.path.as_str());
        assert_eq!(path("speculation.verify.time"), Some("speculation.verify.time"));
        assert_eq!(path("what_if.name"), Some("what_if[].name"));
        assert_eq!(path("environment.NCCL_PROTO"), Some("environment.*"));
        assert_eq!(path("workload.bath"), None);
    }

    #[test]
    fn kinds_are_named_for_people() {
        let kind = |path: &str| key_docs().iter().find(|doc| doc.path == path).map(|doc| doc.kind.as_str());
        assert_eq!(kind("speculation.verify.time"), Some("time"));
        assert_eq!(kind("baseline.observed.throughput"), Some("throughput"));
        assert_eq!(kind("baseline.execution"), Some("graph | eager"));
        assert_eq!(kind("workload.batch"), Some("whole number"));
        assert_eq!(kind("model"), Some("text or map"));
        assert_eq!(kind("speculation.acceptance.cumulative"), Some("list of numbers"));
        assert_eq!(kind("environment.*"), Some("text or number or true or false"));
    }
}
