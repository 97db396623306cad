//! `specplan calibrate`: measures the GPUs of this host and writes a calibration.
//!
//! The plan is printed before; results go to a journal one by one and to the file after each part; whatever ends a run
//! early, what it has stays.

mod files;
mod gpus;
mod measure;
mod shapes;
mod show;
mod torch;
mod watch;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::args::{CalibrateArgs, CalibrateFormat};
use super::calibrate_worker::WORKER;
use super::exit::Failure;
use super::output::{color_stderr, say};
use crate::calibration::measure::child::Launcher;
use crate::calibration::measure::drive;
use crate::calibration::measure::gpu::{Libraries, Places};
use crate::calibration::measure::plan::{self, Depth, Part, Plan, Shapes, Wish};
use crate::calibration::measure::{FailureKind, Inspection, facts};
use crate::diagnostic::render_all;
use crate::scenario::{self, Overrides, Setup};
use files::Files;
use measure::Run;
use watch::Watch;

/// Measures.
pub(super) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    preflight(args)?;
    let chosen = gpus::parse(&args.gpus)?;
    let parts = parts(args)?;
    let shapes = args.scenario.as_ref().map(|_| shapes_of(args)).transpose()?;
    let environment = environment();
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    let libraries = libraries(args)?;
    let launcher = launcher(args, chosen.devices(visible.as_deref())?, libraries.as_ref())?;
    let watch = Watch::start(args.quiet);
    let found = look(args, &launcher, &chosen, &watch)?;
    let ranks = shapes.as_ref().map_or(0, |shapes| shapes.ranks);
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let wish = Wish { depth, parts, shapes, environment };
    let plan = plan::plan(&wish, &found);
    if args.dry_run {
        Files::of(args, &found).check(args)?;
        return print_plan(args, &plan, &found);
    }
    if plan.groups.is_empty() {
        say(show::plan_text(&plan, &found).trim_end());
        return Err(Failure::Input("nothing of what was asked for can be measured here".to_owned()));
    }
    if !args.quiet {
        say(show::plan_text(&plan, &found).trim_end());
        if ranks > found.gpus.len() as u32 {
            say(&format!(
                "note: the scenario splits its model over {ranks} GPUs, {} are visible: collectives of {ranks} stay unmeasured",
                found.gpus.len()
            ));
        }
    }
    let files = Files::of(args, &found);
    let command = command_words(args, &chosen, depth);
    let python = torch::python(args, &wish.parts);
    if let (Some(_), false) = (&python, args.quiet) {
        let limit = torch::limit(depth).as_secs();
        say(&format!("  pytorch      at most {limit} s more, with the python that was found"));
    }
    let (launcher, found, plan, wish, files) = (&launcher, &found, &plan, &wish, &files);
    let run = Run { args, launcher, found, plan, wish, files, command, python };
    run.measure(&watch)
}

/// What makes a run impossible, whatever the box: told before anything is measured, and before a plan is promised.
fn preflight(args: &CalibrateArgs) -> Result<(), Failure> {
    let told = |what: String| Err(Failure::Input(what));
    if args.scenario.is_none() && !(args.overrides.set.is_empty() && args.overrides.unset.is_empty()) {
        return told("--set and --unset change the scenario: add --scenario FILE".to_owned());
    }
    if let Some(python) = args.python.as_ref().filter(|python| args.dry_run && !is_program(python)) {
        // A run measures the rest all the same.
        say(&format!("note: --python {}: no such program, so PyTorch stays unmeasured", python.display()));
    }
    let Some(output) = &args.output else { return Ok(()) };
    if output.is_dir() {
        return told(format!("-o {} is a folder; name a file in it", output.display()));
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return told(format!("-o {}: there is no folder {}", output.display(), folder.display()));
    }
    let same = |input: &PathBuf| {
        let (input, output) = (input.canonicalize(), output.canonicalize());
        input.is_ok_and(|input| output.is_ok_and(|output| input == output))
    };
    if args.scenario.as_ref().is_some_and(same) {
        return told(format!("-o {} would overwrite an input", output.display()));
    }
    Ok(())
}

/// Whether it is a file, or a plain name that the PATH knows.
fn is_program(python: &std::path::Path) -> bool {
    let plain = python.components().count() == 1 && !python.is_absolute();
    let paths = std::env::var_os("PATH").filter(|_| plain).unwrap_or_default();
    python.is_file() || std::env::split_paths(&paths).any(|folder| folder.join(python).is_file())
}

fn parts(args: &CalibrateArgs) -> Result<BTreeSet<Part>, Failure> {
    if args.only.is_empty() {
        let all = Part::ALL.into_iter();
        return Ok(all.filter(|part| !args.quick || *part != Part::Variants).collect());
    }
    let mut parts = BTreeSet::new();
    for word in args.only.iter().map(|word| word.trim()) {
        let part = Part::from_word(word).ok_or_else(|| {
            let words: Vec<&str> = Part::ALL.iter().map(|part| part.word()).collect();
            Failure::Input(format!("--only takes {}, not `{word}`", words.join(", ")))
        })?;
        parts.insert(part);
        // Forced algorithms belong to the collectives of a full run.
        if part == Part::Collectives && !args.quick {
            parts.insert(Part::Variants);
        }
    }
    Ok(parts)
}

