//! What is tried: batch sizes, contexts, and shapes of drafts.

use super::Candidate;
use super::outlook::Beyond;
use super::setting::{Service, Setting};
use crate::collective::{Backend, offered};
use crate::runtime::{Execution, RuntimeKind};
use crate::scenario::{Method, ModelledSetup};
use crate::speculation::{Acceptance, DraftShape};

/// The settings that are tried in each cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    /// Batch sizes, rising.
    pub batches: Vec<u32>,
    /// Contexts \[tokens\]; empty: the scenario's.
    pub contexts: Vec<u32>,
    /// Draft steps of chains and trees.
    pub steps: Vec<u32>,
    /// Branches per step; more than 1 only where the acceptance says how likely each rank is, and the server has trees.
    pub topk: Vec<u32>,
    /// Rows verified per request, for trees; a chain has one more than steps.
    pub draft_tokens: Vec<u32>,
    /// What acceptance beyond the stated depth is taken to be.
    pub beyond: Beyond,
    /// Both execution modes instead of the scenario's.
    pub execution: bool,
    /// The PCIe one-shot all-reduce besides what the server takes by itself.
    pub allreduce: bool,
    /// Predicted times are the model's, also where it was observed to be off.
    pub as_modelled: bool,
}

/// Whether an acceptance law says how likely each branch of a node is, so that trees of any shape follow from it.
pub(super) fn is_ranked(acceptance: &Acceptance, stated: DraftShape) -> bool {
    let wider = DraftShape { steps: stated.steps.max(2) + 1, ..stated };
    matches!(acceptance, Acceptance::Tree(_)) && acceptance.note(wider).is_none()
}

/// The shapes to try for one method. Lookup methods and trees of unknown ranks keep the shape that they were stated
/// for: nothing says what another would yield.
pub fn shapes(setup: &ModelledSetup, space: &Space) -> Vec<DraftShape> {
    let common = &setup.common;
    let stated = DraftShape { steps: common.steps, topk: common.topk, draft_tokens: common.draft_tokens };
    let ranked = is_ranked(&common.acceptance, stated);
    if common.method == Method::Ngram || !stated.is_chain() && !ranked {
        return vec![stated];
    }
    let mut shapes: Vec<DraftShape> =
        space.steps.iter().filter(|steps| **steps > 0).map(|steps| DraftShape::chain(*steps)).collect();
    if ranked && setup.runtime.kind != RuntimeKind::Vllm {
        let wide = space.topk.iter().filter(|topk| **topk > 1);
        for &topk in wide {
            for &steps in &space.steps {
                let rows = space.draft_tokens.iter().filter(|rows| **rows >= 2);
                shapes.extend(rows.filter_map(|&rows| DraftShape::new(steps, topk, rows).ok()));
            }
        }
    }
    shapes.sort_by_key(|shape| (shape.steps, shape.topk, shape.draft_tokens));
    shapes.dedup();
    shapes
}

/// What else of the server is tried: the scenario's own way first.
pub(super) fn services(setup: &ModelledSetup, space: &Space) -> Vec<Service> {
    let mut executions = vec![None];
    if space.execution {
        executions = vec![Some(Execution::Graph), Some(Execution::Eager)];
    }
    let mut opt_ins = vec![None];
    let one_shot = Backend::OneShot;
    let can = setup.hardware.p2p && setup.parallel.tensor > 1 && offered(setup.runtime.kind, one_shot);
    if space.allreduce && can && setup.baseline.policy.backend.is_none() {
        opt_ins.push(Some(one_shot));
    }
    let each =
        |execution: Option<Execution>| opt_ins.iter().map(move |&opt_in| Service { execution, opt_in });
    executions.into_iter().flat_map(each).collect()
}

/// All settings, off first.
pub(super) fn settings(candidates: &[Candidate<'_>], space: &Space) -> Vec<Setting> {
    let Some(first) = candidates.first() else { return Vec::new() };
    let services = services(first.setup, space);
    let off = services.iter().map(|&service| Setting { draft: None, service });
    let on = candidates.iter().enumerate().flat_map(|(at, candidate)| {
        shapes(candidate.setup, space).into_iter().flat_map(move |shape| {
            let services = self::services(candidate.setup, space);
            services.into_iter().map(move |service| Setting { draft: Some((at, shape)), service })
        })
    });
    off.chain(on).collect()
}
