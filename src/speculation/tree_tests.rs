//! Sequoia's shipped demo and further vectors (arXiv 2402.12374, Infini-AI-Lab/Sequoia @0ff3ff7).

use super::*;
use crate::speculation::{Acceptance, DraftShape, DraftTree};
use proptest::prelude::*;

/// The first entries of the repository's demo acceptance vector; deeper ones do not enter the optima below.
const DEMO: [f64; 6] = [0.634_183, 0.107_946, 0.056_971_5, 0.022_488_8, 0.019_490_3, 0.014_992_5];
const SECOND: [f64; 3] = [0.7, 0.15, 0.05];

fn times() -> Vec<(u32, Seconds)> {
    let target = [(1, 10.0), (2, 10.0), (4, 10.0), (8, 12.0), (16, 14.0), (32, 18.0)];
    target.map(|(nodes, time)| (nodes, Seconds::new(time))).to_vec()
}

fn accept_length(table: &TreeTable, nodes: u32, levels: u32) -> f64 {
    table.accept_length(nodes, levels).expect("such a tree exists").get()
}

#[test]
fn the_shipped_demo() {
    let table = TreeTable::new(&DEMO, 32, 10).expect("valid");
    for (m, l, value) in [(4, 4, 2.29143), (8, 6, 2.73217), (16, 6, 3.08764), (16, 8, 3.13029)] {
        assert!((accept_length(&table, m, l) - value).abs() < 1e-5, "{m} nodes, {l} levels");
    }
    let choice = table.choose(Seconds::new(0.3), &times()).expect("a tree exists");
    assert_eq!((choice.nodes, choice.levels), (4, 4));
    assert!((choice.per_token.get() - 4.88777).abs() < 1e-5);
    assert!((10.0 / choice.per_token.get() - 2.04592).abs() < 1e-5);
}

#[test]
fn the_second_vector() {
    let table = TreeTable::new(&SECOND, 32, 10).expect("valid");
    for (m, l, value) in [
        (3, 2, 1.85),
        (3, 3, 2.19),
        (4, 3, 2.34),
        (4, 4, 2.533),
        (8, 4, 2.9665),
        (8, 7, 3.208_819),
        (16, 6, 3.72747),
        (32, 10, 4.426_392),
    ] {
        assert!((accept_length(&table, m, l) - value).abs() < 1e-6, "{m} nodes, {l} levels");
    }
    let choice = table.choose(Seconds::new(0.3), &times()).expect("a tree exists");
    assert_eq!((choice.nodes, choice.levels), (16, 6));
    assert!((choice.per_token.get() - 4.23880).abs() < 1e-5);
}

#[test]
fn a_chain_is_the_closed_form() {
    let table = TreeTable::new(&[0.8], 12, 12).expect("valid");
    for n in 1..=12 {
        let closed = (1.0 - 0.8_f64.powi(n)) / 0.2;
        assert!((accept_length(&table, n as u32, n as u32) - closed).abs() < 1e-12);
        if n > 1 {
            assert!(table.accept_length(n as u32, n as u32 - 1).is_none(), "a chain of n nodes has n levels");
        }
    }
}

/// All trees of `nodes` nodes by choosing every parent and taking the next free rank.
fn best_by_exhaustion(ranks: &[f64], nodes: usize, levels: usize) -> f64 {
    fn extend(ranks: &[f64], left: usize, levels: usize, tree: &mut Vec<(f64, usize, usize)>) -> f64 {
        if left == 0 {
            return tree.iter().map(|node| node.0).sum();
        }
        let mut best = f64::NEG_INFINITY;
        for parent in 0..tree.len() {
            let (probability, level, children) = tree[parent];
            if level < levels && children < ranks.len() {
                tree[parent].2 += 1;
                tree.push((probability * ranks[children], level + 1, 0));
                best = best.max(extend(ranks, left - 1, levels, tree));
                tree.pop();
                tree[parent].2 -= 1;
            }
        }
        best
    }
    extend(ranks, nodes - 1, levels, &mut vec![(1.0, 1, 0)])
}

