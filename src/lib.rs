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

pub mod analytic;
pub mod calibration;
pub mod collective;
pub mod cost;
pub mod des;
pub mod forward;
pub mod hardware;
pub mod model;
pub mod runtime;
pub mod scenario;
pub mod sourced;
pub mod speculation;
pub mod units;
