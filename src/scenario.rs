//! Scenario files: loading, checking, resolving.

mod axis;
mod check;
mod keys;
pub mod layer;
pub mod library;
mod load;
mod overrides;
mod resolve;
mod schema;
mod setup;
pub mod tree;
mod vary;
pub mod written;

pub use axis::{Axis, AxisValues};

pub use keys::{KeyDoc, key_docs};
pub use library::{Builtin, Library};
pub use load::{Scenario, Variation, load, load_with};
pub use overrides::Overrides;
pub use resolve::{Loaded, open, resolve};
pub use schema::json_schema;
pub use setup::{
    Common, Method, ModelledSetup, ObservedAllreduce, ObservedSetup, PassSettings, Setup, Stated, StatedPass,
    WhatIf,
};

#[cfg(test)]
mod tests;
