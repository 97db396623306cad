//! The user's own PyTorch as another kind of child: the shipped script, run with the user's python, prints rows of the
//! calibration's tables.
//!
//! It gets its shapes as JSON on standard input and prints `{"table": NAME, "row": {column: value}}`, `{"failed": TASK,
//! "because": SENTENCE}` and last `{"done": true, ...}`, one a line. Other lines are noise. It starts a process per GPU, so
//! the whole group is killed when it takes too long.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::child::kill_group;
use super::reply::{Failure, FailureKind};
use super::rows::{TableRow, row_of_json};

/// The longest line that is read \[B\].
const LONGEST_LINE: u64 = 1 << 16;
/// The most rows that are taken.
const MOST_ROWS: usize = 20_000;
/// How often the wait looks whether to stop.
const TICK: Duration = Duration::from_millis(50);
/// Over the limit that the script keeps itself: imports, processes, contexts, and its last operation.
const GRACE: Duration = Duration::from_secs(60);

/// What came of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Probed {
    /// Rows; also where it ended early.
    pub rows: Vec<TableRow>,
    /// Operations that it could not time.
    pub failed: usize,
    /// Lines that look like rows and cannot be read.
    pub unreadable: usize,
    /// Version of PyTorch; empty where it did not say.
    pub version: String,
    /// Why it ended before it was done; none: it was done.
    pub ended: Option<Failure>,
}

/// How the script is run.
pub struct Probe<'a> {
    /// The user's python.
    pub python: &'a Path,
    /// The script as a file: it starts processes that read it again.
    pub script: &'a Path,
    /// What to measure.
    pub shapes: &'a Value,
    /// Value of CUDA_VISIBLE_DEVICES; none: as it is.
    pub devices: Option<&'a str>,
    /// Time that the script may take by its own clock.
    pub limit: Duration,
}

/// Runs it; none where the user stopped it.
pub fn run(probe: &Probe, stop: &dyn Fn() -> bool) -> Option<Probed> {
    let mut command = Command::new(probe.python);
    command.arg(probe.script).arg("-").process_group(0);
    if let Some(devices) = probe.devices {
        command.env("CUDA_VISIBLE_DEVICES", devices);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut probed = Probed::default();
    let mut process = match command.spawn() {
        Ok(process) => process,
        Err(error) => {
            let because = format!("python does not start: {error}");
            probed.ended = Some(Failure::new(FailureKind::LibraryMissing, because));
            return Some(probed);
        }
    };
    if let Some(mut input) = process.stdin.take() {
        // One that ended already says why below.
        let _ = input.write_all(probe.shapes.to_string().as_bytes());
    }
    let (to, lines) = sync_channel::<String>(64);
    if let Some(output) = process.stdout.take() {
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while matches!((&mut output).take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(n) if n > 0) {
                if line.starts_with(b"{") && to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
    }
    let errors = process.stderr.take().map(|errors| {
        thread::spawn(move || {
            let mut last = String::new();
            for line in BufReader::new(errors).lines().map_while(Result::ok).filter(|l| !l.trim().is_empty())
            {
                last = line.chars().take(300).collect();
            }
            last
        })
    });
    let deadline = Instant::now() + probe.limit + GRACE;
    let mut done = false;
    let why = loop {
        if stop() {
            kill_group(&mut process);
            return None;
        }
        match lines.recv_timeout(TICK) {
            Ok(line) => done |= take(&mut probed, &line),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                break Some(Failure::new(
                    FailureKind::Timeout,
                    "the PyTorch probe took too long and was killed",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    kill_group(&mut process);
    let last = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if !done {
        let because = if last.is_empty() { "it ended early".to_owned() } else { last };
        probed.ended = Some(why.unwrap_or(Failure::new(FailureKind::Crashed, because)));
    }
    Some(probed)
}

/// Takes a line; whether it was the last.
fn take(probed: &mut Probed, line: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        probed.unreadable += 1;
        return false;
    };
    if value.get("done").and_then(Value::as_bool) == Some(true) {
        let version = value.pointer("/versions/torch").and_then(Value::as_str).unwrap_or_default();
        probed.version =
            version.chars().filter(|c| c.is_ascii_alphanumeric() || ".-".contains(*c)).take(30).collect();
        return true;
    }
    if value.get("failed").is_some() {
        probed.failed += 1;
    } else {
        match row_of_json(&value) {
            Some(row) if probed.rows.len() < MOST_ROWS => probed.rows.push(row),
            _ => probed.unreadable += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stand-in for python that ignores the script.
    fn with(script: &str, limit: Duration) -> Probed {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("probe");
        std::fs::write(&file, script).unwrap();
        let probe = Probe {
            python: Path::new("sh"),
            script: &file,
            shapes: &serde_json::json!({ "limit_s": 1 }),
            devices: None,
            limit,
        };
        run(&probe, &|| false).unwrap()
    }

    const ROW: &str = r#"{"table":"launch","row":{"server":"pytorch","what":"issue","op":"norm","median_us":7.5,"p10_us":7,"p90_us":9.25,"samples":60}}"#;

    #[test]
    fn rows_failures_and_noise_are_told_apart() {
        let script = format!(
            "cat > /dev/null; echo warning; echo '{ROW}'; echo '{{\"failed\":{{}},\"because\":\"x\"}}'; echo '{{\"table\":\"launch\"}}'\n\
             echo '{{\"done\":true,\"versions\":{{\"torch\":\"2.11.0\"}}}}'"
        );
        let probed = with(&script, Duration::from_secs(5));
        assert_eq!(probed.ended, None);
        assert_eq!((probed.rows.len(), probed.failed, probed.unreadable), (1, 1, 1));
        assert_eq!(probed.version, "2.11.0");
        let row = &probed.rows[0];
        assert_eq!((row.table.as_str(), row.cells.as_str()), ("launch", "pytorch,issue,norm,"));
        assert!((row.times.p90 - 9.25).abs() < 1e-12 && row.times.samples == 60);
    }

    #[test]
    fn one_that_ends_early_keeps_its_rows_and_says_why() {
        let script = format!(
            "echo '{ROW}'; echo 'PyTorch is needed: run this with the python of your server' >&2; exit 1"
        );
        let probed = with(&script, Duration::from_secs(5));
        assert_eq!(probed.rows.len(), 1);
        let ended = probed.ended.unwrap();
        assert_eq!(ended.kind, FailureKind::Crashed);
        assert!(ended.because.starts_with("PyTorch is needed"));
    }

    #[test]
    fn a_python_that_is_not_there_is_a_sentence() {
        let probe = Probe {
            python: Path::new("/nonexistent/python"),
            script: Path::new("x"),
            shapes: &Value::Null,
            devices: None,
            limit: Duration::from_secs(1),
        };
        let ended = run(&probe, &|| false).unwrap().ended.unwrap();
        assert_eq!(ended.kind, FailureKind::LibraryMissing);
    }

    #[test]
    fn rows_that_would_not_be_read_back_are_not_taken() {
        for row in [
            r#"{"table":"launch","row":{"server":"pytorch","what":"issue","median_us":-1}}"#,
            r#"{"table":"launch","row":{"server":"pytorch","what":"issue","median_us":2,"p10_us":3}}"#,
            r#"{"table":"launch","row":{"server":"pytorch","what":"a,b","median_us":2}}"#,
            r#"{"table":"launch","row":{"server":"pytorch","what":"issue","host":"x","median_us":2}}"#,
            r#"{"table":"secrets","row":{"median_us":2}}"#,
        ] {
            assert_eq!(row_of_json(&serde_json::from_str(row).unwrap()), None, "{row}");
        }
    }
}
