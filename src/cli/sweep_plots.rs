//! Draws the plots of a sweep.

use std::path::Path;

use super::exit::Failure;
use crate::sweep::{Grid, Summary};

/// Draws the speedup over the axes.
pub(super) fn write(
    _folder: &Path,
    _grid: &Grid,
    _summary: &Summary,
    _setup: &str,
) -> Result<Vec<String>, Failure> {
    Ok(Vec::new())
}
