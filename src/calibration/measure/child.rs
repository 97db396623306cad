//! A child process with a watchdog: started in its own process group, asked one task at a time, killed as a group when it
//! does not answer in time, and gone when its handle is dropped.
//!
//! Its standard output is read by a thread that keeps marked lines alone, so that neither a flood of other lines nor one
//! line without end fills memory. The last words of its standard error are kept for messages on the terminal; they never
//! reach a file, since libraries name paths and hosts there.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::plan::is_ours;
use super::reply::{Failure, FailureKind, Outcome, Reply};
use super::task::Request;
use super::{REPLY_MARK, plan};

/// How children are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Value of CUDA_VISIBLE_DEVICES; none: as it is.
    pub devices: Option<String>,
    /// Value of LD_LIBRARY_PATH, see [`super::gpu::Libraries`]; none: as it is.
    pub library_path: Option<std::ffi::OsString>,
}

/// The longest line that is read \[B\]: a few thousand samples.
const LONGEST_LINE: u64 = 1 << 20;
/// Lines that are no answers, one after the other, before the child counts as broken.
const MOST_NOISE: u32 = 20_000;
/// Last words that are kept \[B\].
const LAST_WORDS: usize = 2000;
/// How often the wait looks whether to stop.
const TICK: Duration = Duration::from_millis(25);
/// How long a child may take to end by itself, and how long a killed one is waited for.
const FAREWELL: Duration = Duration::from_secs(3);

/// A running child.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    /// Whether it was reaped: its number may belong to others now.
    reaped: bool,
    input: Option<process::ChildStdin>,
    lines: Receiver<Heard>,
    last_words: Arc<Mutex<String>>,
}

/// What the reading thread hands on.
#[derive(Debug)]
enum Heard {
    Reply(String),
    TooMuch,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// An answer; the child can be asked again.
    Outcome(Outcome),
    /// None, and the child must be replaced.
    Broken(Failure),
    /// The user stopped the run.
    Stopped,
}

impl Child {
    /// Starts one with an environment over that of this process.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(launcher: &Launcher, environment: &[(String, String)]) -> io::Result<Self> {
        let mut command = Command::new(&launcher.program);
        command.args(&launcher.arguments).process_group(0);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("NCCL_") && !is_ours(name)) {
                command.env_remove(&name);
            }
        }
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        if let Some(devices) = &launcher.devices {
            command.env("CUDA_VISIBLE_DEVICES", devices);
        }
        if let Some(path) = &launcher.library_path {
            command.env("LD_LIBRARY_PATH", path);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let input = process.stdin.take();
        let (to, lines) = sync_channel(4);
        if let Some(output) = process.stdout.take() {
            thread::spawn(move || listen(BufReader::new(output), &to));
        }
        let last_words = Arc::default();
        if let Some(errors) = process.stderr.take() {
            let kept = Arc::clone(&last_words);
            thread::spawn(move || keep_last(BufReader::new(errors), &kept));
        }
        Ok(Self { process, reaped: false, input, lines, last_words })
    }

    /// Asks, and waits until the limit at most.
    pub fn ask(&mut self, request: &Request, limit: Duration, stop: &dyn Fn() -> bool) -> Answer {
        let deadline = Instant::now() + limit;
        if let Err(failure) = self.send(request) {
            return Answer::Broken(failure);
        }
        loop {
            if stop() {
                return Answer::Stopped;
            }
            match self.lines.recv_timeout(TICK) {
                Ok(Heard::Reply(line)) => return read(&line, request),
                Ok(Heard::TooMuch) => {
                    return broken(FailureKind::Garbled, "the child wrote on and on without an answer");
                }
                Err(RecvTimeoutError::Disconnected) => return Answer::Broken(self.crashed()),
                Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                    let because =
                        format!("no answer within {:.0} s: the child was killed", limit.as_secs_f64());
                    return broken(FailureKind::Timeout, &because);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), Failure> {
        let mut line = serde_json::to_string(request)
            .map_err(|error| Failure::new(FailureKind::Garbled, error.to_string()))?;
        line.push('\n');
        let sent =
            self.input.as_mut().map(|input| input.write_all(line.as_bytes()).and_then(|()| input.flush()));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(self.crashed()) }
    }

    /// The process closed its output: how did it end?
    fn crashed(&mut self) -> Failure {
        use std::os::unix::process::ExitStatusExt as _;
        let because = match self.wait(FAREWELL) {
            None => "the child closed its output".to_owned(),
            Some(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("the child was ended by signal {signal}"),
                (None, Some(code)) => format!("the child ended with code {code} before it answered"),
                (None, None) => "the child ended before it answered".to_owned(),
            },
        };
        Failure::new(FailureKind::Crashed, because)
    }

    fn wait(&mut self, longest: Duration) -> Option<process::ExitStatus> {
        let status = wait(&mut self.process, longest);
        self.reaped |= status.is_some();
        status
    }

    /// The end of what it wrote to standard error, for the terminal alone.
    pub fn last_words(&self) -> String {
        self.last_words.lock().map(|words| words.clone()).unwrap_or_default()
    }

    /// Ends it: no more questions, a moment to leave by itself, then as on a drop.
    pub fn finish(mut self) {
        self.input = None;
        self.wait(FAREWELL);
    }

    /// Kills the whole process group. A process that a driver holds in the kernel cannot be killed; it is left behind.
    fn kill(&mut self) {
        if !self.reaped {
            kill_group(&mut self.process);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        self.kill();
    }
}

/// Kills the group of a process that leads one and is not reaped yet: until then its number belongs to no other group.
pub(super) fn kill_group(process: &mut process::Child) {
    let group = format!("kill -s KILL -- -{}", process.id());
    let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    let _ = process.kill();
    wait(process, FAREWELL);
}

fn wait(process: &mut process::Child, longest: Duration) -> Option<process::ExitStatus> {
    let deadline = Instant::now() + longest;
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}

fn broken(kind: FailureKind, because: &str) -> Answer {
    Answer::Broken(Failure::new(kind, because))
}

fn read(line: &str, request: &Request) -> Answer {
    match serde_json::from_str::<Reply>(line) {
        Ok(reply) if reply.id == request.id => Answer::Outcome(reply.outcome),
        Ok(reply) => broken(
            FailureKind::Garbled,
            &format!("the child answered task {} instead of {}", reply.id, request.id),
        ),
        Err(_) => broken(
            FailureKind::Garbled,
            &format!("the answer to `{}` cannot be read", plan::describe(&request.task)),
        ),
    }
}

/// Hands on marked lines until the output ends.
fn listen(mut output: impl BufRead, to: &SyncSender<Heard>) {
    let mut noise = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut output).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = line.ends_with(b"\n");
        let text = String::from_utf8_lossy(&line);
        let heard = match text.strip_prefix(REPLY_MARK) {
            Some(reply) if whole => Heard::Reply(reply.trim_end().to_owned()),
            _ if noise == MOST_NOISE => Heard::TooMuch,
            _ => {
                noise += 1;
                continue;
            }
        };
        let enough = matches!(heard, Heard::TooMuch);
        noise = 0;
        if to.send(heard).is_err() || enough {
            return;
        }
    }
}

