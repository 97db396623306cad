//! The best draft tree of each size: Sequoia's recursion, exactly.
//!
//! p\[b\] is the probability that the b-th ranked child of an accepted node is the accepted one. T\[m\]\[l\]\[b\] is
//! the largest accept length of a tree of exactly m nodes and at most l levels (the root counts as one) whose root
//! has the children 1 ... b:
//!
//! ```text
//! T[1][l][0] = 1
//! T[m][l][b] = max_y  T[y][l][b-1] + p[b] · max_b' T[m-y][l-1][b']
//! ```
//!
//! Source: arXiv 2402.12374; `tree_search.py` of Infini-AI-Lab/Sequoia (@0ff3ff7). A tree that SGLang grows for
//! each context can do better than any fixed one, and its beam expands at most topk nodes per level: both are left out.

use crate::units::{AcceptLength, Seconds};

use super::error::{AcceptanceError, probability};
use super::tree::TreeNode;

/// The recursion's table up to some number of nodes and levels.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeTable {
    ranks: Vec<f64>,
    nodes: usize,
    levels: usize,
    /// T, negative infinity where no such tree exists; index ((m·levels + l)·branches + b).
    value: Vec<f64>,
    /// The y at which the maximum is.
    split: Vec<u32>,
    /// max over b, and where; index m·levels + l.
    best: Vec<(f64, u32)>,
}

/// The choice of a tree for given times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeChoice {
    /// Nodes = rows verified.
    pub nodes: u32,
    /// Levels, the root counting as one.
    pub levels: u32,
    /// Its accept length.
    pub accept_length: AcceptLength,
    /// Time per token: (levels · draft + target(nodes)) / accept length.
    pub per_token: Seconds,
}

/// Checks ranked branch probabilities: they never rise and add up to at most 1.
pub(super) fn check_ranks(ranks: &[f64]) -> Result<(), AcceptanceError> {
    if ranks.is_empty() {
        return Err(AcceptanceError::Empty);
    }
    for (i, p) in ranks.iter().enumerate() {
        probability(i + 1, *p)?;
        if i > 0 && *p > ranks[i - 1] {
            return Err(AcceptanceError::RanksRise { position: i + 1 });
        }
    }
    let sum: f64 = ranks.iter().sum();
    // Measured shares are printed with few decimals and may add up to a little more than 1.
    if sum > 1.0 + 1e-6 { Err(AcceptanceError::BranchesAboveOne { sum }) } else { Ok(()) }
}

impl TreeTable {
    /// Fills the table for trees of up to `nodes` nodes and `levels` levels (both at least 1).
    /// Time grows as nodes² · levels · branches.
    pub fn new(ranks: &[f64], nodes: u32, levels: u32) -> Result<Self, AcceptanceError> {
        check_ranks(ranks)?;
        let (nodes, levels) = (nodes.max(1) as usize, levels.clamp(1, nodes.max(1)) as usize);
        let branches = ranks.len() + 1;
        let cells = (nodes + 1) * (levels + 1);
        let mut table = Self {
            ranks: ranks.to_vec(),
            nodes,
            levels,
            value: vec![f64::NEG_INFINITY; cells * branches],
            split: vec![0; cells * branches],
            best: vec![(f64::NEG_INFINITY, 0); cells],
        };
        for l in 1..=levels {
            let root = table.index(1, l, 0);
            table.value[root] = 1.0;
            let cell = table.cell(1, l);
            table.best[cell] = (1.0, 0);
        }
        for m in 2..=nodes {
            for l in 2..=levels {
                table.fill(m, l);
            }
        }
        Ok(table)
    }

    const fn cell(&self, m: usize, l: usize) -> usize {
        m * (self.levels + 1) + l
    }

    const fn index(&self, m: usize, l: usize, b: usize) -> usize {
        self.cell(m, l) * (self.ranks.len() + 1) + b
    }

    fn fill(&mut self, m: usize, l: usize) {
        for b in 1..=self.ranks.len() {
            let mut top = (f64::NEG_INFINITY, 0);
            for y in 1..m {
                let below = self.best[self.cell(m - y, l - 1)].0;
                let value = self.value[self.index(y, l, b - 1)] + self.ranks[b - 1] * below;
                if value > top.0 {
                    top = (value, y as u32);
                }
            }
            let index = self.index(m, l, b);
            (self.value[index], self.split[index]) = top;
            let cell = self.cell(m, l);
            if top.0 > self.best[cell].0 {
                self.best[cell] = (top.0, b as u32);
            }
        }
    }

    /// The largest accept length of a tree of exactly `nodes` nodes and at most `levels` levels; none where there
    /// is no such tree or the table does not reach so far. More levels than nodes are as good as `nodes`.
    pub fn accept_length(&self, nodes: u32, levels: u32) -> Option<AcceptLength> {
        let (m, l) = (nodes as usize, (levels as usize).min(self.levels));
        let reaches = m <= self.nodes && (levels as usize <= self.levels || self.levels >= self.nodes);
        let value = if reaches { self.best[self.cell(m, l)].0 } else { f64::NEG_INFINITY };
        value.is_finite().then(|| AcceptLength::new(value))
    }

    /// The best tree of at most `nodes` nodes and `levels` levels, its nodes in an order in which parents come first.
    pub fn best_within(&self, nodes: u32, levels: u32) -> Vec<TreeNode> {
        let l = (levels as usize).clamp(1, self.levels);
        let mut m = 1;
        for candidate in 2..=(nodes as usize).min(self.nodes) {
            if self.best[self.cell(candidate, l)].0 > self.best[self.cell(m, l)].0 {
                m = candidate;
            }
        }
        let mut tree = vec![TreeNode { parent: 0, probability: 1.0 }];
        self.grow(&mut tree, 0, m, l, self.best[self.cell(m, l)].1 as usize);
        tree.remove(0);
        tree
    }

    /// Appends the children 1 ... b of node `root`, and theirs.
    fn grow(&self, tree: &mut Vec<TreeNode>, root: usize, m: usize, l: usize, b: usize) {
        if b == 0 {
            return;
        }
        let y = self.split[self.index(m, l, b)] as usize;
        self.grow(tree, root, y, l, b - 1);
        tree.push(TreeNode { parent: root, probability: self.ranks[b - 1] });
        let child = tree.len() - 1;
        let (below, levels) = (m - y, l - 1);
        self.grow(tree, child, below, levels, self.best[self.cell(below, levels)].1 as usize);
    }

    /// The tree with the least time per token among `target` (nodes, verify time) and all levels of the table,
    /// when one level costs `draft` (the root's level included, as Sequoia counts); none where no tree exists.
    pub fn choose(&self, draft: Seconds, target: &[(u32, Seconds)]) -> Option<TreeChoice> {
        let mut chosen: Option<TreeChoice> = None;
        for (nodes, verify) in target {
            for levels in 1..=self.levels as u32 {
                let Some(accept_length) = self.accept_length(*nodes, levels) else { continue };
                let per_token = (draft * f64::from(levels) + *verify) / accept_length.get();
                if chosen.is_none_or(|c| per_token < c.per_token) {
                    chosen = Some(TreeChoice { nodes: *nodes, levels, accept_length, per_token });
                }
            }
        }
        chosen
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
