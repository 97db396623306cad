//! A barrier that opens for good when one of its threads has failed.

use std::sync::{Condvar, Mutex, PoisonError};

use super::super::{Failure, FailureKind};

/// Where the threads of ranks meet.
pub(super) struct Gate {
    ranks: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: u32,
    turn: u64,
    broken: bool,
}

impl Gate {
    /// For so many threads.
    pub(super) fn new(ranks: u32) -> Self {
        Self { ranks, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for all.
    ///
    /// # Errors
    /// Another thread has failed.
    pub(super) fn wait(&self) -> Result<(), Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        if state.waiting == self.ranks {
            state.waiting = 0;
            state.turn += 1;
            self.changed.notify_all();
        }
        let turn = if state.waiting == 0 { return Self::open(&state) } else { state.turn };
        while state.turn == turn && !state.broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Self::open(&state)
    }

    fn open(state: &State) -> Result<(), Failure> {
        if state.broken { Err(Failure::new(FailureKind::Unsupported, OTHER)) } else { Ok(()) }
    }

    /// Lets all go with an error.
    pub(super) fn break_open(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).broken = true;
        self.changed.notify_all();
    }
}

const OTHER: &str = "another rank failed";

/// Runs a function for each rank on a thread of its own and collects what they return, by rank.
///
/// # Errors
/// The first failure that is a rank's own.
pub(super) fn ranks<T: Send>(
    count: u32,
    run: impl Fn(u32, &Gate) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let gate = Gate::new(count);
    let results: Vec<Result<T, Failure>> = std::thread::scope(|scope| {
        let (gate, run) = (&gate, &run);
        let one = move |rank| {
            let result = run(rank, gate);
            if result.is_err() {
                gate.break_open();
            }
            result
        };
        let threads: Vec<_> = (0..count).map(|rank| scope.spawn(move || one(rank))).collect();
        let crashed = || Err(Failure::new(FailureKind::Unsupported, "the thread of a rank panicked"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| crashed())).collect()
    });
    let own = |result: &Result<T, Failure>| {
        result.as_ref().err().filter(|failure| failure.because != OTHER).cloned()
    };
    if let Some(failure) = results.iter().find_map(own) {
        return Err(failure);
    }
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn nobody_passes_before_all_have_come() {
        let came = AtomicU32::new(0);
        let seen = ranks(4, |_, gate| {
            let mut seen = Vec::new();
            for _ in 0..50 {
                came.fetch_add(1, Ordering::SeqCst);
                gate.wait()?;
                seen.push(came.load(Ordering::SeqCst));
                gate.wait()?;
            }
            Ok(seen)
        });
        for seen in seen.unwrap() {
            assert_eq!(seen, (1..=50).map(|turn| 4 * turn).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_failure_lets_the_others_go_and_is_the_one_that_is_told() {
        let told = ranks(3, |rank, gate| {
            if rank == 2 {
                return Err(Failure::new(FailureKind::OutOfMemory, "too much"));
            }
            gate.wait()
        });
        assert_eq!(told.unwrap_err(), Failure::new(FailureKind::OutOfMemory, "too much"));
    }
}
