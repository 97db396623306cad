//! Scenario files: loading, checking, resolving.

mod setup;

pub use setup::{
    Common, Method, ModelledSetup, ObservedAllreduce, ObservedSetup, PassSettings, Setup, Stated, StatedPass,
    WhatIf,
};
