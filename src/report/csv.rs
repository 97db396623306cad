//! The answer as a table of numbers: one row per quantity.

use crate::analytic::{Prediction, Row};

use super::context::Context;
use super::json::{BreakEvenJson, BreakEvensJson, Quantity, ReportJson, SourceJson, UncertaintyJson};
use super::number::finite;

/// Columns.
const HEADER: [&str; 8] = ["scenario", "quantity", "value", "unit", "source", "low", "high", "predicted"];

/// The answer as CSV, header first; an empty cell means that there is no such number. For several scenarios keep
/// the header of the first.
pub fn csv(prediction: &Prediction, context: &Context) -> String {
    let report = ReportJson::new(prediction, context);
    let mut sheet =
        Sheet { scenario: &context.scenario_name, writer: ::csv::Writer::from_writer(Vec::new()) };
    sheet.write(&HEADER.map(str::to_owned));
    sheet.quantity("speedup", "", &report.speedup);
    if let Some(p) = report.win_probability {
        sheet.number("win_probability", "", Some(p), None);
    }
    sheet.quantity("baseline.step", "ms", &report.baseline.step_ms);
    sheet.quantity("baseline.throughput", "tok/s", &report.baseline.throughput_tok_s);
    sheet.parts("baseline", &prediction.baseline.breakdown);
    sheet.speculation(&report);
    sheet.parts("speculation.verify", &prediction.speculation.verify_breakdown);
    sheet.break_evens(&report.break_even);
    for answer in &report.what_if {
        let of = |what: &str| format!("what_if.{}.{what}", answer.name);
        sheet.number(&of("speedup"), "", answer.speedup, Some(answer.source));
        sheet.number(&of("throughput"), "tok/s", answer.throughput_tok_s, Some(answer.source));
        sheet.number(&of("verify"), "ms", answer.verify_ms, Some(answer.source));
    }
    for elasticity in &report.elasticities {
        sheet.number(&format!("elasticity.{}", elasticity.of), "", elasticity.value, None);
    }
    if let Some(uncertainty) = &report.uncertainty {
        sheet.uncertainty(uncertainty);
    }
    sheet.finish()
}

/// The rows so far.
struct Sheet<'a> {
    scenario: &'a str,
    writer: ::csv::Writer<Vec<u8>>,
}

impl Sheet<'_> {
    fn write(&mut self, cells: &[String]) {
        self.writer.write_record(cells).expect("memory takes every record of the same length");
    }

    fn finish(self) -> String {
        let bytes = self.writer.into_inner().expect("memory can be flushed");
        String::from_utf8(bytes).expect("cells are UTF-8")
    }

    fn quantity(&mut self, name: &str, unit: &str, q: &Quantity) {
        let source = word(q.source).to_owned();
        let cells = [q.value, q.low, q.high, q.predicted].map(cell);
        let [value, low, high, predicted] = cells;
        self.write(&[self.scenario.into(), name.into(), value, unit.into(), source, low, high, predicted]);
    }

    fn number(&mut self, name: &str, unit: &str, value: Option<f64>, source: Option<SourceJson>) {
        let source = source.map_or(String::new(), |s| word(s).to_owned());
        let none = String::new;
        self.write(&[
            self.scenario.into(),
            name.into(),
            cell(value),
            unit.into(),
            source,
            none(),
            none(),
            none(),
        ]);
    }

    fn parts(&mut self, of: &str, parts: &[Row]) {
        for part in parts {
            let name = format!("{of}.part.{}", part.part);
            let source = part.time.map_or(String::new(), |time| time.source.word().to_owned());
            let [value, predicted] =
                [part.time, part.predicted].map(|t| cell(t.and_then(|t| finite(t.value.ms()))));
            let none = String::new;
            self.write(&[self.scenario.into(), name, value, "ms".into(), source, none(), none(), predicted]);
        }
    }

    fn speculation(&mut self, report: &ReportJson) {
        let s = &report.speculation;
        let rows = [
            ("accept_length", "tokens", Some(&s.accept_length)),
            ("rows", "rows", Some(&s.rows)),
            ("cycle", "ms", Some(&s.cycle_ms)),
            ("draft_host", "ms", Some(&s.draft_host_ms)),
            ("draft", "ms", s.draft_ms.as_ref()),
            ("host", "ms", s.host_ms.as_ref()),
            ("verify", "ms", Some(&s.verify_ms)),
            ("throughput", "tok/s", Some(&s.throughput_tok_s)),
        ];
        for (name, unit, quantity) in rows {
            if let Some(quantity) = quantity {
                self.quantity(&format!("speculation.{name}"), unit, quantity);
            }
        }
    }

    /// Outputs with their ranges over the samples, indices of inputs, cycles to observe.
    fn uncertainty(&mut self, found: &UncertaintyJson) {
        let mut row = |name: String, value, unit: &str, low, high| {
            let [value, low, high] = [value, low, high].map(cell);
            let none = String::new;
            self.write(&[self.scenario.into(), name, value, unit.into(), none(), low, high, none()]);
        };
        let of = |name: &str| format!("uncertainty.{name}");
        row(of("win_probability"), Some(found.win_probability), "", None, None);
        for outcome in &found.outcomes {
            row(of(&outcome.name), outcome.median, &outcome.unit, outcome.low, outcome.high);
        }
        for input in &found.inputs {
            row(of(&format!("input.{}", input.name)), input.value, &input.unit, input.low, input.high);
            row(of(&format!("sobol_first.{}", input.name)), input.sobol_first, "", None, None);
            row(of(&format!("sobol_total.{}", input.name)), input.sobol_total, "", None, None);
        }
        if let Some(more) = &found.more_cycles {
            row(of("more_cycles"), more.expected, "cycles", None, None);
        }
    }

    fn break_evens(&mut self, all: &BreakEvensJson) {
        let levers = [
            ("accept_length", "tokens", &all.accept_length),
            ("verify", "ms", &all.verify_ms),
            ("allreduce", "us", &all.allreduce_us),
            ("draft_host", "ms", &all.draft_host_ms),
        ];
        for (name, unit, lever) in levers {
            let (value, draft_free) = match lever {
                BreakEvenJson::Reached(needed) => (needed.value, needed.draft_free),
                BreakEvenJson::Unreachable { .. } => (None, None),
            };
            self.number(&format!("break_even.{name}"), unit, value, None);
            self.number(&format!("break_even.{name}.draft_free"), unit, draft_free, None);
        }
    }
}

fn cell(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}

const fn word(source: SourceJson) -> &'static str {
    match source {
        SourceJson::Measured => "measured",
        SourceJson::Given => "given",
        SourceJson::Derived => "derived",
        SourceJson::Fitted => "fitted",
        SourceJson::Roofline => "roofline",
        SourceJson::Assumed => "assumed",
    }
}
