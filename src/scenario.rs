//! Scenario files: from YAML to setups that can be solved.
//!
//! ```text
//! file(s) ─► tree (places) ─► extends, --set, --unset, what_if ─► checked against the schema ─► Written ─► Setup
//! ```
//!
//! [`open`] does it all and reports every fault of all steps together; [`load`] and [`resolve`] are its halves. The
//! structs of [`written`] are the only description of the keys: the JSON Schema, the check of the tree, the reference of
//! keys and the hover text of editors are made from them.

mod axis;
mod check;
mod direct;
mod keys;
mod kind;
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

pub use axis::{Axis, AxisValues, Dimension, Points, Shown, dimensions};
pub use direct::Direct;
pub use keys::{KeyDoc, key_doc, key_docs};
pub use kind::FileKind;
pub use library::{Builtin, Library};
pub use load::{Scenario, Variation, load, load_with};
pub use overrides::Overrides;
pub use resolve::{Branch, Family, Loaded, Worker, check_acceptance_file, open, resolve};
pub use schema::json_schema;
pub use setup::{
    Common, Evidence, Method, ModelledSetup, ObservedAllreduce, ObservedSetup, PassSettings, Setup, Stated,
    StatedPass, WhatIf,
};

#[cfg(test)]
mod tests;
