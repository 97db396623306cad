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
pub(super) use draft::draft_shape;
pub(super) use probabilities::acceptance_kinds;
pub(super) use shape::{check_shape, check_value};

use super::layer::Layer;
use crate::diagnostic::Diagnostics;

/// Whether the values of a layer go together. A variation that leaves the acceptance alone keeps the law of the base,
/// which is told for another shape where that changes, so its `acceptance` is not held against the shape.
pub(super) fn check_values(layer: &Layer, own_acceptance: bool, found: &mut Diagnostics) {
    draft::check(layer, found);
    observed::check(layer, found);
    if own_acceptance {
        draft::check_accept_length(layer, found);
        probabilities::check(layer, found);
    }
}
