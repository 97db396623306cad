//! Collectives: which backend, algorithm, protocol and transport a server takes, and what it costs.

mod policy;

pub use policy::{Algorithm, Backend, NcclEnvironment, Policy, Protocol, Transport};
