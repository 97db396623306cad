//! Collectives and kernels as servers issue them.

use super::*;
use crate::runtime::CollectiveOp::{AllGather, AllReduce, ReduceScatter};

fn on(kind: RuntimeKind, name: &str, parallel: Parallelism) -> ForwardPass {
    build(&model(name), parallel, &runtime(kind), PassKind::Decode, batch(1, 1), ExpertOverlap::default())
}

#[test]
fn kimi_on_8_ranks_issues_123_allreduces_and_one_gather() {
    let sglang = on(RuntimeKind::Sglang, "kimi-k2.5", Parallelism::tensor(8));
    assert_eq!((sglang.collectives(AllReduce), sglang.collectives(AllGather)), (123, 1));
    // vLLM PR 44748 counts 122 for 61 layers.
    let vllm = on(RuntimeKind::Vllm, "kimi-k2.5", Parallelism::tensor(8));
    assert_eq!((vllm.collectives(AllReduce), vllm.collectives(AllGather)), (122, 1));
    let alone = on(RuntimeKind::Sglang, "llama-3.1-8b", Parallelism::tensor(1));
    assert_eq!(alone.ops().filter(|(op, _)| op.is_collective()).count(), 0);
}

#[test]
fn layers_reduce_twice_with_two_bytes_per_number() {
    // All-reduces of the layers, and bytes of one row in each of them.
    for (name, layers, row) in [
        ("kimi-k2.5", 122, 14_336.0),
        ("deepseek-v3", 122, 14_336.0),
        ("glm-5", 156, 12_288.0),
        ("glm-4.5", 184, 10_240.0),
        ("qwen3-235b-a22b", 188, 8_192.0),
        ("qwen3.5-397b-a17b", 120, 8_192.0),
        ("qwen3-30b-a3b", 96, 4_096.0),
        ("gpt-oss-120b", 72, 5_760.0),
        ("mixtral-8x7b", 64, 8_192.0),
        ("llama-3.1-70b", 160, 16_384.0),
        ("llama-3.1-8b", 64, 8_192.0),
    ] {
        let pass = on(RuntimeKind::Vllm, name, Parallelism::tensor(4));
        assert_eq!(pass.collectives(AllReduce), layers, "{name}");
        let three = verify(name, Parallelism::tensor(4), batch(2, 3), ExpertOverlap::default());
        for (pass, rows) in [(&pass, 1.0), (&three, 6.0)] {
            for (op, _) in pass.ops() {
                if let OpKind::Collective { op: AllReduce, bytes, ranks } = op.kind {
                    assert!((bytes.get() - rows * row).abs() < 1e-9 && ranks == 4, "{name}: {op:?}");
                }
            }
        }
    }
}

#[test]
fn logits_are_gathered_in_41_kb_a_rank_and_row() {
    let pass = on(RuntimeKind::Sglang, "kimi-k2.5", Parallelism::tensor(8));
    let bytes = pass.ops().find_map(|(op, _)| match op.kind {
        OpKind::Collective { op: AllGather, bytes, .. } => Some(bytes.get()),
        _ => None,
    });
    assert_eq!(bytes, Some(40_960.0));
}

fn labels(pass: &ForwardPass, block: &str) -> Vec<&'static str> {
    let block = pass.blocks.iter().find(|b| b.name == block).unwrap_or_else(|| panic!("no block {block}"));
    block.ops.iter().map(|op| op.label).collect()
}

