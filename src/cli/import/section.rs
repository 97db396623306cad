//! One family of observations on its way to the reader: a section of the report, keys of the JSON, a file in YAML.

use serde_json::{Map, Value};

use crate::import::Observation;

/// Turns the observations of one family into results. Each sees all observations and takes its own.
pub(super) trait Section {
    /// A file begins.
    fn begin(&mut self, _file: &str) {}
    /// Takes note of an observation.
    fn take(&mut self, observation: &Observation);
    /// The file that began has ended.
    fn end(&mut self) {}
    /// Whether nothing of its family was seen.
    fn is_empty(&self) -> bool;
    /// Why what was read cannot be used, if it cannot.
    fn fault(&self) -> Option<String> {
        None
    }
    /// Its part of the report, 80 columns wide.
    fn text(&self, out: &mut String);
    /// Its keys of the JSON object.
    fn json(&self, object: &mut Map<String, Value>);
    /// Its rows, for CSV and Markdown.
    fn table(&self) -> Option<Table> {
        None
    }
    /// The file that the rest of specplan takes; none: this family makes none.
    ///
    /// # Errors
    /// What is missing for it.
    fn yaml(&self) -> Option<Result<String, String>> {
        None
    }
    /// What was assumed on the way to the file, to be said aloud.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Rows under a header.
pub(super) struct Table {
    /// Names of the columns.
    pub(super) header: Vec<&'static str>,
    /// Cells; an empty one is not told.
    pub(super) rows: Vec<Vec<String>>,
}
