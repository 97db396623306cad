//! `specplan sweep`: every row is what `run --set` answers, whatever the key; shards and threads change no byte.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use specplan::scenario::{self, Builtin, Dimension, KeyDoc, Overrides, dimensions, key_docs};
use specplan::{evaluate, report};

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";
const OBSERVED: &str = "scenarios/observed-only.yaml";

fn specplan(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("CLICOLOR_FORCE")
        .args(args)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn sweep(args: &[&str]) -> Output {
    specplan(&[&["sweep"], args].concat())
}

#[track_caller]
fn answered(args: &[&str]) -> String {
    let output = sweep(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Columns of a sweep and where the JSON of `run` has the same.
const SAME: [(&str, &str); 12] = [
    ("speedup_low", "/speedup/low"),
    ("speedup_high", "/speedup/high"),
    ("win_probability", "/win_probability"),
    ("speedup", "/speedup/value"),
    ("throughput_tok_s", "/speculation/throughput_tok_s/value"),
    ("baseline_throughput_tok_s", "/baseline/throughput_tok_s/value"),
    ("accept_length", "/speculation/accept_length/value"),
    ("baseline_step_ms", "/baseline/step_ms/value"),
    ("cycle_ms", "/speculation/cycle_ms/value"),
    ("verify_ms", "/speculation/verify_ms/value"),
    ("draft_host_ms", "/speculation/draft_host_ms/value"),
    ("model_speedup", "/speedup/predicted"),
];

/// The JSON that `run` gives with these overrides; what it says where it gives none.
fn run(file: &str, set: &[String], unset: &[&str]) -> Result<Value, String> {
    let unset = unset.iter().map(|key| (*key).to_owned()).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let (_, loaded) = scenario::open(path, &Overrides { set: set.to_vec(), unset }, &Builtin)
        .map_err(|faults| faults.to_string())?;
    let context = report::Context {
        uncertainty: None,
        tool_version: String::new(),
        seed: 1,
        scenario_name: String::new(),
        scenario_path: String::new(),
        calibration_name: None,
        overrides: Vec::new(),
        plots: Vec::new(),
        setup_words: String::new(),
    };
    Ok(report::json(&evaluate::answer(&loaded), &context))
}

/// What each point of the axes sets, in the order of the rows.
fn points(axes: &[&str]) -> Vec<Vec<String>> {
    let axes: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
    let all: Vec<Dimension> = dimensions(&axes, None).expect("axes");
    all.iter().fold(vec![Vec::new()], |rows: Vec<Vec<String>>, dimension| {
        let each = |row: &Vec<String>, at: usize| {
            let more = dimension.axes.iter().map(|axis| format!("{}={}", axis.key, axis.text(at)));
            row.iter().cloned().chain(more).collect()
        };
        rows.iter().flat_map(|row| (0..dimension.points()).map(move |at| each(row, at))).collect()
    })
}

/// Compares every row of a sweep with `run`; how many have an answer.
#[track_caller]
fn compare(file: &str, axes: &[&str], set: &[&str], unset: &[&str]) -> usize {
    let mut args = vec![file, "-q", "-f", "json"];
    args.extend(axes.iter().flat_map(|axis| ["--vary", axis]));
    args.extend(set.iter().flat_map(|set| ["--set", set]));
    args.extend(unset.iter().flat_map(|key| ["--unset", key]));
    let names: Vec<&str> = SAME.iter().map(|(name, _)| *name).chain(["verdict", "predicted_parts"]).collect();
    let names = names.join(",");
    args.extend(["--metrics", &names]);
    let out = answered(&args);
    let points = points(axes);
    assert_eq!(out.lines().count(), points.len());
    let mut answers = 0;
    for (line, point) in out.lines().zip(points) {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let own: Vec<String> = set.iter().map(|set| (*set).to_owned()).chain(point.clone()).collect();
        match run(file, &own, unset) {
            Ok(answer) => {
                answers += 1;
                assert_eq!(row["error"], Value::Null, "{point:?}");
                assert_eq!(row["verdict"], answer["verdict"], "{point:?}");
                for (column, place) in SAME {
                    let expected = answer.pointer(place).and_then(Value::as_f64);
                    let found = row[column].as_f64();
                    // A probability of nearly nothing is written with fewer digits by `run`.
                    let close = found.zip(expected).is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * b.abs());
                    let equal = found == expected || (column == "win_probability" && close);
                    assert!(equal, "{point:?}: {column}: {found:?} is not {expected:?}");
                }
            }
            Err(faults) => {
                let reason =
                    row["error"].as_str().unwrap_or_else(|| panic!("{point:?} has no answer: {faults}"));
                let (code, title) = reason.split_once(": ").expect("a code");
                let title = title.split(" (and ").next().unwrap_or(title);
                let shown = faults.contains(&format!("error[{code}]: {title}"));
                assert!(shown, "{point:?}: {reason}\n{faults}");
                assert_eq!(row["speedup"], Value::Null);
            }
        }
    }
    answers
}

#[test]
fn rows_over_continuous_keys_are_those_of_run() {
    let times = "speculation.verify.time=5 ms..50 ms:4";
    assert_eq!(compare(REFERENCE, &[times, "speculation.acceptance.rate=0.2..0.95:3"], &[], &[]), 12);
    let each = ["speculation.verify.allreduce.time=50 us,205 us,1 ms", "speculation.host.time=0.1 ms,5 ms"];
    assert_eq!(compare(REFERENCE, &each, &[], &[]), 6);
    let lengths = "speculation.acceptance.accept_length=1.0,2.0,2.9,3.5";
    assert_eq!(compare(REFERENCE, &[lengths, "baseline.time=9 ms,13 ms"], &[], &[]), 6);
    let ranges = ["speculation.verify.time=20 ms +- 2 ms,30 ms", "speculation.draft_pass.time=1 ms..3 ms:2"];
    assert_eq!(compare(REFERENCE, &ranges, &[], &[]), 4);
}

#[test]
fn rows_over_structural_keys_are_those_of_run() {
    let shape = ["workload.batch=1,8,300", "workload.context=2048,65536", "speculation.draft_tokens=2,3,6"];
    let answers = compare(REFERENCE, &shape, &[], &[]);
    assert!((9..18).contains(&answers), "{answers}");
    let split = ["parallel.tensor=2,4,8,3", "speculation.verify.execution=graph,eager"];
    assert!(compare(REFERENCE, &split, &["hardware=h200-x8"], &[]) >= 4);
    let backend = ["speculation.verify.allreduce.backend=auto,nccl,one-shot", "runtime=sglang,vllm"];
    assert_eq!(compare(REFERENCE, &backend, &[], &[]), 6);
    let tree = ["speculation.topk=1,2,4", "speculation.steps=2,3", "speculation.draft_tokens=3,4,8"];
    assert!(compare(REFERENCE, &tree, &[], &[]) >= 8);
}

#[test]
fn rows_over_names_and_maps_are_those_of_run() {
    let boxes = ["hardware=h200-x8,rtx-pro-6000-x8,rtx-4090-x8,no-such-box", "workload.batch=1,16"];
    assert!(compare(REFERENCE, &boxes, &[], &[]) >= 4);
    let methods = ["speculation.method=ngram & speculation.draft=null"];
    compare(REFERENCE, &methods, &[], &[]);
    let models = ["model={ preset: kimi-k2.5, weights: fp8 },kimi-k2.5,llama-3.1-8b", "calibration=none"];
    assert!(compare(REFERENCE, &models, &[], &[]) >= 1);
    let environment = ["environment.NCCL_PROTO=LL,LL128,Simple", "environment={NCCL_ALGO: Ring}"];
    assert_eq!(
        sweep(&[REFERENCE, "--vary", environment[0], "--vary", environment[1]]).status.code(),
        Some(2)
    );
    assert_eq!(compare(REFERENCE, &environment[..1], &[], &[]), 3);
    let laws = "speculation.acceptance={rate: 0.6},{cumulative: [0.7, 0.4]},{cumulative: [0.4, 0.7]}";
    assert_eq!(compare(REFERENCE, &[laws], &[], &[]), 2);
}

#[test]
fn rows_over_what_was_observed_are_those_of_run() {
    let observed = [
        "speculation.observed.throughput=50 tok/s..90 tok/s:3",
        "baseline.observed.throughput=82 tok/s,60 tok/s",
    ];
    assert_eq!(compare(REFERENCE, &observed, &[], &[]), 6);
    let both = ["speculation.verify.observed.time=26 ms,30 ms,null", "speculation.steps=1,2,4"];
    assert_eq!(compare(REFERENCE, &both, &[], &[]), 9);
    assert_eq!(compare(OBSERVED, &["speculation.verify.time=10 ms..30 ms:3"], &[], &[]), 3);
    assert_eq!(
        compare(OBSERVED, &["speculation.acceptance.rate=0.3,0.6"], &["speculation.verify.time=20 ms"], &[]),
        2
    );
    assert_eq!(compare(OBSERVED, &["workload.batch=1,2"], &[], &[]), 0);
    let alone = ["baseline.observed", "speculation.observed", "speculation.verify.observed"];
    assert_eq!(compare(REFERENCE, &["workload.batch=1,4", "speculation.steps=2,3"], &[], &alone), 4);
}

#[test]
fn axes_that_go_together_make_one_dimension() {
    // At 30 ms the verdict hangs on ranges, which a sweep takes as independent and `run` by their causes.
    let zipped =
        ["workload.batch=1,4,16 & speculation.steps=5,3,1 & speculation.verify.time=20 ms,28 ms,40 ms"];
    assert_eq!(compare(REFERENCE, &zipped, &[], &[]), 3);
    let out = answered(&[REFERENCE, "-q", "-f", "csv", "--vary", zipped[0], "--vary", "runtime=sglang,vllm"]);
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(rows.len(), 7);
    assert!(
        rows[0].starts_with("workload.batch,speculation.steps,speculation.verify.time_ms,runtime,verdict")
    );
    assert!(rows[3].starts_with("4,3,28,sglang,"), "{}", rows[3]);
}

/// Where what baseline and verify share decides, and where independent ranges would say something else.
#[test]
fn verdicts_near_a_tie_are_those_of_run() {
    let observed = ["baseline.observed", "speculation.observed", "speculation.verify.observed"];
    let graph = ["speculation.verify.execution=graph"];
    let axis = ["workload.batch=1..8:8", "speculation.acceptance.accept_length=2.0..2.6:4"];
    assert_eq!(compare(REFERENCE, &axis, &graph, &observed), 32);
    let axis =
        ["speculation.verify.time=19 ms..23 ms:9", "speculation.acceptance.accept_length=2.6,2.73,2.9"];
    assert_eq!(compare(REFERENCE, &axis, &[], &[]), 27);
}

/// A value that a key may have.
fn example(doc: &KeyDoc) -> Option<&'static str> {
    let own = [
        ("hardware", "h200-x8"),
        ("calibration", "none"),
        ("model", "{ preset: kimi-k2.5, weights: fp8 }"),
        ("model.preset", "kimi-k2.5"),
        ("model.config", "presets/models/kimi-k2.5/config.json"),
        ("speculation.draft", "eagle3-kimi-k2.5"),
        ("speculation.draft.preset", "eagle3-kimi-k2.5"),
        ("speculation.acceptance.accept_length", "2.5"),
        ("speculation.acceptance.tree.ranks", "[0.6, 0.2]"),
        ("speculation.draft_tokens", "4"),
        ("name", "another"),
    ];
    if let Some((_, value)) = own.iter().find(|(path, _)| *path == doc.path) {
        return Some(value);
    }
    Some(match doc.kind.as_str() {
        "time" => "2 ms",
        "throughput" => "70 tok/s",
        "number" => "0.7",
        "whole number" => "2",
        "true or false" => "true",
        "list of numbers" => "[0.7, 0.5]",
        "text or number or true or false" => "1",
        "map" => "{}",
        _ => doc.words.last()?.0.clone().leak(),
    })
}

#[test]
fn every_key_that_set_accepts_vary_accepts_with_the_same_answer() {
    let (mut tried, mut answers) = (0, 0);
    for doc in key_docs().iter().filter(|doc| !doc.path.contains("[]")) {
        let path = doc.path.replace('*', "NCCL_NTHREADS");
        if ["what_if", "sweep", "extends"].contains(&path.as_str()) || path.starts_with("simulation.") {
            continue;
        }
        let Some(value) = example(doc) else { continue };
        tried += 1;
        let set = format!("{path}={value}");
        if dimensions(std::slice::from_ref(&set), None).is_err() {
            assert!(run(REFERENCE, &[set], &[]).is_err(), "{path}={value}");
            continue;
        }
        answers += compare(REFERENCE, &[&format!("{path}={value}")], &[], &[]);
    }
    assert!(tried > 70 && answers > 40, "{tried} keys, {answers} answers");
}

#[test]
fn a_point_without_an_answer_is_a_row_with_its_reason() {
    let output = sweep(&[REFERENCE, "--vary", "workload.batch=1,60000", "-f", "csv"]);
    assert_eq!(output.status.code(), Some(0));
    let (rows, said) = (text(&output.stdout), text(&output.stderr));
    assert!(rows.lines().nth(2).is_some_and(|row| row.starts_with("60000,,,,,,,,,\"S015: ")), "{rows}");
    assert!(said.contains("1 of 2 points have no answer; the first: S015"), "{said}");
}

// ----------------------------------------------------------------------------------- bytes, shards, threads

#[test]
fn threads_and_shards_change_no_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    // More than a window, with rows that fail among them.
    let axes = ["--vary", "workload.batch=1..400:30", "--vary", "speculation.verify.time=10 ms..40 ms:20"];
    for format in ["csv", "json"] {
        let whole = answered(&[&[REFERENCE, "-q", "-f", format, "--threads", "1"], &axes[..]].concat());
        let threads = answered(&[&[REFERENCE, "-q", "-f", format, "--threads", "3"], &axes[..]].concat());
        assert!(whole == threads, "threads change the {format}");
        for of in [1, 2, 7] {
            let files: Vec<String> =
                (1..=of).map(|index| path(&format!("{index}-of-{of}.{format}"))).collect();
            for (index, file) in files.iter().enumerate() {
                let shard = format!("{}/{of}", index + 1);
                let own = [REFERENCE, "-q", "-f", format, "--shard", &shard, "-o", file];
                answered(&[&own[..], &axes[..]].concat());
            }
            let mut merge = vec!["--merge"];
            merge.extend(files.iter().rev().map(String::as_str));
            assert!(answered(&merge) == whole, "{of} shards change the {format}");
        }
    }
    let text = |threads| answered(&[&[REFERENCE, "-q", "--threads", threads], &axes[..]].concat());
    assert_eq!(text("1"), text("2"));
}

