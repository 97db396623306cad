//! Rows of collective benchmarks: a table, and a calibration.

use serde_json::{Map, Value};

use super::section::Section;
use crate::cli::args::ImportArgs;
use crate::import::{Collective, Observation, What};

/// Rows of all files.
pub(super) struct Collectives {
    rows: Vec<Collective>,
}

impl Collectives {
    /// None yet.
    pub(super) fn new(_args: &ImportArgs) -> Self {
        Self { rows: Vec::new() }
    }
}

impl Section for Collectives {
    fn take(&mut self, observation: &Observation) {
        if let What::Collective(row) = &observation.what {
            self.rows.push(row.clone());
        }
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn text(&self, out: &mut String) {
        out.push_str(&format!("{} rows\n", self.rows.len()));
    }

    fn json(&self, object: &mut Map<String, Value>) {
        object.insert("rows".to_owned(), Value::Array(Vec::new()));
    }
}
