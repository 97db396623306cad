//! Draws the plots of a simulation.

use std::path::Path;

use super::exit::Failure;
use crate::machine::Trace;
use crate::simulation::{MachineAnswer, ServingAnswer};

pub(super) fn machine(
    _folder: &Path,
    _answer: &MachineAnswer,
    _trace: &Trace,
    _run: u32,
    _words: &str,
) -> Result<Vec<String>, Failure> {
    Ok(Vec::new())
}

pub(super) fn serving(_folder: &Path, _answer: &ServingAnswer, _words: &str) -> Result<Vec<String>, Failure> {
    Ok(Vec::new())
}
