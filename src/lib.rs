//! specplan: does speculative decoding pay on this box, and if not, what would have to change?
//!
//! ```text
//!  scenario file ─► Scenario ──► Setup ────► ForwardPass ──► PricedPass ──► Cycle ──► analytic ──► Prediction
//!  (YAML, spans)    as written   resolved    ops, no times   time + source                             │
//!                                   ▲                           ▲                                      ▼
//!                      presets, HF config.json    kernel + collective cost models                   Report
//!                                   ▲                           ▲                        text json csv md svg png
//!                                   └─────── Calibration ───────┘
//! ```
//!
//! `evaluate` is the one place that walks the whole way. `simulation` turns off at the cycle: to `machine`, the ranks of the
//! box with jitter and contention, or to `serving`, requests over time. `cli` is the one place that prints.

pub mod analytic;
pub mod calibration;
pub mod cli;
pub mod collective;
pub mod cost;
pub mod des;
pub mod diagnostic;
pub mod evaluate;
pub mod explain;
pub mod forward;
pub mod hardware;
pub mod import;
pub mod machine;
pub mod model;
pub mod report;
pub mod runtime;
pub mod scenario;
pub mod serving;
pub mod simulation;
pub mod sourced;
pub mod speculation;
pub mod sweep;
pub mod tune;
pub mod uncertainty;
pub mod units;
pub mod validation;
