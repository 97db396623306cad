//! Writes the file format that [`parse`](super::parse) reads.
//!
//! Tables stand in the file as blocks of text; every text is quoted, so that a version `2.10` stays one.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::curves::{JitterFit, KernelFit};
use super::file::FORMAT;
use super::fit::Fit;
use super::{BoxFacts, Provenance};

/// What a file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The box.
    pub facts: BoxFacts,
    /// Where the numbers came from.
    pub provenance: Provenance,
    /// The calibration whose kernel tables lie under these.
    pub base: Option<String>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Names of tables with their comma-separated text.
    pub tables: Vec<(&'static str, String)>,
    /// Fitted collectives.
    pub fits: Vec<Fit>,
    /// Fitted kernels.
    pub kernel_fits: Vec<KernelFit>,
    /// Distributions of launch costs.
    pub jitter: Vec<JitterFit>,
}

impl Draft {
    /// The text of the file.
    pub fn to_yaml(&self) -> String {
        let mut text = format!("format: {FORMAT}\n");
        self.write_box(&mut text);
        self.write_provenance(&mut text);
        if let Some(base) = &self.base {
            line(&mut text, 0, "base", base);
        }
        if !self.notes.is_empty() {
            text.push_str("notes:\n");
            for note in &self.notes {
                let _ = writeln!(text, "  - {}", quoted(note));
            }
        }
        if !self.tables.is_empty() {
            text.push_str("tables:\n");
        }
        for (name, table) in &self.tables {
            let _ = writeln!(text, "  {name}: |");
            for row in table.lines() {
                let _ = writeln!(text, "    {row}");
            }
        }
        list(&mut text, "fits", &self.fits);
        list(&mut text, "kernel_fits", &self.kernel_fits);
        list(&mut text, "jitter", &self.jitter);
        text
    }

    fn write_box(&self, text: &mut String) {
        let facts = &self.facts;
        text.push_str("box:\n");
        line(text, 2, "gpu", &facts.gpu);
        let _ = writeln!(text, "  count: {}", facts.count);
        for (key, value) in [
            ("driver", &facts.driver),
            ("nccl", &facts.nccl),
            ("clocks", &facts.clocks),
            ("pcie", &facts.pcie),
            ("topology", &facts.topology),
        ] {
            if !value.is_empty() {
                line(text, 2, key, value);
            }
        }
        if !facts.environment.is_empty() {
            text.push_str("  environment:\n");
            for (name, value) in &facts.environment {
                line(text, 4, name, value);
            }
        }
    }

    fn write_provenance(&self, text: &mut String) {
        let Provenance { source, licence, command, date } = &self.provenance;
        text.push_str("provenance:\n");
        for (key, value) in [("source", source), ("licence", licence), ("command", command), ("date", date)] {
            if !value.is_empty() {
                line(text, 2, key, value);
            }
        }
    }
}

fn line(text: &mut String, indent: usize, key: &str, value: &str) {
    let _ = writeln!(text, "{:indent$}{key}: {}", "", quoted(value));
}

/// A double-quoted scalar: JSON's quoting is YAML's, once control characters are gone.
fn quoted(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    serde_json::Value::String(clean).to_string()
}

/// A list of maps, one a line, as JSON, which YAML holds.
fn list<T: serde::Serialize>(text: &mut String, key: &str, items: &[T]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "{key}:");
    for item in items {
        let item = serde_json::to_string(item).expect("a fit becomes JSON");
        let _ = writeln!(text, "  - {item}");
    }
}
