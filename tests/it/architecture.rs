//! Holds the source to its architecture: who may use whom, and which calls may stand where.
//!
//! `scan` reads the source, `table` is the law, and this file compares them. Every rule is a function from
//! source text to faults, so that the tests at the end can show each of them failing.

mod scan;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use table::{CLOSED, LONG_FILES, OPEN, Row, TABLE};

/// Longest file, in lines.
const LONGEST_FILE: usize = 500;

/// One source file: its path below `src`, its text, and its code without comments, strings and tests.
struct File {
    path: String,
    text: String,
    code: String,
}

impl File {
    /// The module that the file holds, as `cost::pass`.
    fn module(&self) -> String {
        scan::module_of(&self.path).join("::")
    }

    /// Whether the file belongs to one of the modules.
    fn is_in(&self, modules: &[&str]) -> bool {
        modules.iter().any(|m| self.path == *m || within(&self.module(), m))
    }
}

/// Whether `path` is `module` or lies in it.
fn within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The files of a source tree, test files left out.
fn files_from(sources: &BTreeMap<String, String>) -> Vec<File> {
    let mut files = Vec::new();
    let mut test_modules = Vec::new();
    for (path, text) in sources {
        let (code, declared) = scan::without_tests(&scan::code_only(text), &scan::module_of(path));
        test_modules.extend(declared.iter().map(|path| path.join("::")));
        files.push(File { path: path.clone(), text: text.clone(), code });
    }
    files.retain(|file| !test_modules.iter().any(|tests| within(&file.module(), tests)));
    files
}

/// The files of this crate.
fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a source folder can be listed") {
            let path = entry.expect("a folder entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(&root).expect("found below the root");
                let name = name.to_str().expect("file names are UTF-8").replace('\\', "/");
                sources.insert(name, std::fs::read_to_string(&path).expect("a source file is UTF-8"));
            }
        }
    }
    files_from(&sources)
}

/// Fails with all faults, so that one run shows them all.
#[track_caller]
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

// ---------------------------------------------------------------------------------------------------- rules

/// The most specific row that holds a path.
fn row_of(path: &str) -> Option<&'static Row> {
    TABLE.iter().filter(|row| within(path, row.module)).max_by_key(|row| row.module.len())
}

/// Paths that the table does not allow, each with the row that forbids it.
fn forbidden_uses(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        let module = file.module();
        // The crate root declares and re-exports; the binary calls the command line.
        if module.is_empty() {
            continue;
        }
        let Some(row) = row_of(&module) else {
            faults.push(format!("src/{}: module `{module}` has no row in the table", file.path));
            continue;
        };
        for used in scan::uses(&file.code, &scan::module_of(&file.path)) {
            let path = used.path.join("::");
            let Some(top) = used.path.first() else { continue };
            let Some(target) = row_of(&path) else {
                faults.push(format!(
                    "src/{}:{}: `{path}`: name the module of a re-export",
                    file.path, used.line
                ));
                continue;
            };
            let own = target.module == row.module;
            let open = OPEN.contains(&top.as_str()) && !CLOSED.contains(&row.module);
            let listed = |allowed: &&str| {
                within(&path, allowed) && row_of(allowed).map(|r| r.module) == Some(target.module)
            };
            if !(own || open || row.may_use.iter().any(listed)) {
                faults.push(format!(
                    "src/{}:{}: `{}` uses `{path}`; row: {} may use [{}], because {}",
                    file.path,
                    used.line,
                    module,
                    row.module,
                    row.may_use.join(", "),
                    row.because
                ));
            }
        }
    }
    faults
}

/// A call that may stand only in some modules (or files).
struct Confined {
    call: &'static str,
    only_in: &'static [&'static str],
    because: &'static str,
}

