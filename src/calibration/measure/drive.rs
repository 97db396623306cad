//! Runs a plan: children, watchdogs, restarts, and the record of every task.
//!
//! A task that hangs, crashes or garbles costs its child; the next task gets a fresh one. Three such in a row end the
//! group. A group has a time limit of its own. A fresh child is asked for the box first: where it sees fewer GPUs than the
//! plan was made for, one was lost, and the run ends with what it has.

use std::io;
use std::time::{Duration, Instant};

use super::child::{Answer, Child, Launcher};
use super::journal::{Journal, Record, add};
use super::plan::{Group, Plan, estimate_group, estimate_start, estimate_task, smaller, start_limit_ms};
use super::reply::{Failure, FailureKind, Inspection, Measured, Outcome};
use super::task::{Request, Task};
use crate::units::Seconds;

/// Children lost in a row before a group is given up.
const MOST_LOST: u32 = 3;
/// Smaller tasks that are tried where memory is short.
const MOST_SMALLER: u32 = 4;
/// A group may take this many times its estimate, and this long more.
const GROUP_FACTOR: f64 = 4.0;
const GROUP_EXTRA: Duration = Duration::from_secs(60);

/// How a run ended.
#[derive(Debug)]
pub enum Ending {
    /// Every task was tried.
    Complete,
    /// The user stopped it.
    Stopped,
    /// A GPU was lost; why.
    Lost(Failure),
    /// The journal cannot be written.
    Journal(io::Error),
}

/// What a watcher is told.
#[derive(Debug)]
pub enum Event<'a> {
    /// A task begins.
    Begins {
        /// Its group.
        group: &'a Group,
        /// The task.
        task: &'a Task,
        /// Tasks done, of all.
        done: usize,
        /// Tasks of the plan.
        of: usize,
        /// Time left, by the estimates and how well they held so far.
        left: Seconds,
    },
    /// A task failed.
    Failed {
        /// The task.
        task: &'a Task,
        /// Why.
        failure: &'a Failure,
        /// The end of what the child wrote to standard error; may hold paths.
        last_words: String,
    },
    /// A group is done: time to write the file.
    GroupDone {
        /// Everything so far.
        records: &'a [Record],
    },
}

/// What a run needs beside its plan.
pub struct Driver<'a> {
    /// How children are started.
    pub launcher: &'a Launcher,
    /// The box as it was when the plan was made.
    pub found: &'a Inspection,
    /// Whether the user wants to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Who is told.
    pub watch: &'a mut dyn FnMut(Event),
    /// Where every result goes.
    pub journal: &'a mut Journal,
    /// Longest wait for an answer; none: the limit of each task.
    pub limit: Option<Duration>,
}

/// The state of a run.
struct Run<'a, 'b> {
    driver: &'b mut Driver<'a>,
    records: &'b mut Vec<Record>,
    child: Option<(Child, Vec<(String, String)>)>,
    began: Instant,
    /// Estimated time of what is done and of what is not.
    done_estimate: Seconds,
    left_estimate: Seconds,
    done: usize,
    of: usize,
}

/// Why a run cannot go on.
enum Halt {
    Stopped,
    Lost(Failure),
    Journal(io::Error),
}

/// Measures what `records` does not hold yet, and adds it there.
pub fn run(driver: &mut Driver, plan: &Plan, records: &mut Vec<Record>) -> Ending {
    let of = plan.tasks().count();
    let mut run = Run {
        driver,
        records,
        child: None,
        began: Instant::now(),
        done_estimate: Seconds::ZERO,
        left_estimate: Seconds::ZERO,
        done: 0,
        of,
    };
    run.left_estimate = plan
        .tasks()
        .filter(|(group, request)| !run.settled(group, request))
        .map(|(_, request)| estimate_task(&request.task, request.repeats))
        .sum();
    for group in &plan.groups {
        match run.group(group) {
            Ok(()) => {}
            Err(Halt::Stopped) => return Ending::Stopped,
            Err(Halt::Lost(failure)) => return Ending::Lost(failure),
            Err(Halt::Journal(error)) => return Ending::Journal(error),
        }
    }
    if let Some((child, _)) = run.child.take() {
        child.finish();
    }
    Ending::Complete
}

