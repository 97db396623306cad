//! `specplan calibrate` as a user meets it: the real program, its real children, made-up times, and every fault that a box
//! can have, forced.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use specplan::calibration::{self, Calibration};
use tempfile::TempDir;

/// A folder, a box and what goes wrong with it.
struct Bench {
    folder: TempDir,
    words: String,
}

impl Bench {
    fn new(words: &str) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), words: words.to_owned() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
        command.current_dir(self.folder.path()).env_remove("CUDA_VISIBLE_DEVICES");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("NCCL_")) {
            command.env_remove(name);
        }
        command.arg("calibrate").args(arguments.split_whitespace()).args(["-o", "box.yaml", "--no-torch"]);
        command.args(["--synthetic", &self.words]).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Runs, and expects an exit code.
    fn ends(&self, arguments: &str, code: i32) -> Output {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", stderr(&output));
        output
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path("box.yaml")).expect("a calibration was written")
    }

    fn calibration(&self) -> Calibration {
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        calibration::parse("box", &self.text(), &none).expect("what was written can be read")
    }

    fn journal(&self) -> bool {
        self.path("box.yaml.partial.jsonl").exists()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Lines of a table of the file, without its header.
fn rows(text: &str, table: &str) -> usize {
    let start = format!("\n  {table}: |\n");
    let Some(at) = text.find(&start) else { return 0 };
    text[at + start.len()..].lines().take_while(|line| line.starts_with("    ")).count() - 1
}

/// Whether a process with this word in its command line is alive.
fn alive(word: &Path) -> bool {
    let word = word.display().to_string();
    let commands = std::fs::read_dir("/proc")
        .expect("Linux")
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("cmdline")).ok());
    commands.filter(|command| command.contains("calibrate-worker")).any(|command| command.contains(&word))
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} does not happen");
        sleep(Duration::from_millis(10));
    }
}

// ---------------------------------------------------------------------------------------------- boxes

#[test]
fn without_a_gpu_one_sentence_and_two_in_under_a_second() {
    let began = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_specplan"))
        .current_dir(std::env::temp_dir())
        .env("CUDA_VISIBLE_DEVICES", "")
        .arg("calibrate")
        .output()
        .expect("the program starts");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).is_empty());
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("error: calibrate needs an NVIDIA GPU on this machine: "), "{said}");
    let none = Bench::new("gpus=0").ends("", 2);
    assert_eq!(stderr(&none), "error: calibrate needs an NVIDIA GPU on this machine: no GPU is visible\n");
}

