//! V0: every measured all-reduce between 4 KiB and 1 MiB, predicted from its curve without it.

use crate::calibration::{self, LeftOut, Mode, leave_one_out};
use crate::runtime::CollectiveOp;
use crate::units::Bytes;
use crate::validation::{Comparison, Level};

/// Boxes with full public tables.
const BOXES: [&str; 4] = ["rtx-pro-6000-x8", "rtx-pro-6000-x4", "rtx-pro-6000-x2", "l40s-x4"];

/// Predictions of left-out rows, device time and eager calls in groups of their own.
pub(super) fn comparisons() -> Vec<Comparison> {
    let calibrations: Vec<_> = BOXES
        .iter()
        .map(|name| calibration::preset(name).expect("the shipped boxes are compiled in"))
        .collect();
    let references: Vec<_> = calibrations.iter().collect();
    let kinds: [(&str, &[Mode]); 2] = [
        ("all-reduce, graph and stream", &[Mode::Graph, Mode::Stream]),
        ("all-reduce, eager", &[Mode::Eager]),
    ];
    kinds
        .into_iter()
        .flat_map(|(group, modes)| {
            let report = leave_one_out(
                &references,
                CollectiveOp::AllReduce,
                modes,
                Bytes::from_kib(4.0),
                Bytes::from_kib(1024.0),
            );
            report.rows.into_iter().map(move |row| Comparison {
                id: name(&row),
                group: group.to_owned(),
                level: Level::V0,
                quantity: "time_us".to_owned(),
                measured: row.measured.us(),
                predicted: row.predicted.us(),
                inputs: "the neighbouring rows".to_owned(),
                held_out: true,
                arithmetic: false,
                repeat: None,
                source: "aiconfigurator-core 0.12.0".to_owned(),
                note: String::new(),
            })
        })
        .collect()
}

/// `rtx-pro-6000-x8 n8 graph 16384 B`, with the server where rows of several are told apart.
fn name(row: &LeftOut) -> String {
    let mode = match row.key.mode {
        Mode::Graph => "graph",
        Mode::Stream => "stream",
        Mode::Eager => "eager",
    };
    let server = row.server.map_or_else(String::new, |server| format!(" {server:?}").to_lowercase());
    format!("{} n{} {mode}{server} {} B", row.calibration, row.key.ranks, row.bytes.get())
}
