//! Drafters: every form in which they are named, and those that do not fit.

use std::sync::Arc;

use super::opened;
use crate::diagnostic::Diagnostics;
use crate::model::{Draft, KvFormat, WeightFormat, draft_footprint};
use crate::scenario::{ModelledSetup, Setup};

fn with(model: &str, method: &str, draft: &str) -> String {
    format!(
        "hardware: h200-x8\nmodel: {model}\nspeculation:\n  method: {method}\n  draft: {draft}\n  steps: 3\n  \
         acceptance: {{ accept_length: 2.5 }}\n"
    )
}

fn modelled(text: &str) -> Box<ModelledSetup> {
    match opened(text).unwrap_or_else(|faults| panic!("{text}{faults}")).1.base {
        Setup::Modelled(setup) => setup,
        Setup::Observed(_) => panic!("hardware and model are given"),
    }
}

fn draft(text: &str) -> Arc<Draft> {
    modelled(text).draft.expect("a drafter")
}

fn faults(model: &str, method: &str, draft: &str) -> Diagnostics {
    opened(&with(model, method, draft)).expect_err("the draft does not fit")
}

#[test]
fn a_small_model_drafts_for_a_large_one() {
    let Draft::Model(small) = &*draft(&with("llama-3.3-70b", "draft-model", "llama-3.1-8b")) else {
        panic!("a whole model")
    };
    assert_eq!((small.name.as_str(), small.hidden), ("llama-3.1-8b", 4096));
}

#[test]
fn a_drafter_takes_formats_as_a_model_does() {
    let plain = draft(&with("llama-3.3-70b", "draft-model", "llama-3.1-8b"));
    let form = "{ preset: llama-3.1-8b, weights: fp8, kv: fp8 }";
    let narrow = draft(&with("llama-3.3-70b", "draft-model", form));
    assert!(draft_footprint(&narrow).resident.get() < 0.7 * draft_footprint(&plain).resident.get());
    let Draft::Model(model) = &*narrow else { panic!("a whole model") };
    assert_eq!(model.kv, KvFormat::Fp8);
    // A head keeps `fc` and its own head; its layer narrows.
    let head = |form: &str| draft(&with("llama-3.3-70b", "eagle3", form));
    let (plain, narrow) =
        (head("eagle3-llama-3.3-70b"), head("{ preset: eagle3-llama-3.3-70b, weights: fp8 }"));
    let (Draft::Eagle3(before), Draft::Eagle3(after)) = (&*plain, &*narrow) else { panic!("heads") };
    assert_eq!((before.weights, after.weights), (WeightFormat::Bf16, WeightFormat::Bf16));
    assert!(draft_footprint(&narrow).resident < draft_footprint(&plain).resident);
}

#[test]
fn a_drafter_is_read_from_a_config_with_formats() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = std::fs::read_to_string("presets/models/llama-3.1-8b/config.json").expect("a preset");
    std::fs::create_dir(folder.path().join("small")).expect("a folder");
    std::fs::write(folder.path().join("small/config.json"), config).expect("a file");
    for form in ["./small/config.json", "{ config: small/config.json, weights: int4-g128 }"] {
        let path = folder.path().join("scenario.yaml");
        std::fs::write(&path, with("llama-3.3-70b", "draft-model", form)).expect("a file");
        let opened = crate::scenario::open(&path, &crate::scenario::Overrides::default(), &super::Builtin);
        let Setup::Modelled(setup) = opened.unwrap_or_else(|faults| panic!("{faults}")).1.base else {
            panic!("hardware and model are given")
        };
        assert!(matches!(setup.draft.as_deref(), Some(Draft::Model(_))), "{form}");
    }
}

#[test]
fn a_drafter_that_does_not_fit_is_refused_with_those_that_do() {
    for (model, method, draft, title, help) in [
        (
            "llama-3.3-70b",
            "eagle3",
            "eagle3-llama-3.1-8b",
            "eagle3-llama-3.1-8b does not fit llama-3.3-70b: another hidden size",
            "presets that fit: `eagle3-llama-3.3-70b`",
        ),
        (
            "llama-3.3-70b",
            "draft-model",
            "eagle3-llama-3.3-70b",
            "eagle3-llama-3.3-70b is an EAGLE-3 head, and `draft-model` needs a whole model",
            "presets that fit: `llama-3.1-8b`, or write `method: eagle3`",
        ),
        (
            "llama-3.3-70b",
            "eagle3",
            "llama-3.1-8b",
            "llama-3.1-8b is a whole model, and `eagle3` needs a head",
            "`eagle3-llama-3.3-70b`, or write `method: draft-model`",
        ),
        (
            "qwen3-32b",
            "draft-model",
            "{ preset: llama-3.1-8b, weights: fp8 }",
            "llama-3.1-8b does not fit qwen3-32b: another vocabulary",
            "presets that fit: `qwen3-8b`",
        ),
    ] {
        let faults = faults(model, method, draft);
        assert_eq!(faults.list.len(), 1, "{faults}");
        let fault = &faults.list[0];
        assert_eq!(fault.title, title);
        assert!(
            fault
                .primary()
                .expect("a place")
                .text()
                .contains(draft.trim_start_matches("{ preset: ").split(',').next().unwrap()),
            "{faults}"
        );
        assert!(fault.help.as_ref().expect("help").text.contains(help), "{faults}");
    }
}

#[test]
fn suggestions_for_a_drafter_know_models_and_heads() {
    let text = faults("llama-3.3-70b", "draft-model", "llama-3.1-8").to_string();
    assert!(text.contains("`llama-3.1-8b`"), "{text}");
    let text = faults("llama-3.3-70b", "eagle3", "eagle3-llama-3.3-70").to_string();
    assert!(text.contains("`eagle3-llama-3.3-70b`"), "{text}");
    let missing = with("llama-3.3-70b", "draft-model", "x").replace("  draft: x\n", "");
    let text = opened(&missing).expect_err("a drafter is missing").to_string();
    assert!(text.contains("drafters") || text.contains("`draft: llama-3.1-8b`"), "{text}");
}
