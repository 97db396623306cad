//! `specplan import` as a user meets it: real tables with their figures, files that specplan then takes, damaged input.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const NCCL: &str = "tests/fixtures/import/nccl-tests";

fn specplan(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .expect("the program starts")
}

fn piped(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    // A program that has seen enough closes the pipe.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a fixture")
}

/// A folder of its own for a test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn path(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let shown = path.display().to_string();
    (path, shown)
}

/// Of each table: file, ranks, sizes, GPU, NCCL, first and last row as bytes, out of place, in place \[µs\].
type Table = (&'static str, u64, usize, &'static str, Option<&'static str>, (u64, f64, f64), (u64, f64, f64));

const TABLES: [Table; 8] = [
    (
        "a100sxm_x4_nvlink_nccl_cuda11.7",
        4,
        25,
        "NVIDIA A100-SXM4-80GB",
        None,
        (8, 15.29, 14.64),
        (134_217_728, 974.9, 962.4),
    ),
    (
        "rtx4090x2_nop2p_docker_sameroot",
        2,
        29,
        "NVIDIA GeForce RTX 4090",
        None,
        (8, 8.97, 8.83),
        (2_147_483_648, 957_746.0, 962_086.0),
    ),
    (
        "rtx4090x2_shm_crosssocket_nccl2.21.5_with_info_lines",
        2,
        25,
        "NVIDIA GeForce RTX 4090",
        Some("2.21.5"),
        (8, 14.54, 15.94),
        (134_217_728, 150_405.0, 148_570.0),
    ),
    (
        "rtx4090x4_nop2p_docker",
        4,
        29,
        "NVIDIA GeForce RTX 4090",
        None,
        (8, 18.90, 19.54),
        (2_147_483_648, 1_246_110.0, 1_246_603.0),
    ),
    (
        "rtx4090x4_p2pdriver",
        4,
        21,
        "NVIDIA GeForce RTX 4090",
        None,
        (1024, 18.46, 18.56),
        (1_073_741_824, 63_624.0, 63_640.0),
    ),
    (
        "rtx4090x8_nop2p_epyc_8numa",
        8,
        25,
        "NVIDIA GeForce RTX 4090",
        None,
        (8, 38.83, 40.43),
        (134_217_728, 16_253.0, 16_227.0),
    ),
    (
        "rtx5090x8_p2p_sys_nccl2.29.7",
        8,
        25,
        "NVIDIA GeForce RTX 5090",
        Some("2.29.7"),
        (8, 25.47, 24.82),
        (134_217_728, 5355.16, 5329.43),
    ),
    (
        "v100pcie_x4_nccl2.4.2_cuda10.1",
        4,
        25,
        "Tesla V100-PCIE-32GB",
        None,
        (8, 16.36, 15.99),
        (134_217_728, 18_003.0, 17_974.0),
    ),
];

#[test]
fn public_tables_of_nccl_tests_give_their_figures() {
    for (name, ranks, sizes, gpu, nccl, first, last) in TABLES {
        let found = json(&specplan(&["import", &format!("{NCCL}/{name}.txt"), "-f", "json", "-q"]));
        assert_eq!(
            (found["kind"].as_str(), found["read"].as_u64()),
            (Some("nccl-tests"), Some(sizes as u64)),
            "{name}"
        );
        assert_eq!(found["skipped"], 0, "{name}");
        let run = &found["runs"][0];
        assert_eq!((run["op"].as_str(), run["ranks"].as_u64()), (Some("all-reduce"), Some(ranks)), "{name}");
        assert_eq!((run["gpu"].as_str(), run["nccl"].as_str()), (Some(gpu), nccl), "{name}");
        let rows = found["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2 * sizes, "{name}: a row for each block");
        for (rows, (bytes, out_of_place, in_place)) in [(&rows[..2], first), (&rows[rows.len() - 2..], last)]
        {
            let times: Vec<f64> = rows.iter().map(|row| row["time_us"].as_f64().unwrap()).collect();
            assert!(rows.iter().all(|row| row["bytes"] == bytes), "{name}: {rows:?}");
            assert_eq!(
                (&rows[0]["in_place"], &rows[1]["in_place"]),
                (&Value::Bool(false), &Value::Bool(true))
            );
            assert!(
                (times[0] - out_of_place).abs() < 1e-9 && (times[1] - in_place).abs() < 1e-9,
                "{name}: {times:?}"
            );
        }
    }
}

/// What NCCL_DEBUG says between the rows, the missing footer, and spikes in one of two blocks.
#[test]
fn transport_cut_files_and_spikes_are_told() {
    let of = |name: &str| json(&specplan(&["import", &format!("{NCCL}/{name}.txt"), "-f", "json", "-q"]));
    let shm = of("rtx4090x2_shm_crosssocket_nccl2.21.5_with_info_lines");
    assert_eq!((&shm["runs"][0]["transport"], &shm["runs"][0]["channels"]), (&"shm".into(), &2.into()));
    assert_eq!(shm["files"][0]["warnings"]["spike"]["first"][0]["line"], 19);
    let cut = of("rtx5090x8_p2p_sys_nccl2.29.7");
    assert!(cut["files"][0]["cut"].as_str().is_some_and(|why| why.contains("no footer")), "{}", cut["files"]);
    let old = of("v100pcie_x4_nccl2.4.2_cuda10.1");
    assert_eq!(old["files"][0]["warnings"]["spike"]["count"], 2, "183.5 and 255.5 µs");
    assert_eq!(old["files"][0]["cut"], Value::Null);
}

#[test]
fn a_table_becomes_a_calibration_that_is_used() {
    let folder = folder();
    let (box_path, shown) = path(&folder, "box.yaml");
    let table = format!("{NCCL}/rtx4090x8_nop2p_epyc_8numa.txt");
    let done = specplan(&["import", "nccl-tests", &table, "--transport", "shm", "-o", &shown]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(done.stdout.is_empty());
    let yaml = std::fs::read_to_string(&box_path).unwrap();
    assert!(yaml.contains("    all-reduce,8,nccl,stream,shm,16384,43.1,\n"), "{yaml}");
    assert!(
        yaml.contains("gpu: rtx-4090\n  count: 8\n") && !yaml.contains("1756513"),
        "no process numbers: {yaml}"
    );
    assert_eq!(specplan(&["check", &shown]).status.code(), Some(0));
    let scenario = folder.path().join("scenario.yaml");
    std::fs::write(
        &scenario,
        "hardware: rtx-4090-x8\ncalibration: box.yaml\nmodel: { preset: llama-3.3-70b, weights: fp8 }\n\
         speculation: { method: ngram, draft_tokens: 4, steps: 3, acceptance: { accept_length: 2.0 } }\n",
    )
    .unwrap();
    let run = json(&specplan(&["run", &scenario.display().to_string(), "-f", "json", "-q"]));
    let parts = run["baseline"]["breakdown"].as_array().expect("a breakdown");
    let allreduce = parts.iter().find(|part| part["part"] == "allreduce").expect("all-reduces");
    // One row is 8,192 hidden values in bf16: 16 KiB, 43.10 µs in the table.
    let each = allreduce["time_ms"].as_f64().unwrap() / allreduce["count"].as_f64().unwrap();
    assert!((each - 0.0431).abs() < 1e-4, "{allreduce}");
}

#[test]
fn several_tables_all_operations_and_repeated_sizes() {
    let row = |size: u32, redop: &str, time: f64, factor: f64| {
        let algbw = f64::from(size) / time / 1e3;
        format!(
            "{size} {} float {redop} -1 {time} {algbw:.2} {:.2} 0 {time} {algbw:.2} {:.2} 0\n",
            size / 4,
            algbw * factor,
            algbw * factor
        )
    };
    let devices = "#  Rank  0 Group  0 Pid  1 on h device  0 [0x01] NVIDIA L40S\n#  Rank  1 Group  0 Pid  2 on h device  1 [0x02] NVIDIA L40S\n";
    let table = |command: &str, rows: &str| {
        format!(
            "$ mpirun -np 2 ./build/{command} -b 1M\n# nThread 1 nGpus 1 minBytes 1 maxBytes 2 graph: 0\n{devices}\
             # size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n{rows}# Avg bus bandwidth : 1\n"
        )
    };
    let text = [
        table("all_gather_perf", &row(1 << 20, "none", 100.0, 0.5)),
        table("reduce_scatter_perf", &row(1 << 20, "sum", 110.0, 0.5)),
        table("all_reduce_perf", &(row(1 << 20, "sum", 120.0, 1.0) + &row(1 << 20, "sum", 122.0, 1.0))),
        table("alltoall_perf", &row(1 << 20, "none", 130.0, 0.5)),
    ]
    .concat();
    let found = json(&piped(&["import", "-", "-f", "json", "-q"], text.as_bytes()));
    let ops: Vec<&str> =
        found["runs"].as_array().unwrap().iter().map(|run| run["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"]);
    assert!(found["files"][0]["warnings"].as_object().unwrap().is_empty(), "{}", found["files"]);
    let yaml = self::text(&piped(&["import", "-", "-f", "yaml", "-q"], text.as_bytes()).stdout);
    for line in [
        "op,ranks,family,mode,transport,bytes,median_us,p10_us,p90_us,samples,flag",
        // An all-gather is counted by what one rank sends.
        "all-gather,2,nccl,stream,,524288,100,100,100,1,",
        "all-reduce,2,nccl,stream,,1048576,121,120.2,121.8,2,",
        "reduce-scatter,2,nccl,stream,,1048576,110,110,110,1,",
        "all-to-all,2,nccl,stream,,1048576,130,130,130,1,",
    ] {
        assert!(yaml.contains(line), "{line}\n{yaml}");
    }
}

#[test]
fn json_of_nccl_tests_and_its_versions() {
    let whole = text(&fixture("tests/fixtures/fuzz/nccl-tests/version3.json"));
    let found = json(&piped(&["import", "-", "-f", "json", "-q"], whole.as_bytes()));
    let run = &found["runs"][0];
    assert_eq!(
        (run["op"].as_str(), run["nccl"].as_str(), run["ranks"].as_u64()),
        (Some("all-gather"), Some("2.29.7"), Some(2))
    );
    // Of the environment only NCCL_* is kept, without folders.
    assert_eq!(run["environment"], serde_json::json!({ "NCCL_PROTO": "LL", "NCCL_GRAPH_FILE": "graph.xml" }));
    assert_eq!((found["read"].as_u64(), found["rows"].as_array().map(Vec::len)), (Some(2), Some(3)));
    let cut = &whole[..whole.find("\"size\":4096").unwrap()];
    let found = json(&piped(&["import", "-", "-f", "json", "-q"], cut.as_bytes()));
    assert_eq!(found["read"], 1);
    assert!(found["files"][0]["cut"].is_string());
    let other = piped(&["import", "-"], whole.replace("\"version\":3", "\"version\":7").as_bytes());
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("version 7; version 3 is read"), "{}", text(&other.stderr));
}

#[test]
fn packed_wide_and_mixed_input_reads_alike() {
    let plain = fixture(&format!("{NCCL}/rtx4090x4_p2pdriver.txt"));
    let rows = |bytes: &[u8]| json(&piped(&["import", "-", "-f", "json", "-q"], bytes))["rows"].clone();
    let expected = rows(&plain);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&plain).unwrap();
    assert_eq!(rows(&packer.finish().unwrap()), expected);
    let wide: Vec<u8> =
        format!("\u{feff}{}", text(&plain)).encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(rows(&wide), expected);
    let mixed = text(&plain).replace('\n', "\r\n").replacen("\r\n", "\n", 7);
    assert_eq!(rows(mixed.as_bytes()), expected);
    let found = json(&piped(
        &["import", "-", "-f", "json", "-q"],
        &[&plain[..], b"\x00\x01\xff\xfe garbage\n"].concat(),
    ));
    assert_eq!((&found["rows"], &found["skipped"]), (&expected, &1.into()));
}

#[test]
fn a_launch_command_becomes_a_sound_scenario() {
    let folder = folder();
    let (_, shown) = path(&folder, "scenario.yaml");
    let args = [
        "import",
        "tests/fixtures/fuzz/command-line/sglang.sh",
        "--gpu",
        "rtx-pro-6000",
        "--accept-length",
        "2",
        "-o",
        &shown,
    ];
    assert_eq!(specplan(&args).status.code(), Some(0));
    assert_eq!(specplan(&["check", &shown]).status.code(), Some(0));
    let run = json(&specplan(&["run", &shown, "-f", "json", "-q"]));
    assert_eq!(run["speculation"]["rows"]["value"], 3.0);
}

/// What the simulator books on its ranks, its own trace gives back.
#[test]
fn booked_and_true_times_of_a_simulated_trace_agree_with_the_simulation() {
    let folder = folder();
    let (_, shown) = path(&folder, "trace.json");
    let scenario = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";
    let args = ["simulate", scenario, "--runs", "1", "--trace", &shown, "-f", "json", "-q"];
    let simulated = json(&specplan(&args));
    let found = json(&specplan(&["import", &shown, "-f", "json", "-q"]));
    let ranks = found["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), 8);
    let truly: Vec<f64> = ranks.iter().map(|rank| rank["allreduce_true_ms"].as_f64().unwrap()).collect();
    let least = found["allreduce_least_ms"].as_f64().unwrap();
    // Without contention every rank leaves an all-reduce at once: the last one to come books no waiting.
    assert!(truly.iter().all(|time| (time - least).abs() < 1e-3), "{truly:?} {least}");
    for (rank, simulated) in ranks.iter().zip(simulated["ranks"].as_array().unwrap()) {
        let booked = rank["allreduce_booked_ms"].as_f64().unwrap();
        // The trace holds the drafts' all-reduces too, the table of `simulate` those of verify.
        assert!(booked >= simulated["allreduce_booked_ms"].as_f64().unwrap() - 1e-6, "{rank} {simulated}");
        assert!(booked >= least - 1e-6);
    }
}

#[test]
fn faults_are_sentences_and_exit_with_2() {
    for (args, input, expected) in [
        (
            &["import", "-"][..],
            "nothing known\n",
            "no kind of file that is known begins so; tried nccl-tests",
        ),
        (&["import", "nccl-tests", "-"], "nothing known\n", "nothing in it reads as nccl-tests"),
        (&["import", "nccl-tests"], "", "nccl-tests is a kind; which file?"),
        (&["import", "nccl-test", "Cargo.toml"], "", "nccl-test is neither a file nor a kind"),
        (&["import", "hf-config", "-"], "{\"hidden_size\": 8}", "`num_hidden_layers` is missing"),
        (&["import", "tests"], "", "is a folder; name the files in it"),
        (&["import", "absent.txt"], "", "absent.txt: No such file"),
    ] {
        let output = piped(args, input.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(expected), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

/// What people and programs see, whole.
#[test]
fn goldens_of_text_json_and_yaml() {
    let corpus = "tests/fixtures/fuzz";
    for (name, args) in [
        ("nccl-tests-text", vec![format!("{corpus}/nccl-tests/rtx4090x2_sh.txt")]),
        ("nccl-tests-json", vec![format!("{corpus}/nccl-tests/version3.json"), "-fjson".to_owned()]),
        (
            "nccl-tests-yaml",
            vec![
                format!("{corpus}/nccl-tests/v100pcie_x4_.txt"),
                "-fyaml".to_owned(),
                "--gpu=a100".to_owned(),
            ],
        ),
        ("command-line-text", vec![format!("{corpus}/command-line/vllm.sh")]),
        ("benchmark-json", vec![format!("{corpus}/vllm-bench/vllm.json"), "-fjson".to_owned()]),
        ("benchmark-text", vec![format!("{corpus}/specforge/results.jsonl")]),
        ("topology-text", vec![format!("{corpus}/topology/p2p-2x4090.txt")]),
        (
            "topology-yaml",
            vec![
                format!("{corpus}/topology/topo-5x4090.txt"),
                "-fyaml".to_owned(),
                "--gpu=rtx-4090".to_owned(),
            ],
        ),
        ("model-text", vec![format!("{corpus}/hf-config/gpt-oss-120b.json")]),
        ("trace-json", vec![format!("{corpus}/trace/rank0.json"), "-fjson".to_owned()]),
        ("trace-text", vec![format!("{corpus}/trace/rank0.json")]),
    ] {
        let args: Vec<&str> = ["import"].into_iter().chain(args.iter().map(String::as_str)).collect();
        let output = specplan(&args);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
        insta::assert_snapshot!(
            name,
            format!("{}--- stderr\n{}", text(&output.stdout), text(&output.stderr))
        );
    }
}
