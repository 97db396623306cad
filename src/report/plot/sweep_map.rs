//! Speedup over two axes of a sweep, with the line where speculation stops paying.

use super::canvas::picture;
use super::heat_map::{cells, color_bar, draw_contour, reach};
use super::label::{Label, Placer};
use super::page::{Frame, HEIGHT, NOTE, WIDTH, heading, plot_area};
use super::sweep_axis::SweepAxis;

/// Speedup on the grid of two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepMap {
    /// The set-up in words.
    pub setup: String,
    /// The finding.
    pub title: String,
    /// The columns.
    pub x: SweepAxis,
    /// The rows.
    pub y: SweepAxis,
    /// Speedup, one row per value of `y`; not finite where there is none.
    pub speedup: Vec<Vec<f64>>,
}

/// Speedup over two axes, as SVG.
pub fn speedup_grid(data: &SweepMap) -> String {
    picture(WIDTH, HEIGHT, |canvas| {
        let top = heading(canvas, &data.title, &data.setup);
        let area = plot_area(top, HEIGHT, 104.0);
        let frame =
            Frame { area, x: data.x.scale(area.left, area.right), y: data.y.scale(area.bottom, area.top) };
        let (columns, rows) = (data.x.rising(), data.y.rising());
        let speedup: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| columns.iter().map(|column| data.speedup[*row][*column]).collect())
            .collect();
        let xs: Vec<f64> = columns.iter().map(|at| frame.x.at(data.x.values[*at])).collect();
        let ys: Vec<f64> = rows.iter().map(|at| frame.y.at(data.y.values[*at])).collect();
        let reach = reach(&speedup);
        cells(canvas, &area, (&xs, &ys), &speedup, reach);
        color_bar(canvas, &area, reach);
        let mut placer = Placer::new(area.grown(-4.0));
        // Between words there is nothing to interpolate.
        let line = if data.x.words.is_none() && data.y.words.is_none() {
            draw_contour(canvas, (&xs, &ys), &speedup, &mut placer)
        } else {
            Vec::new()
        };
        let (x_ticks, y_ticks) = (data.x.ticks(&frame.x, 9), data.y.ticks(&frame.y, 7));
        frame.axes(canvas, (&x_ticks, &data.x.name), (&y_ticks, &data.y.name));
        if !line.is_empty() {
            placer.place(canvas, &line, 2.0, &Label::on_white("break-even, 1.00x", NOTE.bold()));
        }
        let unknown: Vec<_> = ys
            .iter()
            .zip(&speedup)
            .flat_map(|(y, row)| {
                xs.iter().zip(row).filter(|(_, s)| !s.is_finite()).map(move |(x, _)| (*x, *y))
            })
            .collect();
        if let Some(middle) = unknown.get(unknown.len() / 2) {
            placer.place(canvas, &[*middle], 0.0, &Label::on_white("no answer", NOTE));
        }
    })
}