#[test]
fn the_recursion_equals_exhaustive_search() {
    for ranks in [&[0.5, 0.3, 0.1][..], &[0.9, 0.05], &[0.4, 0.35, 0.2]] {
        let table = TreeTable::new(ranks, 6, 6).expect("valid");
        for nodes in 1..=6 {
            for levels in 1..=nodes {
                let exhaustive = best_by_exhaustion(ranks, nodes, levels);
                let value = table.accept_length(nodes as u32, levels as u32);
                match value {
                    Some(value) => assert!((value.get() - exhaustive).abs() < 1e-12, "{nodes} {levels}"),
                    None => assert!(exhaustive.is_infinite(), "{nodes} {levels}"),
                }
            }
        }
    }
}

#[test]
fn the_tree_itself_has_the_accept_length_of_the_table() {
    let shape = DraftShape { steps: 5, topk: 3, draft_tokens: 16 };
    let law = Acceptance::tree(&SECOND, shape).expect("valid");
    assert!((law.mean(shape).get() - 3.72747).abs() < 1e-9);
    let narrow = DraftShape { topk: 1, draft_tokens: 6, ..shape };
    assert!((law.mean(narrow).get() - (1.0 - 0.7_f64.powi(6)) / 0.3).abs() < 1e-12, "topk 1 is a chain");
    let nodes = TreeTable::new(&SECOND, 16, 6).expect("valid").best_within(16, 6);
    assert_eq!(nodes.len(), 15);
    let fixed = Acceptance::Tree(DraftTree::fixed(&nodes).expect("valid"));
    assert!((fixed.mean(shape).get() - law.mean(shape).get()).abs() < 1e-12);
    assert!((fixed.variance(shape) - law.variance(shape)).abs() < 1e-12);
}

#[test]
fn trees_that_cannot_be_are_errors() {
    assert!(matches!(TreeTable::new(&[0.7, 0.4], 4, 4), Err(AcceptanceError::BranchesAboveOne { .. })));
    assert_eq!(TreeTable::new(&[0.3, 0.4], 4, 4), Err(AcceptanceError::RanksRise { position: 2 }));
    let node = |parent, probability| TreeNode { parent, probability };
    assert_eq!(
        DraftTree::fixed(&[node(0, 0.5), node(2, 0.5)]),
        Err(AcceptanceError::Parent { node: 2, parent: 2 })
    );
    assert!(DraftTree::fixed(&[node(0, 0.6), node(0, 0.6)]).is_err());
    let lone = Acceptance::Tree(DraftTree::fixed(&[]).expect("a root alone is a tree"));
    assert!((lone.mean(DraftShape::chain(3)).get() - 1.0).abs() < 1e-15);
}

proptest! {
    #[test]
    fn more_nodes_or_levels_never_yield_less(a in 0.01..0.9_f64, b in 0.0..1.0_f64, m in 2_u32..12, l in 2_u32..8) {
        let second = (b * a).min(1.0 - a);
        let table = TreeTable::new(&[a, second], 13, 13).expect("valid");
        if let (Some(small), Some(large)) = (table.accept_length(m, l), table.accept_length(m + 1, l)) {
            prop_assert!(large >= small);
        }
        if let (Some(flat), Some(deep)) = (table.accept_length(m, l), table.accept_length(m, l + 1)) {
            prop_assert!(deep >= flat);
        }
    }
}

proptest! {
    #[test]
    fn the_likeliest_nodes_are_the_best_tree_where_ranks_never_rise(
        mut shares in prop::collection::vec(0.01..1.0_f64, 1..5),
        nodes in 1_u32..24,
        steps in 1_u32..8,
    ) {
        shares.sort_by(|a, b| b.total_cmp(a));
        let sum: f64 = shares.iter().sum::<f64>() * 1.05;
        let ranks: Vec<f64> = shares.iter().map(|share| share / sum).collect();
        let shape = DraftShape { steps, topk: 8, draft_tokens: nodes };
        let fast = DraftTree::positional(&ranks, shape).expect("valid").tails(shape).iter().sum::<f64>() + 1.0;
        let levels = shape.depth() + 1;
        let table = TreeTable::new(&ranks, nodes, levels).expect("valid");
        let nodes = table.best_within(nodes, levels);
        let slow = DraftTree::fixed(&nodes).expect("valid").tails(shape).iter().sum::<f64>() + 1.0;
        prop_assert!((fast - slow).abs() < 1e-9, "{fast} instead of {slow}");
    }
}
