//! `specplan calibrate-worker`: the child that `calibrate` starts. It is no verb of the user's.
//!
//! Its parent writes requests to its standard input. When that ends the parent is gone or done, and the child ends at once,
//! even in the middle of a task: a thread of its own waits for it, since the one that measures may hang.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::process::{ExitCode, exit};
use std::thread;

use crate::calibration::measure::worker::{Opened, serve};
use crate::calibration::measure::{Meter, gpu, synthetic::Synthetic};

/// The first argument that makes the program a child.
pub(super) const WORKER: &str = "calibrate-worker";

/// Answers until the parent is done.
pub(super) fn main(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let opened: Opened = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--synthetic"), Some(words)) => match Synthetic::parse(&words) {
            Ok(meter) => Ok(Box::new(meter) as Box<dyn Meter>),
            Err(message) => {
                super::output::say(&format!("error: {message}"));
                return ExitCode::from(2);
            }
        },
        _ => gpu::open(),
    };
    let Ok((requests, to)) = io::pipe() else { return ExitCode::from(2) };
    thread::spawn(move || watch(to));
    match answer(opened, requests) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn answer(opened: Opened, requests: PipeReader) -> io::Result<()> {
    serve(opened, BufReader::new(requests), io::stdout().lock())
}

/// Hands requests on; when they end the process does.
fn watch(mut to: PipeWriter) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if writeln!(to, "{line}").is_err() {
            break;
        }
    }
    exit(0);
}
