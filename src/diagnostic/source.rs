//! Texts that diagnostics point into.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Where a text came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// A file; lines and columns mean something.
    File,
    /// An argument of the command line; only the text itself is shown.
    CommandLine,
}

/// A text with its name.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The path as given, or `command line`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Where it came from.
    pub kind: SourceKind,
}

impl SourceText {
    /// The text of a file.
    pub fn file(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), kind: SourceKind::File })
    }

    /// An argument of the command line, shown as the user typed it.
    pub fn command_line(text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: "command line".to_owned(), text: text.into(), kind: SourceKind::CommandLine })
    }
}

impl fmt::Debug for SourceText {
    /// The name and the size: the text itself would drown every debug print of a tree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceText({}, {} B)", self.name, self.text.len())
    }
}

/// A range of bytes in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Arc<SourceText>,
    /// Bytes of it; both ends lie on character borders.
    pub range: Range<usize>,
}

impl Place {
    /// A place, with both ends brought inside the text and onto character borders.
    pub fn new(source: &Arc<SourceText>, range: Range<usize>) -> Self {
        let text = &source.text;
        let border = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = border(range.start);
        Self { source: Arc::clone(source), range: start..border(range.end).max(start) }
    }

    /// The bytes there.
    pub fn text(&self) -> &str {
        &self.source.text[self.range.clone()]
    }

    /// The empty place just behind this one.
    #[must_use]
    pub fn end(&self) -> Self {
        Self { source: Arc::clone(&self.source), range: self.range.end..self.range.end }
    }

    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        1 + self.source.text[..self.range.start].bytes().filter(|byte| *byte == b'\n').count()
    }
}
