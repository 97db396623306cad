//! The clap definition of every verb.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Verbs in their groups, as the help lists them; a test holds that each verb stands in exactly one.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Ask", &["run", "simulate"]),
    ("Measure", &["import", "validate"]),
    ("Files", &["check", "explain", "schema", "completions"]),
];

const TEMPLATE: &str = "\
{about}

Usage: specplan <VERB> [OPTIONS]

Ask:
  run          does speculation pay here, why, and what would have to change
  simulate     the same with skew, contention, queues and bursts
Measure:
  import       logs, tables, traces, command lines -> files for the rest
  validate     predictions beside measurements, with errors
Files:
  check        every fault of scenarios, boxes, calibrations, model files
  explain      a term, a finding, a scenario key, an error code, the presets
  schema       JSON Schema of the scenario file or of the JSON report
  completions  shell completions or the man page

Options:
{options}

Start with:
  specplan run scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml
  specplan run my.yaml --set 'speculation.verify.time=15 ms' --plots out/
  specplan VERB --help     options and examples of a verb
";

/// Does speculative decoding pay on this box, and if not, what would have to change?
#[derive(Debug, Parser)]
#[command(name = "specplan", version, about, help_template = TEMPLATE, disable_help_subcommand = true,
    max_term_width = 80)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    #[command(hide = true)]
    Run(RunArgs),
    #[command(hide = true)]
    Simulate(SimulateArgs),
    #[command(hide = true)]
    Import(ImportArgs),
    #[command(hide = true)]
    Validate(ValidateArgs),
    #[command(hide = true)]
    Check(CheckArgs),
    #[command(hide = true)]
    Explain(ExplainArgs),
    #[command(hide = true)]
    Schema(SchemaArgs),
    #[command(hide = true)]
    Completions(CompletionsArgs),
}

/// Formats of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For reading, 80 columns.
    Text,
    /// The contract for other programs; `specplan schema report` describes it.
    Json,
    /// One row per quantity.
    Csv,
    /// For issues and wikis.
    Markdown,
}

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where the result goes.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Format of the result
    #[arg(short, long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// No notes on stderr, only errors
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(super) color: ColorChoice,
}

