//! `specplan explain`: terms, findings, scenario keys and words, error codes, presets.

use std::fmt::Write as _;
use std::io::Write as _;

use super::args::ExplainArgs;
use super::exit::Failure;
use super::explain_presets::{self, wrapped};
use super::reference;
use crate::diagnostic::{Code, ENTRIES, similar};
use crate::scenario::{KeyDoc, key_docs};
use crate::{explain, scenario};

/// Columns of a terminal.
const COLUMNS: usize = 80;

/// Prints what is known about a topic, or the list of topics.
pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let text = match (&args.markdown, &args.topic) {
        (Some(page), _) => reference::page(*page),
        (None, None) => topics(),
        (None, Some(topic)) => about(topic).ok_or_else(|| Failure::Input(unknown(topic)))?,
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// What is known about a topic.
fn about(topic: &str) -> Option<String> {
    if topic == "presets" {
        return Some(explain_presets::text());
    }
    if let Ok(code) = topic.parse::<Code>() {
        return Some(code_text(code));
    }
    // `baseline` is a term and a key.
    let term = explain::term(topic).map(explain::Entry::to_text);
    let key = scenario::key_doc(topic).map(reference::key_text);
    match (term, key) {
        (Some(term), Some(key)) => return Some(format!("{term}\nIn a scenario\n\n{key}")),
        (Some(one), None) | (None, Some(one)) => return Some(one),
        (None, None) => {}
    }
    explain_presets::one(topic).or_else(|| word_text(topic)).or_else(|| last_step_text(topic))
}

fn unknown(topic: &str) -> String {
    let mut message = format!("nothing is known about `{topic}`");
    let near = suggestions(topic);
    if near.is_empty() {
        message.push_str("; `specplan explain` lists all topics");
    } else {
        let _ = write!(message, "; did you mean {}?", near.join(", "));
    }
    message
}

/// Topics of any kind with a similar name, at most three.
fn suggestions(topic: &str) -> Vec<String> {
    let mut found: Vec<String> = explain::similar(topic).into_iter().map(str::to_owned).collect();
    let paths: Vec<String> = key_docs().iter().map(plain_path).collect();
    let codes: Vec<String> = ENTRIES.iter().map(|entry| entry.code.to_string()).collect();
    let words = key_docs().iter().flat_map(|doc| doc.words.iter().map(|(word, _)| word.clone()));
    let others: Vec<String> =
        paths.into_iter().chain(explain_presets::names()).chain(words).chain(codes).collect();
    // Codes are one edit apart from each other, so a code that does not exist resembles many.
    let near = similar(topic, others.iter().map(String::as_str));
    found.extend(near.into_iter().map(str::to_owned));
    // `explain` takes capitals and hyphens as they come, so two spellings are one suggestion.
    let mut seen: Vec<String> = Vec::new();
    found.retain(|name| {
        let plain = name.to_lowercase().replace(['-', '_', ' '], "");
        let new = !seen.contains(&plain);
        seen.push(plain);
        new
    });
    found.truncate(3);
    found
}

fn plain_path(doc: &KeyDoc) -> String {
    doc.path.replace("[]", "")
}

/// A word that some keys take, with its meaning and those keys.
fn word_text(topic: &str) -> Option<String> {
    let mut meanings: Vec<(&str, Vec<String>)> = Vec::new();
    for doc in key_docs() {
        for (_, meaning) in doc.words.iter().filter(|(word, _)| word.eq_ignore_ascii_case(topic)) {
            match meanings.iter_mut().find(|(known, _)| known == meaning) {
                Some((_, keys)) => keys.push(plain_path(doc)),
                None => meanings.push((meaning, vec![plain_path(doc)])),
            }
        }
    }
    let mut text = format!("{topic}\n");
    for (meaning, keys) in &meanings {
        let _ = write!(text, "\n{}\n\n", wrapped(meaning, COLUMNS).join("\n"));
        text.push_str("A value of\n");
        for key in keys {
            let _ = writeln!(text, "  {key}");
        }
    }
    (!meanings.is_empty()).then_some(text)
}

/// Keys that end in a topic: `backend`, `verify.time`.
fn last_step_text(topic: &str) -> Option<String> {
    let ending = format!(".{topic}");
    let mut docs = key_docs().iter().filter(|doc| plain_path(doc).ends_with(&ending));
    let first = docs.next()?;
    let mut text = reference::key_text(first);
    let others: Vec<String> = docs.map(plain_path).collect();
    if !others.is_empty() {
        text.push_str("\nKeys of the same name, which `specplan explain` knows by their whole path:\n");
        for other in others {
            let _ = writeln!(text, "  {other}");
        }
    }
    Some(text)
}

/// The paragraphs about a code, each wrapped, with the example as it stands.
fn code_text(code: Code) -> String {
    let mut text = String::new();
    for line in code.explanation().trim_end().lines() {
        let shown = if line.starts_with(' ') { line.to_owned() } else { wrapped(line, COLUMNS).join("\n") };
        let _ = writeln!(text, "{shown}");
    }
    text
}

fn topics() -> String {
    let mut text = String::from("specplan explain TOPIC\n\nTerms, findings and words of reports:\n");
    for entry in explain::terms() {
        let _ = writeln!(text, "  {}", entry.name);
    }
    text.push_str("\nScenario keys, dotted as in the file, for example:\n");
    for key in ["speculation.verify.time", "speculation.acceptance.accept_length", "baseline.observed"] {
        let _ = writeln!(text, "  {key}");
    }
    text.push_str("\nWords that a key takes, for example:\n  custom-all-reduce\n  int4-g128\n");
    text.push_str("\nError codes:\n");
    for entry in ENTRIES {
        let _ = writeln!(text, "  {}  {}", entry.code, entry.title);
    }
    text.push_str("\nPresets of hardware, models, drafts, calibrations:\n  presets\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(topic: &str, text: &str) {
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{topic}: {line}");
        }
    }

    #[test]
    fn every_topic_is_explained_within_80_columns() {
        fits("all topics", &topics());
        let terms = explain::terms().iter().map(|entry| entry.name.to_owned());
        let codes = ENTRIES.iter().map(|entry| entry.code.to_string());
        let keys = key_docs().iter().map(plain_path);
        let words = key_docs().iter().flat_map(|doc| doc.words.iter().map(|(word, _)| word.clone()));
        let steps = ["backend", "verify.time", "opt_in", "presets"].map(str::to_owned);
        for topic in terms.chain(codes).chain(keys).chain(words).chain(explain_presets::names()).chain(steps)
        {
            let text = about(&topic).unwrap_or_else(|| panic!("{topic} is explained"));
            fits(&topic, &text);
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{topic}: {text:?}");
        }
    }

    #[test]
    fn every_help_fits_80_columns() {
        let mut command = super::super::command();
        command.build();
        let mut verbs: Vec<String> =
            command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        fits("--help", &command.render_long_help().to_string());
        fits("-h", &command.render_help().to_string());
        for verb in verbs.drain(..) {
            let sub = command.find_subcommand_mut(&verb).expect("it was listed");
            fits(&verb, &sub.render_long_help().to_string());
            fits(&verb, &sub.render_help().to_string());
        }
    }

    #[test]
    fn slips_are_met_with_what_was_meant() {
        for (slip, meant) in [
            ("ncll", "NCCL"),
            ("msclpp", "MSCCL++"),
            ("egle3", "EAGLE-3"),
            ("mpt", "MTP"),
            ("host-bound-verfy", "host-bound-verify"),
            ("speculation.verify.tiem", "speculation.verify.time"),
            ("kimi-k25", "kimi-k2.5"),
            ("accept-lenght", "accept length"),
        ] {
            let near = suggestions(slip);
            assert!(near.iter().any(|name| name == meant), "{slip}: {near:?}");
        }
        assert!(suggestions("xyzzy").is_empty(), "{:?}", suggestions("xyzzy"));
    }
}