/// Asks a fresh child for the box.
///
/// # Errors
/// No GPU, no library, no answer; [`None`] where the user stopped it.
pub fn inspect(launcher: &Launcher, stop: &dyn Fn() -> bool) -> Result<Option<Inspection>, Failure> {
    let crashed = |error: io::Error| Failure::new(FailureKind::Crashed, format!("no child starts: {error}"));
    let mut child = Child::start(launcher, &[]).map_err(crashed)?;
    let found = ask_for_box(&mut child, stop)?;
    child.finish();
    Ok(found)
}

fn ask_for_box(child: &mut Child, stop: &dyn Fn() -> bool) -> Result<Option<Inspection>, Failure> {
    let limit_ms = start_limit_ms();
    let request = Request { id: 0, task: Task::Inspect, limit_ms, repeats: 1 };
    match child.ask(&request, Duration::from_millis(limit_ms), stop) {
        Answer::Outcome(Outcome::Inspected(found)) => Ok(Some(found)),
        Answer::Outcome(Outcome::Failed(failure)) | Answer::Broken(failure) => Err(failure),
        Answer::Outcome(Outcome::Measured(_)) => {
            Err(Failure::new(FailureKind::Garbled, "the child answered with times when asked for the box"))
        }
        Answer::Stopped => Ok(None),
    }
}

impl Run<'_, '_> {
    fn settled(&self, group: &Group, request: &Request) -> bool {
        self.records.iter().any(|record| {
            record.planned == request.task
                && record.variant == group.variant
                && record.part == group.part
                && record.settled()
        })
    }

    fn group(&mut self, group: &Group) -> Result<(), Halt> {
        let gpus = self.driver.found.gpus.len() as u32;
        let expected = estimate_group(group) + estimate_start(gpus);
        let deadline =
            Instant::now() + Duration::from_secs_f64((expected * GROUP_FACTOR).get()) + GROUP_EXTRA;
        let mut lost_in_a_row = 0;
        let mut ran = false;
        for request in &group.tasks {
            self.done += 1;
            if self.settled(group, request) {
                continue;
            }
            ran = true;
            let given_up = if lost_in_a_row >= MOST_LOST {
                Some((FailureKind::Crashed, "not tried: three children in a row were lost before it"))
            } else if Instant::now() > deadline {
                Some((FailureKind::Timeout, "not tried: its group had used up its time"))
            } else {
                None
            };
            let (instead, result) = match given_up {
                Some((kind, because)) => (None, Err(Failure::new(kind, because))),
                None => self.task(group, request)?,
            };
            let broken = |f: &Failure| {
                matches!(f.kind, FailureKind::Timeout | FailureKind::Crashed | FailureKind::Garbled)
            };
            match &result {
                Err(failure) if broken(failure) => lost_in_a_row += 1,
                _ => lost_in_a_row = 0,
            }
            self.record(group, request, instead, result)?;
        }
        if ran {
            self.driver.journal.sync().map_err(Halt::Journal)?;
            (self.driver.watch)(Event::GroupDone { records: self.records });
        }
        Ok(())
    }

    fn record(
        &mut self,
        group: &Group,
        request: &Request,
        instead: Option<Task>,
        result: Result<Measured, Failure>,
    ) -> Result<(), Halt> {
        let lost = result.as_ref().err().filter(|failure| failure.kind == FailureKind::GpuLost).cloned();
        let record = Record {
            part: group.part,
            variant: group.variant.clone(),
            planned: request.task.clone(),
            instead,
            result,
        };
        self.driver.journal.append(&record).map_err(Halt::Journal)?;
        add(self.records, record);
        let estimate = estimate_task(&request.task, request.repeats);
        self.done_estimate += estimate;
        self.left_estimate = self.left_estimate - estimate;
        lost.map_or(Ok(()), |failure| self.after_loss(group, failure))
    }

