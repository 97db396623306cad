//! The command line: verbs, flags, files, exit codes. The only place that prints.
//!
//! stdout is the result, byte for byte the same for the same input; stderr is the conversation.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod calibrate;
mod calibrate_worker;
mod check;
mod completions;
mod exit;
mod explain;
mod explain_presets;
mod import;
mod interrupt;
mod measurements;
mod notes;
mod number_list;
mod output;
mod plot_allreduce;
mod plots;
mod progress;
mod reference;
mod run;
mod schema;
mod simulate;
mod simulate_plots;
mod sweep;
mod sweep_merge;
mod sweep_plots;
mod tune;
mod tune_plots;
mod validate;
mod validate_allreduce;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Verb};

/// Parses the command line and runs the verb.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == calibrate_worker::WORKER) {
        return calibrate_worker::main(arguments.filter_map(|word| word.into_string().ok()));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    let done = match cli.verb {
        Verb::Run(args) => run::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::Sweep(args) => sweep::run(&args),
        Verb::Calibrate(args) => calibrate::run(&args),
        Verb::Tune(args) => tune::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::Validate(args) => validate::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Schema(args) => schema::run(&args),
        Verb::Completions(args) => completions::run(&args),
    };
    exit::finish(done)
}

/// The clap definition, for completions, man page and generated reference.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}
