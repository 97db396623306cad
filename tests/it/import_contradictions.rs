//! Files that contradict themselves or the command line: `specplan import` says so, or refuses them.

use std::process::{Command, Output};

const FOLDER: &str = "tests/fixtures/import/contradictions/";

fn import(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("import");
    let named = |arg: &&str| arg.contains('.') && !arg.contains('/');
    let args = args.iter().map(|arg| if named(arg) { format!("{FOLDER}{arg}") } else { (*arg).to_owned() });
    command.args(args).output().expect("the program starts")
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Standard error of a run that ends well.
fn said(args: &[&str]) -> String {
    let output = import(args);
    let stderr = words(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    stderr + " " + &words(&output.stdout)
}

/// Standard error of a run that is refused.
fn refused(args: &[&str]) -> String {
    let output = import(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", words(&output.stdout));
    words(&output.stderr)
}

#[track_caller]
fn holds(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn what_the_command_line_overrides_is_told() {
    let args = ["rtx-4090.txt", "--gpu", "h200", "--transport", "nvlink", "-f", "yaml"];
    holds(&said(&args), "was measured on NVIDIA GeForce RTX 4090: --gpu books it as h200-sxm");
    holds(&said(&["rtx-4090.txt", "--transport", "nvlink", "-f", "yaml"]), "rtx-4090 has no NVLink");
    holds(&said(&["rtx-4090.txt", "--op", "all-gather", "-f", "yaml"]), "--op all-gather is passed over");
    let plain = said(&["rtx-4090.txt", "--gpu", "rtx-4090", "-f", "yaml"]);
    assert!(!plain.contains("books it") && !plain.contains("repeats differ"), "{plain}");
}

#[test]
fn tables_of_several_boxes_and_repeats_that_differ() {
    holds(
        &refused(&["mixed-gpus.txt", "-f", "yaml"]),
        "GPUs of several kinds (NVIDIA GeForce RTX 4090, NVIDIA H200)",
    );
    holds(&refused(&["mixed-gpus.txt", "--gpu", "h200", "-f", "yaml"]), "GPUs of several kinds");
    holds(&said(&["mixed-gpus.txt"]), "NVIDIA GeForce RTX 4090 and NVIDIA H200");
    holds(
        &said(&["repeats.txt", "--op", "all-reduce", "-f", "yaml"]),
        "repeats differ more than twofold at 1 of 3 points, as all-reduce of 1048576 B over 2 ranks: 100 to 900 µs",
    );
}

#[test]
fn rows_and_ranks_do_not_vanish() {
    for (file, why) in [
        ("size-beyond.txt", "`99999999999999999999` is no size of a message"),
        ("size-negative.txt", "`-1048576` is no size of a message"),
    ] {
        let told = said(&[file, "-f", "json"]);
        holds(&told, "\"skipped\": 1");
        holds(&said(&[file]), why);
    }
    for (file, why) in [
        ("rank-beyond.txt", "a rank whose number cannot be"),
        ("rank-twice.txt", "rank 0 stands on several GPUs"),
    ] {
        holds(&said(&[file]), why);
        holds(&said(&[file]), "ranks not told");
        let refused = refused(&[file, "--op", "all-reduce", "--gpu", "h200", "-f", "yaml"]);
        holds(&refused, "are missing or contradict each other");
    }
}

#[test]
fn traces_that_cannot_be() {
    holds(&refused(&["rank-0.trace.json", "rank-0.trace.json"]), "both say rank 0");
    holds(&said(&["overfull.trace.json"]), "rank 0: stream 7 holds");
    holds(&said(&["begin-beyond.trace.json"]), "a begin of -1e18 µs");
    let plain = said(&["rank-0.trace.json"]);
    assert!(!plain.contains("which one stream cannot"), "{plain}");
}

#[test]
fn sums_and_keys_that_do_not_agree() {
    holds(&said(&["histogram.jsonl"]), "1040 cycles and `spec_verify_ct` says 50");
    let told = said(&["repeated-key.jsonl"]);
    holds(&told, "the key `output_throughput` stands twice");
    holds(&told, "a throughput of 900 tok/s is not 1000 output tokens in 10");
    holds(&said(&["repeated-key.jsonl", "-f", "csv"]), ",sglang,");
    holds(&said(&["odd-width.config.json"]), "hidden_size 8191 is no multiple of 64 heads");
    holds(&said(&["one-sided.topo.txt"]), "GPU0 to GPU1 is NV18 and GPU1 to GPU0 is PHB");
    let refused = refused(&["one-sided.topo.txt", "--gpu", "rtx-pro-6000", "-f", "yaml"]);
    holds(&refused, "a path is one thing in both directions");
}

#[test]
fn counters_however_large_end() {
    for file in ["large-counters.prom", "larger-counters.prom"] {
        let output = import(&[file]);
        assert!(output.status.code().is_some_and(|code| code <= 2), "{output:?}");
    }
}

#[test]
fn a_command_line_says_what_it_says_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let yaml = |command: &str| {
        let file = folder.path().join("start.sh");
        std::fs::write(&file, command).expect("written");
        let output =
            import(&["command-line", &file.display().to_string(), "--gpu", "rtx-pro-6000", "-f", "yaml"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
        words(&output.stdout)
    };
    for tensor in ["--tp 0", "--tp", "--tp $TP", "--tp eight", "--tp -8"] {
        let found =
            yaml(&format!("python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 {tensor}\n"));
        holds(&found, "# hardware: how many rtx-pro-6000-server? --tp-size");
        holds(&found, "# parallel: { } # to be filled in: --tp-size");
        assert!(!found.contains("tensor: 1"), "{found}");
    }
    let found = yaml("vllm serve deepseek-ai/DeepSeek-V3 -tp 8 --speculative-config '{bad json'\n");
    holds(&found, "# speculation: --speculative-config `{bad json` cannot be read");
    assert!(!found.contains("ngram"), "{found}");
}

#[test]
fn a_kind_that_is_not_the_files_is_told() {
    let log = "tests/fixtures/import/serving/sglang-0.5.3.log";
    holds(
        &words(&import(&["vllm-log", log]).stderr),
        "looks like sglang-log; it is read as vllm-log, as told",
    );
    assert!(!words(&import(&["sglang-log", log]).stderr).contains("looks like"));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    for file in [&*pipe.display().to_string(), "/dev/zero"] {
        for args in [&["nccl-tests", file][..], &[file]] {
            holds(&refused(args), "is a pipe or device; `-` reads standard input");
        }
    }
}