    /// After a sticky error a fresh process may find every GPU again, or not.
    fn after_loss(&mut self, group: &Group, failure: Failure) -> Result<(), Halt> {
        self.child = None;
        self.start(group).map_err(|halt| match halt {
            Halt::Lost(_) => Halt::Lost(failure),
            other => other,
        })
    }

    /// One task, or a smaller one where memory is short.
    #[allow(clippy::type_complexity)] // The smaller task, and what came of it.
    fn task(
        &mut self,
        group: &Group,
        request: &Request,
    ) -> Result<(Option<Task>, Result<Measured, Failure>), Halt> {
        let mut request = request.clone();
        let mut instead = None;
        for _ in 0..MOST_SMALLER {
            let result = self.once(group, &request)?;
            let short = matches!(&result, Err(failure) if failure.kind == FailureKind::OutOfMemory);
            match smaller(&request.task).filter(|_| short) {
                None => return Ok((instead, result)),
                Some(less) => {
                    request.task = less.clone();
                    instead = Some(less);
                }
            }
        }
        let result = self.once(group, &request)?;
        Ok((instead, result))
    }

    fn once(&mut self, group: &Group, request: &Request) -> Result<Result<Measured, Failure>, Halt> {
        if (self.driver.stop)() {
            return Err(Halt::Stopped);
        }
        self.tell_begin(group, request);
        if self.child.as_ref().is_none_or(|(_, environment)| *environment != group.variant.environment) {
            self.start(group)?;
        }
        let Some((child, _)) = &mut self.child else {
            return Ok(Err(Failure::new(FailureKind::Crashed, "no child could be started")));
        };
        let limit = self.driver.limit.unwrap_or(Duration::from_millis(request.limit_ms));
        let failure = match child.ask(request, limit, self.driver.stop) {
            Answer::Stopped => return Err(Halt::Stopped),
            Answer::Outcome(Outcome::Measured(measured)) => return Ok(Ok(measured)),
            Answer::Outcome(Outcome::Failed(failure)) | Answer::Broken(failure) => failure,
            Answer::Outcome(Outcome::Inspected(_)) => {
                Failure::new(FailureKind::Garbled, "the child answered with the box when asked for times")
            }
        };
        let last_words = child.last_words();
        (self.driver.watch)(Event::Failed { task: &request.task, failure: &failure, last_words });
        let usable = matches!(
            failure.kind,
            FailureKind::Unsupported
                | FailureKind::OutOfMemory
                | FailureKind::LibraryMissing
                | FailureKind::WrongResult
        );
        if !usable {
            self.child = None;
        }
        Ok(Err(failure))
    }

    fn tell_begin(&mut self, group: &Group, request: &Request) {
        let held = if self.done_estimate.get() > 1.0 {
            (self.began.elapsed().as_secs_f64() / self.done_estimate.get()).clamp(0.05, 20.0)
        } else {
            1.0
        };
        (self.driver.watch)(Event::Begins {
            group,
            task: &request.task,
            done: self.done - 1,
            of: self.of,
            left: self.left_estimate * held,
        });
    }

    /// A fresh child that sees the GPUs of the plan.
    fn start(&mut self, group: &Group) -> Result<(), Halt> {
        if let Some((child, _)) = self.child.take() {
            child.finish();
        }
        let environment = &group.variant.environment;
        let lost = |because: String| Halt::Lost(Failure::new(FailureKind::GpuLost, because));
        let mut child = Child::start(self.driver.launcher, environment)
            .map_err(|error| lost(format!("no child starts any more: {error}")))?;
        let before = self.driver.found.gpus.len();
        match ask_for_box(&mut child, self.driver.stop) {
            Ok(None) => return Err(Halt::Stopped),
            Ok(Some(now)) if now.gpus.len() < before => {
                return Err(lost(format!("{} of {before} GPUs are left", now.gpus.len())));
            }
            Ok(Some(_)) => self.child = Some((child, environment.clone())),
            Err(failure) => return Err(Halt::Lost(failure)),
        }
        Ok(())
    }
}
