//! What names in a scenario stand for.
//!
//! Resolving a scenario looks names up through this trait, so that it can be tested without any preset and so that
//! this module needs to know no table of another.

mod builtin;

use std::io;

use serde_json::Value;

use crate::calibration::Calibration;
use crate::hardware::Hardware;
use crate::model::{Draft, KvFormat, Model, WeightFormat};
use crate::runtime::{Runtime, RuntimeKind};
use crate::sourced::Sourced;
use crate::speculation::{Acceptance, DraftShape};
use crate::units::{AcceptLength, Bytes};

pub use builtin::Builtin;

/// Storage formats other than those of the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Formats {
    /// Of the linear layers.
    pub weights: Option<WeightFormat>,
    /// Of the KV cache.
    pub kv: Option<KvFormat>,
}

/// Acceptance as a scenario describes it; probabilities lie between 0 and 1, lists are not empty.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// Only the mean is known.
    AcceptLength(Sourced<AcceptLength>),
    /// One conditional probability for all positions.
    Rate(Sourced<f64>),
    /// Accepted over drafted tokens.
    MeanRate(Sourced<f64>),
    /// Conditional probability per position.
    Conditional(Vec<f64>),
    /// Cumulative probability per position, never rising.
    Cumulative(Vec<f64>),
    /// Cycles by number of accepted drafted tokens.
    Histogram(Vec<f64>),
    /// A tree: probability per rank of a child; nodes and levels, root included.
    Tree {
        /// Probability per rank, adding up to at most 1.
        ranks: Vec<f64>,
        /// Nodes.
        nodes: u32,
        /// Levels.
        levels: u32,
    },
}

/// Side files of a calibration, by name relative to it.
pub type SideFiles<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// Presets, readers of files, and the few facts about their results that a scenario is checked against. Errors are
/// sentences for the user.
pub trait Library: Sync {
    /// A box by name or alias.
    fn hardware(&self, name: &str) -> Option<Hardware>;
    /// Names of all boxes.
    fn hardware_names(&self) -> Vec<String>;
    /// A box from a user's file.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn hardware_file(&self, name: &str, content: &Value) -> Result<Hardware, String>;
    /// The calibration that belongs to a box.
    fn default_calibration(&self, hardware: &Hardware) -> Option<String>;
    /// Memory of one GPU.
    fn memory(&self, hardware: &Hardware) -> Bytes;

    /// Measured tables by name.
    fn calibration(&self, name: &str) -> Option<Calibration>;
    /// Names of all calibrations.
    fn calibration_names(&self) -> Vec<String>;
    /// Measured tables from a user's file.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn calibration_file(&self, name: &str, text: &str, side_files: SideFiles) -> Result<Calibration, String>;
    /// No tables: the roofline answers.
    fn no_calibration(&self) -> Calibration;

    /// A model by name or alias.
    fn model(&self, name: &str, formats: Formats) -> Option<Model>;
    /// Names of all models.
    fn model_names(&self) -> Vec<String>;
    /// A model from a config.json.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn model_file(&self, name: &str, json: &str, formats: Formats) -> Result<Model, String>;
    /// Bytes of all weights.
    fn resident(&self, model: &Model) -> Bytes;
    /// KV cache of one token over all layers, before it is divided among GPUs.
    fn kv_per_token(&self, model: &Model) -> Bytes;

    /// A drafter by name or alias: a head, or a whole model.
    fn draft(&self, name: &str, formats: Formats) -> Option<Draft>;
    /// Names of all heads; whole models are among [`Library::model_names`].
    fn head_names(&self) -> Vec<String>;
    /// A drafter from a config.json.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn draft_file(&self, name: &str, json: &str, formats: Formats) -> Result<Draft, String>;
    /// Bytes of all weights that a drafter adds.
    fn draft_resident(&self, draft: &Draft) -> Bytes;
    /// The multi-token-prediction module that a model brings.
    fn mtp(&self, model: &Model) -> Option<Draft>;

    /// The profile of a server.
    fn runtime(&self, kind: RuntimeKind) -> Runtime;

    /// The law of accepted tokens.
    ///
    /// # Errors
    /// Why there is no such law.
    fn acceptance(&self, law: &Law, shape: DraftShape) -> Result<Acceptance, String>;
    /// The law of a draft of another shape, nothing else changed.
    fn reshaped(&self, acceptance: &Acceptance, shape: DraftShape) -> Acceptance;
}
