//! Draws the plots of a sweep.

use std::path::Path;

use super::exit::Failure;
use super::plots::save;
use crate::report::plot::{self, SweepAxis, SweepCurve, SweepCurves, SweepMap};
use crate::sweep::{Grid, MOST_KEPT, Points, Shown, Summary};

/// Curves in one figure: as many as there are colours.
const CURVES: usize = 6;
/// Values along each axis from which a map shows more than curves.
const MAPPED: usize = 5;

/// Makes the folder, where the grid can be drawn.
pub(super) fn prepare(folder: &Path, grid: &Grid) -> Result<(), Failure> {
    if grid.total() > MOST_KEPT || grid.dimensions().len() > 2 {
        let (axes, points) = (grid.dimensions().len(), grid.total());
        return Err(Failure::Input(format!(
            "--plots draws one or two axes and up to {MOST_KEPT} points, not {axes} axes and {points} points: fix keys with --set"
        )));
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Input(format!("cannot make {}: {error}", folder.display())))
}

/// Draws the speedup over one dimension or two: curves where one of them has few values, a map where both have several.
pub(super) fn write(
    folder: &Path,
    grid: &Grid,
    summary: &Summary,
    setup: &str,
) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    let mut draw = |name: &str, svg: String| -> Result<(), Failure> {
        written.extend(save(&folder.join(name), &svg)?);
        Ok(())
    };
    match *grid.sizes() {
        [_] => draw("sweep", plot::speedup_curves(&single(grid, summary, setup)))?,
        [first, second] => {
            // The dimension of the curves; a map alone where both are long.
            let family = if second <= CURVES && (second <= first || first > CURVES) { Some(1) } else { None };
            let family = family.or((first <= CURVES).then_some(0));
            if let Some(family) = family {
                draw("sweep", plot::speedup_curves(&curves(grid, summary, setup, family)))?;
            }
            if family.is_none() || (first >= MAPPED && second >= MAPPED) {
                draw("sweep-map", plot::speedup_grid(&map(grid, summary, setup)))?;
            }
        }
        _ => {}
    }
    Ok(written)
}

fn axis_of(grid: &Grid, dimension: usize) -> SweepAxis {
    let axis = &grid.dimensions()[dimension].axes[0];
    let numbers: Option<Vec<f64>> = (0..axis.count()).map(|at| number(axis, at)).collect();
    let name = axis.unit.map_or_else(|| axis.key.clone(), |unit| format!("{} [{unit}]", axis.key));
    match numbers {
        Some(values) if values.len() > 1 => {
            SweepAxis { name, logarithmic: wide(axis, &values), values, words: None }
        }
        _ => SweepAxis {
            name,
            values: (0..axis.count()).map(|at| at as f64).collect(),
            words: Some((0..axis.count()).map(|at| axis.text(at).into_owned()).collect()),
            logarithmic: false,
        },
    }
}

/// Whether steps have equal ratios, or a list spans more than a decade and a half.
fn wide(axis: &Points, values: &[f64]) -> bool {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    axis.is_logarithmic() || (axis.is_list() && low > 0.0 && high / low > 30.0)
}

fn number(axis: &Points, at: usize) -> Option<f64> {
    match axis.shown(at) {
        Shown::Number(number) => Some(number),
        Shown::Other(..) => None,
    }
}

fn single(grid: &Grid, summary: &Summary, setup: &str) -> SweepCurves {
    let axis = axis_of(grid, 0);
    let turns = summary.crossings(grid, 0).map(|found| found.turns).unwrap_or_default();
    let crossings: Vec<f64> = match &axis.words {
        Some(_) => Vec::new(),
        None => turns.iter().map(|(_, after, _)| axis.values[*after as usize]).collect(),
    };
    let title = match turns.as_slice() {
        _ if axis.words.is_some() => format!("Speedup for each {}", axis.name),
        [] => format!("The speedup does not pass 1 over {}", axis.name),
        [(_, after, true)] => format!("Speculation pays from {} {} on", axis.name, text(grid, *after)),
        [(_, after, false)] => {
            format!("Speculation no longer pays from {} {} on", axis.name, text(grid, *after))
        }
        several => format!("The speedup crosses break-even {} times over {}", several.len(), axis.name),
    };
    let curves = vec![SweepCurve { name: String::new(), speedup: summary.speedups.clone() }];
    SweepCurves { setup: setup.to_owned(), title, axis, curves, crossings }
}

/// The value of the first axis at a point of a grid of one dimension.
fn text(grid: &Grid, index: u64) -> String {
    grid.dimensions()[0].axes[0].text(index as usize).into_owned()
}

fn curves(grid: &Grid, summary: &Summary, setup: &str, family: usize) -> SweepCurves {
    let along = 1 - family;
    let (own, other) = (&grid.dimensions()[family].axes[0], &grid.dimensions()[along].axes[0]);
    let curve = |at: usize| SweepCurve {
        name: own.text(at).into_owned(),
        speedup: (0..other.count())
            .map(|step| {
                let index = at as u64 * grid.stride(family) + step as u64 * grid.stride(along);
                summary.speedups[index as usize]
            })
            .collect(),
    };
    SweepCurves {
        setup: setup.to_owned(),
        title: format!("Speedup over {}, for each {}", other.key, own.key),
        axis: axis_of(grid, along),
        curves: (0..own.count()).map(curve).collect(),
        crossings: Vec::new(),
    }
}

fn map(grid: &Grid, summary: &Summary, setup: &str) -> SweepMap {
    let (columns, rows) = (axis_of(grid, 0), axis_of(grid, 1));
    let speedup = (0..rows.values.len())
        .map(|row| {
            (0..columns.values.len()).map(|at| summary.speedups[at * rows.values.len() + row]).collect()
        })
        .collect();
    let share = 100.0 * summary.faster as f64 / (summary.answered.max(1)) as f64;
    SweepMap {
        setup: setup.to_owned(),
        title: format!("Speculation is faster at {share:.0} % of the points"),
        x: columns,
        y: rows,
        speedup,
    }
}
