//! What became of a file: how much was read, and what was not.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnostic::masked;

/// Notices that are kept of each kind; the others are counted.
const SHOWN: usize = 5;
/// The longest excerpt \[characters\].
const EXCERPT: usize = 100;
/// Unknown keys that are kept.
const KEYS: usize = 100;

/// Counts of one file, and what a reader of the result should know.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Summary {
    /// Lines of the file; 0 for formats without lines.
    pub lines: u64,
    /// Lines, rows or events that were read.
    pub read: u64,
    /// Those that look like the kind's own and cannot be read, and bytes that are no text.
    pub skipped: Noted,
    /// Things that are odd but read, by a word for the finding.
    pub warnings: BTreeMap<&'static str, Noted>,
    /// Keys or columns that mean nothing to the importer, with how often each was met.
    pub unknown: BTreeMap<String, u64>,
    /// Why the file is not whole, if it is not.
    pub cut: Option<String>,
    /// Why nothing could be read, if nothing could.
    pub fault: Option<String>,
}

impl Summary {
    /// Notes something odd; `code` is the word that groups it with others of its kind.
    pub fn warn(&mut self, code: &'static str, line: u64, why: &str, text: &str) {
        self.warnings.entry(code).or_default().note(line, why, text);
    }

    /// Notes a key that means nothing to the importer.
    pub fn unknown_key(&mut self, key: &str) {
        let key: String = key.chars().take(EXCERPT).collect();
        if self.unknown.len() < KEYS || self.unknown.contains_key(&key) {
            *self.unknown.entry(key).or_default() += 1;
        }
    }
}

/// Notices of one kind: how many, and the first few.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Noted {
    /// All of them.
    pub count: u64,
    /// The first few.
    pub first: Vec<Notice>,
}

impl Noted {
    /// Counts one, and keeps it while there are few.
    pub fn note(&mut self, line: u64, why: &str, text: &str) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(Notice { line, why: masked(why).into_owned(), text: excerpt(text) });
        }
    }
}

/// One notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Line, counted from 1; 0 where the format has no lines.
    pub line: u64,
    /// What is wrong or odd.
    pub why: String,
    /// The beginning of the line, printable.
    pub text: String,
}

/// The beginning of a text, on one line and safe to print: without secrets.
fn excerpt(text: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let text = masked(text);
    let mut kept: String = text.trim().chars().take(EXCERPT).map(printable).collect();
    if text.trim().chars().nth(EXCERPT).is_some() {
        kept.push('…');
    }
    kept
}
