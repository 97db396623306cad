//! The tables of one calibration, and those of another that lends its kernels.

use std::sync::Arc;

use super::collectives::Collectives;
use super::kernels::{AttentionTable, GemmTable, MlaTable, MoeTable};
use super::launch::LaunchTable;
use super::lazy::{Decode, Lazy};
use super::links::LinkTable;
use super::stream::StreamTable;

/// Measured tables; those not measured are absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    pub(super) collectives: Option<Lazy<Collectives>>,
    pub(super) gemm: Option<Lazy<GemmTable>>,
    pub(super) attention: Option<Lazy<AttentionTable>>,
    pub(super) mla: Option<Lazy<MlaTable>>,
    pub(super) moe: Option<Lazy<MoeTable>>,
    pub(super) launch: Option<Lazy<LaunchTable>>,
    pub(super) links: Option<Lazy<LinkTable>>,
    pub(super) stream: Option<Lazy<StreamTable>>,
    /// Kernel tables that lie under these.
    pub(super) base: Option<Arc<Tables>>,
}

impl Tables {
    /// Names of the tables there are, as the file format calls them; those of the base apart.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [
            ("collectives", self.collectives.is_some()),
            ("gemm", self.gemm.is_some()),
            ("attention", self.attention.is_some()),
            ("mla", self.mla.is_some()),
            ("moe", self.moe.is_some()),
            ("launch", self.launch.is_some()),
            ("links", self.links.is_some()),
            ("stream", self.stream.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
    }

    /// A table of this calibration, then that of its base.
    pub(super) fn layers<'a, T: Decode + 'a>(
        &'a self,
        table: impl Fn(&'a Self) -> Option<&'a Lazy<T>>,
    ) -> impl Iterator<Item = &'a T> + Clone {
        let own = table(self);
        let base = self.base.as_deref().and_then(table);
        own.into_iter().chain(base).map(Lazy::get)
    }
}
