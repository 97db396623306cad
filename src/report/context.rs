//! What a report says beside the numbers.

use crate::uncertainty::Uncertainty;

/// Where an answer came from: names and settings; and how sure it is, where that was asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// Version of the tool that answered.
    pub tool_version: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Name of the scenario, as its file says.
    pub scenario_name: String,
    /// Path of the scenario file, as it was typed.
    pub scenario_path: String,
    /// Calibration that was used; none: no hardware model, or the roofline alone.
    pub calibration_name: Option<String>,
    /// Keys that the command line changed, with the values given there.
    pub overrides: Vec<(String, String)>,
    /// Paths of the plots written beside the report.
    pub plots: Vec<String>,
    /// The set-up in words: "Kimi-K2.5 on 8x RTX PRO 6000, SGLang, TP8, batch 1, context 2,048".
    pub setup_words: String,
    /// The study of the answer's uncertainty, where one was made.
    pub uncertainty: Option<Uncertainty>,
}

/// How text is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours are written.
    pub color: bool,
    /// Columns; at least 60 are used.
    pub width: usize,
}

impl Default for Style {
    /// 80 columns without colour.
    fn default() -> Self {
        Self { color: false, width: 80 }
    }
}
