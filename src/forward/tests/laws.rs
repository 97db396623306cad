//! Laws that hold for any model and split.

use proptest::prelude::*;

use super::*;
use crate::model::preset_entries;

fn any_model() -> impl Strategy<Value = &'static str> {
    (0..preset_entries().len()).prop_map(|number| preset_entries()[number].name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn more_rows_never_read_or_compute_less(
        name in any_model(), ranks in 0_u32..4, requests in 1_u32..33, rows in 1_u32..9,
    ) {
        let parallel = Parallelism::tensor(1 << ranks);
        let few = verify(name, parallel, batch(requests, rows), ExpertOverlap::default());
        let more = verify(name, parallel, batch(requests, rows + 1), ExpertOverlap::default());
        prop_assert!(more.weight_bytes() >= few.weight_bytes());
        prop_assert!(more.flops() > few.flops());
        prop_assert!(more.kv_bytes() >= few.kv_bytes());
        prop_assert_eq!(few.kernels(), more.kernels());
    }

    #[test]
    fn more_ranks_never_read_more_each(name in any_model(), ranks in 0_u32..3, rows in 1_u32..9) {
        let overlap = ExpertOverlap::default();
        let few = verify(name, Parallelism::tensor(1 << ranks), batch(1, rows), overlap);
        let more = verify(name, Parallelism::tensor(2 << ranks), batch(1, rows), overlap);
        prop_assert!(more.weight_bytes() <= few.weight_bytes());
        prop_assert!(more.weight_bytes() >= few.weight_bytes() * (0.5 - 1e-12));
        prop_assert!(more.kv_bytes() <= few.kv_bytes());
    }

    #[test]
    fn rebuilding_equals_building(name in any_model(), other in any_model(), rows in 1_u32..5) {
        let runtime = runtime(RuntimeKind::Vllm);
        let (parallel, overlap) = (Parallelism::tensor(4), ExpertOverlap::default());
        let mut pass = build(&model(other), parallel, &runtime, PassKind::Decode, batch(7, 1), overlap);
        rebuild(&mut pass, &model(name), parallel, &runtime, PassKind::Verify, batch(2, rows), overlap);
        let fresh = build(&model(name), parallel, &runtime, PassKind::Verify, batch(2, rows), overlap);
        prop_assert_eq!(pass, fresh);
    }

    #[test]
    fn decode_of_n_requests_equals_verify_of_n_rows_but_for_kv_and_overlap(
        name in any_model(), rows in 1_u32..17,
    ) {
        let parallel = Parallelism::tensor(8);
        let requests = verify(name, parallel, batch(rows, 1), ExpertOverlap::UNIFORM);
        let single = verify(name, parallel, batch(1, rows), ExpertOverlap::UNIFORM);
        let ratio = requests.weight_bytes() / single.weight_bytes();
        prop_assert!((ratio - 1.0).abs() < 1e-9);
        prop_assert!(requests.kv_bytes() >= single.kv_bytes());
        prop_assert_eq!(requests.kernels(), single.kernels());
    }
}

#[test]
fn a_prompt_computes_two_operations_a_parameter_and_token() {
    let prompt = Batch { requests: 1, rows: 512, context: 0 };
    for (name, active) in [("llama-3.1-8b", 6.98e9), ("kimi-k2.5", 30.5e9)] {
        let runtime = runtime(RuntimeKind::Sglang);
        let overlap = ExpertOverlap::default();
        let pass = build(&model(name), Parallelism::tensor(1), &runtime, PassKind::Prefill, prompt, overlap);
        let found = pass.flops().get() / (2.0 * active * 512.0);
        assert!((0.98..1.06).contains(&found), "{name}: {found}");
    }
}

#[test]
fn every_preset_builds_under_every_split_and_runtime() {
    for entry in preset_entries() {
        let model = model(entry.name);
        for kind in [RuntimeKind::Sglang, RuntimeKind::Vllm, RuntimeKind::Pytorch, RuntimeKind::Cuda] {
            for (expert, data_attention, decode_context) in [(1, 1, 1), (8, 8, 1), (2, 2, 1), (1, 1, 4)] {
                let parallel = Parallelism { tensor: 8, expert, data_attention, decode_context };
                let pass = build(
                    &model,
                    parallel,
                    &runtime(kind),
                    PassKind::Verify,
                    batch(3, 4),
                    ExpertOverlap::default(),
                );
                assert!(pass.weight_bytes().is_finite() && pass.weight_bytes().get() > 0.0, "{}", entry.name);
                assert!(pass.ops().all(|(op, _)| op.bytes().is_finite() && op.flops().is_finite()));
            }
        }
    }
}

#[test]
fn a_pass_reads_the_cache_that_a_rank_holds() {
    let split = |shared, replicas| Parallelism {
        tensor: 8,
        expert: 1,
        data_attention: replicas,
        decode_context: shared,
    };
    for name in ["kimi-k2.5", "qwen3-235b-a22b", "glm-4.5", "llama-3.1-70b"] {
        for parallel in [split(1, 1), split(2, 1), split(4, 1), split(1, 8), split(1, 4)] {
            let pass = verify(name, parallel, batch(8, 3), ExpertOverlap::default());
            let requests = f64::from(8 / parallel.data_attention);
            let held = kv_per_rank(&model(name), parallel).get() * requests * 2048.0;
            within_1_percent(pass.kv_bytes().get(), held, name);
        }
    }
}
