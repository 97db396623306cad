use super::{Strategy, best_shape};
use crate::speculation::{Acceptance, DraftShape, TreeTable};
use crate::units::Seconds;
use proptest::prelude::*;

fn chains(longest: u32) -> Vec<DraftShape> {
    (1..=longest).map(DraftShape::chain).collect()
}

/// arXiv 2211.17192: a, then the optimal number of drafted tokens and the speedup there for c = .01 .02 .05 .1 .2 .4.
const OPTIMA: [(f64, [(u32, f64); 6]); 5] = [
    (0.5, [(5, 1.875), (4, 1.794), (3, 1.630), (2, 1.458), (1, 1.250), (1, 1.071)]),
    (0.6, [(7, 2.297), (6, 2.170), (4, 1.921), (3, 1.674), (2, 1.400), (1, 1.143)]),
    (0.7, [(9, 2.972), (8, 2.758), (6, 2.353), (4, 1.981), (3, 1.583), (2, 1.217)]),
    (0.8, [(14, 4.232), (11, 3.817), (8, 3.092), (6, 2.470), (4, 1.868), (2, 1.356)]),
    (0.9, [(24, 7.486), (19, 6.365), (13, 4.674), (10, 3.431), (7, 2.373), (4, 1.575)]),
];

#[test]
fn the_optimal_gamma_of_the_paper_is_found() {
    for (a, row) in OPTIMA {
        for (c, (gamma, speedup)) in [0.01, 0.02, 0.05, 0.1, 0.2, 0.4].into_iter().zip(row) {
            let law = Acceptance::geometric(a).expect("a rate");
            let accept = |shape| law.mean(shape).get();
            let cycle = |shape: DraftShape| 1.0 + c * f64::from(shape.steps);
            for strategy in [Strategy::Exhaustive, Strategy::Pruned] {
                let best = best_shape(&chains(30), strategy, accept, cycle).0.expect("a shape");
                assert_eq!(best.steps, gamma, "a = {a}, c = {c}");
                assert!((accept(best) / cycle(best) - speedup).abs() < 6e-4);
            }
        }
    }
}

/// `demo` of Infini-AI-Lab/Sequoia @0ff3ff7 `tree_search.py`: acceptance by rank, and the time of verifying each size.
const DEMO: [f64; 6] = [0.634_183, 0.107_946, 0.056_971_5, 0.022_488_8, 0.019_490_3, 0.014_992_5];
const SIZES: [(u32, f64); 6] = [(1, 10.0), (2, 10.0), (4, 10.0), (8, 12.0), (16, 14.0), (32, 18.0)];

/// Trees with the root's level counted in the draft time, as Sequoia does.
fn trees(ranks: &[f64], draft: f64) -> (DraftShape, f64) {
    let mut shapes = Vec::new();
    for steps in 0..=9 {
        for (rows, _) in SIZES {
            shapes.extend(DraftShape::new(steps, ranks.len() as u32, rows).ok());
        }
    }
    shapes.sort_by_key(|s| (s.steps, s.topk, s.draft_tokens));
    let accept = |shape| Acceptance::tree(ranks, shape).expect("ranks").mean(shape).get();
    let target = |rows: u32| SIZES.iter().find(|(size, _)| *size == rows).expect("a size").1;
    let cycle = |shape: DraftShape| draft * f64::from(shape.steps + 1) + target(shape.draft_tokens);
    let exhaustive = best_shape(&shapes, Strategy::Exhaustive, accept, cycle).0.expect("a shape");
    assert_eq!(best_shape(&shapes, Strategy::Pruned, accept, cycle).0, Some(exhaustive));
    (exhaustive, cycle(exhaustive) / accept(exhaustive))
}

#[test]
fn the_trees_of_sequoia_are_found() {
    let (demo, per_token) = trees(&DEMO, 0.3);
    assert_eq!((demo.draft_tokens, demo.steps + 1), (4, 4));
    assert!((per_token - 4.887_77).abs() < 5e-6, "{per_token}");
    let (second, per_token) = trees(&[0.7, 0.15, 0.05], 0.3);
    assert_eq!((second.draft_tokens, second.steps + 1), (16, 6));
    assert!((per_token - 4.238_80).abs() < 5e-6, "{per_token}");
    // The same by the recursion's own choice.
    let table = TreeTable::new(&DEMO, 32, 10).expect("ranks");
    let target: Vec<(u32, Seconds)> = SIZES.iter().map(|&(n, t)| (n, Seconds::from_ms(t))).collect();
    let choice = table.choose(Seconds::from_ms(0.3), &target).expect("a tree");
    assert_eq!((choice.nodes, choice.levels), (demo.draft_tokens, demo.steps + 1));
}

#[test]
fn chain_vectors_of_sequoia() {
    for a in [0.5, 0.634_183, 0.8] {
        for nodes in [1_u16, 2, 4, 8, 16] {
            let shape = DraftShape::chain(u32::from(nodes) - 1);
            let length = Acceptance::geometric(a).expect("a rate").mean(shape).get();
            let closed = (1.0 - a.powi(i32::from(nodes))) / (1.0 - a);
            assert!((length - closed).abs() < 1e-12);
            let tree = Acceptance::tree(&[a], shape).expect("ranks").mean(shape).get();
            assert!((tree - closed).abs() < 1e-12, "a chain is the tree of one rank");
        }
    }
}

proptest! {
    /// Costs that rise with the shape but for falls of up to 15 %, as where NCCL changes its protocol.
    #[test]
    fn bounds_never_lose_the_best_shape(
        rate in 0.05..0.98f64,
        fixed in 0.0..30.0f64,
        per_step in 0.01..10.0f64,
        per_row in 0.0..3.0f64,
        wobble in prop::collection::vec(0.85..1.0f64, 200),
    ) {
        let mut shapes = chains(12);
        for topk in [2, 4] {
            for steps in 1..=6 {
                for rows in [4, 6, 8, 12, 16, 24] {
                    shapes.extend(DraftShape::new(steps, topk, rows).ok());
                }
            }
        }
        shapes.sort_by_key(|s| (s.steps, s.topk, s.draft_tokens));
        let ranks = [rate, (1.0 - rate) * 0.5, (1.0 - rate) * 0.2, (1.0 - rate) * 0.1];
        let mut ranks: Vec<f64> = ranks.to_vec();
        ranks.sort_by(|a, b| b.total_cmp(a));
        let accept = |shape: DraftShape| Acceptance::tree(&ranks, shape).expect("ranks").mean(shape).get();
        let cycle = |shape: DraftShape| {
            let smooth = 1.0 + fixed + per_step * f64::from(shape.steps) + per_row * f64::from(shape.draft_tokens);
            smooth * wobble[(shape.steps * 31 + shape.topk * 7 + shape.draft_tokens) as usize % wobble.len()]
        };
        let (all, priced_all) = best_shape(&shapes, Strategy::Exhaustive, accept, cycle);
        let (pruned, priced) = best_shape(&shapes, Strategy::Pruned, accept, cycle);
        prop_assert_eq!(all, pruned);
        prop_assert_eq!(priced_all, shapes.len());
        prop_assert!(priced <= priced_all);
    }
}

#[test]
fn bounds_save_work_where_rows_cost() {
    let law = Acceptance::geometric(0.6).expect("a rate");
    let cycle = |shape: DraftShape| 1.0 + f64::from(shape.steps);
    let (best, priced) = best_shape(&chains(40), Strategy::Pruned, |s| law.mean(s).get(), cycle);
    assert_eq!(best, Some(DraftShape::chain(1)));
    assert!(priced < 10, "{priced}");
}
