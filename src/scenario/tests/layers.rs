//! `extends`, `--set`, `--unset`, `what_if`.

use std::fs;

use super::{opened, opened_with};
use crate::runtime::Execution;
use crate::scenario::library::Builtin;
use crate::scenario::{Common, ModelledSetup, Overrides, Setup, open};
use crate::speculation::DraftShape;
use crate::units::Seconds;

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";

fn reference(set: &[&str], unset: &[&str]) -> crate::scenario::Loaded {
    let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { set: own(set), unset: own(unset) };
    open(REFERENCE, &overrides, &Builtin).unwrap_or_else(|faults| panic!("{faults}")).1
}

fn modelled(setup: &Setup) -> &ModelledSetup {
    match setup {
        Setup::Modelled(setup) => setup,
        Setup::Observed(_) => panic!("a hardware model is given"),
    }
}

/// The mean of the law at the shape of the setup.
fn mean_of(common: &Common) -> f64 {
    let shape = DraftShape { steps: common.steps, topk: common.topk, draft_tokens: common.draft_tokens };
    common.acceptance.mean(shape).get()
}

fn ms(time: f64) -> Seconds {
    Seconds::from_ms(time)
}

#[test]
fn overrides_keep_what_was_observed_in_the_base_alone() {
    let loaded = reference(&["speculation.verify.time=24 ms"], &[]);
    let base = &loaded.base.common().stated;
    assert_eq!(base.verify.observed.map(|time| time.value), Some(ms(30.0)));
    assert_eq!(base.verify.time, None);
    let varied = &loaded.variation.as_ref().expect("a variation").common().stated;
    assert_eq!(varied.verify.time.map(|time| time.value), Some(ms(24.0)));
    assert_eq!(varied.verify.observed, None);
    assert_eq!(varied.verify.observed_allreduce, None);
    assert_eq!(varied.baseline.observed, None);
    assert_eq!(varied.observed_throughput, None);
    assert_eq!(loaded.overrides, [("speculation.verify.time".to_owned(), "24 ms".to_owned())]);
}

#[test]
fn overrides_of_what_was_observed_change_the_base() {
    let loaded = reference(&["baseline.observed.throughput=50 tok/s"], &[]);
    assert!(loaded.variation.is_none());
    let step = loaded.base.common().stated.baseline.observed.expect("a step").value;
    assert!((step.get() - 0.02).abs() < 1e-12);
}

#[test]
fn removed_keys_are_gone_everywhere() {
    let unset = ["baseline.observed", "speculation.observed", "speculation.verify.observed"];
    let loaded = reference(&[], &unset);
    assert!(loaded.variation.is_none());
    assert_eq!(loaded.base.common().stated, crate::scenario::Stated::default());
}

#[test]
fn what_ifs_lie_over_the_overrides() {
    let loaded = reference(&["workload.batch=4"], &[]);
    assert_eq!(loaded.base.common().batch, 1);
    for what_if in &loaded.what_ifs {
        assert_eq!(what_if.setup.common().batch, 4, "{}", what_if.name);
        assert_eq!(what_if.setup.common().stated.verify.observed, None);
    }
    let [graph, time] = loaded.what_ifs.as_slice() else { panic!("two what-ifs") };
    assert_eq!(modelled(&graph.setup).verify.execution, Execution::Graph);
    assert_eq!(graph.name, "verify inside a CUDA graph");
    assert_eq!(graph.set, [("speculation.verify.execution".to_owned(), "graph".to_owned())]);
    assert_eq!(modelled(&time.setup).verify.execution, Execution::Eager);
    assert_eq!(time.setup.common().stated.verify.time.map(|time| time.value), Some(ms(15.0)));
}

#[test]
fn rows_follow_the_steps_of_a_variation_and_the_law_is_told_for_them() {
    let loaded = reference(&["speculation.steps=4"], &[]);
    let varied = loaded.variation.expect("a variation");
    let common = varied.common();
    assert_eq!((common.steps, common.draft_tokens), (4, 5));
    // A mean of 2 over two drafted tokens is the rate a with 1 + a + a² = 2; four of them then yield 2.382.
    let a = (5.0_f64.sqrt() - 1.0) / 2.0;
    let mean = 1.0 + a + a.powi(2) + a.powi(3) + a.powi(4);
    assert!((mean_of(common) - mean).abs() < 1e-6, "{} instead of {mean}", mean_of(common));
    let loaded = reference(&["speculation.draft_tokens=6"], &[]);
    assert_eq!(loaded.variation.expect("a variation").common().steps, 5);
    let loaded = reference(&["speculation.acceptance.rate=0.7"], &[]);
    let varied = loaded.variation.expect("a variation");
    assert!((mean_of(varied.common()) - (1.0 + 0.7 + 0.49)).abs() < 1e-12);
}

#[test]
fn a_new_method_needs_no_old_draft_and_a_new_box_no_old_calibration() {
    let loaded = reference(&["speculation.method=ngram"], &[]);
    assert_eq!(modelled(&loaded.variation.expect("a variation")).draft, None);
    let loaded = reference(&["hardware=rtx-pro-6000-x8-switch"], &[]);
    let varied = loaded.variation.expect("a variation");
    assert_eq!(modelled(&varied).calibration.name, "rtx-pro-6000-x8-switch");
    assert_eq!(modelled(&loaded.base).calibration.name, "rtx-pro-6000-x8");
}

