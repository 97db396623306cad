//! One table with what stands around it, until its end is known.

use super::names::{self, Signs};
use super::row::{Block, Row};
use crate::import::{Collective, CollectiveRun, Observation, Sink, Summary, What};
use crate::units::{Bytes, Seconds};

/// Rows that wait for the end of their table: its operation may follow from its last row only.
const MOST_ROWS: usize = 100_000;

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) run: CollectiveRun,
    pub(super) rows: Vec<(u64, Row, String)>,
    /// Whether a footer was seen.
    pub(super) closed: bool,
}

impl Table {
    /// A table that follows another one.
    pub(super) fn after(number: u32) -> Self {
        Self { run: CollectiveRun { table: number, ..CollectiveRun::default() }, ..Self::default() }
    }

    /// Takes a row, unless the collective went wrong.
    ///
    /// # Errors
    /// Why the row is rejected.
    pub(super) fn push(&mut self, line: u64, row: Row, text: &str) -> Result<(), String> {
        let blocks = [Some(row.out_of_place), row.in_place];
        if let Some(wrong) =
            blocks.iter().flatten().find_map(|block| block.wrong.filter(|wrong| *wrong > 0.0))
        {
            return Err(format!("{wrong} wrong elements: the collective gave a wrong result"));
        }
        if self.rows.len() >= MOST_ROWS {
            return Err(format!("a table of more than {MOST_ROWS} rows"));
        }
        self.rows.push((line, row, text.chars().take(200).collect()));
        Ok(())
    }

    /// Hands on the run and its rows, and checks what the rows say of themselves.
    pub(super) fn emit(mut self, summary: &mut Summary, sink: &mut Sink) {
        if self.run.op.is_none() {
            self.run.op = self.inferred();
        }
        if !self.run.other_gpus.is_empty() {
            let names =
                self.run.gpu.iter().chain(&self.run.other_gpus).cloned().collect::<Vec<_>>().join(", ");
            summary.warn("mixed-gpus", 0, "the ranks stand on GPUs of several kinds", &names);
        }
        let first = self.rows.first().map_or(0, |(line, _, _)| *line);
        sink(Observation::at(first, What::CollectiveRun(self.run.clone())));
        for (line, row, text) in &self.rows {
            for (code, why) in self.faults(row) {
                summary.warn(code, *line, &why, text);
            }
            let time = |block: &Block| Seconds::from_us(block.time);
            sink(Observation::at(
                *line,
                What::Collective(Collective {
                    table: self.run.table,
                    bytes: Bytes::new(row.preamble.size as f64),
                    dtype: row.preamble.dtype.clone(),
                    out_of_place: Some(time(&row.out_of_place)),
                    in_place: row.in_place.as_ref().map(time),
                }),
            ));
        }
    }

    /// The operation, by the row whose bandwidths are known best.
    fn inferred(&self) -> Option<&'static str> {
        let (_, row, _) =
            self.rows.iter().max_by(|a, b| a.1.out_of_place.algbw.total_cmp(&b.1.out_of_place.algbw))?;
        let block = row.out_of_place;
        // Below this two decimals do not tell the factors apart.
        if block.algbw < 0.05 {
            return None;
        }
        let factor = block.busbw / block.algbw;
        let signs = Signs { redop: &row.preamble.redop, root: row.preamble.root, factor };
        names::inferred(signs, self.run.ranks?)
    }

    /// What does not add up in a row.
    fn faults(&self, row: &Row) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let factor = self.run.op.zip(self.run.ranks).and_then(|(op, ranks)| names::factor(op, ranks));
        for block in [Some(row.out_of_place), row.in_place].into_iter().flatten() {
            let algbw = row.preamble.size as f64 / block.time / 1e3;
            if !near(block.algbw, algbw) {
                let why = format!("algbw {} is not size over time, {algbw:.2} GB/s", block.algbw);
                faults.push(("algbw", why));
            }
            if let Some(factor) = factor
                && !near(block.busbw, algbw * factor)
            {
                let (said, expected) = (block.busbw, algbw * factor);
                faults.push((
                    "busbw",
                    format!("busbw {said} is not that of the operation, {expected:.2} GB/s"),
                ));
            }
        }
        if let Some(in_place) = row.in_place {
            let (a, b) = (row.out_of_place.time, in_place.time);
            if a.max(b) > 2.0 * a.min(b) {
                faults.push((
                    "spike",
                    format!("{a} µs out of place and {b} µs in place differ more than twofold"),
                ));
            }
        }
        faults
    }
}

/// Equal within what two decimals, or two digits of large values, can say.
fn near(said: f64, expected: f64) -> bool {
    (said - expected).abs() <= 0.011 + 0.02 * expected || !said.is_finite()
}
