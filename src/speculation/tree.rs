//! Trees of drafted tokens as acceptance laws.
//!
//! A node is accepted when its whole path is, with the product of the branch probabilities along it. Branches of one
//! node exclude one another, so the nodes of one depth do too: S_d = Σ path probabilities of the nodes at depth d, and
//! AL = 1 + Σ over all nodes.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::error::{AcceptanceError, probability};
use super::shape::DraftShape;
use super::tree_table::check_ranks;

/// A drafted node of a tree. Node 0 is the root, which is always accepted and not listed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeNode {
    /// Its parent: 0 for the root, i for the i-th listed node, counting from 1.
    pub parent: usize,
    /// Probability that it is the accepted child, given that its parent is accepted.
    pub probability: f64,
}

/// A tree with the tails of its accepted depth.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftTree {
    kind: Kind,
    tails: Arc<[f64]>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// The best tree for the shape, by ranked acceptance; prepared for this shape.
    Positional(Arc<[f64]>, DraftShape),
    /// As given.
    Fixed,
}

impl DraftTree {
    /// The best tree of at most `shape.draft_tokens` nodes, `shape.depth() + 1` levels and `shape.topk` branches per
    /// node when the b-th ranked branch is accepted with `ranks[b]`.
    pub fn positional(ranks: &[f64], shape: DraftShape) -> Result<Self, AcceptanceError> {
        check_ranks(ranks)?;
        let tails = Self::positional_tails(ranks, shape);
        Ok(Self { kind: Kind::Positional(ranks.into(), shape), tails: tails.into() })
    }

    /// A fixed tree: every node after its parent, branches of one node adding up to at most 1.
    pub fn fixed(nodes: &[TreeNode]) -> Result<Self, AcceptanceError> {
        let mut branches = vec![0.0; nodes.len() + 1];
        for (i, node) in nodes.iter().enumerate() {
            if node.parent > i {
                return Err(AcceptanceError::Parent { node: i + 1, parent: node.parent });
            }
            branches[node.parent] += probability(i + 1, node.probability)?;
        }
        if let Some(sum) = branches.into_iter().find(|sum| *sum > 1.0 + 1e-6) {
            return Err(AcceptanceError::BranchesAboveOne { sum });
        }
        Ok(Self { kind: Kind::Fixed, tails: tails_by_depth(nodes).into() })
    }

    /// P(accepted depth ≥ 1), P(≥ 2), ... for `shape`.
    pub(super) fn tails(&self, shape: DraftShape) -> Cow<'_, [f64]> {
        match &self.kind {
            Kind::Positional(ranks, prepared) if *prepared != shape => {
                Cow::Owned(Self::positional_tails(ranks, shape))
            }
            _ => Cow::Borrowed(&self.tails),
        }
    }

    /// Deepest level of a fixed tree, in drafted tokens.
    pub(super) fn fixed_depth(&self) -> Option<u32> {
        matches!(self.kind, Kind::Fixed).then_some(self.tails.len() as u32)
    }

    pub(super) fn is_prepared_for(&self, shape: DraftShape) -> bool {
        match &self.kind {
            Kind::Positional(_, prepared) => *prepared == shape,
            Kind::Fixed => true,
        }
    }

    pub(super) fn with_shape(mut self, shape: DraftShape) -> Self {
        if let Kind::Positional(ranks, prepared) = &mut self.kind
            && *prepared != shape
        {
            self.tails = Self::positional_tails(ranks, shape).into();
            *prepared = shape;
        }
        self
    }

    fn positional_tails(ranks: &[f64], shape: DraftShape) -> Vec<f64> {
        let branches = ranks.len().min(shape.topk.max(1) as usize);
        let levels = shape.depth() + 1;
        likeliest_tails(&ranks[..branches], shape.draft_tokens, levels)
    }
}

/// The tails of the tree of the likeliest nodes. Ranks never rise: a path is then less likely than each of its
/// beginnings, and a child than its better-ranked siblings, so the likeliest nodes form a tree, and no other yields more.
fn likeliest_tails(ranks: &[f64], nodes: u32, levels: u32) -> Vec<f64> {
    let mut tails = vec![0.0; levels.saturating_sub(1) as usize];
    let mut open = BinaryHeap::new();
    let candidate = |parent: f64, depth: usize, rank: usize| {
        let reachable = depth < levels.saturating_sub(1) as usize;
        let ranked = ranks.get(rank).filter(|_| reachable);
        ranked.map(|share| Candidate { probability: parent * share, depth, parent, rank })
    };
    open.extend(candidate(1.0, 0, 0));
    for _ in 1..nodes {
        let Some(node) = open.pop() else { break };
        tails[node.depth] += node.probability;
        open.extend(candidate(node.parent, node.depth, node.rank + 1));
        open.extend(candidate(node.probability, node.depth + 1, 0));
    }
    for tail in &mut tails {
        *tail = tail.min(1.0);
    }
    let reached = tails.iter().rposition(|tail| *tail > 0.0).map_or(0, |at| at + 1);
    tails.truncate(reached);
    tails
}

/// A node that could come next, after its parent and its better-ranked siblings.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Of its whole path.
    probability: f64,
    /// Drafted tokens before it.
    depth: usize,
    /// Probability of the parent's path.
    parent: f64,
    rank: usize,
}

impl Ord for Candidate {
    /// By probability; of equal ones the shallower is greater, then the better-ranked.
    fn cmp(&self, other: &Self) -> Ordering {
        let shallow = (other.depth, other.rank).cmp(&(self.depth, self.rank));
        self.probability.total_cmp(&other.probability).then(shallow)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

fn tails_by_depth(nodes: &[TreeNode]) -> Vec<f64> {
    let mut path = vec![(1.0, 0_usize)];
    let mut tails: Vec<f64> = Vec::new();
    for node in nodes {
        let (probability, depth) = path[node.parent];
        path.push((probability * node.probability, depth + 1));
        if tails.len() <= depth {
            tails.push(0.0);
        }
        tails[depth] += probability * node.probability;
    }
    for tail in &mut tails {
        *tail = tail.min(1.0);
    }
    tails
}
