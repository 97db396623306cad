//! Published sizes: model cards, and reduced configurations of aiconfigurator-core 0.12.0, slime, transformers
//! and SpecForge.

use super::*;
use crate::model::{draft_preset, mtp_of, preset};

fn close(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.01, "{what}: {found:.4} instead of {expected}");
}

#[test]
fn models_have_their_published_sizes() {
    // total and active parameters in 10^9; KV bytes per token in bf16 over all layers
    for (name, total, active, kv) in [
        ("kimi-k2.5", 1026.4, 31.69, 70_272.0),
        ("kimi-k2-instruct", 1026.4, 31.69, 70_272.0),
        ("deepseek-v3", 671.0, 36.62, 70_272.0),
        ("deepseek-r1", 671.0, 36.62, 70_272.0),
        ("glm-5", 743.2, 40.10, 89_856.0),
        ("glm-4.5", 352.8, 32.85, 376_832.0),
        ("glm-4.6", 352.8, 32.85, 376_832.0),
        ("qwen3-235b-a22b", 235.1, 21.57, 192_512.0),
        ("qwen3-30b-a3b", 30.5, 3.04, 98_304.0),
        ("qwen3-next-80b-a3b", 79.7, 3.56, 24_576.0),
        ("qwen3.5-397b-a17b", 396.3, 16.33, 30_720.0),
        ("gpt-oss-120b", 116.8, 5.13, 73_728.0),
        ("mixtral-8x7b", 46.7, 12.75, 131_072.0),
        ("llama-3.1-8b", 8.0, 7.50, 131_072.0),
        ("llama-3.1-70b", 70.6, 69.50, 327_680.0),
        ("llama-3.3-70b", 70.6, 69.50, 327_680.0),
    ] {
        let found = footprint(&preset(name).expect(name));
        close(found.total_parameters * 1e-9, total, &format!("{name}, total"));
        // The index of GLM-5 (0.7e9 parameters, read by every token) is not in the published active count.
        let index = if name == "glm-5" { 0.731 } else { 0.0 };
        close(found.active_parameters * 1e-9 - index, active, &format!("{name}, active"));
        close(found.kv_per_token.get(), kv, &format!("{name}, KV"));
    }
}

#[test]
fn quantised_checkpoints_keep_their_width() {
    // Kimi-K2.5 stores only routed experts in INT4; its checkpoint is 594 GB.
    close(footprint(&preset("kimi-k2.5").expect("preset")).resident.get() * 1e-9, 594.0, "kimi-k2.5");
    // gpt-oss-120b: 114.7e9 expert weights at 4.25 bit, the rest bf16.
    let experts = 36.0 * 128.0 * 3.0 * 2880.0 * 2880.0;
    let gpt_oss = footprint(&preset("gpt-oss-120b").expect("preset"));
    let expected = experts * 4.25 / 8.0 + (gpt_oss.total_parameters - experts) * 2.0;
    close(gpt_oss.resident.get(), expected, "gpt-oss-120b");
}

#[test]
fn drafts_have_their_sizes() {
    // layer, fc, head in 10^6 parameters
    for (name, layer, fusion, head) in [
        ("eagle3-kimi-k2.5", 807.0, 154.0, 229.0),
        ("eagle3-kimi-k2.5-torchspec", 675.0, 154.0, 1174.0),
        // With the embedding 3.0 B: the 6 GB of the published head.
        ("eagle3-kimi-k2.5-mla", 512.6, 154.0, 1174.0),
        ("eagle3-deepseek-v3", 1064.0, 154.0, 229.0),
        ("eagle3-llama-3.1-8b", 243.0, 50.0, 131.0),
        ("eagle3-llama-3.3-70b", 940.0, 201.0, 262.0),
        ("eagle3-qwen3-235b-a22b", 411.0, 50.0, 131.0),
        ("eagle3-qwen3-30b-a3b", 105.0, 13.0, 66.0),
        ("eagle3-gpt-oss-120b", 191.0, 25.0, 92.0),
    ] {
        let found = draft_footprint(&draft_preset(name).expect(name));
        for (found, expected) in [(found.layers, layer), (found.fusion, fusion), (found.head, head)] {
            assert!(
                (found * 1e-6 - expected).abs() <= (0.01 * expected).max(0.6),
                "{name}: {found} {expected}"
            );
        }
    }
    for (name, billions) in [
        ("eagle3-llama-3.1-8b", 0.42),
        ("eagle3-qwen3-235b-a22b", 0.59),
        ("eagle3-deepseek-v3", 1.45),
        ("eagle3-kimi-k2.5", 1.19),
        ("eagle3-kimi-k2.5-torchspec", 2.00),
        ("eagle3-kimi-k2.5-mla", 1.84),
    ] {
        let found = draft_footprint(&draft_preset(name).expect(name));
        let total = (found.layers + found.fusion + found.head) * 1e-9;
        assert!((total - billions).abs() < 0.006, "{name}: {total}");
    }
}

#[test]
fn the_mtp_module_of_deepseek_v3_has_11_6_billion_parameters() {
    let mtp = mtp_of(&preset("deepseek-v3").expect("preset")).expect("it has one");
    let found = draft_footprint(&Draft::Mtp(mtp));
    close((found.layers + found.fusion) * 1e-9, 11.6, "MTP");
    assert!(mtp_of(&preset("kimi-k2.5").expect("preset")).is_none());
    assert!(matches!(
        mtp_of(&preset("qwen3.5-397b-a17b").expect("preset")).expect("it has one").layer.attention,
        Attention::Gqa(_)
    ));
}

#[test]
fn state_and_index_are_counted_apart_from_the_kv_cache() {
    let qwen = footprint(&preset("qwen3-next-80b-a3b").expect("preset"));
    // 36 linear layers of 32 heads x 128 x 128 in fp32, and 3 taps of 8192 channels in bf16.
    assert!((qwen.state_per_request.get() - 36.0 * (2_097_152.0 + 49_152.0)).abs() < 1.0);
    let glm = footprint(&preset("glm-5").expect("preset"));
    assert!((glm.index_per_token.get() - 78.0 * 132.0).abs() < 1e-9);
}