/// Answer scenarios: verdict, breakdown, break-evens, what-ifs, diagnosis
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan run scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml
  specplan run scenarios/observed-only.yaml -f json
  specplan run my.yaml --set 'speculation.verify.execution=graph' --plots out/
  specplan run my.yaml --unset baseline.observed --unset speculation.observed \\
      --unset speculation.verify.observed        # the model alone
  specplan run - < my.yaml                        # from standard input
  specplan run scenarios/*.yaml -f markdown -o report.md
  specplan run my.yaml --fail-below 1.0           # exit 1 where speculation loses")]
pub(super) struct RunArgs {
    /// Scenario files; `-` reads one from standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) overrides: OverrideArgs,
    /// Draw the plots into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(super) plots: Option<PathBuf>,
    /// Exit with 1 if any speedup is below this
    #[arg(long, value_name = "SPEEDUP")]
    pub(super) fail_below: Option<f64>,
    /// Seed of random draws; named in the report
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) out: OutputArgs,
}

/// Simulate a scenario: the ranks of the box, or requests over time
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan simulate scenarios/kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml
  specplan simulate my.yaml --set speculation.verify.execution=graph
  specplan simulate my.yaml --trace out/trace.json --trace-run 7
      # a run for https://ui.perfetto.dev or chrome://tracing
  specplan simulate my.yaml --set simulation.host_jitter=0 \\
      --set simulation.rank_speed=0              # the closed form
  specplan simulate scenarios/serving-kimi-k2.5-8x-rtx-pro-6000.yaml --plots out/
  specplan simulate my.yaml --mode serving \\
      --set 'simulation.serving.arrivals.interval=4 s' -f json")]
pub(super) struct SimulateArgs {
    /// Scenario file; `-` reads it from standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// What to simulate; left out: `simulation.mode` of the scenario, else machine
    #[arg(long, value_enum)]
    pub(super) mode: Option<Mode>,
    #[command(flatten)]
    pub(super) overrides: OverrideArgs,
    /// Cycles to simulate on the machine; left out: `simulation.runs`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) runs: Option<u32>,
    /// Seed of all random draws; left out: `simulation.seed`
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Write the timeline of one run as a Chrome trace, which Perfetto opens (machine)
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Which run to draw, in the trace and as a figure; runs count from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) trace_run: u32,
    /// Draw the plots into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(super) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(super) out: OutputArgs,
}

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    /// One draft/verify cycle on the ranks of the box, many times.
    Machine,
    /// Requests that arrive, wait and are served, with speculation and without.
    Serving,
}

/// Changes of a scenario from the command line.
#[derive(Debug, Args)]
pub(super) struct OverrideArgs {
    /// Set a key of the scenario, dotted as in the file (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// Remove a key of the scenario (repeatable)
    #[arg(long = "unset", value_name = "KEY")]
    pub(super) unset: Vec<String>,
}

/// Find every fault of scenarios, box files, calibrations and model files
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan check scenarios/*.yaml calibration/*.yaml
  specplan check my-box.yaml my-model/config.json # says what it took them for
  specplan check my.yaml || echo faulty           # exit 1 on faults")]
pub(super) struct CheckArgs {
    /// Scenarios, box files, calibrations, config.json of models and heads
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Only faults, no line per sound file
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(super) color: ColorChoice,
}

/// Explain a term, a finding, a scenario key or word, an error code, a preset
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan explain accept-length
  specplan explain host-bound-verify              # a finding of run
  specplan explain S012
  specplan explain speculation.verify.time
  specplan explain presets
  specplan explain                                # all topics")]
pub(super) struct ExplainArgs {
    /// Term, finding, key, word, code, preset, or `presets` for all of these
    pub(super) topic: Option<String>,
    /// Print a generated reference page in Markdown instead
    #[arg(long, value_enum, value_name = "PAGE", conflicts_with = "topic")]
    pub(super) markdown: Option<ReferencePage>,
}

/// Pages of docs/reference that are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReferencePage {
    /// The command line.
    Cli,
    /// Keys of the scenario file.
    Scenario,
    /// Fields of the JSON report.
    ReportJson,
    /// Error codes.
    Errors,
    /// Presets with their sources.
    Presets,
}

/// Print a JSON Schema
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan schema scenario > scenarios/scenario.schema.json
  specplan schema report")]
pub(super) struct SchemaArgs {
    /// Of what
    #[arg(value_enum, default_value = "scenario")]
    pub(super) of: SchemaOf,
}

/// What a schema is printed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// The scenario file.
    Scenario,
    /// The JSON of `run`.
    Report,
}

/// Print shell completions or the man page
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan completions bash > ~/.local/share/bash-completion/completions/specplan
  specplan completions zsh > ~/.zfunc/_specplan
  specplan completions fish > ~/.config/fish/completions/specplan.fish
  specplan completions man > ~/.local/share/man/man1/specplan.1")]
pub(super) struct CompletionsArgs {
    /// A shell, or `man` for the man page
    #[arg(value_enum, value_name = "SHELL|man")]
    pub(super) of: CompletionsOf,
}

/// What `completions` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CompletionsOf {
    /// bash.
    Bash,
    /// elvish.
    Elvish,
    /// fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// zsh.
    Zsh,
    /// The man page, in roff.
    Man,
}

/// Compare predictions with measurements
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan validate                               # the shipped measurements
  specplan validate docs/validation/data -f markdown
  specplan validate --plots out/
  specplan validate --max-error '20 %'            # exit 1 beyond it")]
pub(super) struct ValidateArgs {
    /// Tables of measurements (CSV), or folders of them; none: the shipped ones
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Largest median error of the headline that passes; exit 1 beyond it
    #[arg(long, value_name = "PERCENT")]
    pub(super) max_error: Option<String>,
    /// Draw predicted against measured into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(super) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(super) out: OutputArgs,
}

/// Turn logs, tables, traces and command lines into calibrations, boxes, scenarios
#[derive(Debug, Default, Args)]
#[command(after_long_help = "\
Examples:
  specplan import all_reduce.txt -o my-box.yaml   # the kind is guessed
  specplan import nccl-tests *.txt -f json
  all_reduce_perf -g 8 | specplan import - --transport p2p -o my-box.yaml
  specplan import launch.sh --gpu rtx-pro-6000 --accept-length 2 -o my.yaml
  specplan import --kinds                         # what can be read")]
pub(super) struct ImportArgs {
    /// Files, gzip accepted, `-` for standard input; the first may be a kind, which is guessed when left out
    #[arg(value_name = "[KIND] FILE", required_unless_present = "kinds")]
    pub(super) inputs: Vec<PathBuf>,
    /// List the kinds of files that can be read
    #[arg(long)]
    pub(super) kinds: bool,
    /// GPU preset of the box, where the file does not name the card
    #[arg(long, value_name = "PRESET")]
    pub(super) gpu: Option<String>,
    /// What carries messages between GPUs, where the file does not say
    #[arg(long, value_enum, value_name = "WORD")]
    pub(super) transport: Option<TransportWord>,
    /// Collective that was measured, where a table does not tell
    #[arg(long, value_name = "OPERATION")]
    pub(super) op: Option<String>,
    /// Tokens gained per cycle and request, bonus included, for a scenario made from a command line
    #[arg(long, value_name = "LENGTH")]
    pub(super) accept_length: Option<f64>,
    /// Format of the result [default: by the ending of -o, else text]
    #[arg(short, long, value_enum)]
    pub(super) format: Option<ImportFormat>,
    /// Write the result to a file instead of stdout; .yaml writes the calibration, box or scenario
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// No notes on stderr, only errors
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(super) color: ColorChoice,
}

/// Formats of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ImportFormat {
    /// For reading, 80 columns.
    Text,
    /// What was read, for other programs.
    Json,
    /// The file that the rest of specplan takes: calibration, box, scenario.
    Yaml,
    /// One row per observation.
    Csv,
    /// For issues and wikis.
    Markdown,
}

/// What carries messages between GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TransportWord {
    /// NVLink.
    Nvlink,
    /// PCIe, from card to card.
    P2p,
    /// Host memory.
    Shm,
}
