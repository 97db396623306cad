//! Draft passes: EAGLE-3, multi-token prediction, separate models.

use super::*;
use crate::model::{Draft, draft_preset, mtp_of};
use crate::runtime::CollectiveOp::{AllGather, AllReduce};

fn draft(name: &str) -> Draft {
    draft_preset(name).unwrap_or_else(|| panic!("{name} is a preset"))
}

fn pass(draft: &Draft, target: &str, kind: PassKind, batch: Batch) -> ForwardPass {
    let runtime = runtime(RuntimeKind::Sglang);
    build_draft(draft, &model(target), Parallelism::tensor(8), &runtime, kind, batch)
}

#[test]
fn an_eagle3_pass_of_kimi_reads_its_bytes() {
    // MB per GPU on 8 ranks: a step, and an extend with its replicated `fc`.
    for (name, step, extend) in
        [("eagle3-kimi-k2.5", 259.0, 567.0), ("eagle3-kimi-k2.5-torchspec", 462.0, 770.0)]
    {
        let draft = draft(name);
        let stepped = pass(&draft, "kimi-k2.5", PassKind::DraftStep, batch(1, 1));
        within_1_percent(stepped.weight_bytes().get() * 1e-6, step, name);
        let extended = pass(&draft, "kimi-k2.5", PassKind::DraftExtend, batch(1, 3));
        within_1_percent(extended.weight_bytes().get() * 1e-6, extend, name);
        within_1_percent(extended.weight_bytes_of(Part::Fusion).get() * 1e-6, 308.0, "fc");
    }
}

#[test]
fn a_draft_pass_has_three_allreduces_and_one_gather() {
    let eagle = draft("eagle3-kimi-k2.5");
    let mtp = Draft::Mtp(mtp_of(&model("deepseek-v3")).expect("it has one"));
    for (draft, target) in [(&eagle, "kimi-k2.5"), (&mtp, "deepseek-v3")] {
        for (kind, rows) in [(PassKind::DraftStep, 1), (PassKind::DraftExtend, 3)] {
            let pass = pass(draft, target, kind, batch(1, rows));
            assert_eq!(
                (pass.collectives(AllReduce), pass.collectives(AllGather)),
                (3, 1),
                "{target} {kind:?}"
            );
        }
    }
}

#[test]
fn an_eagle3_layer_reads_twice_the_hidden_size_and_few_kernels() {
    let pass = pass(&draft("eagle3-kimi-k2.5"), "kimi-k2.5", PassKind::DraftStep, batch(1, 1));
    let qkv = pass.ops().find(|(op, _)| op.label == "qkv").expect("a projection").0;
    let OpKind::Gemm { n, k, .. } = qkv.kind else { panic!("{qkv:?}") };
    assert_eq!((n, k), (3 * 8 * 128, 2 * 7168));
    assert!((14..=18).contains(&pass.kernels()), "{} kernels", pass.kernels());
}

#[test]
fn the_extend_pass_wants_logits_of_one_row_a_request() {
    let pass = pass(&draft("eagle3-kimi-k2.5"), "kimi-k2.5", PassKind::DraftExtend, batch(4, 3));
    let head = pass.ops().find(|(op, _)| op.label == "head").expect("a head").0;
    let OpKind::Gemm { rows, n, .. } = head.kind else { panic!("{head:?}") };
    assert_eq!((rows, n), (4, 4_000));
}

#[test]
fn an_mtp_pass_reads_one_layer_fusion_and_the_shared_head() {
    let target = model("deepseek-v3");
    let mtp = Draft::Mtp(mtp_of(&target).expect("it has one"));
    let pass = pass(&mtp, "deepseek-v3", PassKind::DraftStep, batch(1, 1));
    // fp8: 15.1 MB down-projections replicated, 172 MB of the rest of attention, 9 experts; bf16: router,
    // 2H→H replicated, head.
    let h = 7168.0;
    let experts = 9.0 * 3.0 * h * 2048.0 / 8.0;
    let attention = h * 2112.0 + (1536.0 * 128.0 * 192.0 + 512.0 * 128.0 * 256.0 + 128.0 * 128.0 * h) / 8.0;
    let bf16 = 2.0 * (h * 256.0 + 2.0 * h * h + 129_280.0 * h / 8.0);
    within_1_percent(pass.weight_bytes().get(), experts + attention + bf16, "MTP");
}

#[test]
fn a_separate_model_runs_whole() {
    let small = Draft::Model(model("llama-3.1-8b"));
    let step = pass(&small, "llama-3.1-70b", PassKind::DraftStep, batch(1, 1));
    within_1_percent(step.weight_bytes().get(), 7.50e9 * 2.0 / 8.0, "Llama-3.1-8B");
    assert_eq!(step.kind, PassKind::DraftStep);
    assert_eq!(step.collectives(AllReduce), 65);
}

#[test]
fn a_draft_holds_its_own_weights() {
    let runtime = runtime(RuntimeKind::Sglang);
    let held = |draft: &Draft, target: &str| {
        draft_weights_per_rank(draft, &model(target), Parallelism::tensor(8), &runtime).get() * 1e-6
    };
    within_1_percent(held(&draft("eagle3-kimi-k2.5"), "kimi-k2.5"), 567.0, "EAGLE-3");
    // 11.27e9 routed and 44e6 shared expert weights in fp8 on 8 ranks; attention; router and 2H→H in bf16.
    let mtp = Draft::Mtp(mtp_of(&model("deepseek-v3")).expect("it has one"));
    within_1_percent(held(&mtp, "deepseek-v3"), (257.0 * 44.04 + 172.0) / 8.0 + 15.1 + 3.7 + 205.5, "MTP");
}
