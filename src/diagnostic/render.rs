//! Diagnostics as text. What looks like a secret is hidden wherever it stands.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use super::collected::Diagnostics;
use super::message::{Diagnostic, Edit, Label, LabelKind, Severity};
use super::secret::masked;
use super::source::{SourceKind, SourceText};

/// How many are drawn in full; a file with more faults than that is best repaired in steps.
const MOST: usize = 20;

/// Columns of a drawn line; longer source lines are cut around the fault.
const WIDTH: usize = 110;

/// All of them, separated by blank lines, ending in a newline.
pub fn render_all(diagnostics: &Diagnostics, colour: bool) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.list.iter().take(MOST) {
        text.push_str(&render(diagnostic, colour));
        text.push_str("\n\n");
    }
    let more = diagnostics.list.len().saturating_sub(MOST);
    if more > 0 {
        text.push_str("and ");
        text.push_str(&more.to_string());
        text.push_str(" more\n\n");
    }
    text.pop();
    text
}

/// One of them, without a final newline.
pub fn render(diagnostic: &Diagnostic, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let code = diagnostic.code.map(|code| code.to_string());
    let mut title = level.primary_title(masked(&diagnostic.title));
    if let Some(code) = &code {
        title = title.id(code.as_str());
    }
    let mut group = Group::with_title(title);
    for labels in by_source(&diagnostic.labels) {
        group = with_labels(group, &labels);
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(masked(note)));
    }
    let mut groups = vec![group];
    if let Some(help) = &diagnostic.help {
        if help.edits.is_empty() || too_long_to_show(&help.edits) {
            let group = groups.pop().expect("the group was just made");
            groups.push(group.element(Level::HELP.message(help.text.as_str())));
        } else {
            let help_group = Group::with_title(Level::HELP.secondary_title(help.text.as_str()));
            groups.push(help_group.element(patched(&help.edits)));
        }
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Unicode).term_width(WIDTH).render(&groups)
}

/// Labels grouped by the text they point into; the text of the first label first.
fn by_source(labels: &[Label]) -> Vec<Vec<&Label>> {
    let mut groups: Vec<Vec<&Label>> = Vec::new();
    for label in labels {
        match groups.iter_mut().find(|group| Arc::ptr_eq(&group[0].place.source, &label.place.source)) {
            Some(group) => group.push(label),
            None => groups.push(vec![label]),
        }
    }
    groups
}

fn with_labels<'a>(group: Group<'a>, labels: &[&'a Label]) -> Group<'a> {
    let source = labels[0].place.source.as_ref();
    let window = Window::around(source, labels.iter().map(|label| &label.place.range));
    let mut snippet = Snippet::source(window.text.clone()).line_start(window.first_line);
    for label in labels {
        let span = window.shift(&label.place.range);
        let annotation = match label.kind {
            LabelKind::Primary => AnnotationKind::Primary.span(span),
            LabelKind::Context => AnnotationKind::Context.span(span),
            LabelKind::Shown => AnnotationKind::Visible.span(span),
        };
        let text = (!label.text.is_empty()).then_some(label.text.as_str());
        snippet = snippet.annotation(annotation.label(text.map(masked)));
    }
    match source.kind {
        SourceKind::File => group.element(snippet.path(source.name.as_str())),
        SourceKind::CommandLine => group.element(snippet.section(source.name.as_str()).line_numbering(false)),
    }
}

/// Lines after an edit are drawn whole, so those of a file without line breaks are left out.
fn too_long_to_show(edits: &[Edit]) -> bool {
    let source = edits[0].place.source.as_ref();
    let window = Window::around(source, edits.iter().map(|edit| &edit.place.range));
    window.text.lines().any(|line| line.len() > 2 * WIDTH)
}

fn patched(edits: &[Edit]) -> Snippet<'_, Patch<'_>> {
    let source = edits[0].place.source.as_ref();
    let window = Window::around(source, edits.iter().map(|edit| &edit.place.range));
    let mut snippet = Snippet::source(window.text.clone())
        .line_start(window.first_line)
        .line_numbering(source.kind == SourceKind::File);
    for edit in edits {
        snippet = snippet.patch(Patch::new(window.shift(&edit.place.range), edit.replacement.as_str()));
    }
    snippet
}

/// The lines of a text that matter, so that a large file costs no more than a small one.
struct Window<'a> {
    text: Cow<'a, str>,
    start: usize,
    first_line: usize,
}

impl<'a> Window<'a> {
    fn around<'r>(source: &'a SourceText, ranges: impl Iterator<Item = &'r Range<usize>>) -> Self {
        let (mut low, mut high) = (source.text.len(), 0);
        for range in ranges {
            low = low.min(range.start);
            high = high.max(range.end);
        }
        let start = source.text[..low].rfind('\n').map_or(0, |newline| newline + 1);
        let end = source.text[high..].find('\n').map_or(source.text.len(), |newline| high + newline + 1);
        let first_line = 1 + source.text[..start].bytes().filter(|byte| *byte == b'\n').count();
        Self { text: masked(&source.text[start..end]), start, first_line }
    }

    fn shift(&self, range: &Range<usize>) -> Range<usize> {
        range.start - self.start..range.end - self.start
    }
}
