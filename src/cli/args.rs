//! The clap definition of every verb.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Verbs in their groups, as the help lists them; a test holds that each verb stands in exactly one.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Ask", &["run", "simulate", "sweep", "tune"]),
    ("Measure", &["calibrate", "import", "validate"]),
    ("Files", &["check", "explain", "schema", "completions"]),
];

const TEMPLATE: &str = "\
{about}

Usage: specplan <VERB> [OPTIONS]

Ask:
  run          does speculation pay here, why, and what would have to change
  simulate     the same with skew, contention, queues and bursts
  sweep        the answer over a grid of values of any keys
  tune         the best setting at each batch size, and the lines to paste
Measure:
  calibrate    measure the GPUs of this host and write a calibration
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
    Sweep(SweepArgs),
    #[command(hide = true)]
    Calibrate(CalibrateArgs),
    #[command(hide = true)]
    Tune(TuneArgs),
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
    /// The contract for other programs; of `run`, `specplan schema report` describes it.
    Json,
    /// One row per quantity, or per case.
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
  specplan run my.yaml --monte-carlo 1000         # how sure, and what it hangs on
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
    /// Say how sure the answer is: draw all inputs from their ranges, N times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(super) monte_carlo: Option<u32>,
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

/// Find the best setting at each batch size and context, and the lines that make a server use it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan tune scenarios/kimi-k2.6-eagle3-k3-8x-rtx-pro-6000.yaml
  specplan tune my.yaml --batch 1,2,4,8,16..128:8 --context 2048,32768
  specplan tune my.yaml --steps 1..7 --topk 1,2,4 --draft-tokens 4,8,16
  specplan tune eagle3.yaml mtp.yaml              # one scenario a method
  specplan tune my.yaml --allow execution,allreduce
  specplan tune my.yaml --slo '30 ms' --load '5000 tok/s' --plots out/")]
pub(super) struct TuneArgs {
    /// Scenarios of one server, one for each drafting method; `-` reads one from standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) overrides: OverrideArgs,
    /// Batch sizes: numbers, and ranges `lo..hi` or `lo..hi:step`
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32,64,128")]
    pub(super) batch: String,
    /// Contexts in tokens; left out: the scenario's
    #[arg(long, value_name = "LIST")]
    pub(super) context: Option<String>,
    /// Draft steps
    #[arg(long, value_name = "LIST", default_value = "1..7")]
    pub(super) steps: String,
    /// Branches per step, where the acceptance ranks them (`acceptance: { tree: ... }`)
    #[arg(long, value_name = "LIST", default_value = "1,2,4")]
    pub(super) topk: String,
    /// Rows verified per request, for trees; a chain has one more than steps
    #[arg(long, value_name = "LIST", default_value = "4,6,8,12,16,24,32")]
    pub(super) draft_tokens: String,
    /// Acceptance of drafted tokens beyond those that it was stated for
    #[arg(long, value_enum, default_value = "least", value_name = "WHAT")]
    pub(super) beyond: BeyondWord,
    /// What else may change: `execution` (graph or eager), `allreduce` (the PCIe one-shot)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(super) allow: Vec<Allowed>,
    /// What is best [default: throughput, or goodput with --slo]
    #[arg(long, value_enum)]
    pub(super) objective: Option<ObjectiveWord>,
    /// Longest mean time per token of one request, for goodput
    #[arg(long, value_name = "TIME")]
    pub(super) slo: Option<String>,
    /// Tokens per second to be served, for the number of GPUs
    #[arg(long, value_name = "RATE")]
    pub(super) load: Option<String>,
    /// Draw the plots into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(super) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(super) out: OutputArgs,
}

/// Answer a scenario over a grid of values of its keys: a summary as text, a row per point as CSV or as JSON lines
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan sweep my.yaml --vary workload.batch=1,4,16,64
  specplan sweep my.yaml --vary 'speculation.verify.time=10 ms..40 ms:31' --plots out/
  specplan sweep my.yaml --vary workload.batch=1..256:9:log \\
      --vary speculation.steps=1,2,3,5 -f csv -o sweep.csv     # crossed
  specplan sweep my.yaml --vary 'hardware=rtx-pro-6000-x4,h200-x8 & parallel.tensor=4,8'
      # value by value
  specplan sweep my.yaml -f csv --shard 2/7 -o part-2.csv
  specplan sweep --merge part-*.csv -o sweep.csv")]
