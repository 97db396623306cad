//! `specplan tune`: the best setting of each cell, and the lines to paste.

use super::args::{Allowed, BeyondWord, Format, ObjectiveWord, TuneArgs};
use super::exit::Failure;
use super::number_list::numbers;
use super::output::{Output, color_stderr, say};
use super::words;
use crate::diagnostic::render_all;
use crate::evaluate::{Base, Ground};
use crate::report::{self, Context, Style};
use crate::runtime::Execution;
use crate::scenario::{self, Loaded, ModelledSetup, Overrides, Setup};
use crate::tune::{self, Beyond, Candidate, Goal, Objective, Plan, Point, Space, Strategy};
use crate::units::{Seconds, TokensPerSecond};

/// More settings than these are searched by bounds.
const EXHAUSTIVE: usize = 50_000;

/// Cells of a plan, each with a line of its own.
const MOST_CELLS: usize = 100_000;
/// Shapes of drafts, and shapes over all cells.
const MOST_SETTINGS: usize = 10_000_000;

/// One scenario, ready to be varied.
struct Source {
    base: Setup,
    known: Base,
    ground: Ground,
    carried: Vec<tune::Carried>,
    setup: ModelledSetup,
}

/// Plans one server.
pub(super) fn run(args: &TuneArgs) -> Result<(), Failure> {
    let space = space(args)?;
    let goal = goal(args)?;
    let mut output = Output::open(&args.out, &args.files)?;
    if let Some(folder) = &args.plots {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::Input(format!("cannot make {}: {error}", folder.display())))?;
    }
    let loaded = load(args)?;
    let sources =
        loaded.iter().zip(&args.files).map(|(loaded, file)| source(loaded, file, !args.as_modelled));
    let sources = sources.collect::<Result<Vec<_>, _>>()?;
    one_server(&sources, args)?;
    limited(&sources, &space)?;
    if !args.out.quiet {
        let setup = &sources[0].setup;
        if let Some(note) = scenario::foreign(&setup.hardware, &setup.calibration) {
            say(&format!("note: {note}"));
        }
    }
    let (plan, pastes) = planned(&sources, &space, goal);
    let mut context = context(args, &loaded[0]);
    if let Some(folder) = &args.plots {
        context.plots = super::tune_plots::write(folder, &plan, &words::placed(&sources[0].setup))?;
        if !args.out.quiet {
            context.plots.iter().for_each(|plot| say(&format!("wrote {plot}")));
        }
    }
    output.write(&match args.out.format {
        Format::Text => {
            let style = Style { color: output.color, ..Style::default() };
            report::tune_text(&plan, &pastes, &context, &style)
        }
        Format::Markdown => report::tune_markdown(&plan, &pastes, &context),
        Format::Csv => report::tune_csv(&plan, &context),
        Format::Json => {
            let value = report::tune_json(&plan, &pastes, &context);
            format!("{}\n", serde_json::to_string_pretty(&value).expect("a JSON value is text"))
        }
    })
}

fn load(args: &TuneArgs) -> Result<Vec<Loaded>, Failure> {
    let overrides = Overrides { set: args.overrides.set.clone(), unset: args.overrides.unset.clone() };
    let mut list = Vec::new();
    let mut faulty = false;
    for path in &args.files {
        match scenario::open(path, &overrides, &scenario::Builtin) {
            Ok((_, loaded)) => list.push(loaded),
            Err(diagnostics) => {
                say(render_all(&diagnostics, color_stderr(args.out.color)).trim_end());
                faulty = true;
            }
        }
    }
    if faulty { Err(Failure::Reported) } else { Ok(list) }
}

/// A scenario whose overrides are applied; what was observed belongs to its base.
fn source(loaded: &Loaded, file: &std::path::Path, carries: bool) -> Result<Source, Failure> {
    let Setup::Modelled(modelled) = loaded.variation.as_ref().unwrap_or(&loaded.base) else {
        return Err(Failure::Input(format!(
            "{}: observed numbers alone say nothing about other settings: name hardware: and model: in the scenario",
            file.display()
        )));
    };
    let ground = Ground::new(&loaded.base, carries);
    let eager = |part: &str| match (part, &loaded.base) {
        ("verify", Setup::Modelled(base)) => base.verify.execution == Execution::Eager,
        ("baseline", Setup::Modelled(base)) => base.baseline.execution == Execution::Eager,
        _ => false,
    };
    let carried = ground.carried().into_iter();
    let carried = carried.map(|c| tune::Carried { part: c.part, ratios: c.ratios, eager: eager(c.part) });
    Ok(Source {
        base: loaded.base.clone(),
        known: Base::new(&loaded.base),
        carried: carried.collect(),
        ground,
        setup: (**modelled).clone(),
    })
}

/// Methods can be compared on one server only.
fn one_server(sources: &[Source], args: &TuneArgs) -> Result<(), Failure> {
    let first = &sources[0].setup;
    for (source, file) in sources.iter().zip(&args.files).skip(1) {
        let other = &source.setup;
        let differs = [
            ("hardware", first.hardware != other.hardware),
            ("model", first.model != other.model),
            ("runtime", first.runtime.kind != other.runtime.kind),
            ("parallel", first.parallel != other.parallel),
            ("calibration", first.calibration.name != other.calibration.name),
        ];
        if let Some((key, _)) = differs.iter().find(|(_, differs)| *differs) {
            return Err(Failure::Input(format!(
                "{} and {} differ in `{key}`: methods are compared on one server (let one scenario extend the other)",
                args.files[0].display(),
                file.display()
            )));
        }
    }
    Ok(())
}

