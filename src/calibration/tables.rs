//! The tables of one calibration.

use super::collectives::Collectives;
use super::kernels::{AttentionTable, GemmTable, MlaTable, MoeTable};
use super::lazy::Lazy;

/// Measured tables; those not measured are absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    pub(super) collectives: Option<Lazy<Collectives>>,
    pub(super) gemm: Option<Lazy<GemmTable>>,
    pub(super) attention: Option<Lazy<AttentionTable>>,
    pub(super) mla: Option<Lazy<MlaTable>>,
    pub(super) moe: Option<Lazy<MoeTable>>,
}

impl Tables {
    /// Names of the tables there are, as the file format calls them.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [
            ("collectives", self.collectives.is_some()),
            ("gemm", self.gemm.is_some()),
            ("attention", self.attention.is_some()),
            ("mla", self.mla.is_some()),
            ("moe", self.moe.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
    }
}
