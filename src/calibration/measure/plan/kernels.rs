//! Kernels of one GPU: projections, experts, attention, streaming reads, small ones.

use super::{AttentionShape, MoeShape, Planner};
use crate::calibration::measure::task::{LaunchKind, SmallKind, Task};
use crate::model::WeightFormat;

const ROWS_FULL: &[u32] = &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
const ROWS_QUICK: &[u32] = &[1, 2, 4, 8, 16, 64];
/// Tokens of expert layers.
const TOKENS_FULL: &[u32] = &[1, 2, 3, 4, 6, 8, 12, 16, 32, 64];
const TOKENS_QUICK: &[u32] = &[1, 4, 8, 16, 64];
/// Batches of attention: requests, or requests times rows.
const BATCHES_FULL: &[u32] = &[1, 2, 4, 8, 16, 32, 64];
const BATCHES_QUICK: &[u32] = &[1, 4, 16, 64];
const CONTEXTS_FULL: &[u32] = &[512, 2048, 8192, 32768];
const CONTEXTS_QUICK: &[u32] = &[1024, 8192];
/// Hidden sizes of small kernels without a scenario.
const GENERAL_HIDDEN: u32 = 4096;
const GENERAL_VOCABULARY: u32 = 131_072;

impl Planner<'_> {
    fn rows(&self) -> &'static [u32] {
        if self.full() { ROWS_FULL } else { ROWS_QUICK }
    }

    pub(super) fn launch(&mut self) -> Vec<Task> {
        let mut kinds = vec![
            LaunchKind::Issue,
            LaunchKind::GraphNode,
            LaunchKind::GraphLaunch,
            LaunchKind::Synchronise,
            LaunchKind::ReadBack,
        ];
        if self.gpus() >= 2 && self.has_nccl("host time of a collective") {
            kinds.push(LaunchKind::IssueCollective);
        }
        let mut tasks: Vec<Task> = kinds.into_iter().map(|kind| Task::Launch { kind }).collect();
        let shapes = self.wish.shapes.as_ref();
        let hidden = shapes.map_or(GENERAL_HIDDEN, |s| s.hidden).max(64);
        let vocabulary = shapes.map_or(GENERAL_VOCABULARY, |s| s.vocabulary).max(64);
        let rows: &[u32] = if self.full() { &[1, 4, 16, 64] } else { &[1, 16] };
        for rows in rows {
            for kind in [SmallKind::Norm, SmallKind::Elementwise, SmallKind::Activation] {
                tasks.push(Task::Small { kind, rows: *rows, hidden });
            }
            tasks.push(Task::Small { kind: SmallKind::Sampling, rows: *rows, hidden: vocabulary });
        }
        tasks
    }

    pub(super) fn gemms(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        let mut shapes: Vec<_> = self.wish.shapes.iter().flat_map(|s| s.gemms.iter().copied()).collect();
        if self.wish.shapes.is_none() {
            shapes = super::general::gemms(self.wish.depth, self.fp8());
        }
        for (weights, n, k) in shapes {
            for rows in self.rows() {
                tasks.extend(self.gemm(weights, n, k, *rows));
            }
        }
        tasks
    }

    fn gemm(&mut self, weights: WeightFormat, n: u32, k: u32, rows: u32) -> Option<Task> {
        match weights {
            WeightFormat::Bf16 => Some(Task::Gemm { weights, n, k, rows }),
            WeightFormat::Fp8 if self.fp8() => Some(Task::Gemm { weights, n, k, rows }),
            WeightFormat::Int4 { group } => {
                Some(Task::Dequant { bits: 4, group: u32::from(group), n, k, rows })
            }
            other => {
                let word = crate::calibration::measure::task::word_of_weights(other);
                self.leave_out(
                    &format!("projections stored as {word}"),
                    "there is no kernel for them here; predictions take the roofline",
                );
                None
            }
        }
    }

    /// Whether the first GPU multiplies fp8 (compute capability 8.9 on).
    fn fp8(&self) -> bool {
        self.found.gpus.first().is_some_and(|gpu| gpu.capability >= [8, 9])
    }

    pub(super) fn experts(&mut self) -> Vec<Task> {
        let shapes: Vec<MoeShape> = match &self.wish.shapes {
            Some(shapes) => shapes.experts.iter().copied().collect(),
            None => super::general::experts(self.gpus()),
        };
        let mut tasks = Vec::new();
        for shape in shapes {
            let MoeShape { weights, hidden, width, per_token, experts, shards } = shape;
            if !matches!(weights, WeightFormat::Bf16 | WeightFormat::Int4 { .. }) {
                let word = crate::calibration::measure::task::word_of_weights(weights);
                self.leave_out(
                    &format!("experts stored as {word}"),
                    "there is no kernel for them here; predictions take the roofline",
                );
                continue;
            }
            for tokens in if self.full() { TOKENS_FULL } else { TOKENS_QUICK } {
                let tokens = *tokens;
                tasks.push(Task::Moe { weights, hidden, width, per_token, experts, shards, tokens });
            }
        }
        tasks
    }

    pub(super) fn attention(&mut self) -> Vec<Task> {
        let (batches, mut contexts) = if self.full() {
            (BATCHES_FULL, CONTEXTS_FULL.to_vec())
        } else {
            (BATCHES_QUICK, CONTEXTS_QUICK.to_vec())
        };
        let (grouped, latent) = match &self.wish.shapes {
            Some(shapes) => {
                contexts.push(shapes.context.max(16));
                (shapes.attention.iter().copied().collect(), shapes.latent.iter().copied().collect())
            }
            None => super::general::attention(self.gpus()),
        };
        contexts.sort_unstable();
        contexts.dedup();
        let several: &[u32] = if self.full() { &[1, 2, 4, 8] } else { &[1, 4] };
        let mut tasks = Vec::new();
        let pairs = batches.iter().flat_map(|batch| contexts.iter().map(move |context| (*batch, *context)));
        for ((batch, context), rows) in pairs.flat_map(|pair| several.iter().map(move |rows| (pair, *rows))) {
            for AttentionShape { kv, head_dim, heads, kv_heads } in grouped.iter().copied() {
                tasks.push(Task::Attention { kv, head_dim, heads, kv_heads, batch, rows, context });
            }
            for (kv, heads) in latent.iter().copied() {
                tasks.push(Task::Mla { kv, heads, batch, rows, context });
            }
        }
        tasks
    }

    pub(super) fn memory(&self) -> Vec<Task> {
        let l2 = self.found.gpus.iter().map(|gpu| gpu.l2).max().unwrap_or(64 << 20);
        let sizes: &[u64] = if self.full() { &[1, 2, 4, 8, 16, 32] } else { &[2, 8] };
        // From twice L2 on, in MiB that are whole.
        let unit = l2.div_ceil(1 << 20).max(16) << 20;
        sizes.iter().map(|factor| Task::Stream { bytes: 2 * factor * unit }).collect()
    }
}
