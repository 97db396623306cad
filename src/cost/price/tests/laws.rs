use proptest::prelude::*;

use super::*;
use crate::cost::Share;

const KINDS: [RuntimeKind; 4] =
    [RuntimeKind::Sglang, RuntimeKind::Vllm, RuntimeKind::Pytorch, RuntimeKind::Cuda];

/// Kimi-K2.5 without tables: the roofline alone.
fn roofline_only(runtime: RuntimeKind) -> Case {
    let mut case = Case::kimi(runtime);
    case.calibration = calibration::none();
    case
}

/// GPU time without collectives, which become cheaper at some sizes (NCCL changes its protocol).
fn kernels(pass: &PricedPass) -> Seconds {
    let rows = pass.breakdown();
    rows.iter()
        .filter(|row| !matches!(row.share, Share::Collectives | Share::Waiting))
        .map(|row| row.time)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn on_the_roofline_time_grows_with_rows_requests_and_context(
        kind in 0..4usize, requests in 1..64u32, rows in 1..9u32, context in 1..50_000u32,
    ) {
        let case = roofline_only(KINDS[kind]);
        let time = |r, n, c| kernels(&case.price(batch(r, n, c), Execution::Graph));
        let base = time(requests, rows, context);
        let verify = rows > 1;
        prop_assert!(time(requests + 1, rows, context) >= base);
        prop_assert!(!verify || time(requests, rows + 1, context) >= base);
        prop_assert!(time(requests, rows, context + 500) >= base);
    }

    #[test]
    fn eager_never_beats_its_gpu_and_a_graph_only_waits_for_its_launch(
        kind in 0..4usize, requests in 1..64u32, rows in 1..9u32, context in 1..50_000u32,
    ) {
        let case = Case::kimi(KINDS[kind]);
        let eager = case.price(batch(requests, rows, context), Execution::Eager);
        let graph = case.price(batch(requests, rows, context), Execution::Graph);
        let slack = Seconds::new(1e-15);
        prop_assert!(eager.time.value + slack >= eager.device_time.max(eager.issue_time));
        prop_assert!((graph.time.value - graph.device_time - graph.launch).get().abs() < 1e-15);
        for pass in [&eager, &graph] {
            let spread = pass.time.spread.expect("a range");
            prop_assert!(spread.low <= pass.time.value && pass.time.value <= spread.high);
        }
    }
}

#[test]
fn a_host_without_cost_leaves_the_gpu_and_a_gpu_without_work_the_host() {
    let mut case = Case::kimi(RuntimeKind::Sglang);
    let free = Sourced::given(Seconds::ZERO);
    (case.runtime.issue_kernel, case.runtime.issue_collective) = (free, free);
    let pass = case.price(batch(1, 3, 2048), Execution::Eager);
    assert!((pass.time.value - pass.device_time).get().abs() < 1e-15);
    assert!(pass.issue_time.get().abs() < 1e-15 && !pass.host_bound());
}

#[test]
fn the_weakest_source_names_the_time() {
    let mut case = Case::kimi(RuntimeKind::Sglang);
    let graph = case.price(batch(1, 1, 2048), Execution::Graph);
    assert_eq!(graph.time.source, Source::Roofline);
    let eager = case.price(batch(1, 1, 2048), Execution::Eager);
    assert_eq!(eager.time.source, Source::Assumed);
    case.model.kv = KvFormat::Fp8;
    assert!(case.price(batch(1, 1, 2048), Execution::Graph).time.extrapolated, "no fp8 rows: bf16 stands in");
}

/// What a split context adds crosses the same links as an all-reduce: scattering the outputs moves half of the bytes
/// of reducing them, gathering the queries 9/8 of that. And sharing a cache never makes its kernel dearer than the
/// whole attention module that vLLM runs over all heads.
#[test]
fn a_split_context_costs_about_an_allreduce_of_its_outputs() {
    let case = Case::new("kimi-k2.6", RuntimeKind::Vllm, "rtx-pro-6000-x8", "rtx-pro-6000-x8");
    let split = Parallelism { decode_context: 8, ..TP8 };
    for requests in [1, 8, 32, 128] {
        let pass = case.pass_over(split, batch(requests, 1, 256));
        let priced = price(&pass, &case.pricing(Execution::Graph));
        let moe = &priced.blocks[2];
        let of = |label: &str| moe.ops.iter().find(|op| op.label == label).expect(label).device;
        let outputs = crate::units::Bytes::new(f64::from(requests) * 64.0 * 512.0 * 2.0);
        let reduce =
            crate::cost::collective(CollectiveOp::AllReduce, 8, outputs, &case.pricing(Execution::Graph))
                .value;
        for label in ["allgather_q", "reduce_scatter_o"] {
            assert!(of(label) < 0.85 * reduce, "{requests} {label}: {} against {reduce}", of(label));
            assert!(of(label) > 0.25 * reduce, "{requests} {label}: {} against {reduce}", of(label));
        }
        let module = case.calibration.mla_module(RuntimeKind::Vllm, KvFormat::Bf16, requests, 64, 32);
        assert!(of("mla_attention") < module.expect("a row").time, "{requests}: {}", of("mla_attention"));
    }
}

/// vLLM's Triton module with one head, 16 requests of 16,384 tokens: 308.9 µs with an fp8 cache, 427.9 with bf16
/// (aiconfigurator-core 0.12.0); with 8 heads and bf16 362.3.
#[test]
fn an_fp8_cache_saves_what_was_measured_for_one_head() {
    let mut case = Case::new("kimi-k2.6", RuntimeKind::Vllm, "rtx-pro-6000-x8", "rtx-pro-6000-x8");
    let mut attention = |kv| {
        case.model.kv = kv;
        let priced = case.price(batch(16, 1, 16_384), Execution::Graph);
        let op = priced.blocks[2].ops.iter().find(|op| op.label == "attention module").expect("a module");
        (op.device.us(), op.extrapolated)
    };
    let (wide, exact) = attention(KvFormat::Bf16);
    let (narrow, shared) = attention(KvFormat::Fp8);
    assert!((wide + 2.5 - 362.3).abs() < 8.0 && !exact, "{wide}");
    assert!(
        ((narrow + 2.5) / (wide + 2.5) / (308.9 / 427.9) - 1.0).abs() < 0.04 && shared,
        "{narrow} of {wide}"
    );
}
