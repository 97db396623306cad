//! Ctrl-C, and requests to end or a terminal that goes (SIGTERM, SIGHUP): the first is for whoever watches, and else ends the
//! program; no half-written file stays behind.

use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether somebody asks [`stopped`] and ends early.
static WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether a signal came.
static STOPPED: AtomicBool = AtomicBool::new(false);
/// Files that are being written.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on the first signal is for [`stopped`] to tell, and the second ends the program.
pub(super) fn watch() {
    WATCHED.store(true, Ordering::Relaxed);
    take_over();
}

/// Whether a signal came.
pub(super) fn stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// A file that is removed if a signal ends the program before it is [`released`].
pub(super) fn guard(draft: &Path) {
    drafts(|list| list.push(draft.to_owned()));
    take_over();
}

/// The file is at its place, or gone.
pub(super) fn released(draft: &Path) {
    drafts(|list| list.retain(|known| known != draft));
}

fn drafts<T>(job: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    job(&mut DRAFTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A signal that is ignored already, as under `nohup`, stays so, and with it the others keep their ways: a handler that is
/// there already does the same.
fn take_over() {
    let _ = ctrlc::try_set_handler(|| {
        if WATCHED.load(Ordering::Relaxed) && !STOPPED.swap(true, Ordering::Relaxed) {
            return;
        }
        drafts(|list| {
            for draft in list.iter() {
                let _ = std::fs::remove_file(draft);
            }
            exit(130);
        });
    });
}