const CONFINED: &[Confined] = &[
    Confined { call: "println!", only_in: &["cli", "main.rs"], because: "the library prints nothing" },
    Confined { call: "print!", only_in: &["cli", "main.rs"], because: "the library prints nothing" },
    Confined { call: "eprintln!", only_in: &["cli", "main.rs"], because: "the library prints nothing" },
    Confined { call: "eprint!", only_in: &["cli", "main.rs"], because: "the library prints nothing" },
    Confined { call: "dbg!", only_in: &[], because: "the library prints nothing" },
    Confined { call: "process::exit", only_in: &["cli", "main.rs"], because: "only the program ends itself" },
    Confined {
        call: "HashMap",
        only_in: &[],
        because: "its order changes from run to run: BTreeMap, IndexMap",
    },
    Confined {
        call: "HashSet",
        only_in: &[],
        because: "its order changes from run to run: BTreeSet, IndexSet",
    },
    Confined {
        call: "SystemTime::now",
        only_in: &["cli", "calibration::measure"],
        because: "a result must not depend on the clock",
    },
    Confined {
        call: "Instant::now",
        only_in: &["cli", "calibration::measure"],
        because: "a result must not depend on the clock",
    },
    Confined {
        call: "StdRng",
        only_in: &[],
        because: "its values change between versions: name a generator",
    },
    Confined {
        call: "SmallRng",
        only_in: &[],
        because: "its values change between platforms: name a generator",
    },
    Confined { call: "rand::rng", only_in: &[], because: "every draw comes from a stated seed" },
    Confined { call: "thread_rng", only_in: &[], because: "every draw comes from a stated seed" },
    Confined {
        call: "serde_yaml",
        only_in: &["scenario", "calibration"],
        because: "YAML is read in two places",
    },
    Confined { call: "serde(flatten", only_in: &[], because: "it loses the place in the file" },
];

/// Calls that stand where they may not.
fn misplaced_calls(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for rule in CONFINED {
        for file in files.iter().filter(|file| !file.is_in(rule.only_in)) {
            for line in scan::lines_with(&file.code, rule.call) {
                faults.push(format!("src/{}:{line}: `{}`: {}", file.path, rule.call, rule.because));
            }
        }
    }
    faults
}

/// Parameters that carry their unit in the name because their type does not.
fn unit_less_parameters(files: &[File]) -> Vec<String> {
    const SUFFIXES: [&str; 9] = ["_s", "_ms", "_us", "_ns", "_bytes", "_kib", "_gb", "_gbs", "_tflops"];
    let mut faults = Vec::new();
    // Constructors of the quantities themselves state the unit of the number they take.
    for file in files.iter().filter(|file| !file.is_in(&["units"])) {
        for (line, name) in scan::f64_parameters(&file.code) {
            if SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
                faults.push(format!("src/{}:{line}: `{name}: f64` wants a unit type", file.path));
            }
        }
    }
    faults
}

/// Files that are too long, or do not say what they are for.
fn misshapen_files(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        let lines = file.text.lines().count();
        let limit = match file.path.as_str() {
            "main.rs" => 40,
            "lib.rs" => 150,
            _ => LONGEST_FILE,
        };
        if lines > limit && !LONG_FILES.iter().any(|(path, _)| *path == file.path) {
            faults.push(format!("src/{}: {lines} lines, more than {limit}", file.path));
        }
        if !file.text.starts_with("//!") {
            faults.push(format!("src/{}:1: a module starts with `//!`: what it is for", file.path));
        }
        if file.path.ends_with("mod.rs") {
            faults.push(format!("src/{}: `foo.rs` beside `foo/`, not `foo/mod.rs`", file.path));
        }
    }
    faults
}

// ---------------------------------------------------------------------------------------------- the crate

#[test]
fn modules_use_only_what_the_table_allows() {
    assert_none(&forbidden_uses(&files()));
}

#[test]
fn calls_stand_only_where_they_may() {
    assert_none(&misplaced_calls(&files()));
}

#[test]
fn parameters_have_unit_types() {
    assert_none(&unit_less_parameters(&files()));
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    assert_none(&misshapen_files(&files()));
}

#[test]
fn the_table_runs_in_one_direction() {
    for (at, row) in TABLE.iter().enumerate() {
        for used in row.may_use {
            let above = TABLE[..at].iter().any(|earlier| within(used, earlier.module));
            assert!(above, "`{}` may use `{used}`, which is not above it in the table", row.module);
        }
    }
}