#[test]
fn files_that_are_not_one_sweep_are_not_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let part = |name: &str, shard: &str, axis: &str| {
        let file = path(name);
        answered(&[OBSERVED, "-q", "-f", "csv", "--vary", axis, "--shard", shard, "-o", &file]);
        file
    };
    let axis = "speculation.verify.time=10 ms..30 ms:9";
    let (one, two) = (part("1", "1/2", axis), part("2", "2/2", axis));
    let other = part("3", "2/2", "speculation.verify.time=10 ms..31 ms:9");
    let short = path("4");
    let whole = std::fs::read_to_string(&two).expect("a part");
    std::fs::write(&short, &whole[..whole.len() - 3]).expect("written");
    let target = path("merged.csv");
    for (files, why) in [
        (vec![&one], "missing: 2/2"),
        (vec![&one, &one, &two], "1/2 stands in two files"),
        (vec![&one, &other], "different sweeps"),
        (vec![&one, &short], "run shard 2/2 again"),
        (vec![&one, &path("5")], "cannot read"),
    ] {
        let mut args = vec!["-o", &target, "--merge"];
        args.extend(files.into_iter().map(String::as_str));
        let output = sweep(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        assert!(!Path::new(&target).exists(), "{why}");
    }
    assert_eq!(answered(&["--merge", &two, &one]).lines().count(), 10);
}

