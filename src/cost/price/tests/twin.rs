//! A measured twin: 61 thin dense layers on two H200s whose all-reduces are staged through host memory, PyTorch
//! 2.11, NCCL 2.28.9, tensor parallel 2, context 2048, two runs. Its layer has neither rotary encoding nor a
//! cache write, so those operations are left out.

use super::*;
use crate::model::FormatOverrides;

const CONFIG: &str = r#"{
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "bfloat16",
    "hidden_size": 7168, "intermediate_size": 4096, "num_hidden_layers": 61, "num_attention_heads": 56,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 32768, "max_position_embeddings": 8192,
    "tie_word_embeddings": false, "rms_norm_eps": 1e-5, "hidden_act": "silu"
}"#;

fn twin() -> Case {
    let model = model::parse_config("twin", CONFIG, FormatOverrides::default()).expect("a valid config");
    Case {
        hardware: hardware::preset("h200-x2-shm").expect("hardware"),
        calibration: calibration::preset("h200-x2-shm").expect("calibration"),
        model,
        runtime: Runtime::profile(RuntimeKind::Pytorch),
        policy: Policy::default(),
    }
}

fn priced(case: &Case, batch: Batch, execution: Execution) -> PricedPass {
    let kind = if batch.rows > 1 { PassKind::Verify } else { PassKind::Decode };
    let parallel = Parallelism { tensor: 2, ..TP8 };
    let mut pass = build(&case.model, parallel, &case.runtime, kind, batch, ExpertOverlap::default());
    for block in &mut pass.blocks {
        block.ops.retain(|op| !matches!(op.label, "rope" | "kv_write"));
    }
    price(&pass, &case.pricing(execution))
}

/// Requests, rows, measured ms of the graph without its all-reduces: mean of the two runs.
const WITHOUT_ALLREDUCE: [(u32, u32, f64); 11] = [
    (1, 1, 6.41),
    (1, 2, 7.89),
    (1, 3, 7.90),
    (1, 4, 7.90),
    (1, 16, 7.78),
    (4, 1, 6.86),
    (4, 4, 7.89),
    (16, 1, 7.38),
    (16, 4, 12.3),
    (64, 1, 10.1),
    (64, 4, 31.5),
];

#[test]
fn the_kernels_of_the_twin_are_met_within_a_quarter() {
    let case = twin();
    for (requests, rows, measured) in WITHOUT_ALLREDUCE {
        let pass = priced(&case, batch(requests, rows, 2048), Execution::Graph);
        let kernels = (pass.device_time - pass.allreduce.total).ms();
        assert!((kernels / measured - 1.0).abs() < 0.25, "{requests} x {rows}: {kernels} against {measured}");
    }
}

/// Eager passes of up to four rows took 20.3 to 39.0 ms, those of a graph 8.3 to 10.1.
#[test]
fn the_twin_is_bound_by_its_host_in_eager_mode() {
    let case = twin();
    let eager = priced(&case, batch(1, 3, 2048), Execution::Eager);
    assert!(eager.host_bound());
    let spread = eager.time.spread.expect("a range");
    assert!(spread.high.ms() > 22.8, "{spread:?}");
}

/// `cargo test --lib -- --ignored figures --nocapture`.
#[test]
#[ignore = "prints figures"]
#[allow(clippy::print_stderr)]
fn figures() {
    let case = twin();
    let graph = [8.31, 9.76, 9.84, 10.03, 11.96, 8.99, 12.25, 12.05, 20.6, 18.1, 49.2];
    let eager = [
        "34.5|27.1",
        "39.0|22.9",
        "33.1|31.3",
        "22.8|32.0",
        "24.3|34.5",
        "30.4|33.8",
        "27.5|26.4",
        "33.9|26.8",
        "38.4|22.1",
        "19.9|21.3",
        "50.6|50.4",
    ];
    for (((requests, rows, without), with), eager) in WITHOUT_ALLREDUCE.into_iter().zip(graph).zip(eager) {
        let pass = priced(&case, batch(requests, rows, 2048), Execution::Graph);
        let host = priced(&case, batch(requests, rows, 2048), Execution::Eager);
        let kernels = (pass.device_time - pass.allreduce.total).ms();
        eprintln!(
            "twin {requests}x{rows}: graph {:.2} against {with} {:+.1} %, without all-reduces {kernels:.2} against {without} {:+.1} %, eager {} {:?} against {eager}",
            pass.time.value.ms(),
            100.0 * (pass.time.value.ms() / with - 1.0),
            100.0 * (kernels / without - 1.0),
            host.time.value,
            host.time.spread.map(|s| (s.low.ms(), s.high.ms()))
        );
    }
}
