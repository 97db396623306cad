//! Kimi-K2.5 and K2.6 on eight RTX PRO 6000 against measured figures. Nothing here was fitted to them: kernels and
//! collectives come from aiconfigurator-core's tables, the rest from defaults with other sources.

use super::*;
use crate::cost::Share;

/// Kimi-K2.6, vLLM, full graphs, fp8 cache, no speculation: requests and measured step \[ms\]
/// (local-inference-lab/rtx6kpro @e2c2b95 `models/kimi-k26-v4.md`, context label 0, priced at 256).
const STEPS: [(u32, f64); 4] = [(1, 10.82), (2, 13.22), (4, 16.70), (8, 22.80)];

fn kimi_k26(fabric: &str) -> Case {
    let mut case = Case::new("kimi-k2.6", RuntimeKind::Vllm, fabric, fabric);
    case.model.kv = KvFormat::Fp8;
    case
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

#[test]
fn the_baseline_of_the_reference_case_takes_ten_and_a_half_to_thirteen_ms() {
    let pass = Case::kimi(RuntimeKind::Sglang).price(batch(1, 1, 2048), Execution::Graph);
    assert!((10.5..13.0).contains(&pass.time.value.ms()), "{}", pass.time.value);
    assert_eq!(pass.allreduce.count, 123);
    assert_eq!(pass.allreduce.source, Source::Measured);
    assert!((3.2..3.5).contains(&pass.allreduce.total.ms()), "{}", pass.allreduce.total);
}

#[test]
fn verify_of_three_rows_in_a_graph_takes_thirteen_and_a_half_to_sixteen_and_a_half_ms() {
    let pass = Case::kimi(RuntimeKind::Sglang).price(batch(1, 3, 2048), Execution::Graph);
    assert!((13.5..16.5).contains(&pass.time.value.ms()), "{}", pass.time.value);
    assert!(!pass.host_bound());
}

/// Observed: 29-30 ms, of which a profiler booked 25 on the all-reduces.
#[test]
fn eager_verify_is_bound_by_the_host_and_its_interval_holds_the_observed_time() {
    let case = Case::kimi(RuntimeKind::Sglang);
    let eager = case.price(batch(1, 3, 2048), Execution::Eager);
    let graph = case.price(batch(1, 3, 2048), Execution::Graph);
    let spread = eager.time.spread.expect("a range");
    assert!(spread.low.ms() < 30.0 && 30.0 < spread.high.ms(), "{spread:?}");
    assert!(eager.time.value >= 1.5 * graph.time.value);
    assert!(eager.host_bound());
    assert!(eager.waiting() > eager.allreduce.total, "the GPU waits longer than it communicates");
    let same = case.price(batch(1, 1, 2048), Execution::Eager);
    assert!((same.time.value / eager.time.value - 1.0).abs() < 0.02, "rows hardly matter");
}

#[test]
fn an_sglang_layer_of_latent_attention_and_experts_takes_four_tenths_of_a_ms_to_issue() {
    let pass = Case::kimi(RuntimeKind::Sglang).price(batch(1, 3, 2048), Execution::Eager);
    let layer = pass.blocks.iter().find(|block| block.name == "moe layer").expect("a moe layer");
    let issue: Seconds = layer.ops.iter().map(|op| op.issue).sum();
    assert!((issue.ms() - 0.40).abs() < 0.01, "{issue}");
}

#[test]
fn steps_of_kimi_k26_are_met_from_public_tables_alone() {
    let case = kimi_k26("rtx-pro-6000-x8");
    let errors: Vec<f64> = STEPS
        .iter()
        .map(|(requests, measured)| {
            let pass = case.price(batch(*requests, 1, 256), Execution::Graph);
            (pass.time.value.ms() / measured - 1.0).abs()
        })
        .collect();
    assert!(errors.iter().all(|error| *error < 0.20), "{errors:?}");
    assert!(median(errors.clone()) < 0.08, "{errors:?}");
}

#[test]
fn a_breakdown_adds_up_to_the_time() {
    for execution in [Execution::Graph, Execution::Eager] {
        for runtime in [RuntimeKind::Sglang, RuntimeKind::Vllm, RuntimeKind::Pytorch, RuntimeKind::Cuda] {
            let pass = Case::kimi(runtime).price(batch(2, 3, 4096), execution);
            let rows = pass.breakdown();
            let sum: Seconds = rows.iter().map(|row| row.time).sum();
            assert!((sum - pass.time.value).get().abs() < 1e-12);
            let collectives = rows.iter().find(|row| row.share == Share::Collectives).expect("collectives");
            assert!(collectives.count > pass.allreduce.count && collectives.time > pass.allreduce.total);
        }
    }
}

/// The numbers of the module's report: `cargo test --lib -- --ignored figures --nocapture`.
#[test]
#[ignore = "prints figures"]
#[allow(clippy::print_stderr)]
fn figures() {
    for fabric in ["rtx-pro-6000-x8", "rtx-pro-6000-x8-dual-turin-graphfile", "rtx-pro-6000-x8-switch"] {
        let case = kimi_k26(fabric);
        for context in [1, 256, 1024] {
            for (requests, measured) in STEPS.into_iter().chain([(16, 25.15), (32, 33.41)]) {
                let time = case.price(batch(requests, 1, context), Execution::Graph).time.value.ms();
                eprintln!(
                    "{fabric} {context} {requests}: {time:.2} {:+.1} %",
                    100.0 * (time / measured - 1.0)
                );
            }
        }
        for (requests, cycle, tok_s) in [
            (1_u32, 20.34, 122.0),
            (2, 23.32, 176.6),
            (4, 24.92, 337.7),
            (8, 40.26, 492.6),
            (16, 43.75, 754.1),
            (32, 59.81, 1129.0),
        ] {
            let verify = case.price(batch(requests, 4, 256), Execution::Graph).time.value;
            let draft = drafting(&case, requests);
            let host = case.runtime.host_per_step.value + case.runtime.host_per_cycle.value;
            let overlapped = case.runtime.host_per_cycle_overlapped.value;
            let total = (verify + draft + host).ms();
            let pooled = 2.22 * f64::from(requests) / tok_s * 1e3;
            eprintln!(
                "{fabric} k=3 {requests}: verify {:.2} draft {:.2} host {:.2} ({:.2} overlapped) cycle {total:.2} against {cycle} {:+.1} %, pooled {pooled:.2} {:+.1} %",
                verify.ms(),
                draft.ms(),
                host.ms(),
                overlapped.ms(),
                100.0 * (total / cycle - 1.0),
                100.0 * (total / pooled - 1.0)
            );
        }
    }
    as_launched();
    let long = kimi_k26("rtx-pro-6000-x8");
    for (context, requests, measured) in
        [(16_384, 1, 12.27), (16_384, 8, 26.76), (32_768, 1, 13.62), (65_536, 1, 16.53), (131_072, 1, 21.69)]
    {
        let time = long.price(batch(requests, 1, context), Execution::Graph).time.value.ms();
        eprintln!(
            "rtx-pro-6000-x8 {context} {requests}: {time:.2} {:+.1} %",
            100.0 * (time / measured - 1.0)
        );
    }
    let case = Case::kimi(RuntimeKind::Sglang);
    for (rows, execution) in
        [(1, Execution::Graph), (3, Execution::Graph), (1, Execution::Eager), (3, Execution::Eager)]
    {
        let pass = case.price(batch(1, rows, 2048), execution);
        eprintln!(
            "{rows} rows {execution:?}: {} {:?} device {} issue {}",
            pass.time.value, pass.time.spread, pass.device_time, pass.issue_time
        );
        for row in pass.breakdown() {
            eprintln!("    {} {} {} {:?}", row.share.word(), row.count, row.time, row.source);
        }
    }
}

/// Three draft steps: one over the verified rows, two over one row.
fn drafting(case: &Case, requests: u32) -> Seconds {
    let draft = model::draft_preset("eagle3-kimi-k2.5").expect("a draft");
    let with = case.pricing(Execution::Graph);
    let pass = |kind, rows| {
        let pass = crate::forward::build_draft(
            &draft,
            &case.model,
            TP8,
            &case.runtime,
            kind,
            batch(requests, rows, 256),
        );
        price(&pass, &with).time.value
    };
    pass(PassKind::DraftExtend, 4) + 2.0 * pass(PassKind::DraftStep, 1)
}

/// The page says how the server was started: a one-shot all-reduce up to 56 KiB or eight rows. No one-shot rows of a
/// dual-socket box are public; those of a box with switches stand in.
#[allow(clippy::print_stderr)]
fn as_launched() {
    let mut case = kimi_k26("rtx-pro-6000-x8-switch");
    for (rows, label) in [(1, "step"), (4, "verify")] {
        for requests in [1, 2, 4, 8] {
            let one_shot = requests * rows <= 8;
            case.policy.backend = one_shot.then_some(crate::collective::Backend::OneShot);
            let pass = case.price(batch(requests, rows, 256), Execution::Graph);
            let each = pass.allreduce.total / f64::from(pass.allreduce.count);
            eprintln!(
                "as launched {label} {requests} rows: {:.2} ms, all-reduce {each}",
                pass.time.value.ms()
            );
        }
    }
}
