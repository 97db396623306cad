//! Measured tables and fits of one box.

/// A calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Preset name or path.
    pub name: String,
}
/// STUB until TABLES is merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookup {
    /// Time.
    pub time: crate::units::Seconds,
    /// Source.
    pub source: crate::sourced::Source,
    /// Edge.
    pub extrapolated: bool,
}
/// STUB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoeLookup {
    /// Time.
    pub time: crate::units::Seconds,
    /// Source.
    pub source: crate::sourced::Source,
    /// Edge.
    pub extrapolated: bool,
    /// Experts.
    pub distinct_assumed: f64,
}
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::RuntimeKind;
#[allow(missing_docs, clippy::all, clippy::pedantic, unused_variables)]
impl Calibration {
    pub fn gemm(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        rows: u32,
        n: u32,
        k: u32,
    ) -> Option<Lookup> {
        None
    }
    pub fn attention(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        requests_times_rows: u32,
        heads: u32,
        kv_heads: u32,
        head_dim: u32,
        context: u32,
    ) -> Option<Lookup> {
        None
    }
    pub fn mla_kernel(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        batch: u32,
        heads: u32,
        context: u32,
    ) -> Option<Lookup> {
        None
    }
    pub fn mla_module(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        batch: u32,
        heads: u32,
        context: u32,
    ) -> Option<Lookup> {
        None
    }
    pub fn moe(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        tokens: u32,
        hidden: u32,
        width: u32,
        per_token: u32,
        experts: u32,
        shards: u32,
    ) -> Option<MoeLookup> {
        None
    }
}
/// STUB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// NCCL.
    Nccl,
    /// Custom.
    CustomAllReduce,
    /// One-shot.
    OneShot,
}
/// STUB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Stream.
    Stream,
    /// Graph.
    Graph,
    /// Eager.
    Eager,
}
#[allow(missing_docs, clippy::all, clippy::pedantic, unused_variables)]
impl Calibration {
    pub fn collective(
        &self,
        op: crate::runtime::CollectiveOp,
        ranks: u32,
        family: Family,
        mode: Mode,
        transport: crate::collective::Transport,
        bytes: crate::units::Bytes,
    ) -> Option<Lookup> {
        None
    }
}
