//! All files of one kind, and what was read from them.

use super::benchmarks::Benchmarks;
use super::boxes::Boxes;
use super::collectives::Collectives;
use super::decoding::Decoding;
use super::models::Models;
use super::section::Section;
use super::servers::Servers;
use super::traces::Traces;
use crate::cli::args::ImportArgs;
use crate::import::{Kind, Observation, Summary};

/// Files of one kind.
pub(super) struct Group {
    /// Their kind.
    pub(super) kind: Kind,
    /// Each with what became of it.
    pub(super) files: Vec<(String, Summary)>,
    /// Families of observations.
    pub(super) sections: Vec<Box<dyn Section>>,
}

/// One of each family. A line per family.
fn sections(args: &ImportArgs) -> Vec<Box<dyn Section>> {
    vec![
        Box::new(Collectives::new(args)),
        Box::new(Servers::new(args)),
        Box::new(Benchmarks::new(args)),
        Box::new(Decoding::new(args)),
        Box::new(Boxes::new(args)),
        Box::new(Models::default()),
        Box::new(Traces::default()),
    ]
}

impl Group {
    /// No file yet.
    pub(super) fn new(kind: Kind, args: &ImportArgs) -> Self {
        Self { kind, files: Vec::new(), sections: sections(args) }
    }

    /// A file begins.
    pub(super) fn begin(&mut self, file: &str) {
        self.sections.iter_mut().for_each(|section| section.begin(file));
    }

    /// An observation of it.
    pub(super) fn take(&mut self, observation: &Observation) {
        self.sections.iter_mut().for_each(|section| section.take(observation));
    }

    /// It ends.
    pub(super) fn end(&mut self, file: String, summary: Summary) {
        self.sections.iter_mut().for_each(|section| section.end());
        self.files.push((file, summary));
    }

    /// Those that saw something.
    pub(super) fn filled(&self) -> impl Iterator<Item = &dyn Section> {
        self.sections.iter().filter(|section| !section.is_empty()).map(|section| &**section)
    }
}
