//! `specplan simulate`: the machine, or requests over time.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::args::{Format, Mode, SimulateArgs};
use super::exit::Failure;
use super::output::{Output, color_stderr, say};
use super::progress::Progress;
use super::{simulate_plots, words};
use crate::diagnostic::{Diagnostics, render_all};
use crate::machine::MachineConfig;
use crate::report::{self, Context, Style};
use crate::scenario::written::SimulationMode;
use crate::scenario::{self, Loaded, ModelledSetup, Overrides, Scenario, Setup};
use crate::simulation::{self, MachineAnswer, ServingAnswer, Settings};

/// A scenario ready to be simulated.
struct Case<'a> {
    args: &'a SimulateArgs,
    scenario: &'a Scenario,
    /// What was observed belongs to this one.
    base: &'a Setup,
    setup: &'a ModelledSetup,
    context: Context,
}

/// Simulates one file.
pub(super) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let mut output = Output::open(&args.out, std::slice::from_ref(&args.file))?;
    if let Some(folder) = &args.plots {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::Input(format!("cannot make {}: {error}", folder.display())))?;
    }
    let overrides = Overrides { set: args.overrides.set.clone(), unset: args.overrides.unset.clone() };
    let (scenario, loaded) = scenario::open(&args.file, &overrides, &scenario::Builtin)
        .map_err(|diagnostics| reported(&diagnostics, args))?;
    let setup = loaded.variation.as_ref().unwrap_or(&loaded.base);
    let Setup::Modelled(modelled) = setup else {
        return Err(Failure::Input(format!(
            "{}: observed numbers alone cannot be simulated: name hardware: and model: in the scenario",
            args.file.display()
        )));
    };
    let keys = &scenario.variation.as_ref().unwrap_or(&scenario.base).written.simulation;
    let mode = args.mode.unwrap_or(match keys.mode {
        Some(SimulationMode::Serving) => Mode::Serving,
        Some(SimulationMode::Machine) | None => Mode::Machine,
    });
    let over = Settings { runs: args.runs, seed: args.seed };
    let config = simulation::machine_config(keys, &modelled.runtime, over);
    let mut case = Case {
        args,
        scenario: &scenario,
        base: &loaded.base,
        setup: modelled,
        context: context(args, &loaded, setup, config.seed),
    };
    if !args.out.quiet {
        super::run::notes(&loaded);
    }
    match mode {
        Mode::Machine => case.machine(&config, &mut output),
        Mode::Serving => case.serving(over, &mut output),
    }
}

fn reported(diagnostics: &Diagnostics, args: &SimulateArgs) -> Failure {
    say(render_all(diagnostics, color_stderr(args.out.color)).trim_end());
    Failure::Reported
}

fn context(args: &SimulateArgs, loaded: &Loaded, setup: &Setup, seed: u64) -> Context {
    Context {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        scenario_name: words::name(setup).to_owned(),
        scenario_path: args.file.display().to_string(),
        calibration_name: words::calibration(setup),
        overrides: loaded.overrides.clone(),
        plots: Vec::new(),
        setup_words: words::setup(setup),
        uncertainty: None,
    }
}

