//! From a model and a batch to the operations of a forward pass on one rank. No times, no hardware.
//!
//! [`build`] lists what a rank of the tensor-parallel group issues, in order: embedding, one block per *distinct*
//! layer with the number of its repetitions, head. Sharding follows sglang 0.5.9-0.5.14 and vLLM:
//!
//! * query heads, MLP and expert widths, head and embedding rows are split; KV heads are split down to one per
//!   rank and then replicated; a latent KV cache is replicated on every rank;
//! * the latent down-projections and the router are replicated ([`Runtime::replicates_mla_down`]);
//! * two all-reduces a layer (after `o`, after the feed-forward part) of 2·H bytes per row, one after the
//!   embedding ([`Runtime::embedding_allreduce`]), one all-gather of the logits;
//! * expert parallelism without an all-to-all backend keeps the all-reduce; the fullest rank sets the time;
//! * data-parallel attention gathers before and reduce-scatters after each feed-forward part;
//! * decode-context parallelism splits the KV cache between ranks that would hold copies of it, at the price of
//!   gathering the queries and combining the outputs.
//!
//! Verify is a decode of several rows per request: the KV cache of a request is read once for all its rows.
//! Left out: pipeline parallelism, DeepEP's all-to-all, two-batch overlap, group-limited routing (coverage takes
//! the experts of a token as uniform), the first layer's missing residual, LoRA, the vision tower.
//!
//! [`Runtime::replicates_mla_down`]: crate::runtime::Runtime::replicates_mla_down
//! [`Runtime::embedding_allreduce`]: crate::runtime::Runtime::embedding_allreduce

mod account;
mod build;
mod coverage;
mod memory;
mod op;
mod pass;
#[cfg(test)]
mod tests;

pub use build::{build, build_draft, rebuild, rebuild_draft};
pub use coverage::{ExpertOverlap, distinct_experts, fullest_rank};
pub use memory::{draft_weights_per_rank, kv_per_rank, weights_per_rank};
pub use op::{Op, OpKind, Part};
pub use pass::{Batch, Block, ForwardPass, Parallelism, PassKind, Run};
