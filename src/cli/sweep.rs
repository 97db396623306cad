//! `specplan sweep`: one scenario over a grid of values of its keys.

use std::ops::ControlFlow;

use super::args::{Format, SweepArgs};
use super::exit::Failure;
use super::output::{Output, color_stderr, say};
use super::progress::Counting;
use super::{sweep_merge, sweep_plots, words};
use crate::diagnostic::{Diagnostics, closest, render_all};
use crate::evaluate::{self, Base, Known, Sureness};
use crate::report::{self, Style};
use crate::scenario::{Builtin, Family, Overrides, Setup, dimensions};
use crate::sweep::{
    DEFAULT_METRICS, Grid, Kept, METRICS, MOST_POINTS, Metric, Outcome, Plan, Row, Shard, Solver, Summary,
    fingerprint, metrics, run as sweep,
};
use crate::units::significant;

/// Combinations of calibration and box that are told one by one.
const MOST_TOLD: usize = 5;
/// Rows that the text shows one by one.
const SHOWN: u64 = 40;

/// Sweeps, or merges what was swept.
pub(super) fn run(args: &SweepArgs) -> Result<(), Failure> {
    if !args.merge.is_empty() {
        return sweep_merge::run(args, &mut Output::open(&args.out, &args.merge)?);
    }
    let path = args.file.as_ref().expect("clap asks for a file");
    let columns = columns(&args.metrics)?;
    let shard = shard(args)?;
    let faults = |found: Diagnostics| {
        say(render_all(&found, color_stderr(args.out.color)).trim_end());
        Failure::Reported
    };
    let overrides = Overrides { set: args.overrides.set.clone(), unset: args.overrides.unset.clone() };
    let mut family = Family::open(path, &overrides, &Builtin).map_err(faults)?;
    let listed = dimensions(&args.vary, Some(family.axes())).map_err(faults)?;
    if listed.is_empty() {
        return Err(Failure::Input(format!(
            "nothing to vary: give `--vary key=a,b,c` or `--vary key=lo..hi:n`, or list axes under `sweep` in {}",
            path.display()
        )));
    }
    let grid = Grid::new(listed)
        .ok_or_else(|| Failure::Input(format!("the axes make more than {MOST_POINTS} points")))?;
    family.vary(grid.axes().map(|(_, axis)| axis.key.as_str())).map_err(faults)?;
    if let Some(folder) = &args.plots {
        sweep_plots::prepare(folder, &grid)?;
    }
    let mut output = Output::open(&args.out, std::slice::from_ref(path))?;
    if !args.out.quiet {
        notes(args, &family, &grid);
    }
    let plan = Plan {
        family: &family,
        grid: &grid,
        points: shard.unwrap_or(Shard::WHOLE).range(grid.total()),
        metrics: &columns,
        keep: if grid.total() <= SHOWN { SHOWN as usize } else { 0 },
    };
    let done = pool(args)?.install(|| compute(args, &plan, shard, &mut output))?;
    finish(args, &plan, &done, &mut output)
}

fn columns(names: &[String]) -> Result<Vec<&'static Metric>, Failure> {
    if names.is_empty() {
        return Ok(metrics(DEFAULT_METRICS).expect("these exist"));
    }
    metrics(names.iter().map(|name| name.trim())).map_err(|name| {
        let all: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        let meant = closest(name, all.iter().copied());
        let meant = meant.map(|meant| format!("; a similar one is `{meant}`")).unwrap_or_default();
        Failure::Input(format!("--metrics knows no `{name}`{meant}\nknown: {}", all.join(", ")))
    })
}

fn shard(args: &SweepArgs) -> Result<Option<Shard>, Failure> {
    let Some(text) = &args.shard else { return Ok(None) };
    if !matches!(args.out.format, Format::Csv | Format::Json) {
        return Err(Failure::Input("--shard writes rows to merge: add `-f csv` or `-f json`".to_owned()));
    }
    if args.plots.is_some() {
        return Err(Failure::Input("--plots needs all points: sweep without --shard".to_owned()));
    }
    let shard = Shard::parse(text, |name| std::env::var(name).ok());
    shard.map(Some).map_err(|error| Failure::Input(error.to_string()))
}

/// What the axes drop beside the keys that they name, and axes of the file that are not used.
fn notes(args: &SweepArgs, family: &Family, grid: &Grid) {
    let texts: Vec<_> = grid.axes().map(|(_, axis)| (axis.key.as_str(), axis.text(0))).collect();
    let branch = family.branch(texts.iter().map(|(key, text)| (*key, &**text)));
    let mut notes = branch.map(|branch| branch.notes).unwrap_or_default();
    if !args.vary.is_empty() && dimensions(&[], Some(family.axes())).is_ok_and(|listed| !listed.is_empty()) {
        notes.push("`sweep` of the scenario is not used: `--vary` says what varies".to_owned());
    }
    for (number, note) in notes.iter().enumerate() {
        say(&format!("note [{}]: {note}", number + 1));
    }
}

fn pool(args: &SweepArgs) -> Result<rayon::ThreadPool, Failure> {
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failure::Input(format!("cannot start {threads} threads: {error}")))
}

/// What was computed.
struct Done {
    summary: Summary,
    rows: Vec<Kept>,
}

