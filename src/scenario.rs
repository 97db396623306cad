//! Scenario files: loading, checking, resolving.

mod check;
mod keys;
pub mod layer;
mod schema;
mod setup;
pub mod tree;
pub mod written;

pub use keys::{KeyDoc, key_docs};
pub use schema::json_schema;
pub use setup::{
    Common, Method, ModelledSetup, ObservedAllreduce, ObservedSetup, PassSettings, Setup, Stated, StatedPass,
    WhatIf,
};
