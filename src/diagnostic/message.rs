//! One diagnostic as a value.

use super::codes::Code;
use super::source::Place;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing can be computed.
    Error,
    /// Something can be computed, which may not be what was meant.
    Warning,
}

/// Something that is wrong, where, and what to write instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Its kind, for `specplan explain`.
    pub code: Option<Code>,
    /// How bad it is.
    pub severity: Severity,
    /// One clause, lower case, without a full stop.
    pub title: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// Further sentences.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<Help>,
}

/// A place with a remark.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// The remark; empty: none.
    pub text: String,
    /// How it is marked.
    pub kind: LabelKind,
}

/// How a place is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelKind {
    /// The fault itself: thick line.
    Primary,
    /// Something that explains it: thin line.
    Context,
    /// The line is shown without a mark.
    Shown,
}

/// What to do, and where possible the edit that does it.
#[derive(Debug, Clone, PartialEq)]
pub struct Help {
    /// One clause.
    pub text: String,
    /// Edits of one text.
    pub edits: Vec<Edit>,
}

/// Text to put in place of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// What to replace; empty: insert there.
    pub place: Place,
    /// The new text.
    pub replacement: String,
}

impl Diagnostic {
    /// An error of a kind.
    pub fn error(code: Code, title: impl Into<String>) -> Self {
        Self {
            code: Some(code),
            severity: Severity::Error,
            title: title.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Marks the fault.
    #[must_use]
    pub fn at(self, place: &Place, text: impl Into<String>) -> Self {
        self.label(place, text, LabelKind::Primary)
    }

    /// Marks something that explains the fault.
    #[must_use]
    pub fn beside(self, place: &Place, text: impl Into<String>) -> Self {
        self.label(place, text, LabelKind::Context)
    }

    /// Shows a line without a mark, such as the key that the fault belongs to.
    #[must_use]
    pub fn showing(self, place: &Place) -> Self {
        self.label(place, "", LabelKind::Shown)
    }

    fn label(mut self, place: &Place, text: impl Into<String>, kind: LabelKind) -> Self {
        self.labels.push(Label { place: place.clone(), text: text.into(), kind });
        self
    }

    /// Adds a sentence.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(Help { text: text.into(), edits: Vec::new() });
        self
    }

    /// Says what to do and shows the line after the edit.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>, place: &Place, replacement: impl Into<String>) -> Self {
        let edit = Edit { place: place.clone(), replacement: replacement.into() };
        self.help = Some(Help { text: text.into(), edits: vec![edit] });
        self
    }

    /// The place of the fault.
    pub fn primary(&self) -> Option<&Place> {
        self.labels.iter().find(|label| label.kind == LabelKind::Primary).map(|label| &label.place)
    }
}
