//! Collectives: which backend, algorithm, protocol and transport a server takes, and what it costs.
//!
//! [`choose`] follows the server's dispatch order and NCCL's own rule; [`model_time`] prices a choice by fitted
//! step costs where no measured table does; [`explain_choice`] says in sentences why each other backend was not
//! taken; [`environment_notes`] says which NCCL_* variables change nothing. Sources, ranges and what is left out
//! stand at the head of each file. The module knows no model: a request is an operation, a size, and a mode.

mod backend;
mod classical;
mod dispatch;
mod environment;
mod explain;
pub mod nccl;
mod notes;
mod policy;
mod time;

pub use backend::{Refusal, offered};
pub use classical::{StepCost, allreduce, islands, least_traffic, lower_bound, one_shot_crossover};
pub use dispatch::dispatch_order;
pub use environment::NcclSettings;
pub use explain::{Better, Explanation, explain_choice, refusal_of_policy};
pub use notes::{Note, NoteKind, environment_notes, known_variables};
pub use policy::{Algorithm, Backend, NcclEnvironment, Policy, Protocol, Transport};
pub use time::model_time;

use dispatch::{nccl_choice, one_shot_choice};

use crate::hardware::Hardware;
use crate::runtime::{CollectiveOp, Execution, RuntimeKind};
use crate::units::Bytes;

/// One collective to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// Which operation.
    pub op: CollectiveOp,
    /// Ranks that take part: the first of the box.
    pub ranks: u32,
    /// The message of one rank: the vector of an all-reduce, one rank's part of an all-gather or reduce-scatter,
    /// all that one rank sends in an all-to-all.
    pub bytes: Bytes,
    /// Graph or eager.
    pub execution: Execution,
}

/// What does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Implementation.
    pub backend: Backend,
    /// Algorithm.
    pub algorithm: Algorithm,
    /// NCCL's protocol; none for backends without.
    pub protocol: Option<Protocol>,
    /// How bytes travel.
    pub transport: Transport,
    /// Channels, that is CTAs.
    pub channels: u32,
}

/// What the server takes for a request.
///
/// A backend that the policy fixes is taken if the box can run it (see [`refusal_of_policy`]); else, and without
/// one, the server's dispatch order decides, and NCCL's rule within NCCL.
pub fn choose(hardware: &Hardware, runtime: RuntimeKind, policy: &Policy, request: Request) -> Choice {
    choose_with(hardware, runtime, policy, &policy.environment.settings(), request)
}

/// [`choose`] with the variables already read, for callers that choose often.
pub fn choose_with(
    hardware: &Hardware,
    runtime: RuntimeKind,
    policy: &Policy,
    settings: &NcclSettings,
    request: Request,
) -> Choice {
    let backend = dispatch::backend(hardware, runtime, policy, settings, request);
    dispatch::choice(hardware, policy, settings, request, backend)
}

#[cfg(test)]
mod tests;
