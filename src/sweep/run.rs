//! The rows of a shard: on threads, in order, a window at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::grid::Grid;
use super::metric::{Metric, Outcome, Value};
use super::summary::{Digest, Summary};
use crate::scenario::{Branch, Family, Setup, Worker};

/// Rows of a chunk: one task of a thread.
const CHUNK: u64 = 128;
/// Chunks for each thread that are computed before their rows are handed on: what bounds the memory.
const WINDOW: u64 = 16;
/// Combinations of values that need the tree, kept for the next points.
const BRANCHES: usize = 1024;

/// A function from a setup to an outcome, in two steps: what all variations of one base share is prepared once.
pub trait Solver: Sync {
    /// What was prepared for a base.
    type Base: Send + Sync;
    /// Prepares a base.
    fn prepare(&self, base: &Setup) -> Self::Base;
    /// The outcome of the base itself, or of a variation of it.
    ///
    /// # Errors
    /// Why there is none, as one line.
    fn solve(
        &self,
        base: &Setup,
        prepared: &Self::Base,
        variation: Option<&Setup>,
    ) -> Result<Outcome, String>;
}

/// What to compute.
#[derive(Clone)]
pub struct Plan<'p, 'l> {
    /// The scenario.
    pub family: &'p Family<'l>,
    /// All points.
    pub grid: &'p Grid,
    /// Those to compute.
    pub points: Range<u64>,
    /// The columns.
    pub metrics: &'p [&'static Metric],
    /// Rows up to this many are kept as values.
    pub keep: usize,
}

/// A point and its answer.
pub struct Row<'r> {
    /// All points.
    pub grid: &'r Grid,
    /// Its place on each dimension.
    pub place: &'r [usize],
    /// The columns, or why there is none, as one line.
    pub cells: &'r Result<Vec<Value>, String>,
}

/// A row that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The number of the point.
    pub index: u64,
    /// The columns, or why there is none.
    pub cells: Result<Vec<Value>, String>,
}

/// Some rows, written.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// How many.
    pub rows: u64,
    /// What was written of them.
    pub bytes: Vec<u8>,
}

/// Computes the points of a plan and hands on their rows, written by `write`, in order. Ends early where `take` says so. The
/// threads are those of the pool in which it is called.
pub fn run<S: Solver>(
    plan: &Plan<'_, '_>,
    solver: &S,
    write: &(dyn Fn(&Row, &mut Vec<u8>) + Sync),
    take: &mut (dyn FnMut(Batch) -> ControlFlow<()> + Send),
) -> (Summary, Vec<Kept>) {
    let engine = Engine {
        plan,
        solver,
        write,
        branches: Mutex::default(),
        base: OnceLock::new(),
        notes: Mutex::default(),
    };
    let mut summary = Summary::new(plan.grid);
    let mut kept = Vec::new();
    let mut next = plan.points.start;
    let chunks = WINDOW * rayon::current_num_threads() as u64;
    while next < plan.points.end {
        let window: Vec<Range<u64>> = (0..chunks)
            .map(|chunk| next + chunk * CHUNK)
            .take_while(|start| *start < plan.points.end)
            .map(|start| start..(start + CHUNK).min(plan.points.end))
            .collect();
        let done: Vec<Chunk> = window.into_par_iter().map(|points| engine.chunk(points)).collect();
        let mut batch = Batch::default();
        for chunk in done {
            next = chunk.points.end;
            batch.rows += chunk.points.end - chunk.points.start;
            batch.bytes.extend_from_slice(&chunk.bytes);
            let mut place = Vec::new();
            for (index, digest) in chunk.points.zip(&chunk.digests) {
                plan.grid.place(index, &mut place);
                summary.add(index, &place, digest);
            }
            let room = plan.keep.saturating_sub(kept.len());
            kept.extend(chunk.kept.into_iter().take(room));
        }
        if take(batch).is_break() {
            break;
        }
    }
    let notes = engine.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.notes = notes.into_iter().collect();
    (summary, kept)
}

/// Rows of one task.
struct Chunk {
    points: Range<u64>,
    bytes: Vec<u8>,
    digests: Vec<Result<Digest, String>>,
    kept: Vec<Kept>,
}

/// A branch with what was prepared for its base, where it has one of its own.
struct Ready<B> {
    branch: Result<Arc<Branch>, String>,
    base: Option<B>,
}

