//! The command line of specplan: parse, run, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    specplan::cli::main()
}
