//! Tables of measurements: rows of a CSV file, each with all that a prediction needs.

mod given;
mod predict;
mod setup;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::collective::Backend;
use crate::runtime::{Execution, RuntimeKind};
use crate::validation::Level;

pub(super) use setup::Machine;

/// The measurements that come with the tool.
const SHIPPED: &str = include_str!("../../docs/validation/data/measurements.csv");

/// One measured row with all that a prediction needs. Empty cells take the value in brackets; where there is none the row
/// is not predicted, and said to lack it. The columns marked "optional" may be left out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measurement {
    /// Name of the row.
    pub(super) id: String,
    group: String,
    level: Level,
    /// \[that of the calibration that validate is given\]
    hardware: Option<String>,
    /// \[the one that validate is given, else the default of the hardware\]
    #[serde(default)]
    calibration: Option<String>,
    /// Preset, or a config.json beside the table.
    #[serde(default)]
    model: String,
    /// \[as in the checkpoint\]
    weights: Option<String>,
    kv: Option<String>,
    runtime: Option<RuntimeKind>,
    tensor: Option<u32>,
    /// \[1\]
    decode_context: Option<u32>,
    batch: Option<u32>,
    context: Option<u32>,
    /// \[no speculation\]
    method: Option<String>,
    draft: Option<String>,
    steps: Option<u32>,
    topk: Option<u32>,
    draft_tokens: Option<u32>,
    accept_length: Option<f64>,
    execution: Option<Execution>,
    /// Backend that the server was told to use \[as it dispatches\]
    allreduce: Option<Backend>,
    /// Backend that was switched on besides those that the server takes by itself \[none\]
    #[serde(default)]
    opt_in: Option<Backend>,
    /// `step_ms`, `pass_ms`, `cycle_ms`, `throughput_tok_s`, `speedup`, `allreduce_us`
    quantity: String,
    /// Message of an `allreduce_us`, optional \[B\]
    #[serde(default)]
    bytes: Option<u32>,
    measured: Option<f64>,
    #[allow(dead_code)]
    n: Option<u32>,
    /// Difference of two repeats, optional \[%\]
    #[serde(default)]
    repeat_percent: Option<f64>,
    /// Observed inner quantities that the prediction shall use, optional: `verify_ms=30; allreduce_us=205`
    #[serde(default)]
    given: Option<String>,
    /// `held out`, or what was known
    r#use: String,
    source: String,
    note: String,
    /// Folder of the table, for the files it names.
    #[serde(skip)]
    folder: Option<PathBuf>,
}

/// The cells that a prediction cannot do without.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Needed {
    runtime: RuntimeKind,
    tensor: u32,
    batch: u32,
    context: u32,
    execution: Execution,
    measured: f64,
}

impl Measurement {
    /// Without them two rows are verified, which yield no accept length above 2.
    fn lacks_draft_tokens(&self) -> bool {
        let told = self.draft_tokens.is_some() || self.steps.is_some();
        !told && self.method.is_some() && self.accept_length.is_some_and(|length| length > 2.0)
    }

    /// Those cells.
    ///
    /// # Errors
    /// Which are empty.
    fn needed(&self) -> Result<Needed, String> {
        let cells = [
            ("model", self.model.is_empty()),
            ("runtime", self.runtime.is_none()),
            ("tensor", self.tensor.is_none()),
            ("batch", self.batch.is_none()),
            ("context", self.context.is_none()),
            ("draft_tokens", self.lacks_draft_tokens()),
            ("execution", self.execution.is_none()),
            ("measured", self.measured.is_none()),
        ];
        let empty: Vec<String> =
            cells.iter().filter(|(_, empty)| *empty).map(|(name, _)| format!("`{name}`")).collect();
        match (self.runtime, self.tensor, self.batch, self.context, self.execution, self.measured) {
            (Some(runtime), Some(tensor), Some(batch), Some(context), Some(execution), Some(measured))
                if empty.is_empty() =>
            {
                Ok(Needed { runtime, tensor, batch, context, execution, measured })
            }
            _ => Err(format!("empty cells: {}", empty.join(", "))),
        }
    }
}

/// The shipped rows.
pub(super) fn shipped() -> Result<Vec<Measurement>, String> {
    parse(SHIPPED.as_bytes(), "the shipped measurements", None)
}

/// Rows of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Measurement>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&bytes, &path.display().to_string(), path.parent())
}

pub(super) fn parse(bytes: &[u8], name: &str, folder: Option<&Path>) -> Result<Vec<Measurement>, String> {
    let mut reader = csv::Reader::from_reader(bytes);
    let mut rows = Vec::new();
    for (number, row) in reader.deserialize::<Measurement>().enumerate() {
        let mut row = row.map_err(|error| format!("{name}: row {}: {error}", number + 1))?;
        let at = |what: &str| format!("{name}: row {} ({}): {what}", number + 1, row.id);
        if row.measured.is_some_and(|measured| !(measured.is_finite() && measured > 0.0)) {
            return Err(at("`measured` must be positive"));
        }
        if row.repeat_percent.is_some_and(|percent| !(percent.is_finite() && percent >= 0.0)) {
            return Err(at("`repeat_percent` must not be negative"));
        }
        row.folder = folder.map(Path::to_owned);
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(format!("{name} holds no row"));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;
    use crate::scenario::{Loaded, Setup};

    /// How many measurements lie in the range that the inputs give: the paragraph of docs/explanation/uncertainty.md.
    #[test]
    #[ignore = "prints counts: cargo test --lib measurements_within -- --ignored --nocapture"]
    fn measurements_within_the_ranges_of_their_predictions() {
        let mut counts: Vec<(String, u32, u32)> = Vec::new();
        for row in shipped().expect("the shipped measurements") {
            let Ok(setup) = row.setup(&Machine::default()) else { continue };
            let rows = setup.common.draft_tokens;
            let key = match (row.quantity.as_str(), row.method.is_some()) {
                ("step_ms", _) => "baseline.step",
                ("pass_ms", _) if rows > 1 => "speculation.verify",
                ("cycle_ms", true) => "speculation.cycle",
                ("throughput_tok_s", true) => "speculation.throughput",
                ("throughput_tok_s", false) => "baseline.throughput",
                _ => continue,
            };
            let base = Setup::Modelled(Box::new(setup));
            let loaded = Loaded { base, variation: None, what_ifs: vec![], overrides: vec![], notes: vec![] };
            let found = evaluate::uncertainty(&loaded, 100, 1);
            let outcome = found.outcomes.iter().find(|outcome| outcome.key == key).expect("an output");
            let Some((low, high)) = outcome.first_order else { continue };
            let held = u32::from(row.measured.is_some_and(|measured| low <= measured && measured <= high));
            match counts.iter_mut().find(|(known, ..)| *known == key) {
                Some((_, n, inside)) => (*n, *inside) = (*n + 1, *inside + held),
                None => counts.push((key.to_owned(), 1, held)),
            }
        }
        for (key, n, inside) in &counts {
            println!("{key}: {inside} of {n}");
        }
    }
}
