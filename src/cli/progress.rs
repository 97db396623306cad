//! Progress on a terminal, and Ctrl-C: the first ends a simulation, which then tells what it did; the second ends all.

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt;
use crate::simulation::Stage;

/// A shorter wait needs no bar.
const SILENT: Duration = Duration::from_millis(300);
/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// The bar, hidden at first and for ever where stderr is no terminal.
pub(super) struct Progress {
    begun: Instant,
    shown: Option<Mutex<Shown>>,
}

struct Shown {
    bar: ProgressBar,
    /// Shares of the two sides, which run together.
    sides: [f64; 2],
}

impl Progress {
    /// Begins to watch, and takes over Ctrl-C.
    pub(super) fn start(quiet: bool) -> Self {
        interrupt::watch();
        let shown = (io::stderr().is_terminal() && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::hidden());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            Mutex::new(Shown { bar, sides: [0.0; 2] })
        });
        Self { begun: Instant::now(), shown }
    }

    /// Takes note of a share, from any thread.
    pub(super) fn tell(&self, stage: Stage, share: f64) -> ControlFlow<()> {
        if let Some(shown) = &self.shown
            && self.begun.elapsed() > SILENT
            && let Ok(mut shown) = shown.try_lock()
        {
            shown.draw(stage, share);
        }
        if interrupt::stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Points of a sweep: how many a second, and how long the rest takes.
pub(super) struct Counting {
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Counting {
    /// Begins to watch, and takes over Ctrl-C.
    pub(super) fn start(total: u64, quiet: bool) -> Self {
        interrupt::watch();
        let bar = (io::stderr().is_terminal() && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            let style =
                ProgressStyle::with_template("{pos} of {len} points {wide_bar} {per_sec:.0}, {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { begun: Instant::now(), bar }
    }

    /// Takes note of more points; whether to go on.
    pub(super) fn add(&self, points: u64) -> ControlFlow<()> {
        if let Some(bar) = &self.bar {
            bar.inc(points);
            if bar.is_hidden() && self.begun.elapsed() > SILENT {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
        if interrupt::stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Shown {
    fn draw(&mut self, stage: Stage, share: f64) {
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let (message, share) = match stage {
            Stage::Cycles => ("simulating cycles", share),
            Stage::WithSpeculation | Stage::WithoutSpeculation => {
                self.sides[usize::from(stage == Stage::WithoutSpeculation)] = share;
                ("serving requests", f64::midpoint(self.sides[0], self.sides[1]))
            }
            Stage::Loads => ("other loads", share),
        };
        if self.bar.message() != message {
            self.bar.set_message(message);
            self.bar.reset_eta();
        }
        self.bar.set_position((share * STEPS) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(shown) = &self.shown
            && let Ok(shown) = shown.lock()
        {
            shown.bar.finish_and_clear();
        }
    }
}