#[test]
fn a_scheduler_tells_the_shard() {
    let shard = |text: &str, variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_specplan"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args([
                "sweep",
                OBSERVED,
                "-q",
                "-f",
                "json",
                "--vary",
                "speculation.verify.time=10 ms,20 ms,30 ms",
            ])
            .args(["--shard", text])
            .envs(variables.iter().copied())
            .output()
            .expect("the program starts");
        let out = self::text(&output.stdout);
        let rows = out.lines().skip(1).map(|row| serde_json::from_str::<Value>(row).expect("JSON"));
        rows.map(|row| row["speculation.verify.time_ms"].as_f64().expect("a number")).collect::<Vec<_>>()
    };
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "12"),
        ("SLURM_ARRAY_TASK_MIN", "10"),
        ("SLURM_ARRAY_TASK_MAX", "12"),
        ("SLURM_ARRAY_TASK_COUNT", "3"),
    ];
    assert_eq!(shard("auto", &slurm), [30.0]);
    assert_eq!(shard("auto/3", &[("JOB_COMPLETION_INDEX", "0")]), [10.0]);
    assert_eq!(shard("auto/3", &[("PARALLEL_SEQ", "2")]), [20.0]);
    assert!(shard("auto", &[]).is_empty());
}

// ------------------------------------------------------------------------------------------ words and faults

