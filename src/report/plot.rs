//! Figures: each a function from a plain data struct to SVG text.
//!
//! 800 pixels wide, white ground, axes with units, labels beside what they name, colours of Okabe and Ito with
//! shapes and dashes that carry the same information in grey. The title states the finding. The same data give
//! the same bytes. Text names the families DejaVu Sans, Verdana, sans-serif; [`super::png`] embeds the first.
//!
//! The data are points, curves and grids that were computed elsewhere; drawing maps them to pixels, and finds
//! contour lines by interpolating the grid it is given. Points that are not finite (or not positive on a
//! logarithmic axis) are left out.

mod allreduce;
mod axis;
mod batch;
mod breakdown;
mod canvas;
mod contour;
mod distribution;
mod geometry;
mod heat_map;
mod label;
mod latency;
mod load;
mod marker;
mod metrics;
mod page;
mod palette;
mod sweep_axis;
mod sweep_curves;
mod sweep_map;
mod throughput;
mod timeline;
mod tornado;
mod tune;
mod validation;

pub use allreduce::{AllreduceCurves, AllreduceSeries, MessageSize, allreduce_against_bytes};
pub use batch::{BatchCurve, speedup_against_batch};
pub use breakdown::{Bar, Bars, Segment, time_breakdown};
pub use distribution::{TimeDistribution, time_distribution};
pub use heat_map::{HeatMap, speedup_map};
pub use latency::{Latencies, LatencyCurves, latency_distributions};
pub use load::{LoadCurves, LoadSide, throughput_against_load};
pub use sweep_axis::SweepAxis;
pub use sweep_curves::{SweepCurve, SweepCurves, speedup_curves};
pub use sweep_map::{SweepMap, speedup_grid};
pub use throughput::{AcceptCurve, VerifyCurve, throughput_against_accept_length, throughput_against_verify};
pub use timeline::{Doing, RankLane, Timeline, timeline};
pub use tornado::{Tornado, TornadoBar, tornado};
pub use tune::{GainMap, Stair, Staircase, best_setting, gain_map};
pub use validation::{ComparedPoint, Comparison, predicted_against_measured};

#[cfg(test)]
mod tests;