fn compute(
    args: &SweepArgs,
    plan: &Plan,
    shard: Option<Shard>,
    output: &mut Output,
) -> Result<Done, Failure> {
    let names = report::sweep_columns(plan.grid, plan.metrics);
    let metrics = plan.metrics.len();
    let write = |row: &Row, out: &mut Vec<u8>| match args.out.format {
        Format::Csv => report::sweep_csv_row(row, metrics, out),
        Format::Json => report::sweep_json_row(row, &names, out),
        Format::Text | Format::Markdown => {}
    };
    let csv = args.out.format == Format::Csv;
    if let Some(shard) = shard {
        let id = fingerprint(plan.family, plan.grid, plan.metrics, if csv { "csv" } else { "json" });
        output.append(report::sweep_shard_line(csv, &id, shard, plan.grid, &names).as_bytes())?;
    }
    if csv {
        output.append(report::sweep_csv_header(&names).as_bytes())?;
    }
    let progress = Counting::start(plan.points.end - plan.points.start, args.out.quiet);
    let mut failure = None;
    let (summary, rows) = sweep(plan, &Evaluate, &write, &mut |batch| {
        if let Err(error) = output.append(&batch.bytes) {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        progress.add(batch.rows)
    });
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Done { summary, rows }),
    }
}

fn finish(args: &SweepArgs, plan: &Plan, done: &Done, output: &mut Output) -> Result<(), Failure> {
    let Done { summary, rows } = done;
    let setup = describe(plan);
    match args.out.format {
        Format::Text => {
            let style = Style { color: output.color, ..Style::default() };
            output.append(
                report::sweep_text(plan.grid, plan.metrics, rows, summary, &setup, &style).as_bytes(),
            )?;
        }
        Format::Markdown => {
            output
                .append(report::sweep_markdown(plan.grid, plan.metrics, rows, summary, &setup).as_bytes())?;
        }
        Format::Csv | Format::Json => {}
    }
    let (points, all) = (summary.points(), plan.points.end - plan.points.start);
    if points < all {
        let lies = output.finish_partial()?.map(|part| format!("; they are in {}", part.display()));
        say(&format!("stopped after {points} of {all} points{}", lies.unwrap_or_default()));
        return Err(Failure::Interrupted);
    }
    output.finish()?;
    if !args.out.quiet {
        summary.notes.iter().take(MOST_TOLD).for_each(|note| say(&format!("note: {note}")));
        if let more @ 1.. = summary.notes.len().saturating_sub(MOST_TOLD) {
            say(&format!("note: and {more} more of this kind"));
        }
    }
    if let Some(note) = mixed(plan, summary).filter(|_| !args.out.quiet) {
        say(&format!("note: {note}"));
    }
    if let (Some((reason, ..)), false) = (summary.reasons.first(), args.out.quiet) {
        let (failed, points) = (grouped(summary.failed), grouped(points));
        say(&format!("{failed} of {points} points have no answer; the first: {reason}"));
    }
    let Some(folder) = &args.plots else { return Ok(()) };
    for plot in sweep_plots::write(folder, plan.grid, summary, &setup)? {
        if !args.out.quiet {
            say(&format!("wrote {plot}"));
        }
    }
    Ok(())
}

/// That some points keep what was observed and the others replace a part of it: the gap between model and observation
/// then lies between them.
fn mixed(plan: &Plan, summary: &Summary) -> Option<String> {
    let stated = &plan.family.base()?.common().stated;
    let passes = stated.baseline.observed.is_some() || stated.verify.observed.is_some();
    let observed = passes || stated.observed_throughput.is_some() || stated.observed_draft.is_some();
    let (kept, replaced) = (summary.kept, summary.answered - summary.kept);
    (observed && kept > 0 && replaced > 0).then(|| {
        let points = if kept == 1 { "1 point keeps".to_owned() } else { format!("{} points keep", grouped(kept)) };
        format!(
            "{points} all that was observed, and at {} parts of it are predicted (column predicted_parts): the gap between \
             observation and model lies between them; `--unset` what was observed for the model alone",
            grouped(replaced)
        )
    })
}

/// `54,481`.
fn grouped(number: u64) -> String {
    significant(number as f64, number.max(1).ilog10() as usize + 1)
}

/// The scenario and the grid in words.
fn describe(plan: &Plan) -> String {
    let base = plan.family.base().map_or_else(|| "observations vary".to_owned(), words::setup);
    let sizes: Vec<String> = plan.grid.sizes().iter().map(usize::to_string).collect();
    let points = grouped(plan.grid.total());
    let points = if sizes.len() > 1 { format!("{} = {points}", sizes.join(" x ")) } else { points };
    format!("{points} points around: {base}")
}

/// The function that is swept.
struct Evaluate;

impl Solver for Evaluate {
    type Base = Base;

    fn prepare(&self, base: &Setup) -> Base {
        Base::new(base)
    }

    fn solve(&self, setup: &Setup, base: &Base, variation: Option<&Setup>) -> Result<Outcome, String> {
        let Some(varied) = variation.map(|varied| evaluate::variation(setup, &base.known, varied)) else {
            let sure = |speedup| base.sureness(setup, None, speedup);
            return Ok(outcome(&base.known, Vec::new(), sure));
        };
        if varied.unpredictable.is_empty() {
            let again = variation.map(|again| (again, varied.known.model.as_deref()));
            let sure = |speedup| base.sureness(setup, again, speedup);
            return Ok(outcome(&varied.known, varied.predicted, sure));
        }
        let parts = varied.unpredictable.join(" and ");
        Err(format!("{parts} would change, and without `hardware` and `model` nothing predicts that"))
    }
}

fn outcome(known: &Known, predicted: Vec<&'static str>, sure: impl Fn(f64) -> Sureness) -> Outcome {
    let parts = known.parts();
    let sure = sure(parts.speedup_value());
    Outcome {
        parts,
        model: known.predicted_parts(),
        baseline_throughput: known.baseline_throughput.map(|throughput| throughput.value),
        draft: known.draft.map(|draft| draft.used.value),
        host: known.host.map(|host| host.used.value),
        predicted,
        verdict: sure.verdict,
        speedup: sure.speedup,
        win_probability: sure.win_probability,
    }
}
