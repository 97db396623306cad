//! `specplan completions`.

use super::args::CompletionsArgs;
use super::exit::Failure;

/// Prints the completions of one shell.
pub(super) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = super::command();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "specplan", &mut script);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(())
}
