//! Exit codes: 0 answered, 1 a requested check failed, 2 bad input, 101 a bug.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// How a verb can fail.
#[derive(Debug)]
pub(super) enum Failure {
    /// A check that was asked for failed; the reason was printed.
    Check,
    /// Bad flag, file or scenario; the message was printed.
    Reported,
    /// Bad flag, file or scenario, with the message still to print.
    Input(String),
    /// Writing the result failed.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The exit code of a finished verb.
pub(super) fn finish(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Check) => ExitCode::from(1),
        Err(Failure::Reported) => ExitCode::from(2),
        Err(Failure::Input(message)) => {
            super::output::say(&format!("error: {message}"));
            ExitCode::from(2)
        }
        // A reader that closed the pipe has what it wanted.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(error)) => {
            super::output::say(&format!("error: cannot write the result: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Help and version go to stdout with 0, usage errors to stderr with 2.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if error.use_stderr() {
        super::output::say(text.to_string().trim_end());
        return ExitCode::from(2);
    }
    let mut stdout = io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => finish(Err(error.into())),
    }
}