type Slot<B> = Arc<OnceLock<Ready<B>>>;

struct Engine<'e, 'p, 'l, S: Solver> {
    plan: &'e Plan<'p, 'l>,
    solver: &'e S,
    write: &'e (dyn Fn(&Row, &mut Vec<u8>) + Sync),
    branches: Mutex<BTreeMap<u64, Slot<S::Base>>>,
    base: OnceLock<S::Base>,
    notes: Mutex<BTreeSet<String>>,
}

impl<S: Solver> Engine<'_, '_, '_, S> {
    fn chunk(&self, points: Range<u64>) -> Chunk {
        let rows = (points.end - points.start) as usize;
        let mut chunk = Chunk {
            points: points.clone(),
            bytes: Vec::new(),
            digests: Vec::with_capacity(rows),
            kept: Vec::new(),
        };
        let mut place = Vec::new();
        let mut workers: BTreeMap<u64, (Slot<S::Base>, Option<Worker>)> = BTreeMap::new();
        for index in points {
            self.plan.grid.place(index, &mut place);
            let key = self.branch_key(&place);
            let (slot, worker) = workers.entry(key).or_insert_with(|| {
                let slot = self.branch(key, &place);
                let worker = slot.get().and_then(|ready| ready.branch.as_ref().ok()).map(Branch::worker);
                (slot, worker)
            });
            let ready = slot.get().expect("a branch that was asked for is ready");
            let outcome = self.point(ready, worker.as_mut(), &place);
            chunk.digests.push(outcome.as_ref().map(Digest::of).map_err(Clone::clone));
            let cells = outcome.map(|outcome| self.plan.metrics.iter().map(|m| (m.of)(&outcome)).collect());
            (self.write)(&Row { grid: self.plan.grid, place: &place, cells: &cells }, &mut chunk.bytes);
            if index - self.plan.points.start < self.plan.keep as u64 {
                chunk.kept.push(Kept { index, cells });
            }
        }
        chunk
    }

    fn point(
        &self,
        ready: &Ready<S::Base>,
        worker: Option<&mut Worker>,
        place: &[usize],
    ) -> Result<Outcome, String> {
        let branch = ready.branch.as_ref().map_err(Clone::clone)?;
        let worker = worker.expect("a branch without fault has a worker");
        let axes = self.plan.grid.axes();
        let values: Vec<_> =
            axes.filter_map(|(dimension, axis)| Some((axis.direct?, axis.json(place[dimension])))).collect();
        let setup = worker.setup(self.plan.family, values.iter().map(|(key, value)| (*key, &**value)))?;
        let base = match &ready.base {
            Some(base) => base,
            None => self.base.get_or_init(|| self.solver.prepare(branch.base())),
        };
        self.solver.solve(branch.base(), base, setup.as_ref())
    }

    /// The number of the combination of values that need the tree.
    fn branch_key(&self, place: &[usize]) -> u64 {
        let dimensions = self.plan.grid.dimensions().iter().zip(place);
        let needing =
            dimensions.filter(|(dimension, _)| dimension.axes.iter().any(|axis| axis.direct.is_none()));
        needing.fold(0, |key, (dimension, at)| key * dimension.points() as u64 + *at as u64)
    }

    fn branch(&self, key: u64, place: &[usize]) -> Slot<S::Base> {
        let slot = {
            let mut branches = self.branches.lock().unwrap_or_else(PoisonError::into_inner);
            if branches.len() >= BRANCHES && !branches.contains_key(&key) {
                branches.clear();
            }
            Arc::clone(branches.entry(key).or_default())
        };
        slot.get_or_init(|| self.ready(place));
        slot
    }

    fn ready(&self, place: &[usize]) -> Ready<S::Base> {
        let axes = self.plan.grid.axes();
        let texts: Vec<_> =
            axes.map(|(dimension, axis)| (axis.key.as_str(), axis.text(place[dimension]))).collect();
        let branch = self.plan.family.branch(texts.iter().map(|(key, text)| (*key, &**text))).map(Arc::new);
        if let Some(note) = branch.as_ref().ok().and_then(|branch| branch.foreign()) {
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(note);
        }
        let own = branch.as_ref().ok().filter(|branch| branch.has_own_base());
        let base = own.map(|branch| self.solver.prepare(branch.base()));
        Ready { branch, base }
    }
}