impl Case<'_> {
    fn machine(&mut self, config: &MachineConfig, output: &mut Output) -> Result<(), Failure> {
        let args = self.args;
        let wanted = if config.is_exact() { 1 } else { config.runs };
        let drawn = args.trace.is_some() || args.plots.is_some();
        if drawn && args.trace_run >= wanted {
            let last = wanted - 1;
            return Err(Failure::Input(format!("--trace-run {}: runs are 0 to {last}", args.trace_run)));
        }
        // Opened before anything is computed.
        let trace_file = args.trace.as_deref().map(|path| open(path, &args.file)).transpose()?;
        let answer = {
            let progress = Progress::start(args.out.quiet);
            let watch = |stage, share| progress.tell(stage, share);
            simulation::simulate_machine(self.setup, self.base, config, &watch)
        };
        let trace = drawn.then(|| simulation::trace_machine(self.setup, config, args.trace_run));
        if let (Some(path), Some(file), Some(trace)) = (&args.trace, trace_file, &trace) {
            let mut file = BufWriter::new(file);
            trace
                .write_chrome(&mut file)
                .and_then(|()| file.flush())
                .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))?;
            self.say(&format!("wrote {}: open it in https://ui.perfetto.dev", path.display()));
        }
        if let (Some(folder), Some(trace)) = (&args.plots, &trace) {
            let plots =
                simulate_plots::machine(folder, &answer, trace, args.trace_run, &self.context.setup_words)?;
            self.drawn(plots);
        }
        output.write(&self.machine_result(&answer, output.color))?;
        if answer.result.runs < answer.wanted { Err(Failure::Interrupted) } else { Ok(()) }
    }

    fn machine_result(&self, answer: &MachineAnswer, color: bool) -> String {
        let context = &self.context;
        match self.args.out.format {
            Format::Text => report::machine_text(answer, context, &Style { color, ..Style::default() }),
            Format::Markdown => report::machine_markdown(answer, context),
            Format::Csv => report::machine_csv(answer, context),
            Format::Json => {
                let trace = self.args.trace.as_ref().map(|path| path.display().to_string());
                pretty(&report::machine_json(answer, context, trace.as_deref()))
            }
        }
    }

    fn serving(&mut self, over: Settings, output: &mut Output) -> Result<(), Failure> {
        let args = self.args;
        if args.trace.is_some() {
            return Err(Failure::Input("--trace draws ranks and links: it needs --mode machine".to_owned()));
        }
        let (config, notes) = simulation::serving_config(self.setup, self.scenario, over)
            .map_err(|diagnostic| reported(&Diagnostics::from(*diagnostic), args))?;
        self.context.seed = config.seed;
        if let Some(note) = not_compared(self.base) {
            self.say(&note);
        }
        // Batch and context are what the requests make of them.
        self.context.setup_words = words::placed(self.setup);
        let answer = {
            let progress = Progress::start(args.out.quiet);
            let watch = |stage, share| progress.tell(stage, share);
            simulation::simulate_serving(self.setup, &config, notes, &watch).map_err(Failure::Input)?
        };
        if let Some(folder) = &args.plots {
            let plots = simulate_plots::serving(folder, &answer, &words::placed(self.setup))?;
            self.drawn(plots);
        }
        output.write(&self.serving_result(&answer, output.color))?;
        if answer.interrupted { Err(Failure::Interrupted) } else { Ok(()) }
    }

    fn serving_result(&self, answer: &ServingAnswer, color: bool) -> String {
        let context = &self.context;
        match self.args.out.format {
            Format::Text => report::serving_text(answer, context, &Style { color, ..Style::default() }),
            Format::Markdown => report::serving_markdown(answer, context),
            Format::Csv => report::serving_csv(answer, context),
            Format::Json => pretty(&report::serving_json(answer, context)),
        }
    }

    fn drawn(&mut self, plots: Vec<String>) {
        for plot in &plots {
            self.say(&format!("wrote {plot}"));
        }
        self.context.plots = plots;
    }

    fn say(&self, text: &str) {
        if !self.args.out.quiet {
            say(text);
        }
    }
}

/// That what was observed at one batch stands beside nothing here; none where nothing was.
fn not_compared(base: &Setup) -> Option<String> {
    let stated = &base.common().stated;
    let mut given = Vec::new();
    if let Some(rate) = stated.baseline.observed_throughput {
        given.push(format!("{} without speculation", rate.value));
    } else if let Some(time) = stated.baseline.observed {
        given.push(format!("a step of {} without speculation", time.value));
    }
    if let Some(rate) = stated.observed_throughput {
        given.push(format!("{} with it", rate.value));
    }
    if let Some(time) = stated.verify.observed {
        given.push(format!("a verify pass of {}", time.value));
    }
    (!given.is_empty()).then(|| {
        format!(
            "note: observed at batch {} and not compared here, where requests make batches of all sizes: {}; \
             `--mode machine` compares",
            base.common().batch,
            given.join(", ")
        )
    })
}

/// Opens the file of a trace; it must not be the scenario.
fn open(path: &Path, scenario: &Path) -> Result<File, Failure> {
    if let (Ok(a), Ok(b)) = (path.canonicalize(), scenario.canonicalize())
        && a == b
    {
        return Err(Failure::Input(format!("--trace {} would overwrite the scenario", path.display())));
    }
    File::create(path)
        .map_err(|error| Failure::Input(format!("cannot open {} for writing: {error}", path.display())))
}

fn pretty(value: &serde_json::Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a JSON value is text");
    text.push('\n');
    text
}
