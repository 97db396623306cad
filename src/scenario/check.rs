//! Checks of a scenario, each of which adds what it finds to one collection.
//!
//! First the shape of the tree against the JSON Schema; then, on what has the right shape, whether the values go
//! together.

mod dotted;
mod draft;
mod observed;
mod probabilities;
mod quantity;
mod shape;

pub(super) use dotted::check_dotted;
pub(super) use draft::{DraftShape, draft_shape};
pub(super) use probabilities::acceptance_kinds;
pub(super) use shape::{check_shape, check_value};

use super::layer::Layer;
use crate::diagnostic::Diagnostics;

/// Whether the values of a layer go together.
pub(super) fn check_values(layer: &Layer, found: &mut Diagnostics) {
    draft::check(layer, found);
    probabilities::check(layer, found);
    observed::check(layer, found);
}