#[test]
fn the_architecture_page_shows_the_same_table() {
    let page = include_str!("../../ARCHITECTURE.md");
    for row in TABLE {
        let named = page.lines().any(|line| {
            line.starts_with('|')
                && line.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{}`", row.module)))
        });
        assert!(named, "ARCHITECTURE.md has no row for `{}`", row.module);
    }
}

#[test]
fn long_files_have_a_reason_and_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, reason) in LONG_FILES {
        assert!(root.join(path).is_file(), "src/{path} is excused, but does not exist");
        assert!(reason.len() > 10, "src/{path} needs a reason to be longer than {LONGEST_FILE} lines");
    }
}

// ------------------------------------------------------------------------------- the rules can fail

/// Files as they would be read from disk.
fn tree(sources: &[(&str, &str)]) -> Vec<File> {
    files_from(&sources.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

fn used(code: &str, module: &[&str]) -> Vec<String> {
    let module: Vec<String> = module.iter().map(|s| (*s).to_owned()).collect();
    let (code, _) = scan::without_tests(&scan::code_only(code), &module);
    scan::uses(&code, &module).into_iter().map(|u| format!("{}:{}", u.line, u.path.join("::"))).collect()
}

#[test]
fn paths_are_found_in_every_form() {
    for (code, module, expected) in [
        ("use crate::units::Seconds;", &["cost"][..], &["1:units::Seconds"][..]),
        ("pub use crate::a::b as c;", &["cost"], &["1:a::b"]),
        ("use crate::{a::{B, c::D}, e};", &["cost"], &["1:a::B", "1:a::c::D", "1:e"]),
        ("use crate::a::{\n    self,\n    B,\n};", &["cost"], &["2:a", "3:a::B"]),
        ("use crate::a::*;", &["cost"], &["1:a"]),
        (
            "fn f(x: crate::a::B) -> crate::c::D { crate::e::f::<u8>(x) }",
            &[],
            &["1:a::B", "1:c::D", "1:e::f"],
        ),
        ("use super::pass::P;", &["cost", "price"], &["1:cost::pass::P"]),
        ("use super::super::des::Q;", &["cost", "price"], &["1:des::Q"]),
        ("use super::des::Q;", &["cost"], &["1:des::Q"]),
        ("use self::b::C;", &["cost"], &["1:cost::b::C"]),
        ("mod inner { use super::super::x::Y; }\nuse super::z::W;", &["cost"], &["1:x::Y", "2:z::W"]),
        ("fn main() { specplan::cli::run() }", &[], &["1:cli::run"]),
        ("macro_rules! m { () => { $crate::a::b() } }", &["cost"], &["1:a::b"]),
        ("pub(crate) fn f() {}\nlet x = other::crate_name::y;", &["cost"], &[]),
    ] {
        assert_eq!(used(code, module), expected, "{code}");
    }
}

#[test]
fn comments_strings_and_tests_hide_nothing_and_show_nothing() {
    for code in [
        "// use crate::a::B;",
        "/* use crate::a::B; /* nested */ use crate::c; */",
        "/// [`crate::a::B`]\nfn f() {}",
        "const S: &str = \"use crate::a::B; \\\" crate::c::d\";",
        "const S: &str = r#\"crate::a::B \" crate::c\"#;",
        "const C: char = '\"'; const D: char = '\\''; // crate::a",
        "#[cfg(test)]\nmod tests {\n    use crate::a::B;\n    fn f() { let s = \"}\"; }\n}",
        "#[cfg(test)]\nuse crate::a::B;",
        "#[cfg(test)]\n#[allow(dead_code)]\nfn f() -> crate::a::B { todo!() }",
    ] {
        assert_eq!(used(code, &["cost"]), [""; 0], "{code}");
    }
    // What follows them is seen again, at its own line, and lifetimes are no characters.
    for code in [
        "/* one\n two */ use crate::a::B;",
        "const S: &str = \"one\n two\"; use crate::a::B;",
        "#[cfg(test)]\nmod tests { fn f<'a>(x: &'a str) {} } use crate::a::B;",
        "fn f<'a, 'b>(x: &'a str, y: &'b str) {}\nuse crate::a::B;",
        "const C: u8 = b'\"';\nuse crate::a::B;",
        "const S: &[u8] = br\"\\\";\nuse crate::a::B;",
    ] {
        assert_eq!(used(code, &["cost"]), ["2:a::B"], "{code}");
    }
}

#[test]
fn a_forbidden_use_is_reported_with_its_row() {
    let faults = forbidden_uses(&tree(&[
        ("analytic.rs", "//! x\nmod a;\n"),
        ("analytic/a.rs", "//! x\nuse crate::machine::Run;\nuse crate::units::Seconds;\n"),
    ]));
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].starts_with("src/analytic/a.rs:2: `analytic::a` uses `machine::Run`"), "{}", faults[0]);
    assert!(faults[0].contains("row: analytic may use [speculation]"), "{}", faults[0]);
}

#[test]
fn each_kind_of_row_forbids() {
    for (path, code, faulty) in [
        ("des/queue.rs", "use crate::units::Seconds;", false),
        ("des/queue.rs", "use crate::sourced::Source;", true),
        ("model/types.rs", "use crate::hardware::Gpu;", true),
        ("calibration/file.rs", "use crate::model::KvFormat;", false),
        ("calibration/file.rs", "use crate::model::Model;", true),
        ("calibration/file.rs", "use crate::model;", true),
        ("calibration/measure/gemm.rs", "use crate::calibration::Table;", false),
        ("calibration/file.rs", "use crate::calibration::measure::run;", true),
        ("evaluate.rs", "use crate::calibration::Calibration;", false),
        ("evaluate.rs", "use crate::calibration::measure::run;", true),
        ("cli/calibrate.rs", "use crate::calibration::measure::run;", false),
        ("cost.rs", "use crate::Prediction;", true),
        ("report/text.rs", "use crate::evaluate::run;", true),
        ("evaluate.rs", "use crate::des::Time;", true),
        ("evaluate.rs", "use crate::cli;", true),
        ("cli/run.rs", "use crate::{evaluate, report::Report};", false),
        ("unheard_of.rs", "", true),
    ] {
        let faults = forbidden_uses(&tree(&[(path, code)]));
        assert_eq!(!faults.is_empty(), faulty, "{path}: {code}: {faults:?}");
    }
}

#[test]
fn test_files_are_exempt() {
    let faults = forbidden_uses(&tree(&[
        ("model.rs", "//! x\n#[cfg(test)]\nmod tests;\n"),
        ("model/tests.rs", "use crate::hardware::Gpu;\nuse std::collections::HashMap;\n"),
        ("model/moe.rs", "//! x\n#[cfg(test)]\n#[path = \"moe_laws.rs\"]\nmod laws;\n"),
        ("model/moe_laws.rs", "use crate::hardware::Gpu;\n"),
    ]));
    assert_none(&faults);
}

#[test]
fn misplaced_calls_are_reported() {
    for (path, code, count) in [
        ("cost.rs", "fn f() { println!(\"x\"); }", 1),
        ("cost.rs", "fn f() { eprintln!(\"x\"); std::process::exit(1); }", 2),
        ("cli/run.rs", "fn f() { println!(\"x\"); std::process::exit(1); }", 0),
        ("main.rs", "fn main() { std::process::exit(1); }", 0),
        ("cost.rs", "use std::collections::{HashMap, HashSet};", 2),
        ("cost.rs", "type MyHashMapper = u8; // HashMap", 0),
        ("report/text.rs", "let t = std::time::Instant::now();", 1),
        ("calibration/measure/timer.rs", "let t = Instant::now();", 0),
        ("calibration/file.rs", "let t = Instant::now();", 1),
        ("hardware/parse.rs", "use serde_yaml::Value;", 1),
        ("scenario/load.rs", "#[serde(flatten)]\nx: X,", 1),
    ] {
        let faults = misplaced_calls(&tree(&[(path, code)]));
        assert_eq!(faults.len(), count, "{path}: {code}: {faults:?}");
    }
}

#[test]
fn unit_less_parameters_are_reported() {
    for (code, count) in [
        ("fn f(time_ms: f64) {}", 1),
        ("pub fn f(\n    a: u32,\n    mut size_bytes: f64,\n) -> f64 { 0.0 }", 1),
        ("fn f<T: Fn(u8) -> f64>(rate_gbs: f64) {}", 1),
        ("fn from_ms(ms: f64) {}", 0),
        ("fn f(time: Seconds, ratio: f64) {}", 0),
        ("struct Json { verify_ms: f64 }", 0),
    ] {
        let faults = unit_less_parameters(&tree(&[("cost.rs", code)]));
        assert_eq!(faults.len(), count, "{code}: {faults:?}");
    }
}

#[test]
fn misshapen_files_are_reported() {
    let long = format!("//! x\n{}", "\n".repeat(LONGEST_FILE));
    let program = format!("//! x\n{}", "\n".repeat(40));
    for (path, text, count) in [
        ("cost.rs", "//! What it is for.\n", 0),
        ("cost.rs", "use x;\n", 1),
        ("cost.rs", &long, 1),
        ("main.rs", &program, 1),
        ("cost/mod.rs", "//! x\n", 1),
    ] {
        assert_eq!(misshapen_files(&tree(&[(path, text)])).len(), count, "{path}");
    }
}
