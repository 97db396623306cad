//! What somebody meets who uses the program for the first time: files of all kinds, standard input, words to look up.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn specplan(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(root())
        .env_remove("CLICOLOR_FORCE")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read leaves a broken pipe behind, which is no matter here.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn a_scenario_is_read_from_standard_input() {
    let scenario = std::fs::read_to_string(root().join("scenarios/observed-only.yaml")).expect("a scenario");
    let output = specplan(&["run", "-", "-q"], &scenario);
    assert!(text(&output.stdout).starts_with("Speculation loses: 60.0 tok/s"), "{}", text(&output.stderr));
    let faulty = specplan(&["run", "-"], "speculation: { accept_lenght: 2.0 }\n");
    assert_eq!(faulty.status.code(), Some(2));
    assert!(text(&faulty.stderr).contains("-:1:16"), "{}", text(&faulty.stderr));
    assert_eq!(specplan(&["run", "-"], "").status.code(), Some(2));
    let checked = specplan(&["check", "-"], &scenario);
    assert_eq!(text(&checked.stdout), "-: sound (scenario)\n");
}

#[test]
fn check_knows_what_a_file_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let page = std::fs::read_to_string(root().join("docs/how-to/add-a-gpu.md")).expect("the page");
    let (_, rest) = page.split_once("```yaml\n").expect("a box file");
    let own_box = write("box.yaml", rest.split_once("```").expect("its end").0);
    for (path, kind) in [
        (own_box.as_str(), "box"),
        ("calibration/l40s-x2.yaml", "calibration"),
        ("presets/models/llama-3.1-8b/config.json", "model"),
        ("presets/models/eagle3-llama-3.1-8b/config.json", "EAGLE-3 head"),
        ("scenarios/observed-only.yaml", "scenario"),
    ] {
        let output = specplan(&["check", path], "");
        assert_eq!(text(&output.stdout), format!("{path}: sound ({kind})\n"), "{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(0));
    }
    for (path, why) in [
        (write("gpu.yaml", "gpu: rtx-4091\ncount: 2\n"), "did you mean `rtx-4090`?"),
        (write("count.yaml", "gpu: rtx-4090\ncount: 0\n"), "count"),
        (write("config.json", "{\"hidden_size\": 4096}"), "num_hidden_layers"),
        (write("x.yaml", "format: specplan-calibration/9\n"), "error: "),
    ] {
        let output = specplan(&["check", &path], "");
        assert_eq!(output.status.code(), Some(1), "{path}");
        let errors = text(&output.stderr);
        assert!(errors.contains(why) && !errors.contains("S001"), "{path}: {errors}");
    }
}

#[test]
fn the_man_page_is_printed() {
    let output = specplan(&["completions", "man"], "");
    assert!(text(&output.stdout).contains(".TH specplan 1"), "{}", text(&output.stderr));
    assert!(text(&specplan(&["completions", "--help"], "").stdout).contains("specplan completions man"));
}

#[test]
fn an_override_that_replaces_the_acceptance_says_so() {
    let run = ["run", "scenarios/observed-only.yaml", "--set", "speculation.acceptance.rate=0.7"];
    let output = specplan(&run, "");
    assert!(text(&output.stderr).contains("replaces `accept_length: 2.0`"), "{}", text(&output.stderr));
}

/// Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_code_of_a_finding_is_explained() {
    let mut codes = Vec::new();
    for path in sources(&root().join("src/evaluate")) {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        codes.extend(
            text.split("code: \"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
        );
    }
    assert!(codes.len() >= 10, "{codes:?}");
    let lacking: Vec<_> = codes.iter().filter(|code| specplan::explain::term(code).is_none()).collect();
    assert!(lacking.is_empty(), "docs/glossary.md has no entry for {lacking:?}");
}

/// Verbs that are planned; documents may name them only as such.
const NOT_YET: [&str; 5] = ["calibrate", "import", "simulate", "sweep", "tune"];

#[test]
fn documents_offer_no_verb_that_does_not_exist() {
    let command = specplan::cli::command();
    let exists = |verb: &str| command.get_subcommands().any(|known| known.get_name() == verb);
    let mut folders = vec![root().join("docs"), root().join("scenarios")];
    let mut faults = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("readable").path())
        {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            for (number, line) in text.lines().enumerate() {
                for verb in NOT_YET.into_iter().filter(|verb| !exists(verb)) {
                    if line.contains(&format!("specplan {verb}")) && !line.contains("not yet") {
                        faults.push(format!("{}:{}: specplan {verb}", path.display(), number + 1));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
