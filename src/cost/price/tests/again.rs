//! What is not priced twice has the price that it would have had.

use proptest::prelude::*;

use super::*;
use crate::cost::price_experts;
use crate::forward::{Block, Run};

const MODELS: [&str; 3] = ["kimi-k2.5", "deepseek-v3", "qwen3-235b-a22b"];
const KINDS: [RuntimeKind; 4] =
    [RuntimeKind::Sglang, RuntimeKind::Vllm, RuntimeKind::Pytorch, RuntimeKind::Cuda];

fn case(model: usize, kind: usize) -> Case {
    Case::new(MODELS[model], KINDS[kind], "rtx-pro-6000-x8", "rtx-pro-6000-x8")
}

fn execution(eager: bool) -> Execution {
    if eager { Execution::Eager } else { Execution::Graph }
}

/// The embedding, which says what operations take amid others, and one block after it.
fn alone(pass: &ForwardPass, block: &Block) -> ForwardPass {
    let sequence = (0..2).map(|block| Run { block, count: 1 }).collect();
    ForwardPass { blocks: vec![pass.blocks[0].clone(), block.clone()], sequence, ..pass.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_layer_that_begins_as_another_has_its_own_price(
        model in 0..3usize, kind in 0..4usize, requests in 1..64u32, rows in 1..9u32, context in 1..50_000u32,
        eager: bool,
    ) {
        let case = case(model, kind);
        let pass = case.pass(batch(requests, rows, context));
        let with = case.pricing(execution(eager));
        let priced = price(&pass, &with);
        for (block, priced) in pass.blocks.iter().zip(&priced.blocks) {
            prop_assert_eq!(&price(&alone(&pass, block), &with).blocks[1], priced);
        }
    }

    #[test]
    fn experts_priced_again_alone_are_those_of_the_whole_pass(
        model in 0..3usize, kind in 0..4usize, requests in 1..64u32, rows in 2..9u32, context in 1..50_000u32,
        eager: bool,
    ) {
        let case = case(model, kind);
        let shape = batch(requests, rows, context);
        let with = case.pricing(execution(eager));
        let like = price(&case.pass(shape), &with);
        let mut found = 0;
        for overlap in ExpertOverlap::RANGE {
            let pass = build(&case.model, TP8, &case.runtime, PassKind::Verify, shape, overlap);
            let whole = price(&pass, &with);
            for (again, whole) in price_experts(&pass, &like, &with).blocks.iter().zip(&whole.blocks) {
                prop_assert!(again.ops.is_empty() || again == whole);
                found += again.ops.len();
            }
        }
        prop_assert!(found > 0, "these models have experts");
    }
}
