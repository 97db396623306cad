//! Closed forms: from the times of a cycle to throughput, break-evens and sensitivities.
//!
//! ```text
//! R       = cycle / baseline step       the break-even accept length
//! speedup = AL / R                      throughput = B · AL / cycle
//! cycle   = draft and host + verify     verify = n · all-reduce + all else
//! ```
//!
//! [`Parts`] holds these times and answers; [`leviathan`], [`moesd`] and [`goodput`] are the published closed forms
//! that it must agree with. Curves over batch, context or draft tokens are scanned by [`crossings`], never bisected:
//! they cross 1 more than once.

mod break_even;
pub mod goodput;
mod interval;
pub mod leviathan;
pub mod moesd;
mod parts;
mod prediction;
mod scan;
mod sensitivity;
mod split;
mod step_table;

pub use break_even::{Needed, Pair};
pub use parts::{AllreducePart, Parts};
pub use prediction::{
    BaselineAnswer, BreakEven, BreakEvens, Crossing, Elasticity, Figure, Finding, Lever, Prediction, Row,
    SpeculationAnswer, Verdict, WhatIfAnswer,
};
pub use scan::crossings;
pub use sensitivity::Elasticities;
pub use split::{ObservedTotals, SplitError, step_from_throughput};
pub use step_table::{StepTable, StepTableError};
