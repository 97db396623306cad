//! What is said beside the answer: values beyond what is known, keys without effect, what an override replaced.

use super::{opened, opened_with};
use crate::scenario::Setup;

const LLAMA: &str = "
hardware: rtx-pro-6000-x4
model: llama-3.3-70b
runtime: vllm
speculation:
  method: eagle3
  draft: eagle3-llama-3.3-70b
  steps: 3
  acceptance: { accept_length: 2.5 }
";

fn notes(text: &str, set: &[&str]) -> Vec<String> {
    opened_with(text, set, &[]).unwrap_or_else(|faults| panic!("{faults}")).1.notes
}

fn has(notes: &[String], part: &str) -> bool {
    notes.iter().any(|note| note.contains(part))
}

#[test]
fn a_context_beyond_the_model_is_said_wherever_it_stands() {
    let beyond = "llama-3.3-70b states at most 131072 tokens";
    assert!(!has(&notes(&format!("{LLAMA}workload: {{ context: 131072 }}\n"), &[]), beyond));
    assert!(has(&notes(&format!("{LLAMA}workload: {{ context: 131073 }}\n"), &[]), beyond));
    assert!(has(&notes(LLAMA, &["workload.context=200000"]), beyond));
    let what_if = "what_if: [{ name: long, set: { workload.context: 200000 } }]\n";
    let notes = notes(&format!("{LLAMA}{what_if}"), &[]);
    assert!(has(&notes, "what-if \"long\": workload.context is 200000 tokens"), "{notes:?}");
}

#[test]
fn settings_of_verbs_to_come_are_said_to_be_unused() {
    let both = format!("{LLAMA}simulation: {{ runs: 10 }}\nsweep: [\"workload.batch=1,2\"]\n");
    let notes = notes(&both, &[]);
    assert!(!has(&notes, "`simulation` is checked"), "{notes:?}");
    assert!(has(&notes, "`sweep` is not used here: `specplan sweep "), "{notes:?}");
    assert!(!has(&self::notes(LLAMA, &[]), "is checked and not used"));
}

#[test]
fn what_an_override_replaces_or_drops_is_said() {
    let notes_of = |set: &str| notes(&format!("{LLAMA}calibration: rtx-pro-6000-x4\n"), &[set]);
    for (set, note) in [
        (
            "speculation.acceptance.rate=0.7",
            "`speculation.acceptance.rate` replaces `accept_length: 2.5`: one kind of acceptance is used",
        ),
        (
            "speculation.draft_tokens=6",
            "`speculation.steps: 3` is dropped: it follows from `speculation.draft_tokens`",
        ),
        ("speculation.method=ngram", "`speculation.draft: eagle3-llama-3.3-70b` is dropped"),
        ("hardware=rtx-pro-6000-x8", "`calibration: rtx-pro-6000-x4` is dropped"),
    ] {
        let notes = notes_of(set);
        assert!(has(&notes, note), "{set}: {notes:?}");
    }
    assert!(!has(&notes_of("speculation.acceptance.accept_length=3.0"), "replaces"));
}

#[test]
fn defaults_are_those_of_the_variation_that_is_answered() {
    let text = format!("{LLAMA}calibration: none\n");
    let notes = notes(&text, &["hardware=rtx-pro-6000-x8"]);
    assert!(has(&notes, "calibration not given: rtx-pro-6000-x8"), "{notes:?}");
    assert!(!notes.iter().any(|note| note.starts_with("rtx-pro-6000-x4: ")), "{notes:?}");
}

#[test]
fn a_model_that_fills_the_memory_gets_a_note() {
    // 141 GB in bf16 over two GPUs of 103 GB leave room for a cache of some 100,000 tokens each.
    let at = |context: u32| {
        LLAMA.replace("rtx-pro-6000-x4", "rtx-pro-6000-x2")
            + &format!("workload: {{ batch: 2, context: {context} }}\n")
    };
    assert!(!has(&notes(&at(2_048), &[]), "servers keep about 10 %"));
    assert!(has(&notes(&at(80_000), &[]), "servers keep about 10 %"));
    let text = opened(&at(120_000)).expect_err("beyond the memory").to_string();
    assert!(text.contains("nothing is kept back"), "{text}");
}

#[test]
fn the_throughput_with_speculation_stands_in_for_the_verify_time() {
    let text = "baseline: { observed: { throughput: 82 tok/s } }
speculation: { acceptance: { accept_length: 2.0 }, observed: { throughput: 60 tok/s } }
";
    let (_, loaded) = opened(text).unwrap_or_else(|faults| panic!("{faults}"));
    let Setup::Observed(setup) = loaded.base else { panic!("no hardware is given") };
    assert!(setup.common.stated.observed_throughput.is_some());
    let without = text.replace(", observed: { throughput: 60 tok/s }", "");
    let faults = opened(&without).expect_err("nothing tells the cycle").to_string();
    assert!(
        faults.contains("`speculation.observed.throughput` or `speculation.verify.observed.time`"),
        "{faults}"
    );
}

#[test]
fn a_file_of_another_kind_is_named_as_such() {
    let text = "gpu: rtx-4090\ncount: 4\np2p: true\n";
    let faults = opened(text).expect_err("no scenario");
    assert_eq!(faults.list.len(), 1, "{faults}");
    assert!(faults.list[0].title.ends_with("is a box, not a scenario"), "{faults}");
}

#[test]
fn keys_without_use_for_observed_numbers_are_listed_once() {
    let text = "baseline: { observed: { throughput: 82 tok/s }, allreduce: { backend: nccl } }\n\
                parallel: { tensor: 4 }\nruntime: vllm\nworkload: { context: 5, batch: 1 }\n\
                speculation: { method: mtp, acceptance: { accept_length: 2.0 }, \
                verify: { execution: graph, observed: { time: 30 ms } } }\n\
                what_if: [{ set: { speculation.verify: { time: 15 ms } } }]\n";
    let (_, loaded) = opened(text).unwrap_or_else(|faults| panic!("{faults}"));
    let list = "`runtime`, `parallel`, `workload.context`, `speculation.method`, `baseline.allreduce.backend` and \
                `speculation.verify.execution` are not used";
    assert!(loaded.notes[0].starts_with(list), "{:?}", loaded.notes);
    assert_eq!(loaded.notes.iter().filter(|note| note.contains("not used")).count(), 1);
    // A map in a what-if works like its keys with dots.
    let [what_if] = loaded.what_ifs.as_slice() else { panic!("one what-if") };
    assert_eq!(what_if.set, [("speculation.verify.time".to_owned(), "15 ms".to_owned())]);
    assert!(what_if.setup.common().stated.verify.time.is_some());
}

#[test]
fn tables_of_another_gpu_are_named() {
    let foreign = notes(LLAMA, &["calibration=h200-x8"]);
    assert!(has(&foreign, "calibration h200-x8 was measured on h200-sxm"), "{foreign:?}");
    assert!(!has(&notes(LLAMA, &["calibration=rtx-pro-6000-x8"]), "was measured on"));
}
