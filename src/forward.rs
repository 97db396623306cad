//! From a model and a batch to the operations of a forward pass. No times, no hardware.

mod op;
mod pass;

pub use op::{Op, OpKind, Part};
pub use pass::{Batch, Block, ForwardPass, Parallelism, PassKind, Run};
