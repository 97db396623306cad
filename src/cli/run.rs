//! `specplan run`: the answer to one or more scenarios.

use std::path::Path;

use super::args::{Format, RunArgs};
use super::exit::Failure;
use super::output::{Output, color_stderr, say};
use super::{plots, words};
use crate::analytic::Prediction;
use crate::diagnostic::{Diagnostics, render_all};
use crate::evaluate;
use crate::report::{self, Context, Style};
use crate::scenario::{self, Library, Loaded, Overrides};

/// A scenario that was answered.
struct Answered {
    prediction: Prediction,
    context: Context,
}

/// Answers every file; faulty ones are reported and the others answered all the same.
pub(super) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(least) = args.fail_below.filter(|least| !(least.is_finite() && *least >= 0.0)) {
        return Err(Failure::Input(format!("--fail-below takes a speedup such as 1.0, not {least}")));
    }
    let mut output = Output::open(&args.out, &args.files)?;
    let colour = color_stderr(args.out.color);
    if let Some(folder) = &args.plots {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::Input(format!("cannot make {}: {error}", folder.display())))?;
    }
    let overrides = Overrides { set: args.overrides.set.clone(), unset: args.overrides.unset.clone() };
    let library = scenario::Builtin;
    let mut answers = Vec::new();
    let mut faulty = false;
    for path in &args.files {
        match load(path, &overrides, &library) {
            Err(diagnostics) => {
                say(render_all(&diagnostics, colour).trim_end());
                faulty = true;
            }
            Ok(loaded) => {
                if !args.out.quiet {
                    notes(&loaded);
                }
                answers.push(answer(&loaded, path, args)?);
            }
        }
    }
    output.write(&rendered(&answers, args, output.color)?)?;
    if faulty {
        return Err(Failure::Reported);
    }
    below(&answers, args)
}

fn load(path: &Path, overrides: &Overrides, library: &dyn Library) -> Result<Loaded, Diagnostics> {
    scenario::open(path, overrides, library).map(|(_, loaded)| loaded)
}

/// Numbered notes on stderr: defaults that matter, variables without effect.
pub(super) fn notes(loaded: &Loaded) {
    let setup = loaded.variation.as_ref().unwrap_or(&loaded.base);
    let notes = loaded.notes.iter().cloned().chain(super::notes::collective(setup));
    let notes = notes.chain(super::notes::does_not_fit(setup));
    for (number, note) in notes.enumerate() {
        say(&format!("note [{}]: {note}", number + 1));
    }
}

fn answer(loaded: &Loaded, path: &Path, args: &RunArgs) -> Result<Answered, Failure> {
    let prediction = evaluate::answer(loaded);
    let setup = loaded.variation.as_ref().unwrap_or(&loaded.base);
    let mut context = Context {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: args.seed,
        scenario_name: words::name(setup).to_owned(),
        scenario_path: path.display().to_string(),
        calibration_name: words::calibration(setup),
        overrides: loaded.overrides.clone(),
        plots: Vec::new(),
        setup_words: words::setup(setup),
        uncertainty: args.monte_carlo.map(|samples| evaluate::uncertainty(loaded, samples, args.seed)),
    };
    if let Some(folder) = &args.plots {
        let prefix = plot_prefix(path, &args.files);
        context.plots = plots::write(folder, &prefix, loaded, &prediction, &context)?;
        if !args.out.quiet {
            for plot in &context.plots {
                say(&format!("wrote {plot}"));
            }
        }
    }
    Ok(Answered { prediction, context })
}

/// What the names of a scenario's plots begin with: nothing for a single scenario, else its file name, numbered where
/// two files have the same.
fn plot_prefix(path: &Path, all: &[std::path::PathBuf]) -> String {
    if all.len() < 2 {
        return String::new();
    }
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let own = stem(path);
    let same: Vec<_> = all.iter().filter(|other| stem(other) == own).collect();
    match same.iter().position(|other| other.as_path() == path) {
        Some(place) if same.len() > 1 => format!("{own}-{}-", place + 1),
        _ => format!("{own}-"),
    }
}

fn rendered(answers: &[Answered], args: &RunArgs, color: bool) -> Result<String, Failure> {
    let style = Style { color, ..Style::default() };
    let each = |format: &dyn Fn(&Answered) -> String, between: &str| {
        answers.iter().map(format).collect::<Vec<_>>().join(between)
    };
    Ok(match args.out.format {
        Format::Text => each(&|a| report::text(&a.prediction, &a.context, &style), "\n"),
        Format::Markdown => each(&|a| report::markdown(&a.prediction, &a.context), "\n"),
        Format::Csv => {
            let tables: Vec<String> =
                answers.iter().map(|a| report::csv(&a.prediction, &a.context)).collect();
            // One table: the header row of the first is the header of all.
            tables
                .iter()
                .enumerate()
                .map(|(i, table)| if i == 0 { table.as_str() } else { without_header(table) })
                .collect()
        }
        Format::Json => {
            let mut values: Vec<serde_json::Value> =
                answers.iter().map(|a| report::json(&a.prediction, &a.context)).collect();
            let value = match (args.files.len(), values.len()) {
                (1, 1) => values.remove(0),
                (1, _) => return Ok(String::new()),
                _ => serde_json::Value::Array(values),
            };
            let text = serde_json::to_string_pretty(&value).expect("a JSON value becomes text");
            format!("{text}\n")
        }
    })
}

fn without_header(table: &str) -> &str {
    table.split_once('\n').map_or("", |(_, rest)| rest)
}

fn below(answers: &[Answered], args: &RunArgs) -> Result<(), Failure> {
    let Some(least) = args.fail_below else { return Ok(()) };
    let mut failed = false;
    for answered in answers {
        let speedup = answered.prediction.speedup.used.value;
        // A speedup that is no number passes no check.
        if speedup.is_nan() || speedup < least {
            let path = &answered.context.scenario_path;
            say(&format!("{path}: speedup {speedup:.3} is below {least} (--fail-below)"));
            failed = true;
        }
    }
    if failed { Err(Failure::Check) } else { Ok(()) }
}