#[test]
fn eight_gpus_are_measured_in_worlds_of_two_four_and_eight() {
    let bench = Bench::new("gpus=8");
    let output = bench.ends("--quick", 0);
    assert!(stderr(&output).contains(" measurements on 8x synthetic, about "), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("8x synthetic: "), "{}", stdout(&output));
    for line in stdout(&output).lines().chain(stderr(&output).lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let ranks: Vec<u32> =
        bench.calibration().collective_curves().iter().map(|curve| curve.key.ranks).collect();
    for world in [2, 4, 8] {
        assert!(ranks.contains(&world), "{ranks:?}");
    }
    assert!(!bench.journal(), "a whole run leaves no journal");
    let check =
        Command::new(env!("CARGO_BIN_EXE_specplan")).arg("check").arg(bench.path("box.yaml")).output();
    assert!(check.expect("it starts").status.success());
}

#[test]
fn what_is_made_up_says_so() {
    let bench = Bench::new("");
    bench.ends("--quick --only launch", 0);
    let calibration = bench.calibration();
    assert!(calibration.provenance.source.starts_with("synthetic: "), "{:?}", calibration.provenance);
    assert_eq!(calibration.facts.expect("facts").gpu, "synthetic");
    assert!(calibration.notes.iter().any(|note| note.contains("made up")), "{:?}", calibration.notes);
}

#[test]
fn one_gpu_has_kernels_and_no_collectives() {
    let bench = Bench::new("gpus=1");
    let output = bench.ends("--quick", 0);
    assert!(stderr(&output).contains("one GPU is visible"), "{}", stderr(&output));
    let text = bench.text();
    assert_eq!(rows(&text, "collectives"), 0);
    assert!(rows(&text, "gemm") > 10 && rows(&text, "launch") > 5 && rows(&text, "links") > 1);
    assert!(text.contains("Not measured as asked: collectives: one GPU is visible"));
}

#[test]
fn without_nccl_the_rest_is_measured() {
    let bench = Bench::new("nccl=no");
    let output = bench.ends("--quick --only collectives,launch", 0);
    assert!(stderr(&output).contains("libnccl.so.2"), "{}", stderr(&output));
    assert!(!bench.text().contains(",nccl,") && bench.text().contains(",one-shot,"));
    assert!(rows(&bench.text(), "launch") > 5);
    let only = Bench::new("nccl=no,gpus=1").ends("--only collectives", 2);
    assert!(stderr(&only).ends_with("error: nothing of what was asked for can be measured here\n"));
}

#[test]
fn without_p2p_bytes_go_through_host_memory() {
    let bench = Bench::new("p2p=no,gpus=4");
    let output = bench.ends("--quick --only collectives,links", 0);
    assert!(stderr(&output).contains("P2P is unavailable"), "{}", stderr(&output));
    let text = bench.text();
    assert!(text.contains("all-reduce,4,nccl,graph,shm,") && !text.contains("one-shot,graph"));
    assert!(!text.contains("    flag,"), "no flag without mapped memory");
    let disabled = Bench::new("gpus=2");
    let mut command = disabled.command("--quick --only collectives");
    assert!(command.env("NCCL_P2P_DISABLE", "1").output().expect("it starts").status.success());
    assert!(disabled.text().contains("all-reduce,2,nccl,graph,shm,"));
    assert!(disabled.text().contains("    NCCL_P2P_DISABLE: \"1\""));
}

#[test]
fn little_memory_makes_tasks_smaller_or_leaves_them_out() {
    let bench = Bench::new("memory=900MiB,gpus=1");
    let output = bench.ends("--only memory,gemm,attention", 0);
    assert!(stderr(&output).contains("of GPU memory"), "{}", stderr(&output));
    let text = bench.text();
    assert!(text.contains("GiB of GPU memory are free: measured as") || text.contains("are free"), "{text}");
    // 16384 x 16384 in bf16 alone is half a GiB, and rotated a whole one.
    assert!(!text.contains("cuda,bf16,16384,16384,1,"));
    assert!(text.contains("cuda,bf16,1024,1024,1,"));
}

#[test]
fn memory_that_is_short_after_all_gets_smaller_tasks() {
    let dry = Bench::new("gpus=1").ends("--only memory --dry-run -f json", 0);
    let plan: serde_json::Value = serde_json::from_str(&stdout(&dry)).expect("JSON");
    let tasks = plan["groups"][0]["tasks"].as_array().expect("tasks");
    let last = tasks.last().expect("a task")["id"].as_u64().expect("a number");
    let bench = Bench::new(&format!("gpus=1,out-of-memory@{last}"));
    bench.ends("--only memory", 0);
    assert!(bench.text().contains("out-of-memory"), "it fails at every size here, and the file says so");
    assert_eq!(rows(&bench.text(), "stream"), tasks.len() - 1);
    assert!(bench.journal(), "it may be tried again");
}

// ---------------------------------------------------------------------------------------------- children

/// The fault hits one task; the others are measured, by another child where the first is lost.
#[test]
fn one_bad_task_costs_itself_alone() {
    for (fault, kind) in [
        ("hang", "timeout"),
        ("crash", "crashed"),
        ("garbage", "garbled"),
        ("flood", "garbled"),
        ("wrong-result", "wrong-result"),
        ("not-a-number", "unsupported"),
    ] {
        let bench = Bench::new(&format!("{fault}@3"));
        let output = bench.ends("--quick --only launch --limit-ms 700", 0);
        assert!(stderr(&output).contains(&format!("({kind})")), "{fault}: {}", stderr(&output));
        let text = bench.text();
        assert!(text.contains(&format!("1 task of launch failed ({kind})")), "{fault}: {text}");
        // Six launch costs and eight small kernels, less the one.
        assert_eq!(rows(&text, "launch"), 13, "{fault}");
        assert!(!text.contains("cuda,graph-launch"), "{fault}: the third task makes no row");
        bench.calibration();
    }
}

#[test]
fn a_slow_answer_is_an_answer() {
    let bench = Bench::new("slow@2");
    bench.ends("--quick --only launch", 0);
    assert_eq!(rows(&bench.text(), "launch"), 14);
}

#[test]
fn three_lost_children_end_their_group_and_not_the_run() {
    let bench = Bench::new("crash@launch");
    let output = bench.ends("--quick --only launch,links", 0);
    assert!(stderr(&output).contains("the child was ended by signal"), "{}", stderr(&output));
    let text = bench.text();
    assert!(text.contains("tasks of launch failed (crashed)"), "{text}");
    assert!(rows(&text, "launch") == 0 && rows(&text, "links") > 5);
}

#[test]
fn where_nothing_succeeds_no_file_is_written() {
    let bench = Bench::new("wrong-result@link");
    let output = bench.ends("--quick --only links", 2);
    assert!(stderr(&output).contains("error: no measurement succeeded: the largest difference"));
    assert!(!bench.path("box.yaml").exists());
}

/// A shell stands in for python: what it prints counts, not what it is.
#[test]
fn rows_of_the_users_pytorch_stand_beside_the_own_ones() {
    let bench = Bench::new("gpus=2");
    let fake = bench.path("python");
    let row =
        r#"{"table":"launch","row":{"server":"pytorch","what":"issue","op":"","median_us":6.5,"samples":9}}"#;
    let script = format!(
        "#!/bin/sh\ngrep -q '\"transport\":\"p2p\"' || exit 3\necho '{row}'\necho '{{\"done\":true,\"versions\":{{\"torch\":\"2.11.0\"}}}}'\n"
    );
    std::fs::write(&fake, script).expect("written");
    assert!(Command::new("chmod").arg("+x").arg(&fake).status().expect("it starts").success());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
        command.current_dir(bench.folder.path()).args([
            "calibrate",
            "--quick",
            "--only",
            "launch",
            "-o",
            "box.yaml",
        ]);
        command.args(["--synthetic", &bench.words]).args(arguments).output().expect("it starts")
    };
    let output = run(&["--python", "./python"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("pytorch      at most 20 s more"), "{}", stderr(&output));
    assert!(bench.text().contains("    pytorch,issue,,,6.5,6.5,6.5,9"), "{}", bench.text());
    assert!(bench.text().contains("Rows of `pytorch` come from the user's PyTorch 2.11.0."));
    bench.calibration();
    let missing = run(&["--python", "./nowhere"]);
    assert_eq!(missing.status.code(), Some(0), "the rest is measured");
    assert!(
        stderr(&missing).contains("warning: the PyTorch probe: python does not start"),
        "{}",
        stderr(&missing)
    );
}

// ---------------------------------------------------------------------------------------------- early ends

#[test]
fn a_lost_gpu_keeps_what_was_measured_and_resume_goes_on() {
    let bench = Bench::new("lost-gpu@5,gpus=2,lost=lost");
    let output = bench.ends("--quick --only launch,links", 2);
    assert!(stderr(&output).contains("error: a GPU was lost: "), "{}", stderr(&output));
    assert!(stderr(&output).contains("--resume continues"));
    assert_eq!(rows(&bench.text(), "launch"), 4);
    assert!(bench.text().contains("The run ended early"));
    // Still one GPU: it is not the box of the journal.
    let still = bench.ends("--quick --only launch,links --resume", 2);
    assert!(
        stderr(&still).contains("cannot resume from box.yaml.partial.jsonl: it was begun with 2x synthetic")
    );
    std::fs::remove_file(bench.path("lost")).expect("the GPU is repaired");
    let healed = Bench { folder: bench.folder, words: "gpus=2".to_owned() };
    healed.ends("--quick --only launch,links --resume", 0);
    assert_eq!(rows(&healed.text(), "launch"), 14);
    assert!(!healed.text().contains("The run ended early") && !healed.journal());
}

#[test]
fn a_sticky_error_without_a_lost_gpu_goes_on() {
    let bench = Bench::new("lost-gpu@5,gpus=2");
    bench.ends("--quick --only launch", 0);
    assert_eq!(rows(&bench.text(), "launch"), 13);
    assert!(bench.text().contains("(gpu-lost)"));
}

fn start(bench: &Bench, arguments: &str) -> Child {
    let mut command = bench.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

fn lines_of(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// The made-up times depend on the task alone, so an interrupted and resumed run must write what a whole one does.
#[test]
fn ctrl_c_keeps_what_is_done_and_resume_makes_the_whole() {
    let whole = Bench::new("");
    whole.ends("--quick --only launch,links", 0);
    let bench = Bench::new("pause=40");
    let child = start(&bench, "--quick --only launch,links");
    wait_for("some results", || lines_of(&bench.path("box.yaml.partial.jsonl")) > 4);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted; what was measured is kept: "), "{}", stderr(&output));
    bench.calibration();
    assert!(bench.text().contains("The run ended early"));
    let refused = bench.ends("--quick --only launch,links", 2);
    assert!(stderr(&refused).contains("--resume continues it, --fresh begins anew"), "{}", stderr(&refused));
    let done = lines_of(&bench.path("box.yaml.partial.jsonl"));
    let resumed = Bench { folder: bench.folder, words: String::new() };
    resumed.ends("--quick --only launch,links --resume", 0);
    assert!(done > 4);
    assert_eq!(resumed.text(), whole.text());
}

/// Killed without a chance to clean up, also in the middle of a hung task: no child stays, and the journal is whole.
#[test]
fn a_killed_parent_leaves_no_child_and_a_journal() {
    let lost = PathBuf::from(format!("killed-{}", std::process::id()));
    let bench = Bench::new(&format!("hang@6,lost={}", lost.display()));
    let mut child = start(&bench, "--quick --only launch");
    wait_for("five results", || lines_of(&bench.path("box.yaml.partial.jsonl")) == 6);
    assert!(alive(&lost), "the child hangs in its sixth task");
    signal(&child, "KILL");
    child.wait().expect("it ends");
    wait_for("the end of the child", || !alive(&lost));
    let healed = Bench { folder: bench.folder, words: String::new() };
    healed.ends("--quick --only launch --resume", 0);
    assert_eq!(rows(&healed.text(), "launch"), 14);
}

#[test]
fn another_journal_is_refused_and_fresh_begins_anew() {
    let bench = Bench::new("crash@2");
    bench.ends("--quick --only launch", 0);
    assert!(bench.journal(), "a failed task may be tried again");
    let eight = Bench { folder: bench.folder, words: "gpus=8".to_owned() };
    let output = eight.ends("--quick --only launch --resume", 2);
    assert!(stderr(&output).contains("it was begun with 2x synthetic; --fresh begins anew"));
    let mut other = eight.command("--quick --only launch --resume");
    other.env("NCCL_ALGO", "Ring");
    assert_eq!(other.output().expect("it starts").status.code(), Some(2));
    eight.ends("--quick --only launch --fresh", 0);
    std::fs::write(eight.path("box.yaml.partial.jsonl"), "{}\n").expect("written");
    let output = eight.ends("--quick --only launch --resume", 2);
    assert!(stderr(&output).contains("its first line is not that of a journal"), "{}", stderr(&output));
}

#[test]
fn a_place_that_cannot_be_written_is_said_before_anything_is_measured() {
    let bench = Bench::new("");
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(bench.folder.path()).args([
        "calibrate",
        "--synthetic",
        "pause=1000",
        "-o",
        "nowhere/b.yaml",
    ]);
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("error: -o nowhere/b.yaml: there is no folder nowhere"),
        "{}",
        stderr(&output)
    );
    assert!(began.elapsed() < Duration::from_secs(5));
}

// ---------------------------------------------------------------------------------------------- what is written

#[test]
fn no_name_of_host_user_or_folder_reaches_the_file() {
    let bench = Bench::new("crash@2");
    let mut command = bench.command("--quick --only launch,collectives");
    command.env("NCCL_TOPO_FILE", "/home/anna/topo.xml").env("NCCL_COMM_ID", "secret-host:99");
    command.env("NCCL_DEBUG", "INFO").env("NCCL_DEBUG_FILE", "/tmp/anna").env("USER", "anna");
    command.env("NCCL_ALGO", "Ring").env("AWS_SECRET", "hush");
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let journal = std::fs::read_to_string(bench.path("box.yaml.partial.jsonl")).expect("a task failed");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let folder = bench.folder.path().display().to_string();
    for text in [bench.text(), journal] {
        for secret in ["anna", "secret-host", "hush", "NCCL_DEBUG", folder.as_str(), host.trim()] {
            assert!(secret.len() < 3 || !text.contains(secret), "`{secret}` stands in the file");
        }
        assert!(text.contains("NCCL_ALGO") && text.contains("(a file)"));
    }
    assert!(bench.text().contains("NCCL_COMM_ID: \"(set)\""));
}

#[test]
fn the_plan_and_the_summary_are_json_too() {
    let bench = Bench::new("gpus=4");
    let dry = bench.ends("--quick --dry-run -f json", 0);
    let plan: serde_json::Value = serde_json::from_str(&stdout(&dry)).expect("JSON");
    assert_eq!(plan["schema"], "specplan-calibrate-plan/1");
    assert!(plan["estimated_s"].as_f64().expect("a number") < 120.0);
    assert!(!bench.path("box.yaml").exists(), "a plan measures nothing");
    let run = bench.ends("--quick --only launch,collectives -f json", 0);
    let summary: serde_json::Value = serde_json::from_str(&stdout(&run)).expect("JSON");
    assert_eq!(summary["schema"], "specplan-calibrate-summary/1");
    assert_eq!(summary["synthetic"], true);
    let curves = summary["all_reduce"].as_array().expect("a list");
    assert!(curves[0]["busbw_gb_s"].as_f64().expect("a number") > 1.0);
    let graphs = curves.iter().take_while(|curve| curve["mode"] == "graph").count();
    assert!(graphs > 0 && curves[graphs..].iter().all(|curve| curve["mode"] != "graph"), "{curves:?}");
    assert!(curves.iter().all(|curve| curve["issue_bound"] == (curve["mode"] == "stream")), "{curves:?}");
    let text = stdout(&bench.ends("--quick --only launch,collectives --fresh", 0));
    for line in text.lines().filter(|line| line.contains(" nccl ")) {
        assert_eq!(line.contains("bound by issue"), line.contains(" stream "), "{line}");
    }
}

#[test]
fn a_scenario_names_the_shapes() {
    let scenario =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml");
    let bench = Bench::new("gpus=8");
    let arguments = format!("--quick --scenario {}", scenario.display());
    bench.ends(&arguments, 0);
    let text = bench.text();
    // A row of Kimi K2.5 is 7168 numbers of two bytes; its experts are int4, 384 of 2048, over 8 GPUs.
    assert!(text.contains("all-reduce,8,nccl,graph,p2p,,,,14336,"), "{}", &text[..3000]);
    assert!(text.contains("cuda,int4-g32,7168,2048,8,384,8,1,"));
    assert!(text.contains("kernel,cuda,,bf16,8,1,1,"));
    assert!(text.contains("command: \"specplan calibrate --gpus all --quick --scenario FILE\""));
    let observed = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/observed-only.yaml");
    let refused = bench.ends(&format!("--scenario {}", observed.display()), 2);
    assert!(stderr(&refused).contains("it names no model"), "{}", stderr(&refused));
}

#[test]
fn flags_are_checked_with_a_sentence() {
    let bench = Bench::new("gpus=2");
    for (arguments, said) in [
        ("--gpus 4", "error: --gpus asks for 4 GPUs, 2 are visible\n"),
        (
            "--gpus none",
            "error: --gpus takes all, how many (2) or which (0,3; a single one as `3,`), not `none`\n",
        ),
        (
            "--only nonsense",
            "error: --only takes launch, collectives, gemm, moe, attention, memory, links, variants, not `nonsense`\n",
        ),
    ] {
        assert_eq!(stderr(&bench.ends(arguments, 2)), said);
    }
}

/// `calibration/eight_gpus.sh`, with made-up times.
fn eight_gpus(bench: &Bench, call: &str, variables: &[(&str, &str)]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("calibration/eight_gpus.sh");
    let mut command = bench.command("");
    let mut script_command = Command::new("bash");
    script_command.arg(script).arg(call).current_dir(bench.folder.path()).stdin(Stdio::null());
    for (name, value) in command.env("SPECPLAN", env!("CARGO_BIN_EXE_specplan")).get_envs() {
        match value {
            Some(value) => script_command.env(name, value),
            None => script_command.env_remove(name),
        };
    }
    script_command.env("OUT", "results").envs(variables.iter().copied());
    script_command.output().expect("bash starts")
}

#[test]
fn three_calls_measure_eight_gpus_in_under_nine_minutes_each() {
    let bench = Bench::new("gpus=8");
    let plan = |call: &str, gpus: &str| {
        let output = eight_gpus(&bench, call, &[("PLAN", "yes"), ("GPUS", gpus)]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    // What the script of PyTorch may take on the whole box: 75 s, once in `full`, twice in `worlds`.
    for (call, probes, plans) in [("full", 1.0, 1), ("worlds", 2.0, 6)] {
        let printed = plan(call, "8");
        let plans_made = serde_json::Deserializer::from_str(&printed).into_iter::<serde_json::Value>();
        let seconds: Vec<f64> =
            plans_made.map(|plan| plan.expect("JSON")["estimated_s"].as_f64().expect("a number")).collect();
        assert_eq!(seconds.len(), plans, "{call}");
        let whole = seconds.iter().sum::<f64>() + probes * 75.0;
        assert!(whole < 540.0, "{call}: {whole}");
    }
    let reference = plan("reference", "8");
    let limits = reference.split("--limit ").skip(1).map(|rest| {
        rest.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).expect("a number")
    });
    // Beside the limits: two starts, and the cases that are running when a limit is reached.
    assert!(limits.sum::<f64>() + 120.0 <= 540.0, "{reference}");
    assert!(reference.contains("--gpus 8 --hardware h200-x8") && reference.contains("thin61"), "{reference}");
    assert_eq!(plan("worlds", "3").matches("estimated_s").count(), 4, "worlds of two and three");
    assert_eq!(eight_gpus(&bench, "full", &[("GPUS", "1")]).status.code(), Some(2));
    for (call, variables) in [("", ("GPUS", "8")), ("reference", ("PYTHON", ""))] {
        assert_eq!(eight_gpus(&bench, call, &[("GPUS", "8"), variables]).status.code(), Some(2));
    }
}

#[test]
fn the_calls_for_eight_gpus_write_files_of_all_worlds() {
    let bench = Bench::new("");
    let flags = [("GPUS", "8"), ("FLAGS", "--synthetic gpus=8 --quiet"), ("PYTHON", "")];
    for call in ["full", "worlds"] {
        let output = eight_gpus(&bench, call, &flags);
        assert!(output.status.success(), "{call}: {}", stderr(&output));
    }
    for (name, worlds, transport) in [
        ("full", &[2, 4, 8][..], "p2p"),
        ("worlds-8", &[2, 4, 8], "p2p"),
        ("worlds-8-shm", &[2, 4, 8], "shm"),
        // The made-up box shows all of its GPUs whatever is asked for.
        ("worlds-4", &[2, 4, 8], "p2p"),
        ("worlds-2-shm", &[2, 4, 8], "shm"),
    ] {
        let text = std::fs::read_to_string(bench.path(&format!("results/{name}.yaml"))).expect(name);
        for ranks in [2, 4, 8] {
            let row = format!("all-reduce,{ranks},nccl,graph,{transport},");
            assert_eq!(text.contains(&row), worlds.contains(&ranks), "{name}: {row}");
        }
    }
}