pub(super) struct SweepArgs {
    /// Scenario file; `-` reads it from standard input
    #[arg(value_name = "FILE", required_unless_present = "merge")]
    pub(super) file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) overrides: OverrideArgs,
    /// Vary a key: `key=a,b,c`, `key=lo..hi:n`, `key=lo..hi:n:log` (repeatable: crossed; joined by ` & `: value by value);
    /// left out: `sweep` of the scenario
    #[arg(long = "vary", value_name = "AXIS")]
    pub(super) vary: Vec<String>,
    /// Columns, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// Threads; left out: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(super) threads: Option<u16>,
    /// Compute part i of n alone, for `--merge`; `auto` takes both from Slurm, `auto/n` the first also from Kubernetes or GNU
    /// parallel
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<String>,
    /// Join files of shards to what the whole sweep would have written
    #[arg(long, value_name = "FILE", num_args = 1..,
        conflicts_with_all = ["file", "vary", "set", "unset", "metrics", "shard", "plots", "threads"])]
    pub(super) merge: Vec<PathBuf>,
    /// Draw the speedup over one or two axes into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(super) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(super) out: OutputArgs,
}

/// Acceptance beyond the stated depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BeyondWord {
    /// Nothing more is accepted: longer chains win only where their acceptance is known.
    Least,
    /// As the law goes on: geometric, or with the last known rate.
    Law,
}

/// What of the server tuning may change besides speculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Allowed {
    /// Graph or eager, for all passes.
    Execution,
    /// The PCIe one-shot all-reduce besides what the server takes by itself.
    Allreduce,
}

/// Objectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ObjectiveWord {
    /// Tokens per second of the batch.
    Throughput,
    /// Time per token of a request.
    Latency,
    /// Throughput of what keeps the limit of --slo.
    Goodput,
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

/// Measure the GPUs of this host: launch costs, collectives, kernels, links
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  specplan calibrate --dry-run --gpus 8           # the plan and its duration, no GPU
  specplan calibrate --quick -o my-box.yaml
  specplan calibrate --scenario my.yaml -o my-box.yaml
  specplan calibrate --only collectives,launch -o my-box.yaml
  NCCL_P2P_DISABLE=1 specplan calibrate --only collectives -o without-p2p.yaml
  specplan calibrate -o my-box.yaml --resume      # after Ctrl-C or a lost GPU")]
#[allow(clippy::struct_excessive_bools)] // Flags are.
pub(super) struct CalibrateArgs {
    /// Measure the shapes of this scenario's model and split instead of a general grid
    #[arg(long, value_name = "FILE")]
    pub(super) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(super) overrides: OverrideArgs,
    /// Which GPUs: all, how many (2), or which (0,3)
    #[arg(long, default_value = "all", value_name = "GPUS")]
    pub(super) gpus: String,
    /// A coarser grid, under a minute on two GPUs
    #[arg(long)]
    pub(super) quick: bool,
    /// Only these parts: launch, collectives, gemm, moe, attention, memory, links, variants
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    pub(super) only: Vec<String>,
    /// Print the plan and its duration, measure nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Continue a run that ended early, from its journal beside the output
    #[arg(long, conflicts_with = "fresh")]
    pub(super) resume: bool,
    /// Begin anew although there is such a journal
    #[arg(long)]
    pub(super) fresh: bool,
    /// The python of your server, for the rows of plain PyTorch; left out: python3
    #[arg(long, value_name = "PATH", conflicts_with = "no_torch")]
    pub(super) python: Option<PathBuf>,
    /// Do not probe PyTorch
    #[arg(long)]
    pub(super) no_torch: bool,
    /// The calibration to write; left out: the GPU's name and their number
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Format of the summary or plan on stdout
    #[arg(short, long, value_enum, default_value = "text")]
    pub(super) format: CalibrateFormat,
    /// No plan and notes on stderr, only errors
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(super) color: ColorChoice,
    /// Made-up times and faults, for tests
    #[arg(long, hide = true, value_name = "WORDS")]
    pub(super) synthetic: Option<String>,
    /// Longest wait for one answer, for tests
    #[arg(long, hide = true, value_name = "MS")]
    pub(super) limit_ms: Option<u64>,
}

/// Formats of what `calibrate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CalibrateFormat {
    /// For reading.
    Text,
    /// For other programs.
    Json,
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
    /// What was measured on the machine of rows that name no calibration: a preset or a file
    #[arg(long, value_name = "FILE")]
    pub(super) calibration: Option<String>,
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
    /// The benchmark result, one of the files, that ran with speculation, where the results do not tell
    #[arg(long, value_name = "FILE")]
    pub(super) speculative: Option<PathBuf>,
    /// Tokens gained per cycle and request, bonus included, where a command line or a benchmark result does not tell
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
