//! What values mean once they are resolved.

use super::{opened, opened_with};
use crate::collective::{Backend, Protocol};
use crate::runtime::{Execution, RuntimeKind};
use crate::scenario::{Method, ModelledSetup, Setup};
use crate::sourced::{SPREAD_DEVIATIONS, Source};
use crate::speculation::{Acceptance, DraftShape};

const LLAMA: &str = r#"{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256}"#;

const OBSERVED: &str = "
baseline: { observed: { throughput: 82 tok/s +- 2 tok/s } }
speculation:
  acceptance: { accept_length: 2.0 +- 0.1 }
  verify: { observed: { time: 30 ms +- 1 ms, allreduce: { count: 122, total: 25 ms } } }
";

const MODELLED: &str = "
hardware: rtx-pro-6000-x8
model: kimi-k2.5
environment: { NCCL_PROTO: LL, NCCL_MIN_NCHANNELS: 8 }
baseline: { allreduce: { backend: nccl, protocol: LL128 } }
speculation:
  method: eagle3
  draft: eagle3-kimi-k2.5
  draft_tokens: 4
  acceptance: { cumulative: [0.65, 0.4, 0.24] }
  draft_pass: { execution: eager, environment: { NCCL_PROTO: Simple } }
  verify: { allreduce: { opt_in: [one-shot, auto] } }
";

fn modelled(text: &str) -> (Box<ModelledSetup>, Vec<String>) {
    let (_, loaded) = opened(text).unwrap_or_else(|faults| panic!("{faults}"));
    match loaded.base {
        Setup::Modelled(setup) => (setup, loaded.notes),
        Setup::Observed(_) => panic!("hardware and model are given"),
    }
}

#[test]
fn observed_numbers_alone_make_an_observed_setup() {
    let (_, loaded) = opened(OBSERVED).unwrap_or_else(|faults| panic!("{faults}"));
    let Setup::Observed(setup) = loaded.base else { panic!("no hardware is given") };
    let common = setup.common;
    assert_eq!((common.method, common.steps, common.draft_tokens), (Method::Unstated, 0, 0));
    assert!(common.accept_limit().is_infinite());
    assert_eq!(common.name, "scenario");
    let step = common.stated.baseline.observed.expect("a step");
    assert!((step.value.get() - 1.0 / 82.0).abs() < 1e-12);
    assert_eq!(step.source, Source::Derived);
    let throughput = common.stated.baseline.observed_throughput.expect("the throughput as written");
    assert_eq!(throughput.source, Source::Given);
    assert!((throughput.value.get() - 82.0).abs() < 1e-12);
    let spread = step.spread.expect("a spread");
    assert!((spread.low.get() - 1.0 / (82.0 + 2.0 * SPREAD_DEVIATIONS)).abs() < 1e-12);
    assert!(spread.low.get() < step.value.get() && step.value.get() < spread.high.get());
    let verify = common.stated.verify.observed.expect("a verify time");
    assert!((verify.spread.expect("a spread").high.get() * 1e3 - 30.0 - SPREAD_DEVIATIONS).abs() < 1e-9);
    assert_eq!(common.stated.verify.observed_allreduce.expect("all-reduces").count, 122);
}

#[test]
fn every_default_is_filled_in_and_said() {
    let (setup, notes) = modelled(MODELLED);
    assert_eq!((setup.common.steps, setup.common.topk, setup.common.draft_tokens), (3, 1, 4));
    assert_eq!((setup.common.batch, setup.context, setup.parallel.tensor), (1, 1024, 8));
    assert_eq!(setup.runtime.kind, RuntimeKind::Sglang);
    assert_eq!(setup.calibration.name, "rtx-pro-6000-x8");
    assert_eq!(setup.baseline.execution, Execution::Graph);
    assert_eq!(setup.draft_pass.execution, Execution::Eager);
    assert!(!setup.overlap);
    let box_remark = |note: &&String| note.starts_with("rtx-pro-6000-x8: ");
    assert!(notes.iter().any(|note| box_remark(&note)), "{notes:?}");
    let defaults: Vec<&String> = notes.iter().take_while(|note| !box_remark(note)).collect();
    assert_eq!(
        defaults,
        [
            "calibration not given: rtx-pro-6000-x8, that of the hardware",
            "parallel.tensor not given: all 8 GPUs",
            "workload.context not given: 1024 tokens",
            "runtime not given: sglang",
            "workload.batch not given: 1 request",
        ]
    );
}