#[test]
fn what_is_looked_up_is_shared_by_all_variations() {
    let loaded = reference(&["workload.batch=4"], &[]);
    let varied = loaded.variation.expect("a variation");
    assert!(std::sync::Arc::ptr_eq(&modelled(&loaded.base).model, &modelled(&varied).model));
    assert!(std::sync::Arc::ptr_eq(&modelled(&loaded.base).hardware, &modelled(&varied).hardware));
}

#[test]
fn a_scenario_extends_another_and_removes_keys_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write(
        "below.yaml",
        "name: below\nhardware: rtx-pro-6000-x8\nmodel: kimi-k2.5\nworkload: { batch: 2, context: 100 }\n\
         environment: { NCCL_PROTO: LL, NCCL_ALGO: Ring }\n\
         baseline: { observed: { throughput: 82 tok/s } }\n\
         speculation: { method: eagle3, draft: eagle3-kimi-k2.5, steps: 2, acceptance: { rate: 0.5 } }\n",
    );
    fs::create_dir(folder.path().join("inner")).expect("a folder");
    write(
        "inner/above.yaml",
        "extends: ../below.yaml\nworkload: { batch: 3 }\nenvironment: { NCCL_ALGO: null, NCCL_DEBUG: INFO }\n\
         baseline: { observed: null }\nspeculation: { acceptance: { accept_length: 2.5 } }\n",
    );
    let path = folder.path().join("inner/above.yaml");
    let (_, loaded) =
        open(&path, &Overrides::default(), &Builtin).unwrap_or_else(|faults| panic!("{faults}"));
    let setup = modelled(&loaded.base);
    assert_eq!(setup.common.name, "below");
    assert_eq!((setup.common.batch, setup.context), (3, 100));
    assert_eq!(setup.common.stated.baseline.observed, None);
    assert!((mean_of(&setup.common) - 2.5).abs() < 1e-9);
    let variables: Vec<_> = setup.baseline.policy.environment.variables.keys().map(String::as_str).collect();
    assert_eq!(variables, ["NCCL_PROTO", "NCCL_DEBUG"]);
}

#[test]
fn faults_of_an_extended_file_name_that_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("below.yaml", "workload: { bath: 2 }\n");
    write("above.yaml", "extends: below.yaml\nworkload: { contxt: 2 }\n");
    let faults = crate::scenario::load(folder.path().join("above.yaml")).expect_err("two faults").to_string();
    assert!(faults.contains("below.yaml:1:13"), "{faults}");
    assert!(faults.contains("above.yaml:2:13"), "{faults}");
}

#[test]
fn keys_may_be_set_that_the_file_does_not_have() {
    let text = "baseline: { observed: { throughput: 82 tok/s } }\nspeculation:\n  acceptance: { accept_length: 2 }\n  \
                verify: { observed: { time: 30 ms } }\n";
    let (_, loaded) = opened_with(text, &["speculation.host.time=1 ms"], &[]).expect("a scenario");
    let varied = loaded.variation.expect("a variation");
    assert_eq!(varied.common().stated.host.map(|time| time.value), Some(ms(1.0)));
    assert!(opened(text).is_ok());
}

#[test]
fn null_removes_like_unset_and_an_empty_map_empties() {
    for key in ["baseline", "speculation.verify", "speculation.observed", "baseline.observed.throughput"] {
        let (null, removed) = (reference(&[&format!("{key}=null")], &[]), reference(&[], &[key]));
        assert_eq!(null.base, removed.base, "{key}");
        assert!(null.variation.is_none());
        assert_eq!(null.overrides, removed.overrides);
    }
    let emptied = reference(&["baseline={}"], &[]);
    assert_eq!(emptied.base, reference(&[], &["baseline"]).base);
    assert_eq!(emptied.overrides, [("baseline".to_owned(), "{}".to_owned())]);
    // Of a map without anything observed in it the variation is emptied, and the base is not.
    let emptied = reference(&["environment={}"], &[]);
    assert_eq!(emptied.base, reference(&[], &[]).base);
    assert!(
        modelled(&emptied.variation.expect("a variation")).verify.policy.environment.variables.is_empty()
    );
}

#[test]
fn a_map_is_set_key_by_key_like_its_dotted_keys() {
    let map = reference(&["speculation={verify: {time: 24 ms, execution: graph}}"], &[]);
    let dotted = reference(&["speculation.verify.time=24 ms", "speculation.verify.execution=graph"], &[]);
    assert_eq!((map.base, map.variation), (dotted.base, dotted.variation));
    let observed = reference(&["speculation.verify={observed: {time: 31 ms}}"], &[]);
    assert!(observed.variation.is_none());
    assert_eq!(observed.base.common().stated.verify.observed.map(|time| time.value), Some(ms(31.0)));
}

#[test]
fn whatever_an_override_takes_away_the_reason_is_said() {
    let keys = crate::scenario::key_docs().iter().map(|doc| doc.path.as_str());
    for key in keys.filter(|key| !key.contains(['[', '*'])) {
        for value in ["null", "{}"] {
            let set = vec![format!("{key}={value}")];
            for file in [REFERENCE, "scenarios/observed-only.yaml"] {
                let opened = open(file, &Overrides { set: set.clone(), unset: Vec::new() }, &Builtin);
                if let Err(faults) = opened {
                    assert!(faults.has_errors(), "{set:?}");
                    assert!(faults.to_string().contains("command line"), "{set:?}\n{faults}");
                }
            }
        }
    }
}
