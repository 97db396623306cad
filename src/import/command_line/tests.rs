//! Command lines as people paste them.

use super::*;

fn of(text: &str) -> (ServerCommand, Summary) {
    let mut found = Vec::new();
    let summary = read(&mut text.as_bytes(), &mut |observation| found.push(observation.what));
    assert_eq!((found.len(), summary.read), (1, 1), "{summary:?}");
    match found.remove(0) {
        What::Server(server) => (*server, summary),
        other => panic!("{other:?}"),
    }
}

fn codes(summary: &Summary) -> Vec<&'static str> {
    summary.warnings.keys().copied().collect()
}

#[test]
fn sglang_with_eagle3_over_several_lines() {
    let (server, summary) = of("export NCCL_PROTO=LL\n\
        $ SGLANG_ENABLE_SPEC_V2=1 NCCL_P2P_LEVEL=SYS python3 -m sglang.launch_server \\\n\
        \x20 --model-path moonshotai/Kimi-K2.5 --tp 8 \\\n\
        \x20 --speculative-algorithm EAGLE3 --speculative-draft-model-path 'AQ/kimi-eagle3' \\\n\
        \x20 --speculative-num-steps=3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4 \\\n\
        \x20 --mem-fraction-static 0.85 --cuda-graph-max-bs 16 --max-running-requests 16 --trust-remote-code\n");
    assert_eq!(server.server, "sglang");
    assert_eq!(server.model.as_deref(), Some("moonshotai/Kimi-K2.5"));
    assert_eq!((server.tensor, server.max_requests, server.graph_max_batch), (Some(8), Some(16), Some(16)));
    assert_eq!(server.overlap, Some(true));
    let drafting = server.drafting.unwrap();
    assert_eq!(drafting.method, Some("eagle3"));
    assert_eq!((drafting.steps, drafting.topk, drafting.draft_tokens), (Some(3), Some(1), Some(4)));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(server.environment, [pair("NCCL_PROTO", "LL"), pair("NCCL_P2P_LEVEL", "SYS")]);
    assert_eq!(server.not_modelled, ["--mem-fraction-static 0.85", "--trust-remote-code"]);
    assert_eq!(codes(&summary), Vec::<&str>::new());
}

#[test]
fn rules_of_sglang_are_said() {
    let all = |flags: &str| {
        of(&format!("python -m sglang.launch_server --model m --speculative-algorithm {flags}"))
    };
    let shape = |server: &ServerCommand| {
        let drafting = server.drafting.as_ref().unwrap();
        (drafting.steps, drafting.topk, drafting.draft_tokens)
    };
    let (server, summary) = all("EAGLE3");
    assert_eq!(shape(&server), (Some(3), Some(1), Some(4)));
    assert_eq!(server.max_requests, Some(48));
    assert_eq!(codes(&summary), ["default-shape", "max-running-requests", "overlap"]);
    let (server, summary) = all(
        "EAGLE --speculative-num-steps 2 --speculative-eagle-topk 1 --speculative-num-draft-tokens 8 --max-running-requests 1",
    );
    assert_eq!(shape(&server), (Some(2), Some(1), Some(3)));
    assert_eq!(server.drafting.unwrap().method, Some("mtp"));
    assert!(codes(&summary).contains(&"draft-tokens"));
    let (_, summary) = all("EAGLE3 --speculative-num-steps 2");
    assert!(codes(&summary).contains(&"all-three-or-none"));
    let (server, _) = all("NGRAM");
    assert_eq!(shape(&server), (Some(11), Some(1), Some(12)));
    let (_, summary) = all(
        "EAGLE3 --speculative-num-steps 5 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8 --page-size 64 \
         --attention-backend trtllm_mha --cuda-graph-max-bs 8 --speculative-accept-threshold-single 0.9",
    );
    let expected =
        ["attention-backend", "graph-batch", "lossy", "max-running-requests", "overlap", "page-size"];
    assert_eq!(codes(&summary), expected);
    let (server, _) =
        of("sglang serve --model-path meta-llama/Llama-3.1-8B-Instruct --speculative-algorithm EAGLE3");
    assert_eq!(shape(&server), (Some(5), Some(4), Some(8)));
}

