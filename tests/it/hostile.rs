//! Files that changed between two runs, files that never end, rows that cannot be, signals: nothing is mixed, invented,
//! waited for or left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";
/// A row of docs/validation/data/measurements.csv.
const ROW: &str = "\
id,group,level,hardware,calibration,model,weights,kv,runtime,tensor,decode_context,batch,context,method,draft,steps,topk,\
draft_tokens,accept_length,execution,allreduce,opt_in,quantity,measured,n,use,source,note
a,step,V1,rtx-pro-6000-x8,,kimi-k2.6,,fp8,vllm,TP,1,1,0,,,,,ROWS,,graph,,,step_ms,10.823,1,held out,test,
";

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("CLICOLOR_FORCE").args(args);
    command
}

fn specplan(args: &[&str]) -> Output {
    command(args).stdin(Stdio::null()).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn refused(args: &[&str], code: i32, says: &str) {
    let output = specplan(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(said.contains(says), "{args:?}: {said}");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    path.display().to_string()
}

fn row(tensor: &str, rows: &str) -> String {
    ROW.replace("TP", tensor).replace("ROWS", rows)
}

#[test]
fn shards_around_an_edit_of_a_file_that_the_scenario_names_do_not_mix() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let root = env!("CARGO_MANIFEST_DIR");
    for (name, key, one, other) in [
        ("acc.yaml", "speculation.acceptance", "accept_length: 2.0\n", "accept_length: 2.5\n"),
        ("cal.yaml", "calibration", "a: 1\n", "a: 2\n"),
    ] {
        let under = if key == "calibration" {
            format!("calibration: {name}\n")
        } else {
            format!("speculation:\n  acceptance: {{ accept_length: null, file: {name} }}\n")
        };
        let scenario = write(folder.path(), "s.yaml", &format!("extends: {root}/{REFERENCE}\n{under}"));
        for (shard, content) in [("1/2", one), ("2/2", other)] {
            write(folder.path(), name, content);
            let out = at(&format!("{}.csv", &shard[..1]));
            let done = specplan(&[
                "sweep",
                &scenario,
                "--vary",
                "baseline.observed.throughput=70 tok/s,80 tok/s",
                "-q",
                "-f",
                "csv",
                "--shard",
                shard,
                "-o",
                &out,
            ]);
            // Whether the rows have an answer is not asked here: a file without tables has none.
            assert!(matches!(done.status.code(), Some(0)), "{}", text(&done.stderr));
        }
        refused(&["sweep", "--merge", &at("1.csv"), &at("2.csv")], 2, "belong to different sweeps");
    }
}

#[test]
fn shards_of_moved_or_mangled_rows_are_not_joined() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (one, two) = (at("1"), at("2"));
    for format in ["csv", "json"] {
        for (shard, out) in [("1/2", &one), ("2/2", &two)] {
            let args = ["sweep", REFERENCE, "--vary", "workload.batch=1,2,4,8", "-q", "-f", format];
            assert!(specplan(&[&args[..], &["--shard", shard, "-o", out]].concat()).status.success());
        }
        let whole = specplan(&["sweep", REFERENCE, "--vary", "workload.batch=1,2,4,8", "-q", "-f", format]);
        let merged = specplan(&["sweep", "--merge", &two, &one]);
        assert_eq!(text(&merged.stdout), text(&whole.stdout), "{}", text(&merged.stderr));
        let other = if format == "csv" { "json" } else { "csv" };
        refused(&["sweep", "--merge", &one, &two, "-f", other], 2, &format!("leave `-f {other}` out"));
        let good = fs::read_to_string(&two).expect("a shard");
        let mut lines: Vec<&str> = good.split_inclusive('\n').collect();
        let last = lines.len() - 1;
        lines.swap(last - 1, last);
        let cell = match format {
            "csv" => ("\n4,", "\n4;", "columns and not"),
            _ => ("\"workload.batch\":4", "\"workload.batch\":5", "rows were moved or changed"),
        };
        for (bad, says) in [
            (lines.concat(), "rows were moved or changed"),
            (good.trim_end().to_owned(), "has no end"),
            (good.replacen(cell.0, cell.1, 1), cell.2),
        ] {
            fs::write(&two, bad).expect("written");
            refused(&["sweep", "--merge", &one, &two], 2, says);
        }
    }
    refused(&["sweep", "--merge", "/dev/zero"], 2, "not a regular file");
}

