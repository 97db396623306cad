//! `specplan calibrate`: measures the GPUs of this host and writes a calibration.
//!
//! The plan is printed before; results go to a journal one by one and to the file after each part; whatever ends a run
//! early, what it has stays.

mod files;
mod gpus;
mod shapes;
mod show;
mod watch;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::args::{CalibrateArgs, CalibrateFormat};
use super::calibrate_worker::WORKER;
use super::exit::Failure;
use super::output::{color_stderr, say};
use crate::calibration::measure::child::Launcher;
use crate::calibration::measure::drive::{self, Driver, Ending};
use crate::calibration::measure::journal::{self, Header, JOURNAL, Journal, Record};
use crate::calibration::measure::plan::{self, Depth, Part, Plan, Shapes, Wish};
use crate::calibration::measure::{FailureKind, Inspection, facts, privacy};
use crate::diagnostic::render_all;
use crate::scenario::{self, Overrides, Setup};
use files::Files;
use watch::Watch;

/// Measures.
pub(super) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    let chosen = gpus::parse(&args.gpus)?;
    let parts = parts(args)?;
    let shapes = args.scenario.as_ref().map(|_| shapes_of(args)).transpose()?;
    let environment = environment();
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    let launcher = launcher(args, chosen.devices(visible.as_deref())?)?;
    let watch = Watch::start(args.quiet);
    let found = look(args, &launcher, &chosen, &watch)?;
    let ranks = shapes.as_ref().map_or(0, |shapes| shapes.ranks);
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let wish = Wish { depth, parts, shapes, environment };
    let plan = plan::plan(&wish, &found);
    if args.dry_run {
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
    let run =
        Run { args, launcher: &launcher, found: &found, plan: &plan, wish: &wish, files: &files, command };
    run.measure(&watch)
}

/// A run that is about to start.
struct Run<'a> {
    args: &'a CalibrateArgs,
    launcher: &'a Launcher,
    found: &'a Inspection,
    plan: &'a Plan,
    wish: &'a Wish,
    files: &'a Files,
    command: String,
}

