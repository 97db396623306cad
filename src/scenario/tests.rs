//! Tests of loading and resolving as a whole.

mod damaged;
mod drafts;
mod editor;
mod golden;
mod layers;
mod limits;
mod meaning;
mod remarks;
mod shipped;

use super::library::Builtin;
use super::{Loaded, Overrides, Scenario, open};
use crate::diagnostic::Diagnostics;

/// Writes a scenario into a fresh folder and opens it.
fn opened(text: &str) -> Result<(Scenario, Loaded), Diagnostics> {
    opened_with(text, &[], &[])
}

/// The same with `--set` and `--unset`.
fn opened_with(text: &str, set: &[&str], unset: &[&str]) -> Result<(Scenario, Loaded), Diagnostics> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("scenario.yaml");
    std::fs::write(&path, text).expect("a temporary file");
    let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    open(&path, &Overrides { set: own(set), unset: own(unset) }, &Builtin)
}
