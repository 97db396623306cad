//! Measured tables and fits of one box: the first source of times, before any formula.
//!
//! A [`Calibration`] holds collectives over message size and kernels over their shapes, measured on one kind of
//! GPU, with where they came from. The cost model asks it first; what it does not hold, it does not invent: the
//! answer is `None`, and a fit or the roofline takes over.
//! Presets are compiled in; their tables are unpacked when first asked. Sources, coverage and errors of each are
//! in `calibration/README.md`; the file format is that of [`parse`].

mod block;
mod collectives;
mod consistency;
mod curves;
mod error;
mod file;
mod fit;
mod grid;
mod host;
mod kernels;
mod keyed;
mod keys;
mod launch;
mod lazy;
mod leave_one_out;
mod links;
mod lookup;
pub mod measure;
mod presets;
mod scatter;
mod side_file;
mod stream;
mod tables;
mod tree;
mod words;
mod write;

#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use serde::Serialize;

use crate::diagnostic::closest;
use crate::hardware;

pub use collectives::{CollectiveCurve, CollectiveKey, CollectiveRow, Forced};
pub use curves::{JitterFit, KernelFit, KernelForm};
pub use error::{CalibrationError, Place, TableError};
pub use file::{FORMAT, parse};
pub use fit::{Fit, FitOf, FitRange, Form, Params};
pub use launch::{LaunchRow, LaunchWhat};
pub use leave_one_out::{LeftOut, Report, leave_one_out};
pub use links::{LinkEnd, LinkKind, LinkRow};
pub use lookup::{Lookup, MLA_MODULE_SHAPE, MlaModuleShape, MoeLookup};
pub use presets::{PresetEntry, base_for, preset, preset_entries};
pub use scatter::Scatter;
pub use side_file::{MOST_SIDE_FILE_BYTES, read_side_file};
pub use stream::StreamRow;
pub use tables::Tables;
pub use words::{Family, Mode};
pub use write::Draft;

/// A calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Preset name or path.
    pub name: String,
    /// The box that was measured; none for [`none`].
    pub facts: Option<BoxFacts>,
    /// Where the numbers came from.
    pub provenance: Provenance,
    /// What a reader must know: limits, rows that look wrong, what is fitted or assumed.
    pub notes: Vec<String>,
    /// The calibration whose kernel tables lie under those of this one.
    pub base: Option<String>,
    /// Measured tables.
    pub tables: Tables,
    /// Fitted curves.
    pub fits: Vec<Fit>,
    /// Fitted kernels.
    pub kernel_fits: Vec<KernelFit>,
    /// Distributions of launch costs.
    pub jitter: Vec<JitterFit>,
}

/// The box that was measured; empty where the source does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoxFacts {
    /// Name of the GPU preset.
    pub gpu: String,
    /// How many GPUs.
    pub count: u32,
    /// Version of the GPU driver.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub driver: String,
    /// Version of NCCL.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub nccl: String,
    /// Clocks and power limits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub clocks: String,
    /// PCIe generation and lanes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pcie: String,
    /// What joins the GPUs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub topology: String,
    /// NCCL_* variables that were set.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub environment: IndexMap<String, String>,
}

impl BoxFacts {
    /// A sentence for the user where the GPU is no preset; also among [`Calibration::notes`]. A card without a preset
    /// can have been measured, so this is no error.
    pub fn unknown_gpu(&self) -> Option<String> {
        if hardware::gpu_preset(&self.gpu).is_some() {
            return None;
        }
        let names = hardware::gpu_entries().iter().flat_map(|e| std::iter::once(&e.name).chain(&e.aliases));
        let near = closest(&self.gpu, names.map(String::as_str));
        Some(format!(
            "The GPU `{}` of the calibration is no GPU preset{}: whether the box of a scenario has the measured \
             card cannot be told.",
            tree::shown(&self.gpu),
            near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
        ))
    }
}

/// Where numbers came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Provenance {
    /// Paper, package or repository with its version.
    pub source: String,
    /// Its licence.
    pub licence: String,
    /// The command that made the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// When it was measured, as far as known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub date: String,
}

/// No measurements: every time comes from formulas.
pub fn none() -> Calibration {
    Calibration {
        name: "none".to_owned(),
        facts: None,
        provenance: Provenance::default(),
        base: None,
        notes: Vec::new(),
        tables: Tables::default(),
        fits: Vec::new(),
        kernel_fits: Vec::new(),
        jitter: Vec::new(),
    }
}
