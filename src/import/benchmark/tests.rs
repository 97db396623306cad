//! Results in the shape of each program, with the figures that they hold.

use super::*;
use crate::import::{Importer, Summary, What};

fn of(importer: &Importer, name: &str) -> (Vec<Benchmark>, Summary) {
    let path = format!("{}/tests/fixtures/fuzz/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let summary = (importer.read)(&mut std::fs::read(path).unwrap().as_slice(), &mut |observation| {
        if let What::Benchmark(result) = observation.what {
            found.push(*result);
        }
    });
    (found, summary)
}

fn rate(found: &Benchmark) -> f64 {
    found.throughput.unwrap().get()
}

/// The counts of vLLM's sample line: 297 drafts, 464 of 891 accepted, 1 + 464/297 = 2.562.
#[test]
fn vllm_with_its_checksums() {
    let (found, summary) = of(&VLLM, "vllm-bench/vllm.json");
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.drafts, one.drafted, one.accepted), (Some(297), Some(891), Some(464)));
    assert!((one.accept_length.unwrap().get() - 2.562).abs() < 1e-12 && (rate(one) - 256.0).abs() < 1e-12);
    assert_eq!((one.steps, one.draft_tokens), (Some(3), Some(4)));
    assert_eq!(summary.warnings.keys().copied().collect::<Vec<_>>(), ["itl-per-chunk"]);
    assert!(summary.unknown.is_empty(), "{:?}", summary.unknown);
}

#[test]
fn sglang_serving_and_one_batch() {
    let (found, summary) = of(&SGLANG, "sglang-bench/spec.jsonl");
    assert!(
        (found[0].accept_length.unwrap().get() - 2.41).abs() < 1e-12
            && (rate(&found[0]) - 480.1).abs() < 1e-12
    );
    assert_eq!(found[0].concurrency, Some(8.0));
    assert_eq!(summary.warnings.keys().copied().collect::<Vec<_>>(), ["itl-per-chunk", "since-boot"]);
    let (found, _) = of(&SGLANG, "sglang-bench/base.jsonl");
    assert_eq!(found[0].accept_length, None);
    assert!(!found[0].speculates());
    let (found, _) = of(&SGLANG, "sglang-bench/one-batch.jsonl");
    assert_eq!((found[0].concurrency, found[0].output_tokens), (Some(16.0), Some(256)));
    assert!((found[0].accept_length.unwrap().get() - 2.94).abs() < 1e-12);
}

#[test]
fn specforge_by_workload_and_configuration() {
    let (found, summary) = of(&SPECFORGE, "specforge/results.jsonl");
    let shapes: Vec<_> =
        found.iter().map(|one| (one.concurrency, one.steps, one.topk, one.draft_tokens)).collect();
    let expected = [
        (Some(1.0), Some(0), Some(0), Some(0)),
        (Some(1.0), Some(3), Some(1), Some(4)),
        (Some(8.0), Some(3), Some(1), Some(4)),
    ];
    assert_eq!(shapes, expected);
    assert_eq!(summary.read, 3);
    assert!(!found[0].speculates() && found[1].speculates());
}

#[test]
fn contradictions_are_told() {
    let all = |rest: &str| {
        let text = format!(r#"{{"backend":"sglang","output_throughput":100,"completed":10,{rest}}}"#);
        assert_eq!((SGLANG.claim)(&crate::import::Head { text: text.clone() }), crate::import::Claim::Sure);
        let summary = (SGLANG.read)(&mut text.as_bytes(), &mut |_| {});
        let warnings = summary.warnings.into_iter().flat_map(|(code, noted)| {
            noted.first.into_iter().map(move |notice| format!("{code}: {}", notice.why))
        });
        warnings.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(all(r#""total_output_tokens":1000,"duration":10"#), "");
    let sums = all(r#""total_output_tokens":1000,"duration":1000"#);
    assert_eq!(sums, "checksum: a throughput of 100 tok/s is not 1000 output tokens in 1,000 s, 1.0 tok/s");
    assert!(all(r#""duration":-10"#).contains("figure: `duration` cannot be -10: it is left out"));
    assert!(all(r#""mean_tpot_ms":-1"#).contains("`mean_tpot_ms` cannot be -1"));
    assert!(all(r#""completed":0"#).contains("no request was completed"));
    assert!(
        all(r#""output_throughput":900"#).contains("repeated-key: the key `output_throughput` stands twice")
    );
}
