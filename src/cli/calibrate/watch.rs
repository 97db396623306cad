//! Progress of a calibration on a terminal, failures as they come, and Ctrl-C.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::show::rough;
use crate::calibration::measure::drive::Event;
use crate::calibration::measure::plan::{describe, word};
use crate::cli::output::say;

/// Whether Ctrl-C was pressed.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Failures that are told one by one; the rest is counted in the file.
const MOST_TOLD: usize = 5;

/// Who watches a run.
pub(super) struct Watch {
    quiet: bool,
    bar: Option<ProgressBar>,
    told: std::cell::Cell<usize>,
}

impl Watch {
    /// Begins to watch, and takes over Ctrl-C: the first ends the run with what it has, the second the program.
    pub(super) fn start(quiet: bool) -> Self {
        // What is ignored already, as a lost terminal under `nohup`, stays ignored.
        let _ = ctrlc::try_set_handler(|| {
            if STOPPED.swap(true, Ordering::Relaxed) {
                // The children see their input end, and end too.
                std::process::exit(130);
            }
        });
        let bar = (io::stderr().is_terminal() && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { quiet, bar, told: std::cell::Cell::new(0) }
    }

    /// Whether the user wants to stop.
    #[allow(clippy::unused_self)] // Asked of whoever took over Ctrl-C.
    pub(super) fn stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }

    /// Shows what happens.
    pub(super) fn tell(&self, event: &Event) {
        match event {
            Event::Begins { group, done, of, left, .. } => {
                let Some(bar) = &self.bar else { return };
                if bar.is_hidden() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                bar.set_length(*of as u64);
                bar.set_position(*done as u64);
                bar.set_prefix(group.part.word());
                bar.set_message(format!("{} left", rough(*left)));
            }
            Event::Failed { task, failure, last_words } => {
                let told = self.told.replace(self.told.get() + 1);
                if self.quiet || told >= MOST_TOLD {
                    return;
                }
                self.say(&format!(
                    "warning: {}: {} ({})",
                    describe(task),
                    failure.because,
                    word(&failure.kind)
                ));
                if let Some(last) = last_words.lines().rev().find(|line| !line.trim().is_empty()) {
                    self.say(&format!("  the child's last words: {}", last.trim()));
                }
                if told + 1 == MOST_TOLD {
                    self.say("  further failures are counted in the file");
                }
            }
            Event::GroupDone { .. } => {}
        }
    }

    /// Says what goes on beside the plan.
    pub(super) fn part(&self, name: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(name);
            bar.set_message("");
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