fn keep_last(mut errors: impl BufRead, kept: &Mutex<String>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut errors).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let Ok(mut kept) = kept.lock() else { return };
        kept.push_str(&String::from_utf8_lossy(&line));
        let mut from = kept.len().saturating_sub(LAST_WORDS);
        while !kept.is_char_boundary(from) {
            from += 1;
        }
        kept.drain(..from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::measure::task::Task;

    fn shell(script: &str) -> Child {
        let launcher = Launcher {
            program: "sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            devices: None,
            library_path: None,
        };
        Child::start(&launcher, &[]).unwrap()
    }

    fn ask(script: &str) -> Answer {
        let request = Request { id: 1, task: Task::Inspect, limit_ms: 0, repeats: 1 };
        shell(script).ask(&request, Duration::from_millis(400), &|| false)
    }

    fn kind(answer: &Answer) -> Option<FailureKind> {
        match answer {
            Answer::Broken(failure) => Some(failure.kind),
            _ => None,
        }
    }

    #[test]
    fn only_a_marked_line_of_the_right_number_is_an_answer() {
        let reply = |id: u32| {
            format!(
                "echo noise; echo 'specplan-reply {{\"id\":{id},\"outcome\":{{\"failed\":{{\"kind\":\"no-device\",\"because\":\"x\"}}}}}}'; sleep 9"
            )
        };
        assert!(matches!(ask(&reply(1)), Answer::Outcome(Outcome::Failed(_))));
        assert_eq!(kind(&ask(&reply(2))), Some(FailureKind::Garbled));
        assert_eq!(kind(&ask("echo 'specplan-reply {'; sleep 9")), Some(FailureKind::Garbled));
    }

    #[test]
    fn silence_floods_and_ends_are_told_apart() {
        assert_eq!(kind(&ask("sleep 9")), Some(FailureKind::Timeout));
        assert_eq!(kind(&ask("yes")), Some(FailureKind::Garbled));
        // One line without end.
        assert_eq!(kind(&ask("tr '\\0' a < /dev/zero")), Some(FailureKind::Timeout));
        let crashed = ask("exit 7");
        assert_eq!(kind(&crashed), Some(FailureKind::Crashed));
        assert!(format!("{crashed:?}").contains("code 7"), "{crashed:?}");
        assert!(format!("{:?}", ask("kill -SEGV $$")).contains("signal 11"));
    }

    /// The grandchild holds the pipe; it must go as well.
    #[test]
    fn the_whole_group_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        let script = format!("(while :; do date > {}; sleep 0.02; done) & sleep 60", alive.display());
        let child = shell(&script);
        while !alive.exists() {
            thread::sleep(Duration::from_millis(5));
        }
        drop(child);
        thread::sleep(Duration::from_millis(60));
        std::fs::remove_file(&alive).unwrap();
        thread::sleep(Duration::from_millis(120));
        assert!(!alive.exists(), "the grandchild still writes");
    }

    #[test]
    fn the_last_words_are_kept_and_bounded() {
        let mut child = shell("for i in $(seq 1000); do echo word $i >&2; done; read x");
        child.input = None;
        child.wait(FAREWELL);
        thread::sleep(Duration::from_millis(50));
        let words = child.last_words();
        assert!(words.ends_with("word 1000\n") && words.len() <= LAST_WORDS, "{}", words.len());
    }

    #[test]
    fn a_stop_is_seen_while_waiting() {
        let request = Request { id: 1, task: Task::Inspect, limit_ms: 0, repeats: 1 };
        let began = Instant::now();
        let answer = shell("sleep 9")
            .ask(&request, Duration::from_secs(9), &|| began.elapsed() > Duration::from_millis(50));
        assert_eq!(answer, Answer::Stopped);
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}