/// Refuses lists whose product nobody would wait for.
fn limited(sources: &[Source], space: &Space) -> Result<(), Failure> {
    let cells = space.batches.len() * space.contexts.len().max(1);
    if cells > MOST_CELLS {
        return Err(Failure::Input(format!(
            "--batch and --context make {cells} cells, and {MOST_CELLS} is the most"
        )));
    }
    let trees = space.topk.len() * space.draft_tokens.len();
    let most = space.steps.len().saturating_mul(trees.max(1));
    let shapes = if most > MOST_SETTINGS {
        most
    } else {
        sources.iter().map(|source| tune::shapes(&source.setup, space).len()).sum()
    };
    if cells.saturating_mul(shapes) > MOST_SETTINGS {
        return Err(Failure::Input(format!(
            "{cells} cells with {shapes} shapes of drafts each are more than {MOST_SETTINGS} settings: shorten --batch, \
             --context, --steps, --topk or --draft-tokens"
        )));
    }
    Ok(())
}

fn planned(sources: &[Source], space: &Space, goal: Goal) -> (Plan, Vec<tune::Paste>) {
    type Evaluate<'a> = Box<dyn Fn(&ModelledSetup) -> Point + Sync + 'a>;
    let evaluate: Vec<Evaluate<'_>> = sources
        .iter()
        .map(|source| -> Evaluate<'_> {
            Box::new(|setup: &ModelledSetup| {
                let setup = Setup::Modelled(Box::new(setup.clone()));
                let variant = source.ground.at(&setup);
                let parts = variant.parts;
                let sure = source.known.sureness(&source.base, Some((&setup, None)), parts.speedup_value());
                Point {
                    parts,
                    predicted: variant.predicted,
                    speedup: sure.speedup,
                    baseline_measured: variant.baseline_measured,
                    speculation_measured: variant.speculation_measured,
                    excess: variant.excess,
                }
            })
        })
        .collect();
    let candidates: Vec<Candidate<'_>> = sources
        .iter()
        .zip(&evaluate)
        .map(|(source, evaluate)| Candidate {
            setup: &source.setup,
            draft: source.setup.draft.as_deref().map(|draft| draft.name().to_owned()),
            evaluate,
            refuse: &super::notes::memory,
            carried: source.carried.clone(),
        })
        .collect();
    let cells = space.batches.len() * space.contexts.len().max(1);
    let shapes: usize = candidates.iter().map(|c| tune::shapes(c.setup, space).len()).sum();
    let strategy = if cells * shapes > EXHAUSTIVE { Strategy::Pruned } else { Strategy::Exhaustive };
    let plan = tune::plan(&candidates, space, goal, strategy);
    let pastes = tune::paste(&plan, &candidates);
    (plan, pastes)
}

fn space(args: &TuneArgs) -> Result<Space, Failure> {
    let list = |flag: &str, text: &str| numbers(flag, text).map_err(Failure::Input);
    let space = Space {
        batches: list("--batch", &args.batch)?,
        contexts: args.context.as_deref().map_or(Ok(Vec::new()), |text| list("--context", text))?,
        steps: list("--steps", &args.steps)?,
        topk: list("--topk", &args.topk)?,
        draft_tokens: list("--draft-tokens", &args.draft_tokens)?,
        beyond: match args.beyond {
            BeyondWord::Least => Beyond::Least,
            BeyondWord::Law => Beyond::Law,
        },
        execution: args.allow.contains(&Allowed::Execution),
        allreduce: args.allow.contains(&Allowed::Allreduce),
        as_modelled: args.as_modelled,
    };
    Ok(space)
}

fn goal(args: &TuneArgs) -> Result<Goal, Failure> {
    let slo: Option<Seconds> = quantity("--slo", args.slo.as_deref(), "30 ms")?;
    let load: Option<TokensPerSecond> = quantity("--load", args.load.as_deref(), "5000 tok/s")?;
    let objective = match (args.objective, slo) {
        (Some(ObjectiveWord::Goodput), None) => {
            return Err(Failure::Input("--objective goodput needs a limit: add --slo '30 ms'".to_owned()));
        }
        (Some(ObjectiveWord::Goodput), _) | (None, Some(_)) => Objective::Goodput,
        (Some(ObjectiveWord::Latency), _) => Objective::Latency,
        (Some(ObjectiveWord::Throughput) | None, _) => Objective::Throughput,
    };
    Ok(Goal { objective, slo, load })
}

fn quantity<T: std::str::FromStr>(
    flag: &str,
    text: Option<&str>,
    example: &str,
) -> Result<Option<T>, Failure> {
    let parse = |text: &str| {
        text.parse()
            .map_err(|_| Failure::Input(format!("{flag} takes a value such as '{example}', not `{text}`")))
    };
    text.map(parse).transpose()
}

fn context(args: &TuneArgs, loaded: &Loaded) -> Context {
    let setup = loaded.variation.as_ref().unwrap_or(&loaded.base);
    let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let words = match setup {
        Setup::Modelled(modelled) => words::placed(modelled),
        Setup::Observed(_) => words::setup(setup),
    };
    Context {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: 0,
        scenario_name: words::name(setup).to_owned(),
        scenario_path: files.join(", "),
        calibration_name: words::calibration(setup),
        overrides: loaded.overrides.clone(),
        plots: Vec::new(),
        uncertainty: None,
        setup_words: words,
    }
}