#[test]
fn vllm_with_json_dots_and_short_flags() {
    let json = r#"vllm serve zai-org/GLM-4.6-FP8 -tp 4 --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}' --max-num-seqs 64 --enforce-eager"#;
    let dots = "docker run -e NCCL_ALGO=Ring --gpus all image vllm serve zai-org/GLM-4.6-FP8 --tensor_parallel_size 4 --speculative-config.method mtp --speculative-config.num_speculative_tokens=1 --max-num-seqs=64 --enforce-eager";
    for text in [json, dots] {
        let (server, summary) = of(text);
        assert_eq!((server.server, server.tensor, server.max_requests), ("vllm", Some(4), Some(64)));
        assert_eq!(server.model.as_deref(), Some("zai-org/GLM-4.6-FP8"));
        assert_eq!(server.graph, Some(false));
        let drafting = server.drafting.unwrap();
        assert_eq!((drafting.method, drafting.steps, drafting.draft_tokens), (Some("mtp"), Some(1), Some(2)));
        assert_eq!(codes(&summary), Vec::<&str>::new());
        assert_eq!(server.environment.len(), usize::from(text == dots));
    }
}

#[test]
fn vllm_depth_by_batch_and_synthetic_acceptance() {
    let (server, summary) = of(
        r#"vllm serve m --speculative-config '{"model": "x/eagle3-m", "num_speculative_tokens": 3, "num_speculative_tokens_per_batch_size": [[1,64,3],[65,128,1],[129,512,0]], "rejection_sample_method": "synthetic"}'"#,
    );
    let drafting = server.drafting.unwrap();
    assert_eq!(drafting.by_batch, [(1, 64, 3), (65, 128, 1), (129, 512, 0)]);
    assert_eq!(drafting.method, Some("eagle3"));
    assert_eq!(codes(&summary), ["synthetic"]);
}

#[test]
fn secrets_and_other_commands_are_left_out() {
    let (server, _) = of("ls -l; vllm serve m --api-key abc123 --host 0.0.0.0");
    assert_eq!(server.not_modelled, ["--api-key ...", "--host 0.0.0.0"]);
    let mut none = 0;
    assert_eq!(read(&mut "ls -l\n".as_bytes(), &mut |_| none += 1).read, 0);
    assert_eq!(none, 0);
}

/// Found by fuzzing: a quote over two lines kept the CR of a file from Windows.
#[test]
fn line_ends_make_no_difference_inside_quotes() {
    let unix = "vllm serve m -tp 4 --speculative-config '{\"method\": \"mtp\",\n \"num_speculative_tokens\": 2}' --odd 'a\nb'\n";
    assert_eq!(of(unix), of(&unix.replace('\n', "\r\n")));
}

#[test]
fn what_cannot_be_read_is_left_out_and_no_default_stands_in() {
    for (text, flag) in [
        ("python -m sglang.launch_server --model m --tp 0", "--tp-size"),
        ("python -m sglang.launch_server --model m --tp", "--tp-size"),
        ("python -m sglang.launch_server --model m --tp $TP", "--tp-size"),
        ("vllm serve m --tensor-parallel-size eight", "--tensor-parallel-size"),
        ("vllm serve m -tp -8", "--tensor-parallel-size"),
        ("vllm serve m --speculative-config '{bad json'", "--speculative-config"),
    ] {
        let (server, summary) = of(text);
        let unread: Vec<&str> = server.unread.iter().map(|unread| unread.flag.as_str()).collect();
        assert_eq!((server.tensor, &unread[..]), (None, &[flag][..]), "{text}");
        assert_eq!((server.drafting, codes(&summary)), (None, vec!["flag"]), "{text}");
    }
    let (server, _) = of("python -m sglang.launch_server --model m --speculative-algorithm EAGLE3 \
         --speculative-num-steps three --max-running-requests many");
    let drafting = server.drafting.unwrap();
    assert_eq!((drafting.steps, drafting.topk, server.max_requests), (None, None, None));
}

#[test]
fn flags_that_contradict_themselves_are_told() {
    let (server, summary) = of("vllm serve m --tp 8");
    assert_eq!((server.tensor, codes(&summary)), (None, Vec::new()), "vLLM has no --tp");
    let (server, summary) = of("python -m sglang.launch_server --model m --tp 8 --tp-size 4");
    assert_eq!(server.tensor, Some(4));
    assert!(summary.warnings["flag"].first[0].why.contains("`8` and `4`: the server takes the last"));
    let (_, summary) = of("python -m sglang.launch_server --model m --tp 8 --tp 8");
    assert_eq!(codes(&summary), Vec::<&str>::new());
}

#[test]
fn a_drafter_that_nobody_names_is_none() {
    for k in ["-3", "1e9", "0", "\"many\""] {
        let (server, summary) =
            of(&format!("vllm serve m --speculative-config '{{\"num_speculative_tokens\": {k}}}'"));
        let drafting = server.drafting.unwrap();
        assert_eq!((drafting.method, drafting.steps), (None, None), "{k}");
        assert!(summary.warnings["num-speculative-tokens"].first[0].why.contains("from 1 to 1023, not"));
        assert!(summary.warnings["algorithm"].first[0].why.contains("neither a method nor a model"));
    }
}