#[test]
fn all_reduce_keys_and_variables_make_the_policy_of_a_pass() {
    let (setup, _) = modelled(MODELLED);
    let policy = &setup.baseline.policy;
    assert_eq!((policy.backend, policy.protocol), (Some(Backend::Nccl), Some(Protocol::Ll128)));
    assert_eq!(setup.verify.policy.opt_in, [Backend::OneShot]);
    let variable =
        |policy: &crate::collective::Policy, name: &str| policy.environment.variables[name].clone();
    assert_eq!(variable(policy, "NCCL_PROTO"), "LL");
    assert_eq!(variable(policy, "NCCL_MIN_NCHANNELS"), "8");
    assert_eq!(variable(&setup.draft_pass.policy, "NCCL_PROTO"), "Simple");
}

#[test]
fn every_kind_of_acceptance_is_read() {
    let shape = DraftShape { steps: 3, topk: 1, draft_tokens: 4 };
    for (written, mean) in [
        ("accept_length: 2.5", 2.5),
        ("rate: 0.5", 1.875),
        ("mean_rate: 0.5", 2.5),
        ("conditional: [0.7, 0.8, 0.6]", 1.0 + 0.7 + 0.56 + 0.336),
        ("cumulative: [0.65, 0.4, 0.24]", 2.29),
        ("histogram: [10, 20, 30, 40]", 3.0),
        ("tree: { ranks: [0.7, 0.15, 0.05] }", 2.533),
    ] {
        let text = MODELLED.replace("cumulative: [0.65, 0.4, 0.24]", written);
        let (setup, _) = modelled(&text);
        assert!((setup.common.acceptance.mean(shape).get() - mean).abs() < 1e-9, "{written}");
    }
}

#[test]
fn n_gram_lookup_has_rows_of_its_own_and_no_draft() {
    let text = MODELLED
        .replace("method: eagle3", "method: ngram")
        .replace("  draft: eagle3-kimi-k2.5\n", "")
        .replace("  draft_tokens: 4\n", "")
        .replace("cumulative: [0.65, 0.4, 0.24]", "accept_length: 1.8");
    let (setup, _) = modelled(&text);
    assert_eq!((setup.common.steps, setup.common.draft_tokens), (11, 12));
    assert_eq!(setup.draft, None);
}

#[test]
fn an_acceptance_file_is_read_relative_to_the_scenario() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("accept.yaml"), "source: a log\nacceptance: { rate: 0.4 }\n")
        .expect("a file");
    let text = MODELLED.replace("cumulative: [0.65, 0.4, 0.24]", "file: accept.yaml");
    std::fs::write(folder.path().join("scenario.yaml"), text).expect("a file");
    let path = folder.path().join("scenario.yaml");
    let opened = crate::scenario::open(&path, &crate::scenario::Overrides::default(), &super::Builtin);
    let (_, loaded) = opened.unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(loaded.base.common().acceptance, Acceptance::geometric(0.4).expect("a rate"));
}

#[test]
fn hardware_without_a_model_is_said_to_be_unused() {
    let text = format!("hardware: rtx-pro-6000-x8\n{OBSERVED}");
    let (_, loaded) = opened(&text).unwrap_or_else(|faults| panic!("{faults}"));
    assert!(matches!(loaded.base, Setup::Observed(_)));
    assert!(loaded.notes[0].contains("`hardware` is not used"), "{:?}", loaded.notes);
}

#[test]
fn without_a_model_only_times_and_acceptance_can_vary() {
    let with = |set: &str| format!("{OBSERVED}what_if: [ {{ set: {{ {set} }} }} ]\n");
    assert!(opened(&with("speculation.verify.time: 15 ms")).is_ok());
    assert!(opened(&with("speculation.acceptance.accept_length: 3")).is_ok());
    assert!(opened(&with("workload.batch: 8")).is_err());
    assert!(opened(&with("speculation.verify.execution: graph")).is_err());
    // A variation given on the command line is held to the same rule.
    assert!(opened_with(OBSERVED, &["speculation.verify.time=15 ms"], &[]).is_ok());
    assert!(opened_with(OBSERVED, &["workload.batch=8"], &[]).is_err());
}

#[test]
fn a_model_file_with_other_formats_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("config.json"), LLAMA).expect("a file");
    let text = MODELLED
        .replace("model: kimi-k2.5", "model: { config: config.json, kv: fp8 }")
        .replace("draft: eagle3-kimi-k2.5", "draft: eagle3-llama-3.1-8b");
    let path = folder.path().join("scenario.yaml");
    std::fs::write(&path, text).expect("a file");
    let opened = crate::scenario::open(&path, &crate::scenario::Overrides::default(), &super::Builtin);
    let (_, loaded) = opened.unwrap_or_else(|faults| panic!("{faults}"));
    let Setup::Modelled(setup) = loaded.base else { panic!("hardware and model are given") };
    assert_eq!(setup.model.kv, crate::model::KvFormat::Fp8);
    assert!(setup.model.name.ends_with("config.json"));
}
