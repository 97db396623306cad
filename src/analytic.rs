//! Closed forms: from the times of a cycle to throughput, break-evens and sensitivities.

mod prediction;

pub use prediction::{
    BaselineAnswer, BreakEven, BreakEvens, Crossing, Elasticity, Figure, Finding, Lever, Prediction, Row,
    SpeculationAnswer, Verdict, WhatIfAnswer,
};
