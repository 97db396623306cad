//! Collectives: which backend, algorithm, protocol and transport a server takes, and what it costs.

mod policy;

use crate::runtime::{CollectiveOp, Execution, RuntimeKind};
use crate::units::Bytes;
pub use policy::{Algorithm, Backend, NcclEnvironment, Policy, Protocol, Transport};
/// STUB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// op
    pub op: CollectiveOp,
    /// ranks
    pub ranks: u32,
    /// bytes
    pub bytes: Bytes,
    /// exec
    pub execution: Execution,
}
/// STUB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// backend
    pub backend: Backend,
    /// algo
    pub algorithm: Algorithm,
    /// proto
    pub protocol: Option<Protocol>,
    /// transport
    pub transport: Transport,
    /// channels
    pub channels: u32,
}
/// STUB.
pub fn choose(
    _hardware: &crate::hardware::Hardware,
    _runtime: RuntimeKind,
    _policy: &Policy,
    _request: Request,
) -> Choice {
    Choice {
        backend: Backend::Nccl,
        algorithm: Algorithm::Ring,
        protocol: Some(Protocol::Ll),
        transport: Transport::P2p,
        channels: 1,
    }
}
/// STUB.
pub fn model_time(
    _hardware: &crate::hardware::Hardware,
    _choice: Choice,
    request: Request,
) -> crate::sourced::Sourced<crate::units::Seconds> {
    crate::sourced::Sourced::new(
        crate::units::Seconds::from_us(25.1 + 0.141 * request.bytes.get() / 1024.0),
        crate::sourced::Source::Fitted,
    )
}
