//! Contradictions, what resolves them, and what would settle them.

use std::fmt::Write;

use crate::analytic::Prediction;
use crate::report::context::Style;
use crate::report::paint::Tone;
use crate::report::wrap::paragraph;

/// Each finding under its code, with the commands or measurements that would settle it.
pub(super) fn list(prediction: &Prediction, style: &Style) -> String {
    if prediction.diagnosis.is_empty() {
        return String::new();
    }
    let mut out = Tone::Strong.paint("Findings", style.color) + "\n";
    for finding in &prediction.diagnosis {
        let _ = writeln!(out, "  {}", Tone::Strong.paint(finding.code, style.color));
        out.push_str(&paragraph(&finding.message, "    ", "    ", style.width));
        if !finding.settle.is_empty() {
            out.push_str("    What would settle it:\n");
        }
        for step in &finding.settle {
            out.push_str(&paragraph(step, "    - ", "      ", style.width));
        }
    }
    out
}