impl Run<'_> {
    fn measure(&self, watch: &Watch) -> Result<(), Failure> {
        let header = Header {
            journal: JOURNAL.to_owned(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            found: self.found.clone(),
            environment: self.environment(),
        };
        let mut records = self.earlier(&header)?;
        let cannot =
            |error| Failure::Input(format!("cannot write {}: {error}", self.files.journal.display()));
        let mut journal = Journal::create(&self.files.journal, &header, &records).map_err(cannot)?;
        let mut trouble = None;
        let mut tell = |event: drive::Event| {
            if let drive::Event::GroupDone { records } = event {
                // A file that cannot be written now may be written later; the journal has everything.
                trouble = self.write(records, true).err();
            } else {
                watch.tell(&event);
            }
        };
        let stop = || watch.stopped();
        let mut driver = Driver {
            launcher: self.launcher,
            found: self.found,
            stop: &stop,
            watch: &mut tell,
            journal: &mut journal,
            limit: self.args.limit_ms.map(Duration::from_millis),
        };
        let ending = drive::run(&mut driver, self.plan, &mut records);
        watch.finish();
        drop(trouble);
        self.end(&ending, &records)
    }

    fn end(&self, ending: &Ending, records: &[Record]) -> Result<(), Failure> {
        let whole = matches!(ending, Ending::Complete);
        let written = self.write(records, !whole)?;
        if whole && records.iter().all(Record::settled) {
            let _ = std::fs::remove_file(&self.files.journal);
        }
        if let Some(draft) = &written {
            self.files.summary(self.args, draft, records, self.found)?;
        }
        let resume = format!("the same command with --resume continues ({})", self.files.journal.display());
        match ending {
            Ending::Complete if written.is_none() => {
                Err(Failure::Input(format!("no measurement succeeded: {}", first_failure(records))))
            }
            Ending::Complete => {
                let failed = records.iter().filter(|record| !record.settled()).count();
                if failed > 0 && !self.args.quiet {
                    let were = if failed == 1 { "measurement" } else { "measurements" };
                    say(&format!("note: {failed} {were} failed; {resume}"));
                }
                Ok(())
            }
            Ending::Stopped => {
                say(&format!("interrupted; what was measured is kept: {resume}"));
                Err(Failure::Interrupted)
            }
            Ending::Lost(failure) => {
                say(&format!(
                    "error: a GPU was lost: {}; what was measured is kept: {resume}",
                    failure.because
                ));
                Err(Failure::Reported)
            }
            Ending::Journal(error) => {
                Err(Failure::Input(format!("cannot write {}: {error}", self.files.journal.display())))
            }
        }
    }

    fn write(&self, records: &[Record], partial: bool) -> Result<Option<crate::calibration::Draft>, Failure> {
        self.files.write(records, self.found, &self.environment(), self.plan, &self.command, partial)
    }

    fn environment(&self) -> Vec<(String, String)> {
        let shown = |(name, value): &(String, String)| (name.clone(), privacy::value(name, value));
        self.wish.environment.iter().map(shown).collect()
    }

    /// What an earlier run measured.
    fn earlier(&self, header: &Header) -> Result<Vec<Record>, Failure> {
        let path = &self.files.journal;
        if !path.exists() {
            if self.args.resume && !self.args.quiet {
                say("note: there is nothing to resume; everything is measured");
            }
            return Ok(Vec::new());
        }
        if self.args.fresh {
            return Ok(Vec::new());
        }
        if !self.args.resume {
            return Err(Failure::Input(format!(
                "{} is the journal of a run that ended early: --resume continues it, --fresh begins anew",
                path.display()
            )));
        }
        let faulty = |error| {
            Failure::Input(format!("cannot resume from {}: {error}; --fresh begins anew", path.display()))
        };
        let (earlier, records) = journal::read(path).map_err(faulty)?;
        match other_box(&earlier, header) {
            None => Ok(records),
            Some(what) => Err(Failure::Input(format!(
                "cannot resume from {}: it was begun with {what}; --fresh begins anew",
                path.display()
            ))),
        }
    }
}

/// What makes two boxes different ones.
fn other_box(earlier: &Header, now: &Header) -> Option<String> {
    let names = |header: &Header| header.found.gpus.iter().map(|gpu| gpu.name.clone()).collect::<Vec<_>>();
    if names(earlier) != names(now) {
        let count = earlier.found.gpus.len();
        let name = names(earlier).into_iter().next().unwrap_or_default();
        return Some(format!("{count}x {}", facts::preset_of(&name)));
    }
    for (what, a, b) in
        [("driver", &earlier.found.driver, &now.found.driver), ("specplan", &earlier.tool, &now.tool)]
    {
        if a != b {
            return Some(format!("{what} {a}"));
        }
    }
    if earlier.found.nccl != now.found.nccl {
        return Some(format!("NCCL {}", earlier.found.nccl.as_deref().unwrap_or("none")));
    }
    if earlier.found.synthetic != now.found.synthetic {
        return Some("another meter".to_owned());
    }
    (earlier.environment != now.environment).then(|| "other NCCL_* variables".to_owned())
}

fn first_failure(records: &[Record]) -> String {
    records.iter().find_map(|r| r.result.as_ref().err()).map_or_else(String::new, |f| f.because.clone())
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

fn launcher(args: &CalibrateArgs, devices: Option<String>) -> Result<Launcher, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Input(format!("the program cannot find itself: {error}")))?;
    let mut arguments = vec![WORKER.to_owned()];
    if let Some(words) = &args.synthetic {
        arguments.extend(["--synthetic".to_owned(), words.clone()]);
    }
    Ok(Launcher { program, arguments, devices })
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
