//! What a user's own table of launch costs and PyTorch kernels changes: measured beats assumed, and says so.

use super::*;
use crate::cost::Share;
use crate::model::FormatOverrides;
use crate::sourced::Source;

const CONFIG: &str = r#"{
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "bfloat16",
    "hidden_size": 4096, "intermediate_size": 8192, "num_hidden_layers": 4, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 32768, "max_position_embeddings": 8192,
    "tie_word_embeddings": false, "rms_norm_eps": 1e-5, "hidden_act": "silu"
}"#;

const TABLES: &str = "format: specplan-calibration/1\nbox: { gpu: h200, count: 1 }\n\
    provenance: { source: a test, licence: none }\nbase: h200-x1\ntables:\n  launch: |\n    \
    server,what,op,size_bytes,median_us,p10_us,p90_us\n    \
    pytorch,small-kernel,norm,16384,4,,\n    pytorch,small-kernel,rope,20480,9,,\n    \
    pytorch,small-kernel,elementwise,8192,2,,\n    pytorch,graph-node,amid,8192,0.5,,\n    \
    pytorch,issue,gemm,,12,10,20\n    pytorch,issue,norm,,8,,\n    pytorch,issue,elementwise,,6,,\n    \
    pytorch,issue,attention,,20,,\n    pytorch,graph-launch,,,5,,\n    pytorch,read-back,,,16,,\n  \
    gemm: |\n    server,weights,n,k,rows,median_us\n    pytorch,bf16,4096,4096,1,2.5\n    \
    pytorch,bf16,4096,4096,4,2.75\n    pytorch,bf16,32768,4096,4,66\n  \
    attention: |\n    server,kv,head_dim,heads,kv_heads,batch,rows,context,median_us\n    \
    pytorch,bf16,128,32,8,1,1,2048,9\n    pytorch,bf16,128,32,8,1,4,2048,29\n";

fn case(runtime: RuntimeKind, tables: &str) -> Case {
    let absent = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let calibration = calibration::parse("mine", tables, &absent).expect("a sound calibration");
    Case {
        hardware: hardware::preset("h200-x1").expect("hardware"),
        model: model::parse_config("m", CONFIG, FormatOverrides::default()).expect("a valid config"),
        runtime: calibration.measured_host(Runtime::profile(runtime)),
        calibration,
        policy: Policy::default(),
    }
}

fn price_of(case: &Case, rows: u32, execution: Execution) -> PricedPass {
    let parallel = Parallelism { tensor: 1, ..TP8 };
    price(&case.pass_over(parallel, batch(1, rows, 2048)), &case.pricing(execution))
}

fn op<'a>(pass: &'a PricedPass, label: &str) -> &'a PricedOp {
    let ops = pass.blocks.iter().flat_map(|block| &block.ops);
    ops.into_iter().find(|op| op.label == label).unwrap_or_else(|| panic!("no {label}"))
}

#[test]
fn small_operations_and_projections_take_their_rows_and_what_a_layer_adds() {
    let pass = price_of(&case(RuntimeKind::Pytorch, TABLES), 1, Execution::Graph);
    for (label, us) in [("input_norm", 4.5), ("rope", 9.5), ("kv_write", 2.5), ("o", 3.0), ("attention", 9.5)]
    {
        let found = op(&pass, label);
        assert!((found.device.us() - us).abs() < 1e-9, "{label}: {}", found.device);
        assert_eq!((found.source, found.extrapolated), (Source::Measured, false), "{label}");
    }
    // 33.6 MB fit in L2, but this row was read past it: no correction.
    assert!(op(&pass, "o").device.us() < 4.0);
    assert!((pass.launch.us() - 5.0).abs() < 1e-9);
    let waiting = pass.breakdown().into_iter().find(|row| row.share == Share::Waiting).expect("a launch");
    assert_eq!(waiting.source, Source::Measured);
}

#[test]
fn rows_of_one_request_take_the_row_that_shares_the_cache() {
    let pass = price_of(&case(RuntimeKind::Pytorch, TABLES), 4, Execution::Graph);
    let attention = op(&pass, "attention");
    assert!((attention.device.us() - 29.5).abs() < 1e-9 && !attention.extrapolated);
}

#[test]
fn eager_passes_are_issued_as_measured_within_their_percentiles() {
    let pass = price_of(&case(RuntimeKind::Pytorch, TABLES), 1, Execution::Eager);
    for (label, us) in [("qkv", 12.0), ("input_norm", 8.0), ("rope", 6.0), ("attention", 20.0)] {
        assert!((op(&pass, label).issue.us() - us).abs() < 1e-9, "{label}");
    }
    assert!(pass.host_bound());
    assert_eq!(pass.host_source, Source::Measured);
    let spread = pass.time.spread.expect("a range");
    // Four projections a layer and the head, 8 µs from the median to p90.
    assert!(spread.high.us() - pass.time.value.us() > 16.0 * 8.0 - 1.0, "{spread:?}");
}

/// Another framework's host is another program: SGLang keeps its own figures, and takes the driver's.
#[test]
fn other_servers_keep_their_hosts() {
    let measured = case(RuntimeKind::Sglang, TABLES);
    let pass = price_of(&measured, 1, Execution::Eager);
    let plain = Runtime::profile(RuntimeKind::Sglang);
    assert_eq!(op(&pass, "qkv").issue, plain.issue_kernel.value);
    assert_eq!(pass.host_source, Source::Assumed);
    assert_eq!(measured.runtime.graph_launch.source, Source::Measured);
}

/// NCCL_* variables that were set when the box was measured make its rows no others.
#[test]
fn a_box_measured_with_variables_is_as_measured_under_them() {
    let tables = "format: specplan-calibration/1\n\
        box: { gpu: h200, count: 2, environment: { NCCL_P2P_DISABLE: '1' } }\n\
        provenance: { source: a test, licence: none }\ntables:\n  collectives: |\n    \
        op,ranks,family,mode,transport,bytes,median_us\n    all-reduce,2,nccl,graph,shm,8192,17\n";
    let mut case = case(RuntimeKind::Pytorch, tables);
    case.hardware = hardware::preset("h200-x2").expect("hardware");
    let environment = case.calibration.facts.as_ref().expect("facts").environment.clone();
    case.policy.environment.variables = environment;
    let parallel = Parallelism { tensor: 2, ..TP8 };
    let pass = price(&case.pass_over(parallel, batch(1, 1, 2048)), &case.pricing(Execution::Graph));
    assert_eq!(pass.allreduce.source, Source::Measured);
    assert!((op(&pass, "allreduce").device.us() - 17.0).abs() < 1e-9);
}
