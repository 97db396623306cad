//! Kimi-K2.5 on 8 GPUs, GB per GPU and pass: 61 layers, hidden 7168, 64 heads, ranks 1536 and 512, 384 experts
//! of width 2048 in INT4 group 32, all else bf16.

use super::*;

fn kimi(rows: u32, overlap: ExpertOverlap) -> ForwardPass {
    verify("kimi-k2.5", Parallelism::tensor(8), batch(1, rows), overlap)
}

#[test]
fn each_matrix_reads_its_bytes() {
    let pass = kimi(1, ExpertOverlap::default());
    for (labels, gigabytes) in [
        (&["qkv_a"][..], 1.847),
        (&["q_b", "absorb_k", "absorb_v", "o"], 1.311),
        (&["shared_gate_up", "shared_down"], 0.661),
        (&["router"], 0.330),
        (&["gate_up", "down", "head"], 0.393),
        (&["experts"], 1.486),
    ] {
        within_1_percent(weights_of(&pass, labels) * 1e-9, gigabytes, labels[0]);
    }
    within_1_percent(pass.weight_bytes().get() * 1e-9, 6.03, "sum");
    // Down-projections and router are the replicated part.
    within_1_percent(weights_of(&pass, &["qkv_a", "router"]) * 1e-9, 2.18, "replicated");
}

#[test]
fn routed_experts_follow_coverage() {
    for (rows, overlap, routed, sum) in [
        (3, ExpertOverlap::default(), 3.279, 7.82),
        (3, ExpertOverlap::UNIFORM, 4.366, 8.91),
        (12, ExpertOverlap::default(), 10.8, 15.3),
        (12, ExpertOverlap::UNIFORM, 15.9, 20.5),
    ] {
        let pass = kimi(rows, overlap);
        within_1_percent(weights_of(&pass, &["experts"]) * 1e-9, routed, "routed experts");
        within_1_percent(pass.weight_bytes().get() * 1e-9, sum, "sum");
    }
}

#[test]
fn rows_of_one_request_share_its_kv_cache() {
    let one = kimi(1, ExpertOverlap::default());
    assert_eq!(one.kv_bytes(), kimi(12, ExpertOverlap::default()).kv_bytes());
    // 61 layers x 1,152 B, replicated on every rank.
    within_1_percent(one.kv_bytes().get(), 2048.0 * 70_272.0, "KV cache at 2k");
    let long = Batch { requests: 1, rows: 1, context: 100_000 };
    let long = verify("kimi-k2.5", Parallelism::tensor(8), long, ExpertOverlap::default());
    within_1_percent(long.kv_bytes().get() * 1e-9, 7.03, "KV cache at 100k");
}

#[test]
fn absorbed_attention_computes_what_the_formula_says() {
    // Per context token, layer and row 2·heads·(576 + 512); absorption 2·heads·(nope + value)·kv_lora a row.
    for (name, per_token) in [("kimi-k2.5", 139_264.0), ("deepseek-v3", 278_528.0)] {
        let pass = verify(name, Parallelism::tensor(1), batch(1, 3), ExpertOverlap::default());
        let flops = |label: &str| -> f64 {
            let layer = &pass.blocks[1].ops;
            layer.iter().filter(|op| op.label == label).map(|op| op.flops().get()).sum()
        };
        within_1_percent(flops("mla_attention"), per_token * 2048.0 * 3.0, name);
        let absorbed = per_token / 1088.0 * (128.0 * 512.0 + 512.0 * 128.0) * 3.0;
        within_1_percent(flops("absorb_k") + flops("absorb_v"), absorbed, name);
    }
}

#[test]
fn resident_weights_are_76_2_gb_a_gpu() {
    let held = weights_per_rank(&model("kimi-k2.5"), Parallelism::tensor(8), &runtime(RuntimeKind::Sglang));
    within_1_percent(held.get() * 1e-9, 76.2, "resident");
    let alone =
        weights_per_rank(&model("deepseek-v3"), Parallelism::tensor(1), &runtime(RuntimeKind::Sglang));
    within_1_percent(alone.get(), crate::model::footprint(&model("deepseek-v3")).resident.get(), "one rank");
}

#[test]
fn kv_heads_are_split_then_replicated() {
    let per_rank = |name: &str, ranks| kv_per_rank(&model(name), Parallelism::tensor(ranks)).get();
    within_1_percent(per_rank("qwen3-235b-a22b", 4), 192_512.0 / 4.0, "4 heads on 4 ranks");
    within_1_percent(per_rank("qwen3-235b-a22b", 8), 192_512.0 / 4.0, "4 heads on 8 ranks");
    within_1_percent(per_rank("kimi-k2.5", 8), 70_272.0, "latent");
    let split = Parallelism { decode_context: 8, ..Parallelism::tensor(8) };
    within_1_percent(kv_per_rank(&model("kimi-k2.5"), split).get(), 70_272.0 / 8.0, "latent, split");
    // The pass reads the same share.
    let pass = decode("qwen3-235b-a22b", 8);
    within_1_percent(pass.kv_bytes().get(), 2048.0 * 192_512.0 / 4.0, "the pass");
}

#[test]
fn expert_parallelism_reads_more_than_tensor_parallelism() {
    let expert = Parallelism { expert: 8, ..Parallelism::tensor(8) };
    for (rows, ratio) in [(1, 2.57), (3, 1.86), (4, 1.74)] {
        let read = |parallel| {
            let pass = verify("kimi-k2.5", parallel, batch(1, rows), ExpertOverlap::UNIFORM);
            weights_of(&pass, &["experts"])
        };
        let found = read(expert) / read(Parallelism::tensor(8));
        assert!((found / ratio - 1.0).abs() < 0.02, "{rows} rows: {found} instead of {ratio}");
    }
}

#[test]
fn windows_and_the_sparse_index_bound_the_context() {
    let long = Batch { requests: 2, rows: 3, context: 50_000 };
    let pass = verify("gpt-oss-120b", Parallelism::tensor(2), long, ExpertOverlap::default());
    // 18 full and 18 windowed layers, 4 of 8 KV heads of width 64 on a rank, two requests.
    within_1_percent(pass.kv_bytes().get(), 2.0 * 18.0 * (50_000.0 + 128.0) * 1024.0, "gpt-oss");
    let glm = verify("glm-5", Parallelism::tensor(8), long, ExpertOverlap::default());
    within_1_percent(glm.kv_bytes().get(), 2.0 * 78.0 * 2048.0 * 1152.0, "GLM-5");
    let scores: f64 = glm
        .ops()
        .filter(|(op, _)| op.label == "index_scores")
        .map(|(op, n)| op.bytes().get() * f64::from(n))
        .sum();
    within_1_percent(scores, 78.0 * (2.0 * 50_000.0 * 132.0 + 6.0 * 50_000.0 * 4.0), "index keys and scores");
}

#[test]
fn a_recurrent_state_is_read_once_and_written_per_row() {
    let state = |rows| decode_rows("qwen3-next-80b-a3b", rows);
    let one = 36.0 * (2_097_152.0 + 49_152.0) + 0.0;
    let attention = 12.0 * 2048.0 * 2.0 * 2.0 * 256.0 * 2.0;
    within_1_percent(state(1), 2.0 * one + attention, "decode");
    within_1_percent(state(4), 5.0 * one + attention, "4 rows");
}

fn decode_rows(name: &str, rows: u32) -> f64 {
    verify(name, Parallelism::tensor(1), batch(1, rows), ExpertOverlap::default()).kv_bytes().get()
}
