//! Predicted against measured, drawn.

use std::path::Path;

use super::super::exit::Failure;
use super::super::output::say;
use super::super::plots;
use super::tables::signed;
use crate::report::plot;
use crate::validation::{Comparison, Level, Summary, quantile};

/// One picture per unit, since milliseconds and tokens per second share no axis. Only the worst row of each group is
/// named: hundreds of names would hide the points.
pub(super) fn draw(folder: &Path, groups: &[Summary], rows: &[Comparison]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Input(format!("cannot make {}: {error}", folder.display())))?;
    let kinds = [
        ("allreduce", "time of one all-reduce", "µs", &[Level::V0][..]),
        ("passes", "time of a pass or cycle", "ms", &[Level::V1, Level::V2][..]),
        ("throughput", "throughput", "tok/s", &[Level::V3][..]),
    ];
    for (name, quantity, unit, levels) in kinds {
        let rows: Vec<&Comparison> =
            rows.iter().filter(|row| levels.contains(&row.level) && !row.arithmetic).collect();
        if rows.is_empty() {
            continue;
        }
        let errors: Vec<f64> = rows.iter().map(|row| row.error()).collect();
        let absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let worst = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
        let is_named = |row: &Comparison| groups.iter().any(|g| g.group == row.group && g.worst_id == row.id);
        let points = rows
            .iter()
            .map(|row| plot::ComparedPoint {
                id: if is_named(row) { row.id.clone() } else { String::new() },
                level: row.level.word().to_owned(),
                predicted: row.predicted,
                measured: row.measured,
            })
            .collect();
        let drawing = plot::predicted_against_measured(&plot::Comparison {
            title: format!(
                "Median error {:.1} % over {} rows, worst {}",
                quantile(&absolute, 0.5) * 100.0,
                rows.len(),
                signed(worst)
            ),
            setup: "all rows of the validation table, weak ones too; the worst of each group is named"
                .to_owned(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            points,
        });
        for path in plots::save(&folder.join(format!("validation-{name}")), &drawing)? {
            say(&format!("wrote {path}"));
        }
    }
    Ok(())
}
