//! The child's side of the seam: requests in, replies out, one at a time.

use std::io::{self, BufRead, Write};

use super::reply::{Failure, FailureKind, Outcome, Reply};
use super::task::{Request, Task};
use super::{Meter, REPLY_MARK};

/// A meter, or why there is none; every request is answered either way.
pub type Opened = Result<Box<dyn Meter>, Failure>;

/// Answers requests until the input ends. A line that is no request ends it too: parent and child are of one version,
/// so something else is at the other end.
///
/// # Errors
/// The parent is gone, or sent something that is no request.
pub fn serve(mut opened: Opened, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let outcome = answer(&mut opened, &request);
        if let Some(spoilt) = opened.as_ref().ok().and_then(|meter| meter.spoil(&request)) {
            spoil(spoilt, &mut output)?;
            continue;
        }
        let reply = serde_json::to_string(&Reply { id: request.id, outcome })?;
        // A line break before the mark: libraries print without one.
        write!(output, "\n{REPLY_MARK}{reply}\n")?;
        output.flush()?;
    }
    Ok(())
}

/// Stands for lines without end.
pub(super) const FLOOD: &str = "flood";

fn spoil(spoilt: &str, output: &mut impl Write) -> io::Result<()> {
    if spoilt == FLOOD {
        loop {
            writeln!(output, "no answer")?;
        }
    }
    writeln!(output, "\n{REPLY_MARK}{spoilt}")?;
    output.flush()
}

fn answer(opened: &mut Opened, request: &Request) -> Outcome {
    let meter = match opened {
        Ok(meter) => meter,
        Err(failure) => return Outcome::Failed(failure.clone()),
    };
    if request.task == Task::Inspect {
        return meter.inspect().map_or_else(Outcome::Failed, Outcome::Inspected);
    }
    match meter.measure(request) {
        Ok(measured) if measured.samples_us.is_empty() => {
            Outcome::Failed(Failure::new(FailureKind::Unsupported, "no sample was taken"))
        }
        // A clock that ran backwards or stood still is no measurement.
        Ok(measured) if measured.samples_us.iter().any(|us| !(us.is_finite() && *us > 0.0)) => {
            Outcome::Failed(Failure::new(FailureKind::Unsupported, "a sample is not a positive time"))
        }
        Ok(measured) => Outcome::Measured(measured),
        Err(failure) => Outcome::Failed(failure),
    }
}
