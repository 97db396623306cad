//! The program as a user meets it: exit codes, streams, formats, colour, pipes.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const REFERENCE: &str = "scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";
const OBSERVED: &str = "scenarios/observed-only.yaml";

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in ["NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

fn specplan(args: &[&str]) -> Output {
    command().args(args).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

#[test]
fn a_losing_scenario_is_an_answer_and_notes_go_to_stderr() {
    let output = specplan(&["run", REFERENCE]);
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output)
            .starts_with("Speculation loses: 60.0 tok/s, against 82.0 tok/s without it (0.73x).\n")
    );
    assert!(stderr(&output).starts_with("note [1]: "));
    assert!(!stdout(&output).contains("note ["));
    assert!(specplan(&["run", REFERENCE, "-q"]).stderr.is_empty());
}

#[test]
fn text_stays_within_80_columns_on_every_shipped_scenario() {
    for path in shipped() {
        let output = specplan(&["run", &path, "-q"]);
        assert_eq!(code(&output), 0, "{path}: {}", stderr(&output));
        for line in stdout(&output).lines() {
            assert!(line.chars().count() <= 80, "{path}: {line}");
        }
    }
}

fn shipped() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<String> = std::fs::read_dir(folder)
        .expect("scenarios/ exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        // Relative, since the report shows the path and a checkout may lie anywhere.
        .map(|path| format!("scenarios/{}", path.file_name().expect("named").to_string_lossy()))
        .collect();
    paths.sort();
    assert!(paths.len() >= 10, "the shipped scenarios");
    paths
}

#[test]
fn the_same_input_gives_the_same_bytes_in_every_format() {
    for format in ["text", "json", "csv", "markdown"] {
        let run = || specplan(&["run", REFERENCE, OBSERVED, "-q", "-f", format]);
        let (first, second) = (run(), run());
        assert_eq!(code(&first), 0);
        assert_eq!(first.stdout, second.stdout, "{format}");
        assert!(!first.stdout.is_empty());
    }
}

#[test]
fn several_files_make_one_array_and_one_table() {
    let json = specplan(&["run", REFERENCE, OBSERVED, "-q", "-f", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(value.as_array().map(Vec::len), Some(2));
    let csv = stdout(&specplan(&["run", REFERENCE, OBSERVED, "-q", "-f", "csv"]));
    let header = csv.lines().next().expect("a header");
    assert_eq!(csv.lines().filter(|line| *line == header).count(), 1);
}

#[test]
fn exit_codes_tell_answers_checks_and_bad_input_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, "speculation:\n  accept_lenght: 2\n").expect("written");
    let bad = bad.to_str().expect("UTF-8");
    for (args, expected) in [
        (&["run", REFERENCE, "--fail-below", "1.0"][..], 1),
        (&["run", REFERENCE, "--fail-below", "0.5"], 0),
        (&["run", bad], 2),
        (&["run", "no-such-file.yaml"], 2),
        (&["run", "scenarios"], 2),
        (&["run"], 2),
        (&["run", REFERENCE, "--set", "speculation.verify.tiem=3 ms"], 2),
        (&["run", REFERENCE, "-o", "/no/such/folder/x"], 2),
        (&["check", REFERENCE, OBSERVED], 0),
        (&["check", bad], 1),
        (&["check", "calibration/rtx-pro-6000-x8.yaml"], 0),
        (&["explain", "accept-length"], 0),
        (&["explain", "no-such-term"], 2),
        (&["frobnicate"], 2),
        (&["--help"], 0),
        (&["--version"], 0),
    ] {
        let output = specplan(args);
        assert_eq!(code(&output), expected, "{args:?}: {}", stderr(&output));
        if expected == 2 {
            assert!(output.stdout.is_empty(), "{args:?}: bad input has no result");
            assert!(!output.stderr.is_empty(), "{args:?}: it says why");
        }
    }
}

#[test]
fn a_faulty_file_does_not_keep_the_others_from_their_answer() {
    let output = specplan(&["run", "no-such-file.yaml", OBSERVED, "-q"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).starts_with("Speculation loses"));
    assert!(stderr(&output).contains("no-such-file.yaml"));
}

#[test]
fn colour_follows_flag_and_environment_and_never_reaches_files() {
    let escape = "\u{1b}[";
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let output = command()
            .args(["run", REFERENCE, "-q"])
            .args(args)
            .envs(variables.iter().copied())
            .output()
            .expect("the program starts");
        stdout(&output)
    };
    assert!(!run(&[], &[]).contains(escape), "not a terminal");
    assert!(run(&["--color", "always"], &[("NO_COLOR", "1")]).contains(escape), "the flag decides");
    assert!(run(&[], &[("CLICOLOR_FORCE", "1")]).contains(escape));
    assert!(!run(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains(escape));
    assert!(!run(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]).contains(escape));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("answer.txt");
    run(&["--color", "always", "-o", file.to_str().expect("UTF-8")], &[]);
    assert!(!std::fs::read_to_string(file).expect("written").contains(escape));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = command()
        .args(["run", REFERENCE, "-f", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut errors).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(!errors.contains("panicked"), "{errors}");
}

#[test]
fn plots_are_written_as_svg_and_png() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("deep/plots");
    let output = specplan(&["run", OBSERVED, "-q", "-f", "json", "--plots", to.to_str().expect("UTF-8")]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let plots = value["plots"].as_array().expect("a list");
    assert_eq!(plots.len(), 8, "four figures without a hardware model, each twice");
    for plot in plots {
        let path = plot.as_str().expect("a path");
        let bytes = std::fs::read(path).expect("written");
        if Path::new(path).extension().is_some_and(|e| e == "png") {
            assert_eq!(&bytes[1..4], b"PNG");
        } else {
            assert!(bytes.starts_with(b"<svg") || bytes.starts_with(b"<?xml"), "{path}");
        }
    }
}

#[test]
fn help_lists_every_verb_and_every_verb_has_examples() {
    let help = stdout(&specplan(&["--help"]));
    let command = specplan::cli::command();
    for verb in command.get_subcommands().map(clap::Command::get_name) {
        assert_eq!(help.matches(&format!("\n  {verb} ")).count(), 1, "{verb} stands once in the help");
        let long = stdout(&specplan(&[verb, "--help"]));
        assert!(long.contains("Examples:"), "{verb}");
    }
}

#[test]
fn completions_exist_for_the_usual_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = specplan(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("specplan"), "{shell}");
    }
}

#[test]
fn explain_knows_presets_keys_codes_and_terms() {
    for (topic, contains) in [
        ("presets", "rtx-pro-6000-x8"),
        ("kimi-k2.5", "preset of `model`"),
        ("speculation.verify.time", "verify"),
        ("S012", "S012"),
        ("accept-length", "bonus token included"),
    ] {
        let output = specplan(&["explain", topic]);
        assert!(stdout(&output).contains(contains), "{topic}");
    }
    assert!(stderr(&specplan(&["explain", "accept-lenght"])).contains("accept length"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_never_a_panic() {
    for verb in [
        &["check", REFERENCE][..],
        &["run", REFERENCE],
        &["explain", "S012"],
        &["schema", "scenario"],
        &["completions", "bash"],
        &["--version"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let output = command().args(verb).stdout(full).output().expect("the program starts");
        assert_eq!(code(&output), 2, "{verb:?}");
        assert!(stderr(&output).contains("cannot write the result"), "{verb:?} {}", stderr(&output));
    }
}
