//! `specplan explain`: terms, scenario keys, error codes, presets.

use std::fmt::Write as _;
use std::io::Write as _;

use super::args::ExplainArgs;
use super::exit::Failure;
use super::{explain_presets, reference};
use crate::diagnostic::{Code, ENTRIES};
use crate::{explain, scenario};

/// Prints what is known about a topic, or the list of topics.
pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let text = match (&args.markdown, &args.topic) {
        (Some(page), _) => reference::page(*page),
        (None, None) => topics(),
        (None, Some(topic)) => about(topic)?,
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

fn about(topic: &str) -> Result<String, Failure> {
    if topic == "presets" {
        return Ok(explain_presets::text());
    }
    if let Some(code) = topic.parse::<Code>().ok() {
        return Ok(code_text(code));
    }
    if let Some(key) = scenario::key_doc(topic) {
        return Ok(reference::key_text(key));
    }
    if let Some(entry) = explain::term(topic) {
        return Ok(entry.to_text());
    }
    if let Some(text) = explain_presets::one(topic) {
        return Ok(text);
    }
    let mut message = format!("nothing is known about `{topic}`");
    let similar = explain::similar(topic);
    if similar.is_empty() {
        message.push_str("; `specplan explain` lists all topics");
    } else {
        let _ = write!(message, "; did you mean {}?", similar.join(", "));
    }
    Err(Failure::Input(message))
}

fn code_text(code: Code) -> String {
    format!("{}\n", code.explanation().trim_end())
}

fn topics() -> String {
    let mut text = String::from("specplan explain TOPIC\n\nTerms:\n");
    for entry in explain::terms() {
        let _ = writeln!(text, "  {}", entry.name);
    }
    text.push_str("\nScenario keys, dotted as in the file, for example:\n");
    for key in ["speculation.verify.time", "speculation.acceptance.accept_length", "baseline.observed"] {
        let _ = writeln!(text, "  {key}");
    }
    text.push_str("\nError codes:\n");
    for entry in ENTRIES {
        let _ = writeln!(text, "  {}  {}", entry.code, entry.title);
    }
    text.push_str("\nPresets of hardware, models, drafts, calibrations:\n  presets\n");
    text
}