#[test]
fn rows_that_run_would_refuse_are_not_predicted() {
    let folder = folder();
    for (content, says) in [
        (row("0", ""), "`tensor` takes 1 to 1024"),
        (row("3", ""), "does not divide the 64 query heads"),
        (row("16", ""), "16 ranks on 8 GPUs"),
        (row("8", "0"), "`draft_tokens` takes 1 to 1024"),
        (row("8", "").replace("V1", "V0"), "is no quantity of level V0"),
        (row("8", "").replace("rtx-pro-6000-x8", "nope"), "no hardware preset"),
        (row("8", "").replace("step_ms", "pass_s"), "`pass_s` is not known"),
        (row("8", "").replace("held out", "heldout"), "only what begins with `held out`"),
        (row("8", "").replace("held out", "fitted"), "no held-out row was predicted"),
    ] {
        let table = write(folder.path(), "a.csv", &content);
        refused(&["validate", "--max-error", "99 %", &table], 1, says);
        let output = specplan(&["validate", "-q", "--max-error", "99 %", &table]);
        assert!(text(&output.stderr).contains("no held-out row was predicted"), "{content}");
    }
    for (content, says) in [
        (row("8", "").replace("10.823,1", "10.823,0"), "`n` counts the measurements"),
        (row("8", "").replace("vllm,8,1,1", "vllm,8,1,99999999999"), "column `batch`: number too large"),
        (row("8", "").replace("V1", "V9"), "unknown variant `V9`"),
        (row("8", "") + "a,b\n", "2 cells"),
    ] {
        refused(&["validate", &write(folder.path(), "a.csv", &content)], 2, says);
    }
    let table = write(folder.path(), "a.csv", &row("8", ""));
    let output = specplan(&["validate", "--max-error", "99 %", &table]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn tables_of_another_gpu_are_told_by_every_verb() {
    let folder = folder();
    let foreign = "was measured on h200-sxm";
    let table = write(folder.path(), "a.csv", &row("8", ""));
    let own = folder.path().join("own");
    fs::create_dir(&own).expect("a folder");
    fs::copy(&table, own.join("a.csv")).expect("copied");
    let told = |args: &[&str]| text(&specplan(args).stderr).matches(foreign).count();
    assert_eq!(told(&["validate", "--calibration", "h200-x8", &table]), 1);
    assert_eq!(told(&["validate", &table]), 0);
    assert_eq!(told(&["sweep", REFERENCE, "--vary", "calibration=h200-x8,rtx-pro-6000-x8"]), 1);
    assert_eq!(
        told(&["sweep", REFERENCE, "--set", "calibration=h200-x8", "--vary", "workload.batch=1,2"]),
        1
    );
    assert_eq!(told(&["sweep", "-q", REFERENCE, "--vary", "calibration=h200-x8"]), 0);
    assert_eq!(told(&["sweep", REFERENCE, "--vary", "workload.batch=1,2"]), 0);
    assert_eq!(told(&["tune", REFERENCE, "--batch", "1", "--steps", "1", "--set", "calibration=h200-x8"]), 1);
    // A folder of the user's holds the user's rows alone.
    let rows = text(&specplan(&["validate", "-q", "-f", "csv", &own.display().to_string()]).stdout);
    assert_eq!(rows.lines().count(), 2, "{rows}");
}

#[test]
fn empty_values_of_an_axis_and_impossible_lists_are_refused() {
    for axis in ["workload.batch=", "workload.batch=,", "workload.batch=1,,2"] {
        refused(&["sweep", REFERENCE, "--vary", axis], 2, "S024");
    }
    let huge = ["--batch", "1..10000", "--context", "1..10000", "--steps", "1..64"];
    refused(&[&["tune", REFERENCE][..], &huge].concat(), 2, "100000 is the most");
    refused(&["tune", REFERENCE, "--batch", "1..10000", "--steps", "1..10000"], 2, "10000000 settings");
    let most = "18446744073709551615/18446744073709551615";
    let args = ["sweep", REFERENCE, "--vary", "workload.batch=1,2", "-f", "csv", "--shard", most];
    refused(&args, 2, "up to 1000000 shards");
    let cycles = ["--set", "speculation.observed.cycles=100", "--set"];
    let more = [&["run", REFERENCE][..], &cycles, &["speculation.observed.effective_cycles=100000"]].concat();
    refused(&more, 2, "more than the 100 that were counted");
    refused(&["run", REFERENCE, "--seed", "3"], 2, "--monte-carlo");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = folder();
    let pipe = folder.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let begun = Instant::now();
    for file in [&*pipe, "/dev/zero"] {
        refused(&["validate", file], 2, "is a pipe or device");
        refused(&["validate", "--calibration", file, "docs/validation/data"], 2, "is a pipe or device");
        refused(&["sweep", "--merge", file], 2, "not a regular file");
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
    let packed = folder.path().join("a.csv");
    fs::write(&packed, [0x1f, 0x8b, 8, 0]).expect("written");
    refused(&["validate", &packed.display().to_string()], 2, "packed with gzip");
    fs::write(&packed, "id,group\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>())
        .expect("written");
    refused(&["validate", &packed.display().to_string()], 2, "is UTF-16");
}

#[cfg(unix)]
#[test]
fn signals_leave_no_half_written_file() {
    for (signal, args, kept) in [
        ("-INT", &["run", REFERENCE, "--monte-carlo", "1000000"][..], "whole"),
        ("-TERM", &["run", REFERENCE, "--monte-carlo", "1000000"][..], "whole"),
        (
            "-INT",
            &[
                "sweep",
                REFERENCE,
                "--vary",
                "workload.batch=1..64:64",
                "--vary",
                "speculation.acceptance.accept_length=1..4:1000000",
                "-f",
                "csv",
            ][..],
            "whole",
        ),
    ] {
        let folder = folder();
        let place = write(folder.path(), "good", "whole");
        let mut child = command(args)
            .args(["-q", "-o", &place])
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        // The draft stands there once signals are taken over.
        let begun = Instant::now();
        while fs::read_dir(folder.path()).expect("a folder").count() < 2
            && begun.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(1500));
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.expect("kill").success());
        assert_eq!(child.wait().expect("an end").code(), Some(130), "{args:?}");
        assert_eq!(fs::read_to_string(&place).expect("there"), kept);
        let names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|e| e.expect("an entry").file_name())
            .collect();
        let sweep = args[0] == "sweep";
        assert_eq!(names.len(), 1 + usize::from(sweep), "{names:?}");
        assert_eq!(folder.path().join("good.partial").is_file(), sweep);
    }
}

#[test]
fn a_plan_is_promised_only_for_a_run_that_can_be() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let plan = |more: &[&str], says: &str| {
        refused(&[&["calibrate", "--dry-run", "--gpus", "2"][..], more].concat(), 2, says);
    };
    plan(&["-o", &folder.path().display().to_string()], "is a folder");
    plan(&["-o", &at("nowhere/x.yaml")], "there is no folder");
    let python = specplan(&["calibrate", "--dry-run", "--gpus", "2", "--python", "/nonexist"]);
    assert!(text(&python.stderr).contains("no such program, so PyTorch stays unmeasured"));
    plan(&["--set", "workload.batch=1"], "add --scenario");
    let scenario = write(folder.path(), "s.yaml", &fs::read_to_string(REFERENCE).expect("a scenario"));
    plan(&["--scenario", &scenario, "-o", &scenario], "would overwrite an input");
    write(folder.path(), "x.yaml.partial.jsonl", "garbage\n");
    plan(&["--resume", "-o", &at("x.yaml")], "--resume");
}
