//! Kernel times: dense projections, attention, experts.

mod attention;
mod gemm;
mod mla;
mod moe;
mod shapes;

pub(super) use attention::{AttentionTable, Queries};
pub(super) use gemm::GemmTable;
pub(super) use mla::{MlaTable, What as MlaWhat};
pub(super) use moe::MoeTable;