#[test]
fn one_axis_makes_a_curve_and_two_make_curves_or_a_map() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (time, rate) = ("speculation.verify.time=10 ms..40 ms:12", "speculation.acceptance.rate=0.1..0.9:9");
    let word = "name=one,two";
    for (axes, files) in [
        (vec![time], vec!["sweep"]),
        (vec![time, rate], vec!["sweep-map"]),
        (vec![time, word], vec!["sweep"]),
        (vec!["speculation.host.time=1 ms..5 ms:5", rate], vec!["sweep", "sweep-map"]),
    ] {
        let out = path(&axes.concat().replace(['/', ' '], "-"));
        let mut args = vec![OBSERVED, "-q", "--plots", &out];
        args.extend(axes.iter().flat_map(|axis| ["--vary", axis]));
        answered(&args);
        let mut written: Vec<String> = std::fs::read_dir(&out)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        written.sort();
        let mut expected: Vec<String> =
            files.iter().flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]).collect();
        expected.sort();
        assert_eq!(written, expected, "{axes:?}");
        let svg = std::fs::read_to_string(format!("{out}/{}.svg", files[0])).expect("a figure");
        assert!(svg.contains("verify.time") || svg.contains("host.time"), "{axes:?}");
    }
    let three = ["--vary", time, "--vary", rate, "--vary", word];
    let output = sweep(&[&[OBSERVED, "--plots", &path("three")], &three[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        output.stdout.is_empty() && text(&output.stderr).contains("not 3 axes"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn the_how_to_lists_every_column() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/sweep.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for metric in specplan::sweep::METRICS {
        let row = format!("| `{}` | {} |", metric.name, metric.meaning);
        assert!(page.contains(&row), "docs/how-to/sweep.md lacks {row}");
    }
}

#[test]
fn faults_of_the_command_line_are_told_before_anything_is_computed() {
    for (args, why) in [
        (vec![], "nothing to vary"),
        (vec!["--vary", "workload.bath=1"], "workload.bath"),
        (vec!["--vary", "workload.batch=1..8"], "number of points"),
        (vec!["--vary", "speculation.verify.time=10,20"], "needs a unit"),
        (vec!["--vary", "workload.batch=1,2 & workload.context=1,2,3"], "value by value"),
        (vec!["--vary", "workload.batch=1", "--metrics", "spedup"], "a similar one is `speedup`"),
        (vec!["--vary", "workload.batch=1", "--shard", "1/2"], "add `-f csv`"),
        (vec!["--vary", "workload.batch=1", "-f", "csv", "--shard", "3/2"], "i from 1 to n"),
        (vec!["--vary", "workload.batch=1", "-f", "csv", "--shard", "auto"], "SLURM_ARRAY_TASK_ID"),
        (vec!["--vary", "workload.batch=1", "--set", "hardware=nothing"], "nothing"),
        (
            vec!["--vary", "workload.batch=1..60000:60000", "--vary", "workload.context=1..60000:60000"],
            "1000000000",
        ),
    ] {
        let output = sweep(&[&[REFERENCE], &args[..]].concat());
        let said = text(&output.stderr);
        if args.contains(&"hardware=nothing") {
            assert!(said.contains("no answer") && output.status.code() == Some(0), "{said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(why) && output.stdout.is_empty(), "{args:?}: {said}");
    }
}

#[test]
fn axes_stand_in_the_scenario_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.yaml");
    let scenario =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(OBSERVED)).expect("there");
    let sweep_key =
        "sweep: [\"speculation.verify.time=10 ms..30 ms:3 & speculation.acceptance.rate=0.3,0.5,0.7\"]\n";
    std::fs::write(&file, format!("{scenario}\n{sweep_key}")).expect("written");
    let file = file.to_str().expect("UTF-8");
    assert_eq!(answered(&[file, "-q", "-f", "json"]).lines().count(), 3);
    let output = sweep(&[file, "--vary", "speculation.verify.time=10 ms,20 ms", "-f", "json"]);
    assert_eq!(text(&output.stdout).lines().count(), 2);
    assert!(text(&output.stderr).contains("`sweep` of the scenario is not used"), "{}", text(&output.stderr));
    let run = specplan(&["run", file]);
    assert!(
        text(&run.stderr).contains(&format!("`specplan sweep {file}` computes it")),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn the_summary_says_where_the_verdict_turns() {
    let out = answered(&[OBSERVED, "-q", "--vary", "speculation.verify.time=10 ms..40 ms:31"]);
    assert!(out.contains("speculation stops paying between 21 ms and 22 ms"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let axes = [
        "--vary",
        "speculation.verify.time=10 ms..40 ms:31",
        "--vary",
        "speculation.acceptance.rate=0..1:51",
    ];
    let out = answered(&[&[OBSERVED, "-q"], &axes[..]].concat());
    assert!(out.contains("of 1,581 points"), "{out}");
    assert!(out.contains("Over speculation.verify.time the speedup passes 1 for"), "{out}");
    let markdown = answered(&[&[OBSERVED, "-q", "-f", "markdown"], &axes[..]].concat());
    assert!(markdown.contains("| speculation.verify.time | faster at |"), "{markdown}");
}
