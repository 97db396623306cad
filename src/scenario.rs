//! Scenario files: loading, checking, resolving.

pub mod schema;
mod setup;
pub mod tree;
pub mod written;

pub use setup::{
    Common, Method, ModelledSetup, ObservedAllreduce, ObservedSetup, PassSettings, Setup, Stated, StatedPass,
    WhatIf,
};
#[cfg(test)] mod tmp { #[test] fn show() { println!("{}", super::schema::json_schema()); } }