fn shapes_of(args: &CalibrateArgs) -> Result<Shapes, Failure> {
    let Some(path) = &args.scenario else { return Ok(Shapes::default()) };
    let overrides = Overrides { set: args.overrides.set.clone(), unset: args.overrides.unset.clone() };
    let (_, loaded) = scenario::open(path, &overrides, &scenario::Builtin).map_err(|diagnostics| {
        say(render_all(&diagnostics, color_stderr(args.color)).trim_end());
        Failure::Reported
    })?;
    match loaded.variation.as_ref().unwrap_or(&loaded.base) {
        Setup::Modelled(setup) => Ok(shapes::of(setup)),
        Setup::Observed(_) => Err(Failure::Input(format!(
            "{}: it names no model, so there are no shapes to measure: leave --scenario out for a general grid",
            path.display()
        ))),
    }
}

/// NCCL_* variables that shape the times.
fn environment() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| plan::is_ours(name))
        .collect();
    found.sort();
    found
}

/// Links to the libraries of a Python environment, for as long as children live.
fn libraries(args: &CalibrateArgs) -> Result<Option<Libraries>, Failure> {
    if args.synthetic.is_some() {
        return Ok(None);
    }
    let found = Libraries::find(&Places::here(args.python.as_deref()));
    found.map(Some).map_err(|error| Failure::Input(format!("links to the CUDA libraries: {error}")))
}

fn launcher(
    args: &CalibrateArgs,
    devices: Option<String>,
    libraries: Option<&Libraries>,
) -> Result<Launcher, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Input(format!("the program cannot find itself: {error}")))?;
    let mut arguments = vec![WORKER.to_owned()];
    if let Some(words) = &args.synthetic {
        arguments.extend(["--synthetic".to_owned(), words.clone()]);
    }
    Ok(Launcher { program, arguments, devices, library_path: libraries.and_then(Libraries::search_path) })
}

/// The box; where a plan alone is asked for and there is none, a made-up one of so many GPUs.
fn look(
    args: &CalibrateArgs,
    launcher: &Launcher,
    chosen: &gpus::Gpus,
    watch: &Watch,
) -> Result<Inspection, Failure> {
    let found = match drive::inspect(launcher, &|| watch.stopped()) {
        Ok(Some(found)) => found,
        Ok(None) => return Err(Failure::Interrupted),
        Err(failure) => {
            if let (true, Some(count)) = (args.dry_run, chosen.count()) {
                say(&format!(
                    "note: {}; the plan is for {count} GPUs that can map each other's memory",
                    failure.because
                ));
                return Ok(files::imagined(count));
            }
            let hint =
                if args.dry_run { " (--dry-run --gpus 8 plans for 8 GPUs without looking)" } else { "" };
            return Err(Failure::Input(match failure.kind {
                FailureKind::NoDevice | FailureKind::LibraryMissing => {
                    format!("calibrate needs an NVIDIA GPU on this machine: {}{hint}", failure.because)
                }
                _ => format!("the GPUs of this machine cannot be inspected: {}", failure.because),
            }));
        }
    };
    match chosen.count() {
        Some(count) if count as usize > found.gpus.len() => {
            Err(Failure::Input(format!("--gpus asks for {count} GPUs, {} are visible", found.gpus.len())))
        }
        _ => Ok(found),
    }
}

fn print_plan(args: &CalibrateArgs, plan: &Plan, found: &Inspection) -> Result<(), Failure> {
    let text = match args.format {
        CalibrateFormat::Text => show::plan_text(plan, found),
        CalibrateFormat::Json => files::pretty(&show::plan_json(plan, found)),
    };
    files::print(&text)
}

/// The command as the file states it, without paths.
fn command_words(args: &CalibrateArgs, chosen: &gpus::Gpus, depth: Depth) -> String {
    let mut words = vec!["specplan calibrate".to_owned(), format!("--gpus {}", chosen.word())];
    if depth == Depth::Quick {
        words.push("--quick".to_owned());
    }
    if args.scenario.is_some() {
        words.push("--scenario FILE".to_owned());
    }
    if !args.only.is_empty() {
        words.push(format!("--only {}", args.only.join(",")));
    }
    words.join(" ")
}

/// A path of the user's, or the one that belongs to the box.
fn output(args: &CalibrateArgs, found: &Inspection) -> PathBuf {
    args.output.clone().unwrap_or_else(|| {
        let name = found.gpus.first().map_or_else(String::new, |gpu| facts::preset_of(&gpu.name));
        format!("{name}-x{}.yaml", found.gpus.len()).into()
    })
}
