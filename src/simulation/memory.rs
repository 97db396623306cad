//! How many KV blocks a replica has: what its GPUs hold beside the weights.
//!
//! ```text
//! tokens = (0.9 · memory - weights - draft weights) / KV bytes of one token, per rank     (times the attention replicas)
//! ```
//!
//! 0.9 is vLLM's default of `--gpu-memory-utilization`; SGLang's `--mem-fraction-static` is near it. Left out: what
//! activations and CUDA graphs need beyond the tenth that is kept back.

use crate::forward;
use crate::model::Draft;
use crate::scenario::ModelledSetup;
use crate::units::Bytes;

/// Share of a GPU's memory that weights and KV cache may fill: assumed.
const USABLE: f64 = 0.9;

/// The KV cache of one replica.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KvMemory {
    /// Weights on one rank, the draft's too.
    pub weights: Bytes,
    /// What is left of 0.9 of the memory of one GPU; zero where nothing is.
    pub left: Bytes,
    /// KV cache of one token on one rank, the draft's too.
    pub per_token: Bytes,
    /// Tokens of all requests of a replica.
    pub tokens: u64,
}

impl KvMemory {
    /// Whole blocks, at least one.
    pub fn blocks(&self, block_size: u32) -> u32 {
        u32::try_from(self.tokens / u64::from(block_size.max(1))).unwrap_or(u32::MAX).max(1)
    }
}

/// What the memory of the box holds.
pub fn kv_memory(setup: &ModelledSetup) -> KvMemory {
    let (model, parallel, runtime) = (&setup.model, setup.parallel, &setup.runtime);
    let target = forward::kv_per_rank(model, parallel);
    let (draft_weights, draft_kv) = match setup.draft.as_deref() {
        None => (Bytes::ZERO, Bytes::ZERO),
        Some(draft) => (
            forward::draft_weights_per_rank(draft, model, parallel, runtime),
            match draft {
                Draft::Model(own) => forward::kv_per_rank(own, parallel),
                // A head or module is one layer like the target's.
                Draft::Eagle3(_) | Draft::Mtp(_) => {
                    let layers: u32 = model.layers.iter().map(|group| group.count).sum();
                    target / f64::from(layers.max(1))
                }
            },
        ),
    };
    let weights = forward::weights_per_rank(model, parallel, runtime) + draft_weights;
    let left = (setup.hardware.gpu.memory * USABLE - weights).max(Bytes::ZERO);
    let per_token = target + draft_kv;
    let tokens = if per_token > Bytes::ZERO { left / per_token } else { f64::from(u32::MAX) };
    let tokens = (tokens * f64::from(parallel.data_attention.max(1))) as u64;
    KvMemory { weights, left, per_token, tokens }
}