#[test]
fn an_mla_moe_layer_is_issued_in_order() {
    let pass = on(RuntimeKind::Sglang, "kimi-k2.5", Parallelism::tensor(8));
    let expected = "input_norm qkv_a q_a_norm kv_a_norm q_b absorb_k rope kv_write mla_attention absorb_v o \
                    allreduce post_norm router topk experts shared_gate_up shared_act shared_down shared_add \
                    allreduce";
    assert_eq!(labels(&pass, "moe layer"), expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn servers_issue_10_to_19_kernels_a_layer() {
    for (name, block, kernels) in [
        ("kimi-k2.5", "moe layer", 19),
        ("deepseek-v3", "moe layer", 15),
        ("kimi-k2.5", "dense layer", 15),
        ("glm-4.5", "moe layer", 15),
        ("qwen3-235b-a22b", "moe layer", 11),
        ("llama-3.1-8b", "dense layer", 10),
    ] {
        let pass = on(RuntimeKind::Sglang, name, Parallelism::tensor(8));
        let block = pass.blocks.iter().find(|b| b.name == block).expect("the block");
        assert_eq!(
            block.ops.iter().filter(|op| !op.is_collective()).count(),
            kernels,
            "{name}, {}",
            block.name
        );
    }
}

#[test]
fn sglang_fuses_the_shared_expert_of_256_routed_ones() {
    let fused = on(RuntimeKind::Sglang, "deepseek-v3", Parallelism::tensor(8));
    let apart = on(RuntimeKind::Vllm, "deepseek-v3", Parallelism::tensor(8));
    assert!(!labels(&fused, "moe layer").contains(&"shared_gate_up"));
    assert!(labels(&apart, "moe layer").contains(&"shared_gate_up"));
    // It saves launches, not bytes or operations.
    within_1_percent(fused.weight_bytes().get(), apart.weight_bytes().get(), "bytes");
    within_1_percent(fused.flops().get(), apart.flops().get(), "operations");
    let parallel = Parallelism { expert: 8, ..Parallelism::tensor(8) };
    assert!(
        labels(&on(RuntimeKind::Sglang, "deepseek-v3", parallel), "moe layer").contains(&"shared_gate_up")
    );
}

#[test]
fn pytorch_issues_13_kernels_in_a_dense_layer() {
    let pass = on(RuntimeKind::Pytorch, "llama-3.1-8b", Parallelism::tensor(2));
    let expected = "input_norm qkv rope kv_write attention o allreduce residual_add post_norm gate_up silu mul down \
                    allreduce residual_add";
    assert_eq!(labels(&pass, "dense layer"), expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn what_is_split_instead_of_replicated_is_gathered() {
    let split = Runtime { replicates_mla_down: false, ..runtime(RuntimeKind::Vllm) };
    let (parallel, overlap) = (Parallelism::tensor(8), ExpertOverlap::default());
    let pass = build(&model("kimi-k2.5"), parallel, &split, PassKind::Decode, batch(1, 1), overlap);
    // Down-projections in 61 layers, routers in 60, logits.
    assert_eq!(pass.collectives(AllGather), 61 + 60 + 1);
    within_1_percent(weights_of(&pass, &["qkv_a", "router"]) * 8e-9, 2.18, "split");
}

#[test]
fn equal_layers_are_listed_once() {
    for (name, blocks, runs) in [("kimi-k2.5", 4, 4), ("gpt-oss-120b", 4, 38), ("llama-3.1-8b", 3, 3)] {
        let pass = on(RuntimeKind::Sglang, name, Parallelism::tensor(8));
        assert_eq!((pass.blocks.len(), pass.sequence.len()), (blocks, runs), "{name}");
        let layers: u32 = model(name).layers.iter().map(|g| g.count).sum();
        assert_eq!(pass.sequence.iter().map(|run| run.count).sum::<u32>(), layers + 2, "{name}");
    }
}

#[test]
fn data_parallel_attention_gathers_and_scatters_instead() {
    let parallel = Parallelism { data_attention: 8, ..Parallelism::tensor(8) };
    let wide = Batch { requests: 16, rows: 3, context: 2048 };
    let pass = verify("kimi-k2.5", parallel, wide, ExpertOverlap::default());
    assert_eq!(pass.collectives(AllReduce), 0);
    // One pair a layer; hidden states and logits at the head.
    assert_eq!((pass.collectives(ReduceScatter), pass.collectives(AllGather)), (61, 63));
    for (op, _) in pass.ops() {
        match op.kind {
            OpKind::MlaAttention { requests, heads, .. } => assert_eq!((requests, heads), (2, 64)),
            OpKind::Experts { tokens, .. } => assert_eq!(tokens, 48),
            OpKind::Collective { op: ReduceScatter, bytes, .. } => {
                assert!((bytes.get() - 48.0 * 14_336.0).abs() < 1e-9);
            }
            _ => {}
        }
    }
    // Replicas of two ranks add a scatter and a gather inside the replica.
    let pairs = Parallelism { data_attention: 4, ..Parallelism::tensor(8) };
    let pass = verify("kimi-k2.5", pairs, wide, ExpertOverlap::default());
    assert_eq!((pass.collectives(ReduceScatter), pass.collectives(AllGather)), (122, 124));
}

#[test]
fn a_split_context_pays_with_collectives() {
    let parallel = Parallelism { decode_context: 8, ..Parallelism::tensor(8) };
    let pass = verify("kimi-k2.5", parallel, batch(1, 3), ExpertOverlap::default());
    assert_eq!(pass.collectives(AllReduce), 123);
    assert_eq!((pass.collectives(AllGather), pass.collectives(ReduceScatter)), (1 + 2 * 61, 61));
    let plain = verify("kimi-k2.5", Parallelism::tensor(8), batch(1, 3), ExpertOverlap::default());
    within_1_percent(pass.kv_bytes().get() * 8.0, plain.kv_bytes().get(), "KV share");
    // A rank gives its 8 heads of queries (576 wide), fp32 sums of all 64 heads, and outputs (512 wide) of all 64.
    for (label, bytes) in [
        ("allgather_q", 3.0 * 8.0 * 576.0 * 2.0),
        ("allgather_lse", 3.0 * 64.0 * 4.0),
        ("reduce_scatter_o", 3.0 * 64.0 * 512.0 * 2.0),
    ] {
        let found = pass.ops().find_map(|(op, count)| match op.kind {
            OpKind::Collective { bytes, ranks, .. } if op.label == label => Some((bytes.get(), ranks, count)),
            _ => None,
        });
        assert_eq!(found, Some((bytes, 8, 1)), "{label}");
    }
    // Gathering and scattering along the heads copies: in, out, and the part that stays.
    let copies = |pass: &ForwardPass| {
        pass.ops().filter(|(op, _)| op.label.starts_with("transpose")).map(|(_, n)| n).sum::<u32>()
    };
    assert_eq!((copies(&pass), copies(&plain)), (3 * 61, 0));
    // Grouped-query heads that are split leave no copies to share.
    let llama = verify("llama-3.1-70b", parallel, batch(1, 3), ExpertOverlap::default());
    assert_eq!(llama.collectives(ReduceScatter), 0);
}
